//! The stand-in for E2B, asked as its SDKs ask.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use super::*;
use crate::standins::client::{Call, LIMIT, Reply};
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

/// Waits for what comes by itself.
async fn until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LIMIT, "it does not come");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
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
async fn a_cell_is_told_as_the_real_interpreter_tells_it() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let reply = cell(&standin, &sandbox, "say:ü;err:2;value:42").send().await;
    assert_eq!((reply.status, reply.header("content-type")), (200, None));
    let text = reply.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], r#"{"type": "number_of_executions", "execution_count": 1}"#);
    assert!(lines[1].starts_with(r#"{"type": "stdout", "text": "\u00fc\n", "timestamp": "20"#));
    assert!(lines[1].ends_with(r#"+00:00"}"#), "{text}");
    assert!(lines[2].starts_with(r#"{"type": "stderr", "text": "xx", "timestamp": "#), "{text}");
    assert_eq!(
        lines[3],
        r#"{"type": "result", "text": "42", "extra": {}, "is_main_result": true}"#
    );
    assert_eq!(lines[4], r#"{"type": "end_of_execution"}"#);
    assert_eq!(standin.executions_of("lease-1"), 1);
    for (code, name, value, count) in [
        ("raise", "ValueError", "bad value", 2),
        ("exit:3", "SystemExit", "3", 3),
        ("die", "ContextRestarting", "Context was restarted", 4),
        ("raise", "ValueError", "bad value", 1),
    ] {
        let lines = cell(&standin, &sandbox, code).send().await.lines();
        assert_eq!(lines[0]["execution_count"], count, "{code}");
        assert_eq!(lines[1]["type"], "error", "{code}");
        assert_eq!((&lines[1]["name"], &lines[1]["value"]), (&json!(name), &json!(value)));
        assert_eq!(lines[2]["type"], "end_of_execution", "{code}");
    }
    assert_eq!(standin.executions(), 5);
}

#[tokio::test]
async fn what_is_no_cell_is_refused_before_anything_runs() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let ask = async |body: Value| {
        port(&standin, &sandbox, INTERPRETER_PORT, "POST", "/execute").json(&body).send().await
    };
    let missing = ask(json!({"language": null})).await;
    let detail = json!({"type": "missing", "loc": ["body", "code"], "msg": "Field required", "input": {"language": null}});
    assert_eq!((missing.status, missing.json()), (422, json!({"detail": [detail]})));
    let both = ask(json!({"code": "1", "context_id": "x", "language": "python"})).await;
    let message = "Only one of context_id or language can be provided";
    assert_eq!((both.status, both.text().as_str()), (400, message));
    let unknown = ask(json!({"code": "1", "context_id": "x"})).await;
    assert_eq!((unknown.status, unknown.text().as_str()), (404, "Context x not found"));
    let cobol = ask(json!({"code": "1", "language": "COBOL"})).await;
    assert_eq!(cobol.status, 500);
    assert!(cobol.text().starts_with(r#"Failed to create context: {"message": "The 'cobol'"#));
    assert_eq!(standin.executions(), 0);
}

#[tokio::test]
async fn contexts_come_and_go() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let ask = async |method: &str, path: &str, body: Value| {
        port(&standin, &sandbox, INTERPRETER_PORT, method, path).json(&body).send().await
    };
    let made = ask("POST", "/contexts", json!({"language": "js", "cwd": "/tmp"})).await.json();
    let id = made["id"].as_str().unwrap();
    assert_eq!((&made["language"], &made["cwd"]), (&json!("js"), &json!("/tmp")));
    let run = ask("POST", "/execute", json!({"code": "out:1", "context_id": id})).await;
    assert_eq!(run.lines().len(), 3);
    assert_eq!(ask("GET", "/health", json!({})).await.text(), "\"OK\"");
    let path = format!("/contexts/{id}");
    assert_eq!(ask("POST", &format!("{path}/restart"), json!({})).await.status, 200);
    assert_eq!(ask("DELETE", &path, json!({})).await.status, 204);
    assert_eq!(ask("DELETE", &path, json!({})).await.text(), format!("Context {id} not found"));
}

#[tokio::test]
async fn code_ends_when_the_client_goes_away() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let mut connection = cell(&standin, &sandbox, "say:begun;loop").open().await;
    let mut bytes = vec![0; 4096];
    assert!(connection.read(&mut bytes).await.unwrap() > 0);
    // One context executes one cell at a time: the next begins only when this one has ended.
    let next = tokio::spawn(cell(&standin, &sandbox, "out:1").send());
    drop(connection);
    assert!(next.await.unwrap().is_whole);
    assert_eq!(standin.executions(), 2);
}

#[tokio::test]
async fn a_command_comes_in_frames() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let reply = command(&standin, &sandbox, &shell("echo hello; echo oops >&2")).send().await;
    assert_eq!(reply.header("content-type"), Some("application/connect+json"));
    let end = json!({"exited": true, "status": "exit status 0"});
    let expected = [
        (0, json!({"event": {"start": {"pid": 743}}})),
        (0, json!({"event": {"data": {"stdout": "aGVsbG8K"}}})),
        (0, json!({"event": {"data": {"stderr": "b29wcwo="}}})),
        (0, json!({"event": {"end": end}})),
        (2, json!({})),
    ];
    assert_eq!(frames(&reply), expected);
    let failed = frames(&command(&standin, &sandbox, &shell("exit 3")).send().await);
    let status = "exit status 3";
    let end = json!({"exitCode": 3, "exited": true, "status": status, "error": status});
    assert_eq!(failed[1].1["event"]["end"], end);
    let killed = frames(&command(&standin, &sandbox, &shell("kill -9 $$")).send().await);
    let status = "signal: killed";
    let end = json!({"exitCode": -1, "status": status, "error": status});
    assert_eq!(killed[1].1["event"]["end"], end);
    // Code that is too long for one argument comes in three.
    let args = ["-l", "-c", EVALUATE_PARTS, "thud", "ec", "ho a", "b"];
    let parts = json!({"cmd": "/bin/bash", "args": args});
    let reply = frames(&command(&standin, &sandbox, &parts).send().await);
    assert_eq!(reply[1].1["event"]["data"]["stdout"], "YWIK");
    assert_eq!(standin.executions_of("lease-1"), 4);
}

const EVALUATE_PARTS: &str = r#"eval "$1$2$3""#;

#[tokio::test]
async fn a_command_that_cannot_start_is_refused_in_its_stream() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    for (process, word) in [
        (json!({"cmd": "/bin/bash", "args": [], "cwd": "/nope"}), "cwd '/nope' does not exist"),
        (json!({"cmd": "perl"}), "executable file not found"),
        (shell(&"x".repeat(128 * 1024)), "argument list too long"),
    ] {
        let reply = command(&standin, &sandbox, &process).send().await;
        let frames = frames(&reply);
        assert_eq!((reply.status, frames.len(), frames[0].0), (200, 1, 2), "{word}");
        assert_eq!(frames[0].1["error"]["code"], "invalid_argument");
        assert!(reply.text().contains(word), "{word}");
    }
    let unknown = command(&standin, &sandbox, &shell("true"));
    let unknown = unknown.header("authorization", "Basic bm9ib2R5Og==").send().await;
    assert_eq!((unknown.status, &unknown.json()["code"]), (401, &json!("unauthenticated")));
    let half = port(&standin, &sandbox, ENVD_PORT, "POST", "/process.Process/Start")
        .header("content-type", "application/connect+json")
        .bytes(vec![0, 0, 0, 0, 9, b'{']);
    assert!(half.send().await.text().contains("incomplete envelope"));
    let plain = port(&standin, &sandbox, ENVD_PORT, "POST", "/process.Process/Start");
    assert_eq!(plain.json(&json!({})).send().await.status, 415);
    assert_eq!(standin.executions(), 0);
}

#[tokio::test]
async fn a_command_ends_by_its_deadline_or_a_signal() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let limited = command(&standin, &sandbox, &shell("sleep 60"));
    let frames_of_limited = frames(&limited.header("connect-timeout-ms", "50").send().await);
    assert_eq!(frames_of_limited[1].0, 2);
    assert_eq!(frames_of_limited[1].1["error"]["code"], "deadline_exceeded");
    let running = tokio::spawn(command(&standin, &sandbox, &shell("sleep 60")).send());
    until(|| standin.executions() == 2).await;
    let signal = async |pid: u32| {
        let body = json!({"process": {"pid": pid}, "signal": "SIGNAL_SIGKILL"});
        let path = "/process.Process/SendSignal";
        port(&standin, &sandbox, ENVD_PORT, "POST", path).json(&body).send().await
    };
    assert_eq!(signal(744).await.json(), json!({}));
    let ended = frames(&running.await.unwrap());
    assert_eq!(ended[1].1["event"]["end"]["status"], "signal: killed");
    let gone = signal(744).await;
    assert_eq!((gone.status, &gone.json()["code"]), (404, &json!("not_found")));
}

#[tokio::test]
async fn a_command_goes_on_when_the_client_goes_away() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let mut connection = command(&standin, &sandbox, &shell("sleep 60")).open().await;
    let mut bytes = vec![0; 4096];
    assert!(connection.read(&mut bytes).await.unwrap() > 0);
    drop(connection);
    let body = json!({"process": {"pid": 743}, "signal": "SIGNAL_SIGTERM"});
    let path = "/process.Process/SendSignal";
    let signal = port(&standin, &sandbox, ENVD_PORT, "POST", path).json(&body).send().await;
    assert_eq!(signal.status, 200);
}

#[tokio::test]
async fn health_tells_whether_a_sandbox_lives() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let health = async || port(&standin, &sandbox, ENVD_PORT, "GET", "/health").send().await.status;
    assert_eq!(health().await, 204);
    standin.destroy_all();
    assert_eq!(health().await, 502);
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
    assert_eq!(frames(&command(&standin, &sandbox, &shell("echo a")).send().await).len(), 8);
    assert_eq!(standin.executions(), 3);
    let create = |kind| standin.script(vec![Fault::at(Stage::Create, What::Garble { kind })]);
    create(Garble::OtherHost);
    assert_eq!(made(&standin).await["domain"], "evil.example");
    create(Garble::OtherId);
    let other = made(&standin).await;
    let known = standin.sandboxes().into_iter().map(|sandbox| sandbox["id"].clone());
    assert!(!known.collect::<Vec<_>>().contains(&other["sandboxID"]));
}
