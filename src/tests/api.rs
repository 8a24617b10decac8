//! The public JSON, through the real routes and middleware.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};

use super::harness::TestApp;

#[tokio::test]
async fn the_names_that_others_rely_on_are_there() {
    let answer = TestApp::new().await.get("/api/v1/providers").await;
    assert_eq!(answer.status, StatusCode::OK);
    let json = answer.json();
    assert_eq!(json["total"], json["result"].as_array().unwrap().len());
    assert_eq!(json["revision"].as_str().unwrap().len(), 12);
    let expected = [("e2b", "virtual_machine", 85), ("daytona", "container", 83)];
    for (place, (slug, tier, score)) in expected.into_iter().enumerate() {
        let provider = &json["result"][place];
        assert_eq!(provider["slug"], slug);
        assert_eq!(provider["status"], "routed");
        assert_eq!(provider["isolation"]["tier"]["value"], tier);
        assert_eq!(provider["list"]["usd_per_vcpu_second"], "0.000014");
        assert_eq!(provider["list"]["usd_per_gib_memory_second"], "0.0000045");
        assert_eq!(provider["fee_percent"], "20");
        assert_eq!(provider["routed"]["state"], "known");
        assert_eq!(provider["routed"]["usd_per_vcpu_second"], "0.0000168");
        assert_eq!(provider["routed"]["usd_per_gib_memory_second"], "0.0000054");
        assert_eq!(provider["quality_score"]["state"], "known");
        assert_eq!(provider["quality_score"]["value"], score);
        assert_eq!(provider["quality_score"]["scale"], 100);
    }
}

#[tokio::test]
async fn a_provider_and_its_prices_stand_alone_too() {
    let app = TestApp::new().await;
    assert_eq!(app.get("/api/v1/providers/e2b").await.json()["result"]["name"], "E2B");
    let prices = app.get("/api/v1/providers/daytona/prices?price=list").await.json();
    assert_eq!(prices["result"][0]["rate"]["usd"], "0.0504");
    assert_eq!(prices["result"][0]["rate"]["per"], "vcpu_hour");
    let disk =
        prices["result"].as_array().unwrap().iter().find(|row| row["component"] == "disk").unwrap();
    assert_eq!(disk["state"], "disputed");
    assert!(disk["claims"].as_array().unwrap().len() >= 2);
}

#[tokio::test]
async fn the_founding_figures_are_those_of_the_api() {
    let app = TestApp::new().await;
    let answer = app.get("/api/v1/exposure").await;
    for provider in answer.json()["result"].as_array().unwrap() {
        assert_eq!(provider["price"], "routed");
        assert_eq!(provider["cpu"]["usd_per_hour"]["usd"], "0.06048");
        assert_eq!(provider["cpu"]["usd_per_day"]["usd"], "1.45152");
        assert_eq!(provider["whole"]["usd_per_hour"]["usd"], "0.09936");
    }
    let answer = app
        .get("/api/v1/exposure?memory_gib=0&runaways=20&noticed_after_seconds=28800&timeout_seconds=90&attempts=3&plan=daytona:tier_1")
        .await;
    let daytona = &answer.json()["result"][1];
    assert_eq!(daytona["cpu"]["until_noticed"]["usd"], "9.6768");
    assert_eq!(daytona["cpu"]["saved"]["usd"], "9.58608");
    assert_eq!(daytona["runaways_held"], 10);
    let answer = app.get("/api/v1/exposure?memory_gib=0&runaways=20").await;
    let daytona = &answer.json()["result"][1];
    assert_eq!(daytona["plan"], "tier_2", "the cheapest plan that holds all twenty");
    assert_eq!(daytona["runaways_held"], 20);
    let prices =
        app.get("/api/v1/prices?providers=daytona,e2b&seconds=3600&price=list").await.json();
    assert_eq!(prices["result"][0]["slug"], "e2b");
    assert_eq!(prices["result"][0]["estimate"]["usd"], "0.0828");
}

