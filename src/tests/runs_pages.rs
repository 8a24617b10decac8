//! Running code from the page, through the real routes: the form, the action, the receipt, and what is turned away.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use form_urlencoded::Serializer;
use jiff::Timestamp;

use super::harness::{Answer, TestApp};
use crate::access;
use crate::money::Usd;
use crate::router::adapter::{Adapter, Readiness};
use crate::runs::CODE_BYTES_MAX;
use crate::standins::scripted::{Script, Scripted};
use crate::state::AppState;

/// A site with a `local` that follows a script, and some that want a token.
async fn site(local: Script) -> (TestApp, AppState) {
    let adapters: Vec<Arc<dyn Adapter>> = vec![
        Arc::new(Scripted::new("local", local)),
        Arc::new(Scripted::new("scripted-refuses", Script::Refuses)),
        Arc::new(Scripted::new("scripted-loses", Script::Loses)),
        Arc::new(Scripted::new("scripted-runs", Script::Runs)),
    ];
    TestApp::running(adapters).await
}

fn form(fields: &[(&str, &str)]) -> String {
    Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// Sends a form as a browser does from our own page.
async fn post(app: &TestApp, path: &str, fields: &[(&str, &str)]) -> Answer {
    let request = Request::post(path)
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(header::ACCEPT, "text/html,application/xhtml+xml")
        .header(header::REFERER, "http://127.0.0.1:3000/try")
        .header("sec-fetch-site", "same-origin");
    let body = form(fields);
    let request = request.header(header::CONTENT_LENGTH, body.len());
    app.send(request.body(Body::from(body)).unwrap()).await
}

async fn run(app: &TestApp, fields: &[(&str, &str)]) -> (String, Answer) {
    let sent = post(app, "/actions/start-run", fields).await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER, "{}", sent.text());
    let receipt = sent.header(header::LOCATION).to_owned();
    assert!(receipt.starts_with("/runs/"), "{receipt}");
    let page = app.get(&receipt).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.text());
    (receipt, page)
}

async fn token(state: &AppState) -> String {
    access::create(&state.pool, "tests", Usd::from(1), None, Timestamp::now()).await.unwrap()
}

const HELLO: [(&str, &str); 2] = [("language", "python"), ("code", "print(1)\r\nprint(2)\r\n")];

#[tokio::test]
async fn a_run_from_the_page_leads_to_its_receipt() {
    let (app, _) = site(Script::Runs).await;
    let (_, page) = run(&app, &HELLO).await;
    let html = page.text();
    for words in [
        "<h1>It ran to its end</h1>",
        "exit code 0",
        // The ends of lines are one character each, as they were typed.
        "local: 18 bytes of Python",
        "destroyed, confirmed",
        "scripted-runs</code>",
        "needs a token that may use it",
        "name=\"robots\" content=\"noindex\"",
        "href=\"/try?run=",
        "print(1)\nprint(2)\n",
    ] {
        assert!(html.contains(words), "{words}: {html}");
    }
    assert_eq!(page.header(header::CACHE_CONTROL), "no-store");
    assert_eq!(page.header(header::ETAG), "");
    assert_eq!(page.header("refresh"), "");
    assert_eq!(page.header(header::ACCESS_CONTROL_ALLOW_ORIGIN), "");
    assert!(!page.header(header::CONTENT_SECURITY_POLICY).contains("wasm"));
}

#[tokio::test]
async fn a_receipt_is_asked_for_again_until_it_is_final() {
    let (app, _) = site(Script::Loops).await;
    let fields = [HELLO[0], HELLO[1], ("timeout_ms", "1500")];
    let (receipt, page) = run(&app, &fields).await;
    assert_eq!(page.header("refresh"), "2");
    assert!(page.text().contains("<h1>It is running</h1>") && page.text().contains("data-live"));
    let id = receipt.rsplit('/').next().unwrap();
    app_wait(&app, id).await;
    let page = app.get(&receipt).await;
    let html = page.text();
    assert!(html.contains("<h1>The time limit ended it</h1>"), "{html}");
    assert!(html.contains("It is the code that wants changing, not the limit"), "{html}");
    assert_eq!(page.header("refresh"), "");
    assert!(!html.contains("data-live"));
}

