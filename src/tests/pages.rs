//! The pages, through the real routes and middleware: status, headers, and what stands on them.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};

use super::harness::{Answer, TestApp};

/// Every page that answers 200.
const PAGES: [&str; 12] = [
    "/",
    "/sandboxes/e2b",
    "/sandboxes/daytona",
    "/compare",
    "/compare/e2b-vs-daytona",
    "/calculator",
    "/calculator/workload",
    "/try",
    "/changes",
    "/guide",
    "/methodology",
    "/api",
];
/// How a block of data begins, which no browser runs.
const DATA_BLOCK: &str = "<script type=\"application/ld+json\"";
/// Largest catalog page, bytes before compression.
const CATALOG_PAGE_BYTES_MAX: usize = 30_000;

/// The text of a page without tags and the comments that separate its parts.
fn words(answer: &Answer) -> String {
    let mut words = String::new();
    let mut inside = false;
    for letter in answer.text().chars() {
        match letter {
            '<' => inside = true,
            '>' => inside = false,
            _ if !inside => words.push(letter),
            _ => {}
        }
    }
    words
}

#[tokio::test]
async fn every_page_is_whole_html_with_title_description_and_nothing_after_its_end() {
    let app = TestApp::new().await;
    for path in PAGES {
        let answer = app.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        assert!(answer.header(header::CONTENT_TYPE).starts_with("text/html"), "{path}");
        let html = answer.text();
        assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>"), "{path}");
        assert_eq!(html.matches("<h1").count(), 1, "{path}");
        assert!(html.contains("<title>") && html.contains("name=\"description\""), "{path}");
        assert!(!html.contains(" style=") && !html.contains("onclick"), "{path}");
    }
}

#[tokio::test]
async fn only_a_page_that_needs_one_loads_a_script() {
    let app = TestApp::new().await;
    for path in PAGES {
        let answer = app.get(path).await;
        let policy = answer.header(header::CONTENT_SECURITY_POLICY);
        assert!(
            policy.contains("default-src 'none'") && !policy.contains("unsafe-inline"),
            "{path}"
        );
        let has_island = path.starts_with("/calculator");
        let has_script = has_island || path == "/try";
        let runs = |text: &str| text.matches("<script").count() - text.matches(DATA_BLOCK).count();
        assert_eq!(runs(answer.text()) > 0, has_script, "{path}");
        assert_eq!(policy.contains("'wasm-unsafe-eval'"), has_island, "{path}");
        assert_eq!(policy.contains("script-src"), has_script, "{path}");
    }
}

#[tokio::test]
async fn the_catalog_page_stays_within_its_budget_and_shows_the_founding_figures() {
    let answer = TestApp::new().await.get("/").await;
    assert!(answer.body.len() < CATALOG_PAGE_BYTES_MAX, "{} bytes", answer.body.len());
    let words = words(&answer);
    for figure in ["$0.09936", "85 of 100", "83 of 100", "virtual machine", "container"] {
        assert!(words.contains(figure), "{figure}");
    }
}

#[tokio::test]
async fn the_menu_leads_only_to_pages_that_are_there() {
    let app = TestApp::new().await;
    for path in PAGES {
        let html = app.get(path).await.text().to_owned();
        for part in html.split("href=\"/").skip(1) {
            let target = format!("/{}", part.split(['"', '#']).next().unwrap());
            if target.contains("?v=") {
                continue;
            }
            assert_eq!(app.get(&target).await.status, StatusCode::OK, "{path} links to {target}");
        }
    }
}

#[tokio::test]
async fn the_comparison_opens_with_a_verdict_from_the_data() {
    let words = words(&TestApp::new().await.get("/compare/e2b-vs-daytona").await);
    for finding in [
        "Same rates",
        "$0.000014 per vCPU-second and $0.0000045 per GiB-second of memory",
        "$0.0000168 and $0.0000054 through the router",
        "Unequal bills if you just call create",
        "$0.00003025 a second for the base template",
        "$0.000037 a second for the code interpreter template",
        "About $0.0000185 a second for the container class",
        "A virtual machine against a container",
        "ended 5 min after create",
        "stopped after 15 min without outside activity",
        "top-ups of $25, $500 and $2,000 every 30 days",
        "the platform is not open source",
        "Sources disagree:",
        "$44.40",
        "$53.28",
    ] {
        assert!(words.to_lowercase().contains(&finding.to_lowercase()), "{finding}");
    }
}