#[tokio::test]
async fn bad_and_absurd_input_is_answered_with_field_and_range() {
    let app = TestApp::new().await;
    let long = "9".repeat(1_000);
    for (query, field) in [
        ("prices?vcpu=0", "vcpu"),
        ("prices?vcpu=-1", "vcpu"),
        ("prices?vcpu=NaN", "vcpu"),
        ("prices?vcpu=1e30", "vcpu"),
        ("prices?vcpu=1,5", "vcpu"),
        ("prices?vcpu=", "vcpu"),
        ("prices?vcpu=0.0001", "vcpu"),
        ("prices?seconds=0", "seconds"),
        ("prices?price=free", "price"),
        ("prices?flavour=sweet", "flavour"),
        ("prices?vcpu=1&vcpu=2", "vcpu"),
        ("prices?providers=nobody", "providers"),
        ("prices?providers=e2b,e2b", "providers"),
        ("prices?as_of=2999-01-01", "as_of"),
        ("prices?as_of=yesterday", "as_of"),
        ("exposure?runaways=10001", "runaways"),
        ("exposure?runaways=1.5", "runaways"),
        ("exposure?timeout_seconds=never", "timeout_seconds"),
        ("exposure?attempts=0", "attempts"),
        ("exposure?plan=e2b", "plan"),
        ("exposure?plan=e2b:gold", "plan"),
        ("exposure?plan=e2b:hobby,e2b:pro", "plan"),
        ("providers?limit=0", "limit"),
        ("providers/e2b?x=1", "x"),
    ] {
        let answer = app.get(&format!("/api/v1/{query}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
        assert_eq!(answer.headers[header::CONTENT_TYPE], "application/problem+json", "{query}");
        assert_eq!(answer.json()["errors"][0]["field"], field, "{query}");
    }
    let answer = app.get(&format!("/api/v1/prices?vcpu={long}")).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn the_largest_allowed_question_does_not_overflow() {
    let answer = TestApp::new()
        .await
        .get(
            "/api/v1/exposure?vcpu=1024&memory_gib=16384&disk_gib=65536&runaways=10000\
             &noticed_after_seconds=2592000&timeout_seconds=none&attempts=100",
        )
        .await;
    assert_eq!(answer.status, StatusCode::OK);
    let json = answer.json();
    assert_eq!(json["result"][0]["whole"]["until_noticed"]["exactness"], "unpriced");
}

#[tokio::test]
async fn unknown_paths_and_slugs_are_problems_too() {
    let app = TestApp::new().await;
    for path in [
        "/api/v2",
        "/api/v1/nothing/here",
        "/api/v1/providers/daytom",
        "/api/v1/providers/%FF",
        "/api/v1/providers/%FF/prices",
    ] {
        let answer = app.get(path).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(answer.headers[header::CONTENT_TYPE], "application/problem+json", "{path}");
    }
    let detail = app.get("/api/v1/providers/daytom").await.json()["detail"].to_string();
    assert!(detail.contains("did you mean daytona?"), "{detail}");
    let post = Request::post("/api/v1/providers").body(Body::empty()).unwrap();
    assert_eq!(app.send(post).await.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn a_known_entity_tag_is_answered_with_304() {
    let app = TestApp::new().await;
    let first = app.get("/api/v1/providers").await;
    let tag = first.headers[header::ETAG].clone();
    assert!(tag.to_str().unwrap().starts_with("W/"));
    assert!(
        first.headers[header::CACHE_CONTROL].to_str().unwrap().contains("stale-while-revalidate")
    );
    assert_eq!(first.headers[header::ACCESS_CONTROL_ALLOW_ORIGIN], "*");
    let again = Request::get("/api/v1/providers").header(header::IF_NONE_MATCH, tag);
    let second = app.send(again.body(Body::empty()).unwrap()).await;
    assert_eq!((second.status, second.body.len()), (StatusCode::NOT_MODIFIED, 0));
}

#[tokio::test]
async fn head_and_options_behave() {
    let app = TestApp::new().await;
    let head = app.send(Request::head("/api/v1/providers").body(Body::empty()).unwrap()).await;
    assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
    let options = Request::options("/api/v1/providers").body(Body::empty()).unwrap();
    let options = app.send(options).await;
    assert_eq!(options.status, StatusCode::NO_CONTENT);
    assert_eq!(options.headers[header::ALLOW], "GET, HEAD, OPTIONS");
}

#[tokio::test]
async fn answers_come_compressed_and_with_security_headers() {
    let app = TestApp::new().await;
    for encoding in ["br", "gzip"] {
        let request = Request::get("/api/v1/providers").header(header::ACCEPT_ENCODING, encoding);
        let answer = app.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.headers[header::CONTENT_ENCODING], encoding);
        assert_eq!(answer.headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert_eq!(answer.headers[header::REFERRER_POLICY], "same-origin");
        assert!(answer.headers.contains_key(header::CONTENT_SECURITY_POLICY));
    }
}

#[tokio::test]
async fn the_openapi_document_lists_every_path() {
    let document = TestApp::new().await.get("/api/v1/openapi.json").await.json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    for path in ["providers", "providers/{slug}", "providers/{slug}/prices", "prices", "exposure"] {
        assert!(document["paths"][format!("/api/v1/{path}")].is_object(), "{path}");
    }
}

#[tokio::test]
async fn a_comparison_has_cells_in_canonical_order_and_says_what_differs() {
    let app = TestApp::new().await;
    let result = app.get("/api/v1/compare?providers=daytona,e2b").await.json()["result"].clone();
    assert_eq!(result["page"], "/compare/e2b-vs-daytona");
    assert_eq!(result["providers"], serde_json::json!(["e2b", "daytona"]));
    assert_eq!(result["verdict"].as_array().unwrap().len(), 5);
    let rows: Vec<&serde_json::Value> = result["groups"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|group| group["rows"].as_array().unwrap())
        .collect();
    let row = |key: &str| *rows.iter().find(|row| row["key"] == key).unwrap();
    assert_eq!(row("routed_vcpu")["differs"], false);
    assert_eq!(row("tier")["differs"], true);
    assert_eq!(row("soc2")["disputed"], true);
    assert!(row("soc2")["cells"][1]["entries"][0]["claims"].as_array().unwrap().len() > 1);
    assert_eq!(row("list_vcpu")["best"], serde_json::Value::Null, "equal prices have no best");
    for (query, words) in [
        ("providers=e2b", "two to 5"),
        ("providers=e2b,dayton", "did you mean daytona?"),
        ("providers=e2b,e2b", "twice"),
        ("providers=", "empty slug"),
        ("only_differences=yes", "must be 1"),
    ] {
        let answer = app.get(&format!("/api/v1/compare?{query}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
        assert!(answer.json()["detail"].as_str().unwrap().contains(words), "{query}");
    }
}
