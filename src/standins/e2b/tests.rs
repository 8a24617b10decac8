//! The stand-in for E2B, asked as its SDKs ask: its control plane and the way to a port. Cells are in `cells.rs`, commands in
//! `commands.rs`.

mod cells;
mod commands;

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::standins::client::{Call, Reply};
use crate::standins::connect;
use crate::standins::faults::{Fault, Garble, Stage, What};
use crate::standins::runner::Echo;

async fn standin() -> Standin {
    start(Arc::new(Echo)).await.unwrap()
}

fn plane(standin: &Standin, method: &str, path: &str) -> Call {
    Call::new(method, &(standin.url() + path)).header("x-api-key", KEY)
}

async fn create(standin: &Standin, wanted: Value) -> Reply {
    plane(standin, "POST", "/v2/sandboxes").json(&wanted).send().await
}

/// A sandbox that was made as Thud makes them.
async fn made(standin: &Standin) -> Value {
    let wanted = json!({
        "templateID": "code-interpreter-v1", "timeout": 60, "allow_internet_access": false,
        "network": {"allowPublicTraffic": false}, "autoPause": false,
        "metadata": {"thud_lease": "lease-1"},
    });
    let reply = create(standin, wanted).await;
    assert_eq!(reply.status, 201, "{}", reply.text());
    reply.json()
}

/// A request to a port of a sandbox, with everything that it wants.
fn port(standin: &Standin, sandbox: &Value, port: u16, method: &str, path: &str) -> Call {
    let text = |name: &str| sandbox[name].as_str().unwrap_or_default();
    Call::new(method, &(standin.url() + path))
        .header("E2b-Sandbox-Id", text("sandboxID"))
        .header("E2b-Sandbox-Port", &port.to_string())
        .header("X-Access-Token", text("envdAccessToken"))
        .header("E2B-Traffic-Access-Token", text("trafficAccessToken"))
}

fn cell(standin: &Standin, sandbox: &Value, code: &str) -> Call {
    let body = json!({"code": code, "context_id": null, "language": null, "env_vars": null});
    port(standin, sandbox, INTERPRETER_PORT, "POST", "/execute").json(&body)
}

fn command(standin: &Standin, sandbox: &Value, process: &Value) -> Call {
    port(standin, sandbox, ENVD_PORT, "POST", "/process.Process/Start")
        .header("content-type", "application/connect+json")
        .header("connect-protocol-version", "1")
        .bytes(connect::message(&json!({"process": process, "stdin": false})))
}

fn shell(script: &str) -> Value {
    json!({"cmd": "/bin/bash", "args": ["-l", "-c", script]})
}

/// The frames of an answer: flags and JSON.
fn frames(reply: &Reply) -> Vec<(u8, Value)> {
    let value = |frame: &[u8]| serde_json::from_slice(&frame[connect::HEADER_BYTES..]).unwrap();
    connect::split(&reply.body).map(|frame| (frame[0], value(frame))).collect()
}

#[tokio::test]
async fn a_key_is_wanted() {
    let standin = standin().await;
    for key in [None, Some("dtn_1"), Some("e2b_1")] {
        let call = Call::new("GET", &(standin.url() + "/v2/sandboxes"));
        let call = key.into_iter().fold(call, |call, key| call.header("x-api-key", key));
        let reply = call.send().await;
        assert_eq!((reply.status, &reply.json()["code"]), (401, &json!(401)), "{key:?}");
    }
    assert_eq!(plane(&standin, "GET", "/v2/sandboxes").send().await.json(), json!([]));
    assert_eq!(plane(&standin, "GET", "/nothing").send().await.status, 404);
}