#[tokio::test]
async fn filters_leave_out_what_they_say() {
    let app = TestApp::new().await;
    let all = app.get("/compare/e2b-vs-daytona").await;
    let differing = app.get("/compare/e2b-vs-daytona?only_differences=1").await;
    assert!(words(&all).contains("Routed, USD per vCPU-second"));
    assert!(!words(&differing).contains("Routed, USD per vCPU-second"));
    let undisputed = app.get("/compare/e2b-vs-daytona?only_undisputed=1").await;
    assert!(!words(&undisputed).contains("Sources disagree:"));
    assert!(words(&undisputed).contains("Routed, USD per vCPU-second"));
}

#[tokio::test]
async fn another_order_is_redirected_for_ever_with_its_query() {
    let answer = TestApp::new().await.get("/compare/daytona-vs-e2b?only_differences=1").await;
    assert_eq!(answer.status, StatusCode::PERMANENT_REDIRECT);
    assert_eq!(answer.header(header::LOCATION), "/compare/e2b-vs-daytona?only_differences=1");
}

#[tokio::test]
async fn a_slash_too_many_is_redirected_and_never_to_another_host() {
    let app = TestApp::new().await;
    let answer = app.get("/guide/?x=1").await;
    assert_eq!(answer.status, StatusCode::PERMANENT_REDIRECT);
    assert_eq!(answer.header(header::LOCATION), "/guide?x=1");
    for path in ["//evil.example/", "/%5C/evil.example/x//"] {
        let answer = app.get(path).await;
        let location = answer.header(header::LOCATION);
        assert!(!location.starts_with("//") && !location.contains('\\'), "{path}: {location}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_answered_with_help() {
    let app = TestApp::new().await;
    for (path, status, help) in [
        ("/compare/e2b", StatusCode::BAD_REQUEST, "href=\"/compare/e2b-vs-daytona\""),
        ("/compare/e2b-vs-e2b", StatusCode::BAD_REQUEST, "href=\"/compare/e2b-vs-daytona\""),
        ("/compare/e2b-vs-dayton", StatusCode::NOT_FOUND, "href=\"/compare/e2b-vs-daytona\""),
        (
            "/compare/e2b-vs-daytona-vs-e2b",
            StatusCode::BAD_REQUEST,
            "href=\"/compare/e2b-vs-daytona\"",
        ),
        (
            "/compare/daytona-vs-e2b-vs-dayton",
            StatusCode::NOT_FOUND,
            "href=\"/compare/e2b-vs-daytona\"",
        ),
        ("/compare/-vs-", StatusCode::NOT_FOUND, "href=\"/compare\""),
        ("/compare/a-vs-b-vs-c-vs-d-vs-e-vs-f", StatusCode::BAD_REQUEST, "href=\"/compare\""),
        ("/sandboxes/dayton", StatusCode::NOT_FOUND, "href=\"/sandboxes/daytona\""),
        ("/sandboxes/%FF", StatusCode::NOT_FOUND, "href=\"/\""),
        ("/sandboxes/%3Cscript%3E", StatusCode::NOT_FOUND, "&lt;script&gt;"),
        ("/daytona", StatusCode::NOT_FOUND, "href=\"/sandboxes/daytona\""),
        ("/nothing/here", StatusCode::NOT_FOUND, "href=\"/\""),
        ("/../Cargo.toml", StatusCode::NOT_FOUND, "href=\"/\""),
    ] {
        let answer = app.get(path).await;
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.text().contains(help), "{path}: {}", answer.text());
        assert_eq!(answer.header(header::CACHE_CONTROL), "no-store", "{path}");
    }
}

#[tokio::test]
async fn values_that_cannot_be_read_are_said_and_tracking_tags_are_not() {
    let app = TestApp::new().await;
    for (path, field) in [
        ("/?vcpu=many", "vcpu"),
        ("/?price=free", "price"),
        ("/calculator?runaways=-1", "runaways"),
        ("/calculator?plan=e2b:gold", "plan"),
        ("/compare/e2b-vs-daytona?only_differences=yes", "only_differences"),
    ] {
        let answer = app.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        assert!(answer.text().contains("class=\"notice\""), "{path}");
        assert!(answer.text().contains(&format!("<code>{field}</code>")), "{path}");
    }
    for path in ["/?utm_source=mail", "/?price=&vcpu=2", "/calculator?utm_medium=x"] {
        assert!(!app.get(path).await.text().contains("class=\"notice\""), "{path}");
    }
}

#[tokio::test]
async fn the_calculator_answers_at_first_sight_and_without_scripts() {
    let app = TestApp::new().await;
    let first = words(&app.get("/calculator").await);
    for figure in ["$0.06048", "$1.45152", "$0.09936"] {
        assert!(first.contains(figure), "{figure}");
    }
    let asked = "/calculator?memory_gib=0&runaways=20&noticed_after_seconds=28800&timeout_seconds=90&attempts=3";
    let answer = app.get(&format!("{asked}&plan=daytona:tier_1")).await;
    let words = words(&answer);
    for figure in ["$9.6768", "$0.09072", "$9.58608", "$0.1008", "$1.2096", "$4.8384", "$0.1512"] {
        assert!(words.contains(figure), "{figure}");
    }
    assert!(words.contains("10 of 10 (vCPU pool, Tier 1), 10 do not even start"));
    assert!(first.contains("1 of 20 (sandboxes at once, Hobby)"));
    let crowd = super::pages::words(&app.get("/calculator?runaways=5000").await);
    assert!(crowd.contains("5,000; Enterprise names no limit"));
    let unsold = super::pages::words(&app.get("/calculator?vcpu=100").await);
    assert!(unsold.contains("no price") && !unsold.contains("no timeout"));
    assert!(unsold.contains("The nearest size that is sold: 8 vCPU, 2 GiB memory"));
    assert!(answer.text().contains("value=\"28800\""), "what was asked stays in the form");
}

#[tokio::test]
async fn hosts_that_are_not_ours_are_turned_away_with_a_page_or_a_problem() {
    let app = TestApp::at(Some("https://thud.example")).await;
    let ask = |path: &str, host: &str| {
        Request::get(path).header(header::HOST, host).body(Body::empty()).unwrap()
    };
    let ours = app.send(ask("/", "thud.example")).await;
    assert_eq!(ours.status, StatusCode::OK);
    assert!(ours.text().contains("href=\"https://thud.example/\""), "canonical address");
    let page = app.send(ask("/", "evil.example")).await;
    assert_eq!(page.status, StatusCode::MISDIRECTED_REQUEST);
    assert!(page.text().contains("<h1>"));
    assert!(!page.text().contains("evil.example"));
    let problem = app.send(ask("/api/v1/providers", "evil.example")).await;
    assert_eq!(problem.status, StatusCode::MISDIRECTED_REQUEST);
    assert_eq!(problem.json()["type"], "/api#misdirected");
    let odd = axum::http::HeaderValue::from_bytes(b"thud.ex\xe4mple").unwrap();
    let odd = Request::get("/").header(header::HOST, odd).body(Body::empty()).unwrap();
    assert_eq!(app.send(odd).await.status, StatusCode::MISDIRECTED_REQUEST);
    let preflight = Request::options("/api/v1/providers").header(header::HOST, "evil.example");
    let preflight = app.send(preflight.body(Body::empty()).unwrap()).await;
    assert_eq!(preflight.status, StatusCode::MISDIRECTED_REQUEST);
}

#[tokio::test]
async fn a_page_only_answers_readers() {
    let app = TestApp::new().await;
    let post = Request::post("/").body(Body::empty()).unwrap();
    let answer = app.send(post).await;
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    assert!(answer.text().contains("<h1>"));
    let head = app.send(Request::head("/").body(Body::empty()).unwrap()).await;
    assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
    let head = app.send(Request::head("/nothing").body(Body::empty()).unwrap()).await;
    assert_eq!((head.status, head.body.len()), (StatusCode::NOT_FOUND, 0));
}

#[tokio::test]
async fn a_known_page_is_answered_before_it_is_rendered_but_only_under_its_own_address() {
    let app = TestApp::new().await;
    let tag = app.get("/guide").await.headers[header::ETAG].clone();
    let ask = |path: &str| {
        Request::get(path).header(header::IF_NONE_MATCH, &tag).body(Body::empty()).unwrap()
    };
    assert_eq!(app.send(ask("/guide")).await.status, StatusCode::NOT_MODIFIED);
    assert_eq!(app.send(ask("/")).await.status, StatusCode::OK);
    assert_eq!(app.send(ask("/nothing")).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn files_are_kept_for_ever_under_the_name_of_the_build_only() {
    let files: [(&str, &[u8]); 2] = [("pkg/thud.css", b"a{}"), ("pkg/thud.css.br", b"brotli")];
    let app = TestApp::with(None, &files).await;
    let versioned = app.get("/pkg/thud.css?v=test").await;
    assert_eq!(versioned.status, StatusCode::OK);
    assert!(versioned.header(header::CACHE_CONTROL).contains("immutable"));
    assert_eq!(versioned.header(header::VARY), "accept-encoding");
    let squeezed = Request::get("/pkg/thud.css").header(header::ACCEPT_ENCODING, "br");
    let squeezed = app.send(squeezed.body(Body::empty()).unwrap()).await;
    assert_eq!((squeezed.text(), squeezed.header(header::CONTENT_ENCODING)), ("brotli", "br"));
    assert_eq!(squeezed.header(header::VARY), "accept-encoding");
    assert!(!app.get("/pkg/thud.css").await.header(header::CACHE_CONTROL).contains("immutable"));
    assert!(
        !app.get("/pkg/thud.css?v=old").await.header(header::CACHE_CONTROL).contains("immutable")
    );
    assert_eq!(app.get("/pkg/").await.status, StatusCode::PERMANENT_REDIRECT);
    assert_eq!(app.get("/pkg").await.status, StatusCode::NOT_FOUND);
    assert_eq!(app.get("/../thud.sqlite").await.status, StatusCode::NOT_FOUND);
    assert_eq!(app.get("/%2e%2e/thud.sqlite").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn every_type_of_problem_is_explained_on_the_page_of_the_api() {
    let app = TestApp::new().await;
    let page = app.get("/api").await;
    for kind in [
        "bad-request",
        "not-found",
        "method-not-allowed",
        "too-large",
        "misdirected",
        "internal",
        "unavailable",
    ] {
        assert!(page.text().contains(&format!("id=\"{kind}\"")), "{kind}");
    }
    for path in ["/api/v1/providers", "/api/v1/prices", "/api/v1/exposure", "/api/v1/compare"] {
        assert!(page.text().contains(path), "{path}");
    }
}

#[tokio::test]
async fn a_request_is_named_in_its_answer_and_its_problem() {
    let answer = TestApp::new().await.get("/api/v1/providers/nobody").await;
    let id = answer.header("x-request-id").to_owned();
    assert!(!id.is_empty());
    assert_eq!(answer.json()["instance"], id);
}

#[tokio::test]
async fn the_same_question_has_the_same_answer_and_never_another_ones() {
    let app = TestApp::at(Some("https://thud.example")).await;
    let ask = |path: &str, host: &str, encoding: &str| {
        Request::get(path)
            .header(header::HOST, host)
            .header(header::ACCEPT_ENCODING, encoding)
            .body(Body::empty())
            .unwrap()
    };
    let first = app.send(ask("/?vcpu=2", "thud.example", "br")).await;
    let again = app.send(ask("/?vcpu=2", "thud.example", "br")).await;
    assert_eq!(first.body, again.body);
    assert_eq!(first.headers[header::ETAG], again.headers[header::ETAG]);
    assert_eq!(again.header(header::CONTENT_ENCODING), "br");
    assert_ne!(first.header("x-request-id"), again.header("x-request-id"));
    assert!(again.headers.contains_key(header::CONTENT_SECURITY_POLICY));
    let plain = app.send(ask("/?vcpu=2", "thud.example", "identity")).await;
    assert!(plain.text().ends_with("</html>"), "not compressed for whoever did not ask for it");
    let other = app.send(ask("/?vcpu=4", "thud.example", "identity")).await;
    assert_ne!(plain.body, other.body);
    let stranger = app.send(ask("/?vcpu=2", "evil.example", "br")).await;
    assert_eq!(stranger.status, StatusCode::MISDIRECTED_REQUEST);
    let bad = app.send(ask("/api/v1/prices?vcpu=many", "thud.example", "identity")).await;
    let bad_again = app.send(ask("/api/v1/prices?vcpu=many", "thud.example", "identity")).await;
    assert_ne!(bad.json()["instance"], bad_again.json()["instance"], "errors are not kept");
}

#[tokio::test]
async fn the_catalog_is_filtered_and_ordered_by_its_address() {
    let app = TestApp::new().await;
    let slugs = async |query: &str| -> Vec<String> {
        let answer = app.get(&format!("/?{query}")).await;
        assert!(answer.body.len() < CATALOG_PAGE_BYTES_MAX, "{query}: {} bytes", answer.body.len());
        let boxes = answer.text().split("name=\"p\" value=\"").skip(1);
        boxes.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    };
    let all = slugs("").await;
    assert_eq!(all[..2], ["e2b", "daytona"]);
    let routed = slugs("status=routed").await;
    assert_eq!(routed, ["e2b", "daytona"]);
    let cheap = slugs("sort=price&price=list").await;
    let dear = slugs("sort=price&order=desc&price=list").await;
    assert_eq!(cheap.len(), all.len());
    assert_ne!(cheap.first(), dear.first());
    // What has no rank comes last in both directions, in the same order.
    assert_eq!(cheap.last(), dear.last());
    let open = slugs("open_source=1").await;
    assert!(open.contains(&"e2b".to_owned()) && !open.contains(&"daytona".to_owned()));
    assert!(
        slugs("isolation=virtual_machine").await.contains(&"daytona".to_owned()),
        "any variant"
    );
    assert!(slugs("sort=beauty").await.len() == all.len(), "an unknown order is said, not obeyed");
    assert!(app.get("/?sort=beauty").await.text().contains("class=\"notice\""));
}

#[tokio::test]
async fn the_chosen_are_compared_at_their_own_address() {
    let app = TestApp::new().await;
    let answer = app.get("/compare?p=daytona&p=e2b").await;
    assert_eq!(answer.status, StatusCode::PERMANENT_REDIRECT);
    assert_eq!(answer.header(header::LOCATION), "/compare/e2b-vs-daytona");
    assert_eq!(app.get("/compare?p=e2b").await.status, StatusCode::BAD_REQUEST);
    assert_eq!(app.get("/compare?p=e2b&p=nobody").await.status, StatusCode::NOT_FOUND);
    let six = "p=a&p=b&p=c&p=d&p=e&p=f";
    assert_eq!(app.get(&format!("/compare?{six}")).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn every_provider_has_a_page_and_compares_with_the_first() {
    let app = TestApp::new().await;
    let providers = app.get("/api/v1/providers").await.json();
    for provider in providers["result"].as_array().unwrap() {
        let slug = provider["slug"].as_str().unwrap();
        assert_eq!(app.get(&format!("/sandboxes/{slug}")).await.status, StatusCode::OK, "{slug}");
        if slug != "e2b" {
            let path = format!("/compare/e2b-vs-{slug}");
            assert_eq!(app.get(&path).await.status, StatusCode::OK, "{slug}");
        }
    }
}

#[tokio::test]
async fn a_bill_that_depends_is_never_told_as_if_it_were_exact() {
    let app = TestApp::new().await;
    let modal = words(&app.get("/compare/e2b-vs-modal").await);
    assert!(modal.contains("$0.00000576125 or more a second"), "{modal}");
}

#[tokio::test]
async fn a_handler_that_panics_is_answered_with_a_page_or_a_problem() {
    async fn broken() -> &'static str {
        panic!("a secret of the house")
    }
    let routes = axum::Router::new()
        .route("/broken", axum::routing::get(broken))
        .route("/api/v1/broken", axum::routing::get(broken));
    let app = TestApp::behind_middleware(routes).await;
    let page = app.get("/broken").await;
    assert_eq!(page.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(page.text().contains("<h1>") && !page.text().contains("secret"));
    assert_eq!(page.header(header::CACHE_CONTROL), "no-store");
    let problem = app.get("/api/v1/broken").await;
    assert_eq!(problem.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(problem.json()["type"], "/api#internal");
    assert_eq!(problem.json()["instance"], problem.header("x-request-id"));
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_before_it_is_read() {
    let app = TestApp::new().await;
    let post = Request::post("/api/v1/providers")
        .header(header::CONTENT_LENGTH, "1000000")
        .body(Body::empty())
        .unwrap();
    let answer = app.send(post).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(answer.json()["type"], "/api#too-large");
}

#[tokio::test]
async fn an_answer_is_kept_for_one_encoding_however_a_client_asks_for_it() {
    let app = TestApp::new().await;
    let ask = |lines: &[&str]| {
        let mut request = Request::get("/guide");
        for line in lines {
            request = request.header(header::ACCEPT_ENCODING, *line);
        }
        request.body(Body::empty()).unwrap()
    };
    let first = app.send(ask(&["identity", "br"])).await;
    assert_eq!(first.header(header::CONTENT_ENCODING), "br");
    for lines in [&["identity"][..], &[], &["br;q=0"]] {
        let plain = app.send(ask(lines)).await;
        assert_eq!(plain.header(header::CONTENT_ENCODING), "", "{lines:?}");
        assert!(plain.text().starts_with("<!DOCTYPE html>"), "{lines:?}");
    }
    // What is kept answers those who have it already, too.
    let tag = first.headers[header::ETAG].clone();
    let known = Request::get("/guide").header(header::IF_NONE_MATCH, &tag);
    let known = app.send(known.body(Body::empty()).unwrap()).await;
    assert_eq!((known.status, known.body.len()), (StatusCode::NOT_MODIFIED, 0));
}

#[tokio::test]
async fn what_is_typed_is_repeated_within_bounds_and_without_marks_of_direction() {
    let app = TestApp::new().await;
    let long = app.get(&format!("/?vcpu={}", "9".repeat(8_000))).await;
    assert!(long.body.len() < 2 * CATALOG_PAGE_BYTES_MAX, "{}", long.body.len());
    for path in ["/calculator?vcpu=", "/changes?providers=", "/compare?p=e2b&p=", "/compare/"] {
        let answer = app.get(&format!("{path}%E2%80%AEx")).await;
        assert!(!answer.text().contains('\u{202e}'), "{path}");
    }
}

#[tokio::test]
async fn every_column_orders_both_ways_and_what_is_unknown_comes_last_in_both() {
    let app = TestApp::new().await;
    let order = async |sort: &str, direction: &str| -> Vec<serde_json::Value> {
        let path = format!("/api/v1/providers?price=list&sort={sort}&order={direction}");
        app.get(&path).await.json()["result"].as_array().unwrap().clone()
    };
    let has_rank = |sort: &str, one: &serde_json::Value| match sort {
        "price" => one["hour"]["ranked"] == true,
        "isolation" => !one["isolation"]["tier"]["value"].is_null(),
        "egress" => !one["egress"]["can_disable_at_create"]["value"].is_null(),
        "score" => one["quality_score"]["state"] == "known",
        "open_source" => !one["deploy"]["open_source"]["value"].is_null(),
        "start" => one["measurements"].as_array().unwrap().iter().any(|measurement| {
            let figures = measurement["statistics"].as_array().unwrap();
            figures.iter().any(|figure| figure["name"].as_str().unwrap().contains("median"))
        }),
        _ => true,
    };
    for sort in
        ["position", "name", "price", "isolation", "egress", "score", "start", "open_source"]
    {
        let (up, down) = (order(sort, "asc").await, order(sort, "desc").await);
        for list in [&up, &down] {
            let ranked: Vec<bool> = list.iter().map(|one| has_rank(sort, one)).collect();
            assert!(ranked.is_sorted_by(|left, right| left >= right), "{sort}: {ranked:?}");
        }
        assert_ne!(up[0]["slug"], down[0]["slug"], "{sort}");
    }
    let html = app.get("/").await;
    assert_eq!(html.text().matches("aria-sort=").count(), 7);
}

#[tokio::test]
async fn the_catalog_says_how_many_are_left_out_and_by_what() {
    let app = TestApp::new().await;
    let asked = "isolation=virtual_machine&open_source=1&status=listed";
    for path in [format!("/?{asked}"), format!("/catalog.md?{asked}")] {
        let said = words(&app.get(&path).await).replace('\\', "");
        let why = "asks for: virtual machine in some variant, listed, open source.";
        assert!(said.contains("more are left out by the filter, which"), "{path}");
        assert!(said.contains(why), "{path}");
    }
    assert!(!words(&app.get("/").await).contains("left out"));
}
