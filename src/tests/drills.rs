//! Drills: a fault that is ordered with a run, and everything that must not come of it.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use jiff::Timestamp;
use serde_json::{Value, json};
use sqlx::SqlitePool;

use super::harness::{Answer, TestApp};
use crate::access;
use crate::catalog::shape::Shape;
use crate::money::Usd;
use crate::router::Limits;
use crate::router::adapter::Adapter;
use crate::standins::scripted::{Script, Scripted};
use crate::state::AppState;

/// A site with drills, a `local` and a provider that costs something.
async fn site() -> (TestApp, AppState) {
    let limits = Limits { drills: true, ..Limits::default() };
    let adapters: Vec<Arc<dyn Adapter>> = vec![
        Arc::new(Scripted::new("local", Script::Runs)),
        Arc::new(Scripted::of_shape("e2b", Script::Runs, Shape::default())),
    ];
    TestApp::running_within(limits, adapters).await
}

async fn post(app: &TestApp, token: Option<&str>, fields: Value) -> Answer {
    let mut body = json!({ "language": "python", "code": "print(1)" });
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let mut request = Request::post("/api/v1/runs").header("content-type", "application/json");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    app.send(request.body(Body::from(body.to_string())).unwrap()).await
}

async fn token(pool: &SqlitePool) -> String {
    access::create(pool, "test", Usd::from(1), None, Timestamp::now()).await.unwrap()
}

#[tokio::test]
async fn a_drill_fails_as_it_was_ordered_to_and_the_next_one_runs() {
    let (app, _) = site().await;
    for (drill, status, teardown) in [
        ("refuses", json!(503), "nothing_created"),
        ("rate_limits", json!(429), "nothing_created"),
        ("hangs", Value::Null, "confirmed"),
    ] {
        let run = post(&app, None, json!({ "drill": drill })).await.json();
        assert_eq!((&run["outcome"], &run["provider"]), (&json!("completed"), &json!("local")));
        assert_eq!((&run["drill"], &run["quote"]["routed_usd"]), (&json!(drill), &json!("0")));
        let first = &run["attempts"][0];
        assert_eq!((&first["provider"], &first["reason"]), (&json!("drill"), &json!("drill")));
        assert_eq!((&first["http_status"], &first["next"]), (&status, &json!("failed_over")));
        assert_eq!(first["code_started"], false);
        assert_eq!(first["teardown"]["state"], teardown, "{drill}");
        assert_eq!(run["attempts"][1]["outcome"], "completed");
    }
}

#[tokio::test]
async fn a_drill_that_fails_after_the_code_started_is_never_run_again_and_costs_nothing() {
    let (app, state) = site().await;
    let token = token(&state.pool).await;
    let run =
        post(&app, Some(&token), json!({ "drill": "fails_after_start", "providers": ["e2b"] }))
            .await
            .json();
    assert_eq!(run["outcome"], "interrupted");
    assert_eq!(run["attempts"].as_array().unwrap().len(), 1);
    assert_eq!(run["attempts"][0]["code_started"], true);
    assert_eq!((&run["stdout"], &run["stderr"]), (&json!(""), &json!("")), "nothing is executed");
    assert_eq!(run["not_tried"][0], json!({ "provider": "e2b", "reason": "not_needed" }));
    // All that is reserved for an interrupted run is kept: for this one it is nothing.
    assert_eq!(run["quote"]["routed_usd"], "0");
    let caller = access::verify(&state.pool, &token).await.unwrap().unwrap();
    let mut connection = state.pool.acquire().await.unwrap();
    let today = crate::moment::today().to_string();
    assert_eq!(access::taken(&mut connection, &caller.id, &today).await.unwrap(), 0);
}

#[tokio::test]
async fn where_nobody_else_is_to_be_tried_the_drill_is_the_end() {
    let (app, _) = site().await;
    let run = post(&app, None, json!({ "drill": "refuses", "fallback": false })).await.json();
    assert_eq!(run["outcome"], "unavailable");
    assert_eq!(run["attempts"][0]["next"], "fallback_off");
    assert_eq!(run["not_tried"][0], json!({ "provider": "local", "reason": "not_needed" }));
    // Without anybody who could follow there is nothing to be watched.
    let run = post(
        &app,
        None,
        json!({ "drill": "refuses", "language": "python", "egress": "none",
        "isolation_at_least": "wasm", "providers": ["e2b"] }),
    )
    .await
    .json();
    assert_eq!((&run["outcome"], &run["attempts"]), (&json!("refused"), &json!([])));
}