#[tokio::test]
async fn a_sandbox_lives_from_create_to_delete() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let id = sandbox["sandboxID"].as_str().unwrap();
    assert_eq!(sandbox["domain"], Value::Null);
    assert_eq!(sandbox["envdVersion"], "0.6.13");
    let path = format!("/sandboxes/{id}");
    let detail = plane(&standin, "GET", &path).send().await.json();
    for (name, value) in [
        ("cpuCount", json!(2)),
        ("memoryMB", json!(2048)),
        ("diskSizeMB", json!(10240)),
        ("state", json!("running")),
        ("allowInternetAccess", json!(false)),
        ("network", json!({"denyOut": ["0.0.0.0/0"], "allowPublicTraffic": false})),
        ("metadata", json!({"thud_lease": "lease-1"})),
    ] {
        assert_eq!(detail[name], value, "{name}");
    }
    assert_eq!(standin.sandboxes()[0]["metadata"]["thud_lease"], "lease-1");
    let deleted = plane(&standin, "DELETE", &path).send().await;
    assert_eq!((deleted.status, deleted.text().as_str()), (204, ""));
    for method in ["GET", "DELETE"] {
        let reply = plane(&standin, method, &path).send().await;
        let message = format!("Sandbox \"{id}\" doesn't exist or you don't have access to it");
        assert_eq!(reply.json(), json!({"code": 404, "message": message}));
    }
    assert!(standin.sandboxes().is_empty());
}

#[tokio::test]
async fn what_cannot_be_made_is_told_why() {
    let standin = standin().await;
    for (wanted, status, word) in [
        (json!({}), 400, "templateID"),
        (json!({"templateID": "nope"}), 404, "template 'nope' not found"),
        (json!({"templateID": "base", "timeout": 3601}), 400, "greater than 1 hours"),
        (json!({"templateID": "base", "timeout": 0}), 400, "at least 1"),
        (json!({"templateID": "base", "network": {"allowOut": ["a.example"]}}), 400, "denyOut"),
        (json!({"templateID": "base", "autoPauseMemory": false}), 400, "autoPause"),
    ] {
        let reply = create(&standin, wanted.clone()).await;
        assert_eq!(reply.status, status, "{wanted}");
        assert!(reply.text().contains(word), "{}", reply.text());
    }
    let old = json!({"templateID": "base", "network": {"allowPublicTraffic": false}});
    assert_eq!(plane(&standin, "POST", "/sandboxes").json(&old).send().await.status, 400);
    let old = json!({"templateID": "base"});
    let made = plane(&standin, "POST", "/sandboxes").json(&old).send().await;
    assert_eq!((made.status, &made.json()["envdAccessToken"]), (201, &Value::Null));
}

#[tokio::test]
async fn the_same_idempotency_key_makes_one_sandbox() {
    let standin = standin().await;
    let ask = async |key: &str, template: &str| {
        let call = plane(&standin, "POST", "/v2/sandboxes").header("idempotency-key", key);
        call.json(&json!({"templateID": template})).send().await
    };
    let first = ask("a-1", "base").await.json();
    assert_eq!(ask("a-1", "base").await.json()["sandboxID"], first["sandboxID"]);
    let other = ask("a-1", "code-interpreter-v1").await;
    assert_eq!((other.status, other.text().contains("request_mismatch")), (409, true));
    assert_eq!(ask("A_1", "base").await.status, 400);
    assert_eq!(standin.sandboxes().len(), 1);
}

#[tokio::test]
async fn lists_are_filtered_and_come_in_pages() {
    let standin = standin().await;
    for tag in ["a", "b", "a"] {
        create(&standin, json!({"templateID": "base", "metadata": {"k": tag}})).await;
    }
    let ask =
        async |query: &str| plane(&standin, "GET", &format!("/v2/sandboxes?{query}")).send().await;
    assert_eq!(ask("").await.json().as_array().unwrap().len(), 3);
    assert_eq!(ask("metadata=k%3Db").await.json().as_array().unwrap().len(), 1);
    assert_eq!(ask("metadata=k%3Dc").await.json(), json!([]));
    assert_eq!(ask("state=paused").await.json(), json!([]));
    let page = ask("metadata=k%3Da&limit=1").await;
    let next = page.header("x-next-token").unwrap();
    let last = ask(&format!("metadata=k%3Da&limit=1&nextToken={next}")).await;
    assert_eq!(last.json().as_array().unwrap().len(), 1);
    assert_ne!(last.json()[0]["sandboxID"], page.json()[0]["sandboxID"]);
    assert_eq!((last.header("x-next-token"), last.header("x-total-running")), (None, Some("3")));
    assert_eq!(ask("limit=101").await.status, 400);
}

