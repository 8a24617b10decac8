//! `/api/v1/runs`: statuses, headers, bodies, events. Providers follow a script.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::harness::{Answer, TestApp};
use crate::access;
use crate::money::Usd;
use crate::router::adapter::Adapter;
use crate::standins::scripted::{Script, Scripted};
use crate::state::AppState;

const RUNS: &str = "/api/v1/runs";

/// A site with three scripted providers, one of them open to all, and a token.
struct Site {
    app: TestApp,
    state: AppState,
    token: String,
}

impl Site {
    async fn new() -> Self {
        let providers = [
            Scripted::new("local", Script::Runs),
            Scripted::new("e2b", Script::Refuses),
            Scripted::new("daytona", Script::Loops),
        ];
        let adapter = |one: Scripted| -> Arc<dyn Adapter> { Arc::new(one) };
        let (app, state) = TestApp::running(providers.map(adapter).to_vec()).await;
        let token = token(&state, None).await;
        Self { app, state, token }
    }

    async fn send(&self, method: &str, path: &str, token: Option<&str>, body: &str) -> Answer {
        let mut request =
            Request::builder().method(method).uri(path).header("content-type", "application/json");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        self.app.send(request.body(Body::from(body.to_owned())).unwrap()).await
    }

    async fn post(&self, token: Option<&str>, body: &Value) -> Answer {
        self.send("POST", RUNS, token, &body.to_string()).await
    }
}

async fn token(state: &AppState, providers: Option<&[String]>) -> String {
    let budget = Usd::from(1);
    access::create(&state.pool, "test", budget, providers, Timestamp::now()).await.unwrap()
}

fn hello() -> Value {
    json!({ "language": "python", "code": "print(1)" })
}

fn with(field: &str, value: Value) -> Value {
    let mut body = hello();
    body[field] = value;
    body
}

#[tokio::test]
async fn a_run_without_a_token_is_answered_with_its_whole_chain() {
    let site = Site::new().await;
    let answer = site.post(None, &hello()).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("access-control-allow-origin"), "");
    let run = answer.json();
    assert_eq!(answer.header("location"), format!("{RUNS}/{}", run["id"].as_str().unwrap()));
    assert_eq!((&run["state"], &run["outcome"]), (&json!("final"), &json!("completed")));
    assert_eq!((&run["provider"], &run["exit_code"]), (&json!("local"), &json!(0)));
    assert_eq!(run["output_trust"], "untrusted");
    assert_eq!(run["stdout"], "local: 8 bytes of Python\n");
    assert_eq!(run["isolation_at_least"], json!({ "value": "wasm", "from": "default" }));
    assert_eq!(run["quote"], json!({ "list_usd": "0", "routed_usd": "0" }));
    let attempt = &run["attempts"][0];
    assert_eq!(attempt["teardown"]["state"], "confirmed");
    assert_eq!(attempt["isolation"], json!({ "tier": "virtual_machine", "evidence": "declared" }));
    let omitted: Vec<_> =
        run["not_tried"].as_array().unwrap().iter().map(|one| &one["reason"]).collect();
    assert_eq!(omitted, ["not_permitted", "not_permitted"]);
    // Whoever knows the id reads it; the secret is told once.
    let read = site.app.get(&format!("{RUNS}/{}", run["id"].as_str().unwrap())).await;
    assert_eq!(read.header("cache-control"), "no-store");
    let mut same = run.clone();
    same.as_object_mut().unwrap().remove("cancel_secret").unwrap();
    assert_eq!(read.json(), same);
}

#[tokio::test]
async fn what_is_asked_wrongly_is_said_field_by_field_and_nothing_is_written() {
    let site = Site::new().await;
    let check = async |body: String, field: &str| {
        let answer = site.send("POST", RUNS, None, &body).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body}");
        assert_eq!(answer.header("content-type"), "application/problem+json");
        let problem = answer.json();
        assert_eq!(problem["type"], "/api#bad-request");
        assert!(problem["detail"].as_str().unwrap().contains(field), "{body}: {problem}");
    };
    for (field, value) in [
        ("language", json!("perl")),
        ("code", json!("")),
        ("code", json!("x".repeat(262_145))),
        ("timeout_ms", json!(99)),
        ("timeout_ms", json!(300_001)),
        ("timeout_ms", json!("10")),
        ("timeout_ms", json!(-1)),
        ("timeout_ms", json!(1e30)),
        ("providers", json!(["acme"])),
        ("providers", json!([])),
        ("isolation_at_least", json!("vault")),
        ("egress", json!("all")),
        ("max_cost_usd", json!("1e3")),
        ("max_cost_usd", json!("-1")),
        ("idempotency_key", json!("")),
        ("idempotency_key", json!("k".repeat(201))),
        ("flavour", json!("sweet")),
    ] {
        // What is of another type cannot be read at all.
        let is_other_type = field == "timeout_ms" && value.as_u64().is_none();
        let said = if is_other_type { "invalid" } else { field };
        check(with(field, value).to_string(), said).await;
    }
    for body in ["", "{", "[]", "null", "{\"language\":\"python\"}"] {
        check(body.to_owned(), "cannot be read").await;
    }
    let form = Request::post(RUNS).header("content-type", "application/x-www-form-urlencoded");
    let answer = site.app.send(form.body(Body::from("language=python")).unwrap()).await;
    assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let runs: i64 =
        sqlx::query_scalar("select count(*) from run").fetch_one(&site.state.pool).await.unwrap();
    assert_eq!(runs, 0);
}