#[tokio::test]
async fn drills_say_nothing_of_any_provider_however_many_there_are() {
    let (app, _) = site().await;
    for _ in 0..5 {
        let run = post(&app, None, json!({ "drill": "refuses" })).await.json();
        assert_eq!(run["attempts"].as_array().unwrap().len(), 2, "no breaker opens");
    }
    let health = app.get("/api/v1/health").await.json();
    let told: Vec<_> = health.as_array().unwrap().iter().map(|one| &one["provider"]).collect();
    assert_eq!(told, ["local", "e2b"]);
    assert_eq!(health[0]["windows"][0]["samples"], 5);
    assert_eq!(health[0]["windows"][0]["success_ratio"], "1.0000");
}

#[tokio::test]
async fn a_drill_belongs_to_what_a_key_stands_for() {
    let (app, state) = site().await;
    let token = token(&state.pool).await;
    let with = |drill: Value| json!({ "idempotency_key": "k", "drill": drill, "isolation_at_least": "process" });
    let first = post(&app, Some(&token), with(json!("refuses"))).await;
    assert_eq!(first.status, StatusCode::OK, "{}", first.text());
    let again = post(&app, Some(&token), with(json!("refuses"))).await.json();
    assert_eq!(again["id"], first.json()["id"]);
    assert_eq!(post(&app, Some(&token), with(Value::Null)).await.status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn an_unknown_drill_is_named_and_one_where_they_are_off_is_refused_with_the_way_to_have_them()
{
    let (app, _) = site().await;
    let answer = post(&app, None, json!({ "drill": "explodes" })).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    let said = "is not one of refuses, hangs, fails_after_start, rate_limits";
    assert!(answer.text().contains(said), "{}", answer.text());

    let local: Vec<Arc<dyn Adapter>> = vec![Arc::new(Scripted::new("local", Script::Runs))];
    let (off, _) = TestApp::running(local).await;
    let answer = post(&off, None, json!({ "drill": "refuses" })).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(answer.text().contains("THUD_DRILLS=1"), "{}", answer.text());
    let page = off.get("/try?drill=refuses").await;
    assert!(!page.text().contains("drill"), "{}", page.text());
}

#[tokio::test]
async fn the_page_offers_drills_and_the_receipt_says_that_it_was_one() {
    let (app, _) = site().await;
    let page = app.get("/try?drill=hangs").await;
    let html = page.text();
    for words in [
        "<option value=\"hangs\" selected>the first never answers</option>",
        "<code>drill</code>",
        "tried if the first fails",
        "\"drill\": \"hangs\"",
    ] {
        assert!(html.contains(words), "{words}: {html}");
    }
    let body = "language=python&code=print(1)&drill=fails_after_start";
    let request = Request::post("/actions/start-run")
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header("sec-fetch-site", "same-origin");
    let sent = app.send(request.body(Body::from(body)).unwrap()).await;
    let receipt = sent.header(header::LOCATION).to_owned();
    let page = app.get(&receipt).await;
    for words in [
        "<h1>What it did is not known</h1>",
        "A drill: ",
        "it asked nobody and executed nothing",
        "nobody runs it again",
        "<dd>the first fails after the code started</dd>",
    ] {
        assert!(page.text().contains(words), "{words}: {}", page.text());
    }
    let again = app.get(&format!("/try?run={}", receipt.trim_start_matches("/runs/"))).await;
    assert!(again.text().contains("<option value=\"fails_after_start\" selected"));
}

#[tokio::test]
async fn a_drill_that_a_crash_left_owes_nothing_for_long() {
    let (app, state) = site().await;
    let run = post(&app, None, json!({ "drill": "hangs" })).await.json();
    for statement in [
        "drop trigger a_paid_lease_never_changes",
        "update lease set state = 'open', paid_at = null where provider = 'drill'",
    ] {
        sqlx::query(statement).execute(&state.pool).await.unwrap();
    }
    assert_eq!(state.sandboxes.reap().await.unwrap().already_gone, 1);
    let path = format!("/api/v1/runs/{}", run["id"].as_str().unwrap());
    let run = app.get(&path).await.json();
    assert_eq!(run["attempts"][0]["teardown"]["state"], "confirmed");
}