#[tokio::test]
async fn a_sandbox_is_killed_when_its_time_is_over() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let id = sandbox["sandboxID"].as_str().unwrap();
    let path = format!("/sandboxes/{id}/timeout");
    let set = async |body: Value| plane(&standin, "POST", &path).json(&body).send().await.status;
    assert_eq!(set(json!({"timeout": "1"})).await, 400);
    assert_eq!(set(json!({"timeout": 3601})).await, 400);
    assert_eq!(set(json!({"timeout": 1})).await, 204);
    let running = tokio::spawn(cell(&standin, &sandbox, "loop").send());
    let reply = running.await.unwrap();
    // The machine is gone, and the connection with it.
    assert!(!reply.is_whole);
    assert_eq!(reply.lines().len(), 1);
    assert!(standin.sandboxes().is_empty());
    let late = cell(&standin, &sandbox, "out:1").send().await;
    assert_eq!(late.status, 502);
    assert_eq!(late.json()["message"], "The sandbox was not found");
    assert_eq!(set(json!({"timeout": 1})).await, 404);
}

#[tokio::test]
async fn a_port_wants_its_headers_and_tokens() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let id = sandbox["sandboxID"].as_str().unwrap();
    let ask = async |headers: &[(&str, &str)]| {
        let call = Call::new("POST", &(standin.url() + "/execute")).json(&json!({"code": "1"}));
        headers.iter().fold(call, |call, (name, value)| call.header(name, value)).send().await
    };
    let to = ("e2b-sandbox-id", id);
    for (headers, status, word) in [
        (vec![to], 400, "missing header"),
        (vec![("e2b-sandbox-port", "49999")], 400, "missing header"),
        (vec![("e2b-sandbox-id", "I!"), ("e2b-sandbox-port", "1")], 400, "Invalid sandbox ID"),
        (vec![to, ("e2b-sandbox-port", "x")], 400, "Invalid sandbox port"),
        (vec![to, ("e2b-sandbox-port", "49999")], 403, "is missing"),
        (
            vec![to, ("e2b-sandbox-port", "49999"), ("e2b-traffic-access-token", "x")],
            403,
            "is invalid",
        ),
        (vec![to, ("e2b-sandbox-port", "49983")], 404, "not found"),
    ] {
        let reply = ask(&headers).await;
        assert_eq!((reply.status, reply.text().contains(word)), (status, true), "{headers:?}");
    }
    let closed = port(&standin, &sandbox, 80, "GET", "/").send().await;
    assert_eq!((closed.status, &closed.json()["port"]), (502, &json!(80)));
    let browser = Call::new("GET", &standin.url())
        .header("e2b-sandbox-id", "i0")
        .header("e2b-sandbox-port", "1")
        .header("user-agent", "Mozilla/5.0");
    assert!(browser.send().await.text().starts_with("<html>"));
    let mut stranger = sandbox.clone();
    stranger["envdAccessToken"] = json!("x");
    let reply = command(&standin, &stranger, &shell("true")).send().await;
    assert_eq!((reply.status, &reply.json()["code"]), (401, &json!(401)));
    let reserved = port(&standin, &sandbox, ENVD_PORT, "POST", "/init").send().await;
    assert_eq!(reserved.status, 404);
}

#[tokio::test]
async fn a_spoilt_run_is_spoilt_in_its_form() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let spoil = |kind| standin.script(vec![Fault::at(Stage::Run, What::Garble { kind })]);
    spoil(Garble::NoEnd);
    let lines = cell(&standin, &sandbox, "out:1").send().await;
    assert_eq!((lines.is_whole, lines.lines().len()), (true, 2));
    let parts = command(&standin, &sandbox, &shell("echo a")).send().await;
    assert_eq!((parts.is_whole, frames(&parts).len()), (true, 2));
    spoil(Garble::UnknownEvents);
    assert_eq!(frames(&command(&standin, &sandbox, &shell("echo a")).send().await).len(), 7);
    assert_eq!(standin.executions(), 3);
    let create = |kind| standin.script(vec![Fault::at(Stage::Create, What::Garble { kind })]);
    create(Garble::OtherHost);
    assert_eq!(made(&standin).await["domain"], "evil.example");
    create(Garble::OtherId);
    let other = made(&standin).await;
    let known = standin.sandboxes().into_iter().map(|sandbox| sandbox["id"].clone());
    assert!(!known.collect::<Vec<_>>().contains(&other["sandboxID"]));
}
