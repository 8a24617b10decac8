//! One snippet at two providers, through the real routes: two ordinary runs, and a page with both.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use form_urlencoded::Serializer;
use jiff::Timestamp;

use super::harness::{Answer, TestApp};
use crate::access::{self, Caller};
use crate::catalog::shape::Shape;
use crate::money::Usd;
use crate::router::adapter::Adapter;
use crate::runs::draft::Draft;
use crate::standins::scripted::{Script, Scripted};
use crate::state::AppState;

async fn site(scripts: &[(&'static str, Script)]) -> (TestApp, AppState) {
    let adapter = |(slug, script): &(&'static str, Script)| -> Arc<dyn Adapter> {
        Arc::new(Scripted::new(slug, *script))
    };
    TestApp::running(scripts.iter().map(adapter).collect()).await
}

async fn token(state: &AppState, budget: &str) -> String {
    let budget = Usd::parse(budget).unwrap();
    access::create(&state.pool, "tests", budget, None, Timestamp::now()).await.unwrap()
}

/// Sends the form by its second button. Says where it leads.
async fn sent(app: &TestApp, fields: &[(&str, &str)]) -> String {
    let hello = [("language", "python"), ("code", "print(1)\r\nprint(2)\r\n")];
    let body = Serializer::new(String::new()).extend_pairs(hello).extend_pairs(fields).finish();
    let request = Request::post("/actions/start-two")
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(header::ACCEPT, "text/html")
        .header("sec-fetch-site", "same-origin");
    let answer = app.send(request.body(Body::from(body)).unwrap()).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text());
    answer.header(header::LOCATION).to_owned()
}

async fn page(app: &TestApp, fields: &[(&str, &str)]) -> (String, Answer) {
    let address = sent(app, fields).await;
    let page = app.get(&address).await;
    assert_eq!(page.status, StatusCode::OK, "{address}");
    (address, page)
}

const SAME: Script = Script::Says("Python 3.14\nthe same\n");

#[tokio::test]
async fn two_runs_stand_beside_each_other_and_what_differs_is_said_and_marked() {
    let (app, state) = site(&[
        ("e2b", SAME),
        ("daytona", Script::Says("Python 3.14\nnot the same\n")),
        ("local", Script::Runs),
    ])
    .await;
    let token = token(&state, "1").await;
    let (address, page) =
        self::page(&app, &[("token", &token), ("providers", "daytona, e2b, local")]).await;
    let html = page.text();
    for words in [
        "<h1>Two runs side by side</h1>",
        "The output differs from line 2 on, and both exit codes are 0.",
        ">Daytona</a></th>",
        ">E2B</a></th>",
        "aria-label=\"Standard output of Daytona\"",
        "not the same\n",
        "name=\"robots\" content=\"noindex\"",
        "<span class=\"best\">differs</span>",
        "providers=daytona%2C+e2b",
    ] {
        assert!(html.contains(words), "{words}: {html}");
    }
    assert!(!html.contains(&token) && !address.contains("thud_"));
    assert!(!html.contains("<script type"), "nothing in it needs a script");
    assert_eq!(page.header(header::CACHE_CONTROL), "no-store");
    // Each is an ordinary run, at one provider and nowhere else.
    let ids = address.strip_prefix("/runs/").unwrap();
    for (id, slug) in ids.split("/and/").zip(["daytona", "e2b"]) {
        let run = app.get(&format!("/api/v1/runs/{id}")).await.json();
        assert_eq!((&run["outcome"], &run["provider"]), (&"completed".into(), &slug.into()));
        assert_eq!(run["not_tried"].as_array().unwrap().len(), 0);
        assert_eq!(app.get(&format!("/runs/{id}")).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn without_names_it_is_the_first_two_that_can_be_used() {
    let (app, state) = site(&[("local", SAME), ("e2b", SAME), ("daytona", SAME)]).await;
    let token = token(&state, "1").await;
    let (_, page) = page(&app, &[("token", &token)]).await;
    assert!(page.text().contains("The output is the same, and both exit codes are 0."));
    assert!(page.text().contains(">E2B</a>") || page.text().contains(">Daytona</a>"));
}

#[tokio::test]
async fn what_is_missing_is_said_plainly_and_nothing_typed_is_lost() {
    let (app, state) = site(&[("local", SAME), ("e2b", SAME)]).await;
    let check = async |fields: &[(&str, &str)], why: &str| {
        let (address, page) = page(&app, fields).await;
        let html = page.text();
        assert!(html.contains("<h1>It was not run</h1>") && html.contains(why), "{why}: {html}");
        let again = html.split("href=\"/try?").nth(1).unwrap().split('"').next().unwrap();
        let form = app.get(&format!("/try?{}", again.replace("&amp;", "&"))).await;
        assert!(form.text().contains(">print(1)\nprint(2)\n</textarea>"), "{address}");
        for (name, value) in fields.iter().filter(|(name, _)| *name != "token") {
            assert!(form.text().contains(&format!("value=\"{value}\"")), "{name}");
        }
    };
    let alone = "only local can be used for this. e2b: needs a token that may use it.";
    check(&[], alone).await;
    check(&[("providers", "local, e2b")], alone).await;
    check(&[("providers", "local")], "name two of them or none").await;
    check(&[("timeout_ms", "ten")], "Timeout_ms must be 100 to").await;
    check(&[("timeout_ms", "20000"), ("providers", "local, e2b")], "only local can be used").await;
    let token = token(&state, "1").await;
    let bash = [("token", token.as_str()), ("max_cost_usd", "much")];
    check(&bash, "Max_cost_usd").await;
}

#[tokio::test]
async fn a_second_run_that_the_budget_does_not_hold_is_refused_beside_the_first() {
    let shape = Shape::default();
    let adapters: Vec<Arc<dyn Adapter>> = vec![
        Arc::new(Scripted::of_shape("e2b", Script::Loops, shape)),
        Arc::new(Scripted::of_shape("daytona", Script::Loops, shape)),
    ];
    let (app, state) = TestApp::running(adapters).await;
    // A run of a second may cost 16 s of 0.0000276 each.
    let token = token(&state, "0.0006").await;
    let fields = [("token", token.as_str()), ("timeout_ms", "1000"), ("providers", "e2b,daytona")];
    let address = sent(&app, &fields).await;
    let page = app.get(&address).await;
    assert_eq!(page.header("refresh"), "2");
    assert!(page.text().contains("Not both are over yet."), "{}", page.text());
    assert!(page.text().contains("<span>refused</span>"), "{}", page.text());
    let refused = app.get(&format!("/runs/{}", address.split("/and/").nth(1).unwrap())).await;
    assert!(refused.text().contains("of today’s budget") || refused.text().contains("budget"));
}

#[tokio::test]
async fn two_that_are_not_there_are_not_found() {
    let (app, state) = site(&[("local", SAME), ("e2b", SAME)]).await;
    let token = token(&state, "1").await;
    let floor = ("isolation_at_least", "process");
    let address = sent(&app, &[("token", &token), floor]).await;
    let (one, _) = address.split_once("/and/").unwrap();
    for path in [
        format!("{one}/and/0123456789abcdef0123456789abcdef"),
        format!("{address}/and/x"),
        "/runs/x/and/y".to_owned(),
    ] {
        let answer = app.get(&path).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(answer.header(header::CACHE_CONTROL), "no-store", "{path}");
    }
}

#[tokio::test]
async fn a_cost_cap_holds_for_both_together_and_a_drill_is_for_one() {
    let dear = |slug| -> Arc<dyn Adapter> {
        Arc::new(Scripted::of_shape(slug, Script::Runs, Shape::default()))
    };
    let (app, state) = TestApp::running(vec![dear("e2b"), dear("daytona")]).await;
    let token = token(&state, "1").await;
    let caller = Caller::Token(access::verify(&state.pool, &token).await.unwrap().unwrap());
    let quote = |slug: &str| {
        let draft = Draft {
            language: "python".to_owned(),
            code: "print(1)".to_owned(),
            providers: Some(vec![slug.to_owned()]),
            ..Draft::default()
        };
        let request = draft.read(&state.sandboxes.providers()).unwrap();
        state.sandboxes.preview(&request, &caller).0.quote()
    };
    let (one, both) = (quote("e2b"), quote("e2b").plus(quote("daytona")));
    for (cap, expected) in [
        (one.routed_usd, "above the cost cap"),
        (both.routed_usd, "<h1>Two runs side by side</h1>"),
    ] {
        let cap = cap.to_string();
        let (_, page) = page(&app, &[("token", &token), ("max_cost_usd", &cap)]).await;
        assert!(page.text().contains(expected), "{cap}: {}", page.text());
    }
    let drilled = [("token", token.as_str()), ("drill", "refuses")];
    let (_, page) = self::page(&app, &drilled).await;
    assert!(page.text().contains("rill"), "{}", page.text());
}
