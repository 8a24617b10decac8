//! The OpenAPI document is a contract: it changes only on purpose and says nothing that is not so.

use std::path::Path;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::Value;

use super::harness::TestApp;

/// The document as it was last accepted.
const ACCEPTED: &str = "src/tests/snapshots/openapi.json";
/// How a change is accepted.
const ACCEPT: &str = "THUD_ACCEPT=1 cargo test --lib tests::openapi";
/// A value that exists for every parameter that stands in a path.
const SAMPLES: &[(&str, &str)] = &[("{slug}", "e2b")];

async fn document(site: &TestApp) -> Value {
    let answer = site.get("/api/v1/openapi.json").await;
    assert_eq!(answer.status, StatusCode::OK);
    let mut document = answer.json();
    document.sort_all_objects();
    document
}

/// Method, path and description of every operation.
fn operations(document: &Value) -> Vec<(String, &str, &Value)> {
    let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if methods.contains(&method.as_str()) {
                found.push((method.to_uppercase(), path.as_str(), operation));
            }
        }
    }
    assert!(!found.is_empty());
    found
}

#[tokio::test]
async fn the_document_is_the_accepted_one() {
    let served = document(&TestApp::new().await).await;
    let served = serde_json::to_string_pretty(&served).unwrap() + "\n";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(ACCEPTED);
    if std::env::var_os("THUD_ACCEPT").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &served).unwrap();
    }
    let accepted = std::fs::read_to_string(&file).unwrap_or_default();
    if let Some(change) = first_change(&accepted, &served) {
        panic!(
            "\n{ACCEPTED}:{change}\nTo accept it, run this and look at the diff:\n\n    {ACCEPT}\n"
        );
    }
}

/// The first line that differs, as it was and as it is.
fn first_change(accepted: &str, served: &str) -> Option<String> {
    if accepted == served {
        return None;
    }
    let (mut old, mut new) = (accepted.lines(), served.lines());
    let last = accepted.lines().count() + 1;
    let (number, old, new) = (1..=last)
        .map(|number| (number, old.next(), new.next()))
        .find(|(number, old, new)| old != new || *number == last)?;
    let shown = |line: Option<&str>| line.unwrap_or("(nothing)").trim().to_owned();
    Some(format!("{number}: was `{}`, is `{}`", shown(old), shown(new)))
}

#[test]
fn a_changed_document_is_refused_with_its_first_change() {
    assert_eq!(first_change("a\nb\n", "a\nb\n"), None);
    for (served, said) in [
        ("a\nc\n", "2: was `b`, is `c`"),
        ("a\n", "2: was `b`, is `(nothing)`"),
        ("a\nb\nc\n", "3: was `(nothing)`, is `c`"),
    ] {
        assert_eq!(first_change("a\nb\n", served).as_deref(), Some(said));
    }
    assert!(first_change("a", "a\n").is_some());
}

#[tokio::test]
async fn the_document_is_openapi_3_1_and_names_every_operation() {
    let document = document(&TestApp::new().await).await;
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1."));
    for key in ["title", "version", "license"] {
        assert!(!document["info"][key].is_null(), "info has no {key}");
    }
    let mut names = Vec::new();
    for (method, path, operation) in operations(&document) {
        let name = operation["operationId"].as_str().unwrap_or_default();
        assert!(!name.is_empty(), "{method} {path} has no operationId");
        assert!(!names.contains(&name), "{name} names two operations");
        assert!(operation["responses"].is_object(), "{name} has no responses");
        names.push(name);
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let described: Vec<&str> = parameters.filter_map(|one| one["name"].as_str()).collect();
        for part in path.split('/').filter_map(|part| part.strip_prefix('{')) {
            let is_described = described.contains(&part.trim_end_matches('}'));
            assert!(is_described, "{path} does not describe {part}");
        }
    }
}

#[tokio::test]
async fn every_reference_of_the_document_leads_somewhere() {
    let document = document(&TestApp::new().await).await;
    let mut left = vec![&document];
    while let Some(value) = left.pop() {
        if let Some(reference) = value["$ref"].as_str() {
            let place = reference.strip_prefix('#').and_then(|place| document.pointer(place));
            assert!(place.is_some(), "{reference} leads nowhere");
        }
        left.extend(value.as_object().into_iter().flat_map(|object| object.values()));
        left.extend(value.as_array().into_iter().flatten());
    }
}

#[tokio::test]
async fn every_path_of_the_document_answers() {
    let site = TestApp::new().await;
    let body = r#"{"language":"python","code":"print(1)"}"#;
    let run = Request::post("/api/v1/runs").header("content-type", "application/json");
    let run = site.send(run.body(Body::from(body)).unwrap()).await.json();
    for (method, path, _) in operations(&document(&site).await) {
        let mut real = path.replace("{id}", run["id"].as_str().unwrap());
        for (parameter, sample) in SAMPLES {
            real = real.replace(parameter, sample);
        }
        assert!(!real.contains('{'), "{path} has a parameter without a value in SAMPLES");
        let request = Request::builder().method(method.as_str()).uri(&real);
        let status = site.send(request.body(Body::empty()).unwrap()).await.status;
        assert_ne!(status, StatusCode::NOT_FOUND, "{method} {real}");
        assert_ne!(status, StatusCode::METHOD_NOT_ALLOWED, "{method} {real}");
    }
    assert_eq!(site.get("/api/v1/providers/nobody").await.status, StatusCode::NOT_FOUND);
}