/// Asks until the page says that the run is over. Each answer waits a while itself.
async fn app_wait(app: &TestApp, id: &str) {
    for _ in 0..20 {
        if app.get(&format!("/runs/{id}")).await.header("refresh").is_empty() {
            return;
        }
    }
    panic!("never final");
}

#[tokio::test]
async fn a_chain_of_attempts_is_told_and_a_token_is_never_shown() {
    let (app, state) = site(Script::Runs).await;
    let token = token(&state).await;
    let fields =
        [HELLO[0], HELLO[1], ("providers", "scripted-refuses, scripted-runs"), ("token", &token)];
    let (receipt, page) = run(&app, &fields).await;
    let html = page.text();
    for words in [
        "Failed while a sandbox was asked for: no capacity, HTTP 503. No code had run. The next was tried.",
        "The code ran to its end.",
        "there was none",
        "scripted-refuses, then scripted-runs",
    ] {
        assert!(html.contains(words), "{words}: {html}");
    }
    let again = app.get(&format!("/try?run={}", receipt.rsplit('/').next().unwrap())).await;
    assert!(again.text().contains("value=\"scripted-refuses, scripted-runs\""));
    let quote = post(&app, "/try", &fields).await;
    assert_eq!(quote.status, StatusCode::OK);
    assert!(quote.text().contains("With the token “tests”"), "{}", quote.text());
    for page in [&page, &again, &quote] {
        assert!(!page.text().contains(&token), "{}", page.text());
    }
    assert!(!receipt.contains("thud_"));
}

#[tokio::test]
async fn an_interrupted_run_is_not_repeated_and_the_page_says_why() {
    let (app, state) = site(Script::Runs).await;
    let token = token(&state).await;
    let order = ("providers", "scripted-loses,scripted-runs");
    let (_, page) = run(&app, &[HELLO[0], HELLO[1], order, ("token", &token)]).await;
    for words in ["<h1>What it did is not known</h1>", "nobody runs it again", "not needed"] {
        assert!(page.text().contains(words), "{words}: {}", page.text());
    }
}

#[tokio::test]
async fn every_refusal_has_a_receipt_with_the_snippet() {
    let (app, _) = site(Script::Runs).await;
    let check = async |fields: &[(&str, &str)], why: &str, kept: &str| {
        let (receipt, page) = run(&app, fields).await;
        let html = page.text();
        assert!(html.contains("<h1>It was not run</h1>"), "{html}");
        assert!(html.contains(why), "{why}: {html}");
        let again = html.split("href=\"/try?").nth(1).unwrap().split('"').next().unwrap();
        let again = again.replace("&amp;", "&");
        let form = app.get(&format!("/try?{again}")).await;
        assert!(form.text().contains(kept), "{receipt} {again} {kept}: {}", form.text());
        assert!(form.text().contains(">print(1)\nprint(2)\n</textarea>"), "{}", form.text());
    };
    let with = |name: &'static str, value: &'static str| [HELLO[0], HELLO[1], (name, value)];
    check(&with("timeout_ms", "ten"), "Timeout_ms must be 100 to", "value=\"ten\"").await;
    check(&with("timeout_ms", "20000"), "Without a token the time limit", "value=\"20000\"").await;
    check(&with("providers", "acme, e2b"), "is not one of local", "value=\"acme, e2b\"").await;
    check(&with("egress", "some"), "Egress is not one of none, open.", "<code>egress</code>").await;
    check(&with("max_cost_usd", "much"), "Max_cost_usd", "value=\"much\"").await;
    check(&with("token", "thud_nobody_0"), "This token is not known here", "print(1)").await;
    check(&with("providers", "scripted-runs"), "No provider may or can run it", "scripted-runs")
        .await;
    let perl = [("language", "perl"), HELLO[1]];
    check(&perl, "Language is not one of python", "print(1)").await;
    let (_, empty) = run(&app, &[HELLO[0], ("code", "")]).await;
    assert!(empty.text().contains("Code is empty"), "{}", empty.text());
    let (_, nothing) = run(&app, &[]).await;
    assert!(nothing.text().contains("It was not run"));
}