#[tokio::test]
async fn code_may_be_as_long_as_is_said_and_a_body_not_much_longer() {
    let site = Site::new().await;
    // Every byte takes six in JSON.
    let longest = "\u{1}".repeat(262_144);
    let answer = site.post(None, &with("code", json!(longest))).await;
    assert_eq!((answer.status, &answer.json()["code_bytes"]), (StatusCode::OK, &json!(262_144)));
    let absurd = site.post(None, &with("code", json!("x".repeat(2 * 1024 * 1024)))).await;
    assert_eq!(absurd.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(absurd.json()["type"], "/api#too-large");
}

#[tokio::test]
async fn a_budget_that_does_not_hold_a_run_is_said_with_what_is_left() {
    let shape = crate::catalog::shape::Shape::default();
    let hosted = Scripted::of_shape("e2b", Script::Runs, shape);
    let (app, state) = TestApp::running(vec![Arc::new(hosted)]).await;
    let token = token(&state, None).await;
    let body = with("timeout_ms", json!(300_000));
    let request = |body: &Value| {
        Request::post(RUNS)
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {token}"))
            .body(Body::from(body.to_string()))
            .unwrap()
    };
    assert_eq!(app.send(request(&body)).await.status, StatusCode::OK);
    sqlx::query("update token set daily_budget_picousd = 1").execute(&state.pool).await.unwrap();
    let answer = app.send(request(&body)).await;
    assert_eq!(answer.status, StatusCode::PAYMENT_REQUIRED);
    let problem = answer.json();
    assert_eq!(problem["type"], "/api#over-budget");
    // 315 s at 0.0000276 a second.
    assert!(problem["detail"].as_str().unwrap().contains("0.008694 USD"), "{problem}");
}

#[tokio::test]
async fn a_token_opens_hosted_providers_and_a_wrong_one_nothing() {
    let site = Site::new().await;
    let run =
        site.post(Some(&site.token), &with("providers", json!(["e2b", "local"]))).await.json();
    assert_eq!(run["isolation_at_least"]["value"], "virtual_machine");
    assert_eq!((&run["outcome"], &run["provider"]), (&json!("completed"), &json!("local")));
    assert_eq!(run["attempts"][0]["next"], "failed_over");
    assert_eq!(run["attempts"][0]["http_status"], 503);
    let narrow = token(&site.state, Some(&["local".to_owned()])).await;
    let run = site.post(Some(&narrow), &with("providers", json!(["e2b"]))).await.json();
    assert_eq!((&run["outcome"], &run["attempts"]), (&json!("refused"), &json!([])));
    assert_eq!(run["not_tried"][0]["reason"], "not_permitted");
    for wrong in ["", "x", "thud_0000000000000000_00", &format!("{}0", site.token)] {
        let answer = site.post(Some(wrong), &hello()).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{wrong}");
        assert_eq!(answer.header("www-authenticate"), "Bearer");
        assert!(!answer.text().contains(&site.token));
    }
    let id = site.token.split('_').nth(1).unwrap();
    access::revoke(&site.state.pool, id, Timestamp::now()).await.unwrap();
    assert_eq!(site.post(Some(&site.token), &hello()).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_run_can_be_answered_at_once_and_cancelled_by_its_secret() {
    let site = Site::new().await;
    let body = with("providers", json!(["daytona"])).to_string();
    let request = Request::post(RUNS)
        .header("content-type", "application/json")
        .header("prefer", "respond-async")
        .header("authorization", format!("bearer {}", site.token))
        .body(Body::from(body))
        .unwrap();
    let started = site.app.send(request).await;
    assert_eq!(started.status, StatusCode::ACCEPTED);
    let run = started.json();
    let path = started.header("location").to_owned();
    assert_eq!(run["outcome"], Value::Null);
    let delete = async |secret: Option<&str>| {
        let mut request = Request::delete(&path);
        if let Some(secret) = secret {
            request = request.header("x-cancel-secret", secret);
        }
        site.app.send(request.body(Body::empty()).unwrap()).await
    };
    assert_eq!(delete(None).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(delete(Some("wrong")).await.status, StatusCode::FORBIDDEN);
    let other = token(&site.state, None).await;
    assert_eq!(site.send("DELETE", &path, Some(&other), "").await.status, StatusCode::FORBIDDEN);
    let ended = delete(run["cancel_secret"].as_str()).await;
    assert_eq!(ended.status, StatusCode::OK);
    assert_eq!(ended.json()["outcome"], "cancelled");
    assert_eq!(site.app.get(&path).await.json()["attempts"][0]["outcome"], "cancelled");
}

#[tokio::test]
async fn a_key_stands_for_one_run() {
    let site = Site::new().await;
    let mut keyed = with("idempotency_key", json!("once"));
    keyed["providers"] = json!(["local"]);
    let first = site.post(Some(&site.token), &keyed).await.json();
    let again = site.post(Some(&site.token), &keyed).await;
    assert_eq!((again.status, &again.json()["id"]), (StatusCode::OK, &first["id"]));
    let mut other = keyed.clone();
    other["code"] = json!("print(2)");
    assert_eq!(site.post(Some(&site.token), &other).await.status, StatusCode::CONFLICT);
    assert_eq!(site.post(None, &keyed).await.status, StatusCode::UNAUTHORIZED);
    let long = with("timeout_ms", json!(60_000));
    assert_eq!(site.post(None, &long).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_tokens_runs_are_listed_by_pages_to_it_alone() {
    let site = Site::new().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let body = with("providers", json!(["local"]));
        ids.push(site.post(Some(&site.token), &body).await.json()["id"].clone());
    }
    let list = async |token: &str, query: &str| {
        site.send("GET", &format!("{RUNS}{query}"), Some(token), "").await
    };
    let mut seen = Vec::new();
    let mut query = "?limit=2".to_owned();
    loop {
        let page = list(&site.token, &query).await.json();
        seen.extend(page["result"].as_array().unwrap().iter().map(|run| run["id"].clone()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        query = format!("?limit=2&cursor={cursor}");
    }
    assert_eq!(seen.len(), 3);
    assert!(ids.iter().all(|id| seen.contains(id)));
    let other = token(&site.state, None).await;
    assert_eq!(list(&other, "").await.json()["result"], json!([]));
    assert_eq!(site.app.get(RUNS).await.status, StatusCode::UNAUTHORIZED);
    for wrong in ["?limit=0", "?limit=101", "?limit=x", "?cursor=x", "?page=2"] {
        assert_eq!(list(&site.token, wrong).await.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
}

#[tokio::test]
async fn events_stream_the_run_and_resume_after_the_last_that_arrived() {
    let site = Site::new().await;
    let run =
        site.post(Some(&site.token), &with("providers", json!(["e2b", "local"]))).await.json();
    let path = format!("{RUNS}/{}/events", run["id"].as_str().unwrap());
    let answer = site.app.get(&path).await;
    assert_eq!(answer.header("content-type"), "text/event-stream");
    assert_eq!(answer.header("cache-control"), "no-store");
    // When a sandbox is gone is told whenever that is known.
    let names = |text: &str| -> Vec<String> {
        let names = text.lines().filter_map(|line| line.strip_prefix("event: "));
        names.filter(|name| *name != "teardown").map(str::to_owned).collect()
    };
    let expected =
        ["attempt_started", "attempt_ended", "attempt_started", "output", "attempt_ended", "final"];
    assert_eq!(names(answer.text()), expected);
    assert_eq!(answer.text().matches("event: teardown").count(), 2);
    let data = answer.text().lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
    let last: Value = serde_json::from_str(data.unwrap()).unwrap();
    assert_eq!(last["stdout"], run["stdout"]);
    let output = answer.text().split("\n\n").find(|event| event.contains("event: output"));
    let id = output.unwrap().lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
    let resumed = Request::get(&path).header("last-event-id", id).body(Body::empty()).unwrap();
    assert_eq!(names(site.app.send(resumed).await.text()), expected[4..]);
    let nobody = site.app.get(&format!("{RUNS}/0123/events")).await;
    assert_eq!(nobody.status, StatusCode::NOT_FOUND);
    assert_eq!(site.app.get(&format!("{RUNS}/0123")).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_site_that_stops_says_when_to_try_again() {
    let (app, state) = TestApp::running(vec![Arc::new(Scripted::new("local", Script::Runs))]).await;
    state.sandboxes.drain(std::time::Duration::ZERO).await;
    let request = Request::post(RUNS)
        .header("content-type", "application/json")
        .body(Body::from(hello().to_string()))
        .unwrap();
    let answer = app.send(request).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.header("retry-after"), "10");
    assert_eq!(answer.json()["type"], "/api#unavailable");
}

#[tokio::test]
async fn health_counts_what_the_platforms_did_and_says_nothing_without_samples() {
    let site = Site::new().await;
    let windows = async |provider: &str| {
        let answer = site.app.get("/api/v1/health").await;
        assert_eq!(answer.header("cache-control"), "no-store");
        let all = answer.json();
        let found = all.as_array().unwrap().iter().find(|one| one["provider"] == provider);
        found.unwrap()["windows"].clone()
    };
    assert_eq!(windows("local").await[0]["success_ratio"], Value::Null);
    assert_eq!(windows("local").await[0]["samples"], 0);
    site.post(Some(&site.token), &with("providers", json!(["e2b", "local"]))).await;
    for window in windows("local").await.as_array().unwrap() {
        assert_eq!((&window["samples"], &window["success_ratio"]), (&json!(1), &json!("1.0000")));
        assert!(window["start_ms_p50"].is_u64());
    }
    assert_eq!(windows("e2b").await[0]["success_ratio"], "0.0000");
    assert_eq!(windows("e2b").await[0]["starts"], 0);
}