#[tokio::test]
async fn as_much_code_as_is_allowed_is_taken_and_more_is_explained() {
    let (app, _) = site(Script::Runs).await;
    // Three bytes each in a form.
    let most = "é".repeat(CODE_BYTES_MAX / 2);
    let (_, page) = run(&app, &[HELLO[0], ("code", &most)]).await;
    assert!(page.text().contains("It ran to its end"));
    let more = format!("{most}x");
    for path in ["/actions/start-run", "/try"] {
        let answer = post(&app, path, &[HELLO[0], ("code", &more)]).await;
        assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE, "{path}");
        let html = answer.text();
        assert!(
            html.contains("That is too much code") && html.contains("go back one page"),
            "{path}"
        );
        assert_eq!(answer.header(header::LOCATION), "");
        let absurd = post(&app, path, &[("code", &more.repeat(8))]).await;
        assert_eq!(absurd.status, StatusCode::PAYLOAD_TOO_LARGE, "{path}");
    }
}

#[tokio::test]
async fn only_our_own_page_can_run_code() {
    async fn sent(app: &TestApp, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request =
            Request::post(path).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        app.send(request.body(Body::from(form(&HELLO))).unwrap()).await
    }
    let (app, _) = site(Script::Runs).await;
    let local = (header::HOST.as_str(), "127.0.0.1:3000");
    for path in ["/actions/start-run", "/try"] {
        for headers in [
            &[][..],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
            &[local, ("origin", "http://evil.example")],
            &[local, ("origin", "null")],
        ] {
            let answer = sent(&app, path, headers).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path} {headers:?}");
            assert!(answer.text().contains("Not from another site"));
        }
    }
    for headers in
        [&[("sec-fetch-site", "none")][..], &[local, ("origin", "http://127.0.0.1:3000")]]
    {
        let answer = sent(&app, "/actions/start-run", headers).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{headers:?}");
    }
    let public = Some("https://thud.example");
    let local: Vec<Arc<dyn Adapter>> = vec![Arc::new(Scripted::new("local", Script::Runs))];
    let (app, _) = TestApp::running_at(public, local).await;
    let host = (header::HOST.as_str(), "thud.example");
    let own = sent(&app, "/actions/start-run", &[host, ("origin", "https://thud.example")]).await;
    assert_eq!(own.status, StatusCode::SEE_OTHER);
    let other = sent(&app, "/actions/start-run", &[host, ("origin", "http://thud.example")]).await;
    assert_eq!(other.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_post_that_nobody_takes_leads_nowhere_else() {
    let (app, _) = site(Script::Runs).await;
    for path in ["/actions/end-world", "/actions/", "/actions"] {
        let answer = post(&app, path, &HELLO).await;
        assert!(answer.status.is_client_error(), "{path}: {}", answer.status);
        assert!(answer.text().contains("<h1>"), "{path}");
    }
    // Nor is what cannot be read sent back with a word in the address.
    let request = Request::post("/actions/start-run")
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(header::ACCEPT, "text/html")
        .header(header::REFERER, "http://127.0.0.1:3000/try")
        .header("sec-fetch-site", "same-origin");
    let twice = app.send(request.body(Body::from("code=a&code=b")).unwrap()).await;
    assert_eq!(twice.status, StatusCode::BAD_REQUEST);
    assert_eq!(twice.header(header::LOCATION), "");
    assert_eq!(app.get("/actions/start-run").await.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn what_code_writes_is_text_and_nothing_else() {
    let hostile = "<script>alert(1)</script>\u{1b}[2J\u{202e}txt\u{200b}</pre>&amp;";
    let adapters: Vec<Arc<dyn Adapter>> = vec![Arc::new(Scripted::new("local", Script::Echoes))];
    let (app, _) = TestApp::running(adapters).await;
    let (_, page) = run(&app, &[HELLO[0], ("code", hostile)]).await;
    let html = page.text();
    let inert = "&lt;script&gt;alert(1)&lt;/script&gt;␛[2J⟨U+202E⟩txt⟨U+200B⟩&lt;/pre&gt;&amp;amp;";
    assert_eq!(html.matches(inert).count(), 2, "output and code: {html}");
    assert!(!html.contains("<script>alert") && !html.contains(['\u{1b}', '\u{202e}', '\u{200b}']));
}

#[tokio::test]
async fn long_output_is_folded_and_cut_and_both_are_said() {
    let adapters: Vec<Arc<dyn Adapter>> = vec![Arc::new(Scripted::new("local", Script::Echoes))];
    let (app, _) = TestApp::running(adapters).await;
    let mut long = String::new();
    for line in 0..30_000 {
        writeln!(long, "line {line:03}").unwrap();
    }
    let long = &long[..CODE_BYTES_MAX];
    let (_, page) = run(&app, &[HELLO[0], ("code", long)]).await;
    let html = page.text();
    assert!(html.contains("bytes more</summary>"), "no fold");
    assert!(page.body.len() < 2 * 1024 * 1024, "{} bytes", page.body.len());
}

#[tokio::test]
async fn a_run_that_is_not_there_is_not_found() {
    let (app, _) = site(Script::Runs).await;
    for path in ["/runs/0123456789abcdef0123456789abcdef", "/runs/x", "/runs/%3Cscript%3E"] {
        let answer = app.get(path).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert!(answer.text().contains("noindex"), "{path}");
        assert_eq!(answer.header(header::CACHE_CONTROL), "no-store", "{path}");
        assert!(!answer.text().contains("<script>"));
    }
    let past = app.get("/runs/x?as_of=2026-01-01").await;
    assert!(!past.text().contains("The catalog as of"));
}

#[tokio::test]
async fn the_page_says_which_providers_are_ready_and_what_unlocks_the_others() {
    let at = |slug, readiness| {
        let mut one = Scripted::new(slug, Script::Refuses);
        one.readiness = readiness;
        Arc::new(one)
    };
    let adapters: Vec<Arc<dyn Adapter>> = vec![
        at("local", Readiness::WarmingUp),
        at("scripted-refuses", Readiness::Ready),
        at("scripted-none", Readiness::NotConfigured),
    ];
    let (app, state) = TestApp::running(adapters).await;
    let html = app.get("/try").await.text().to_owned();
    for words in [
        "<span>warming up</span>",
        "<span>ready; needs a token</span>",
        "<span>not configured on this site</span>",
        "thud token create --name NAME --daily-budget-usd 0.50 --providers local,scripted-refuses</code>",
    ] {
        assert!(html.contains(words), "{words}: {html}");
    }
    let token = token(&state).await;
    let fields = [HELLO[0], HELLO[1], ("providers", "scripted-refuses"), ("token", &token)];
    for _ in 0..3 {
        run(&app, &fields).await;
    }
    let page = post(&app, "/try", &fields).await;
    assert!(page.text().contains("<span>left out for a while, after failures</span>"));
    assert!(!page.text().contains("thud token create"), "nothing is locked to this token");
    let named: Vec<String> = vec!["local".to_owned()];
    let narrow =
        access::create(&state.pool, "narrow", Usd::from(1), Some(&named), Timestamp::now())
            .await
            .unwrap();
    let page = post(&app, "/try", &[HELLO[0], HELLO[1], ("token", &narrow)]).await;
    assert!(page.text().contains("this token may not use it"), "{}", page.text());
}

#[tokio::test]
async fn the_form_shows_the_quote_and_what_stands_in_its_address() {
    let (app, _) = site(Script::Runs).await;
    let page = app.get("/try").await;
    let html = page.text();
    assert_eq!(page.header(header::CACHE_CONTROL), "private, no-cache");
    for words in [
        "Hello from Python",
        "Without a token it costs at most <!><strong>$",
        "tried first",
        "not tried: not permitted",
        "WebAssembly software fault isolation",
        "curl --json @-",
        "urllib.request",
    ] {
        let plain = words.replace("<!>", "");
        assert!(html.replace("<!>", "").contains(&plain), "{words}: {html}");
    }
    for word in [
        "hello",
        "versions",
        "exception",
        "loop",
        "files",
        "socket",
        "output",
        "leave-state",
        "find-state",
    ] {
        for language in ["python", "javascript"] {
            let page = app.get(&format!("/try?example={word}&language={language}")).await;
            let chosen = format!("<option value=\"{language}\" selected");
            assert!(page.text().contains(&chosen), "{word} {language}");
            assert_eq!(page.text().matches("<textarea").count(), 1);
        }
    }
    let asked = app.get("/try?timeout_ms=x&providers=local&fallback=false&utm_source=mail").await;
    let html = asked.text();
    assert!(
        html.contains("class=\"notice\"") && html.contains("<code>timeout_ms</code>"),
        "{html}"
    );
    assert!(html.contains("value=\"x\" ") && html.contains("aria-invalid=\"true\""), "{html}");
    assert!(html.contains("<option value=\"false\" selected"), "{html}");
    assert!(!app.get("/try?as_of=2026-01-01").await.text().contains("The catalog as of"));
}
