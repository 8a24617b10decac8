//! The stand-in for Daytona, asked as its SDKs ask.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::Request as Handshake;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use super::*;
use crate::standins::client::{Call, LIMIT, Reply};
use crate::standins::faults::{Fault, Garble, Stage, What};
use crate::standins::runner::Echo;

async fn standin() -> Standin {
    start(Arc::new(Echo)).await.unwrap()
}

async fn standin_of(pace: Pace) -> Standin {
    start_at(anywhere(), vec![KEY.to_owned()], Arc::new(Echo), pace).await.unwrap()
}

fn with_key(method: &str, url: &str) -> Call {
    Call::new(method, url).header("authorization", &format!("Bearer {KEY}"))
}

fn api(standin: &Standin, method: &str, path: &str) -> Call {
    with_key(method, &(standin.url() + path))
}

async fn create(standin: &Standin, wanted: Value) -> Reply {
    api(standin, "POST", "/sandbox").json(&wanted).send().await
}

/// A sandbox that was made as Thud makes them.
async fn made(standin: &Standin) -> Value {
    let wanted = json!({
        "name": "thud-1", "snapshot": "daytona-vm-small", "labels": {"thud_lease": "lease-1"},
        "env": {"MODE": "test"}, "networkBlockAll": true, "public": false,
        "autoStopInterval": 1, "autoDeleteInterval": 0, "ttlMinutes": 3,
    });
    let reply = create(standin, wanted).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()
}

fn toolbox(sandbox: &Value, method: &str, path: &str) -> Call {
    let text = |name: &str| sandbox[name].as_str().unwrap();
    with_key(method, &format!("{}/{}{path}", text("toolboxProxyUrl"), text("id")))
}

async fn execute(sandbox: &Value, body: Value) -> Reply {
    toolbox(sandbox, "POST", "/process/execute").json(&body).send().await
}

async fn run_code(sandbox: &Value, body: Value) -> Reply {
    toolbox(sandbox, "POST", "/process/code-run").json(&body).send().await
}

/// Waits for what comes by itself.
async fn until(is_so: impl AsyncFn() -> bool) {
    let begun = Instant::now();
    while !is_so().await {
        assert!(begun.elapsed() < LIMIT, "it does not come");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_key_is_wanted() {
    let standin = standin().await;
    for key in [None, Some("Bearer dtn_1"), Some(KEY)] {
        let call = Call::new("GET", &(standin.url() + "/sandbox"));
        let call = key.into_iter().fold(call, |call, key| call.header("authorization", key));
        let reply = call.send().await;
        let body = reply.json();
        assert_eq!((reply.status, &body["message"]), (401, &json!("Invalid credentials")));
        assert_eq!(
            (&body["error"], &body["path"]),
            (&json!("Unauthorized"), &json!("/api/sandbox"))
        );
    }
    let socket = api(&standin, "GET", "/socket.io/?EIO=4").send().await;
    assert_eq!(
        (socket.status, &socket.json()["message"]),
        (404, &json!("Cannot GET /api/socket.io/"))
    );
}

#[tokio::test]
async fn a_sandbox_lives_from_create_to_delete() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let id = sandbox["id"].as_str().unwrap();
    for (name, value) in [
        ("name", json!("thud-1")),
        ("state", json!("started")),
        ("desiredState", json!("started")),
        ("networkBlockAll", json!(true)),
        ("sandboxClass", json!("vm")),
        ("cpu", json!(1)),
        ("gpu", json!(0)),
        ("memory", json!(1)),
        ("disk", json!(3)),
        ("kvm", json!(false)),
        ("env", json!({"MODE": "test"})),
        ("labels", json!({"thud_lease": "lease-1"})),
        ("toolboxProxyUrl", json!(standin.url().replace("/api", "/toolbox"))),
    ] {
        assert_eq!(sandbox[name], value, "{name}");
    }
    for text in ["organizationId", "user", "target", "createdAt", "autoDestroyAt"] {
        assert!(sandbox[text].is_string(), "{text}");
    }
    let by = async |id: &str, method: &str| {
        api(&standin, method, &format!("/sandbox/{id}")).send().await
    };
    assert_eq!(by("thud-1", "GET").await.json()["id"], *id);
    assert_eq!(standin.sandboxes()[0]["labels"]["thud_lease"], "lease-1");
    let deleted = by("thud-1", "DELETE").await;
    assert_eq!((deleted.status, &deleted.json()["state"]), (200, &json!("destroying")));
    // Its name is free at once, its id a little later.
    assert_eq!(by("thud-1", "GET").await.status, 404);
    until(async || by(id, "GET").await.status == 404).await;
    assert_eq!(
        by(id, "DELETE").await.json()["message"],
        format!("Sandbox with ID or name {id} not found")
    );
    assert!(standin.sandboxes().is_empty());
}

#[tokio::test]
async fn what_cannot_be_made_is_told_why() {
    let standin = standin().await;
    made(&standin).await;
    for (wanted, status, message) in [
        (json!({"name": "thud-1"}), 409, "Sandbox with name thud-1 already exists"),
        (
            json!({"snapshot": "nope"}),
            400,
            "Snapshot nope not found. Did you add it through the Daytona Dashboard?",
        ),
        (
            json!({"snapshot": "daytona-small", "cpu": 2}),
            400,
            "Cannot specify Sandbox resources when using a snapshot",
        ),
        (json!({"target": "moon"}), 404, "Region moon not found"),
        (json!({"ttlMinutes": -1}), 400, "ttlMinutes must not be less than 0"),
    ] {
        let reply = create(&standin, wanted.clone()).await;
        assert_eq!((reply.status, &reply.json()["message"]), (status, &json!(message)));
    }
    assert_eq!(create(&standin, json!({"name": 7})).await.status, 400);
    let built = create(&standin, json!({"buildInfo": {}, "cpu": 2, "memory": 4})).await.json();
    assert_eq!(
        (&built["cpu"], &built["memory"], &built["disk"]),
        (&json!(2), &json!(4), &json!(3))
    );
    for (snapshot, size, class) in
        [("daytona-large", [4, 8, 10], "container"), ("daytona-vm-medium", [2, 4, 8], "vm")]
    {
        let made = create(&standin, json!({"snapshot": snapshot})).await.json();
        assert_eq!(["cpu", "memory", "disk"].map(|name| made[name].as_i64().unwrap()), size);
        assert_eq!(made["sandboxClass"], class);
    }
}

#[tokio::test]
async fn lists_are_filtered_and_come_in_pages() {
    let standin = standin().await;
    for (name, tag) in [("a-1", "a"), ("b-1", "b"), ("a-2", "a")] {
        create(&standin, json!({"name": name, "labels": {"k": tag}})).await;
    }
    let ask = async |query: &str| api(&standin, "GET", &format!("/sandbox?{query}")).send().await;
    let names = |body: &Value| -> Vec<String> {
        let items = body["items"].as_array().unwrap();
        items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    };
    let labels = "labels=%7B%22k%22%3A+%22a%22%7D";
    let page = ask(&format!("{labels}&limit=1")).await.json();
    assert_eq!(names(&page), ["a-1"]);
    let next = page["nextCursor"].as_str().unwrap();
    let last = ask(&format!("{labels}&limit=1&cursor={next}")).await.json();
    assert_eq!((names(&last), &last["nextCursor"]), (vec!["a-2".to_owned()], &Value::Null));
    assert_eq!(last["items"][0]["env"], Value::Null);
    assert_eq!(names(&ask("name=b").await.json()), ["b-1"]);
    assert_eq!(names(&ask("states=stopped").await.json()), [""; 0]);
    assert_eq!(names(&ask("states=stopped&states=started").await.json()).len(), 3);
    assert_eq!(ask("labels=x").await.status, 400);
    assert_eq!(ask("limit=0").await.status, 400);
}

#[tokio::test]
async fn a_sandbox_that_starts_slowly_is_polled_and_not_destroyed() {
    let start_delay = Duration::from_millis(150);
    let standin = standin_of(Pace { start_delay, ..Pace::default() }).await;
    let sandbox = made(&standin).await;
    assert_eq!(sandbox["state"], "creating");
    let early = run_code(&sandbox, json!({"code": "out:1", "language": "python"})).await;
    assert_eq!(early.status, 400);
    assert!(early.text().contains("Is the Sandbox started?"));
    let destroy = async || api(&standin, "DELETE", "/sandbox/thud-1").send().await;
    let refused = destroy().await;
    let message = "Sandbox state change in progress";
    assert_eq!((refused.status, &refused.json()["message"]), (409, &json!(message)));
    let poll = async || api(&standin, "GET", "/sandbox/thud-1").send().await.json();
    until(async || poll().await["state"] == "started").await;
    assert_eq!(destroy().await.status, 200);
}

#[tokio::test]
async fn a_sandbox_goes_by_its_limits() {
    let minute = Duration::from_millis(40);
    let standin = standin_of(Pace { minute, ..Pace::default() }).await;
    create(&standin, json!({"name": "ttl", "ttlMinutes": 1, "autoStopInterval": 0})).await;
    create(&standin, json!({"name": "idle", "autoStopInterval": 1, "autoDeleteInterval": 0})).await;
    create(&standin, json!({"name": "stops", "autoStopInterval": 1})).await;
    create(&standin, json!({"name": "stays", "autoStopInterval": 0})).await;
    let states = || -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        standin.sandboxes().iter().map(|one| (text(&one["name"]), text(&one["state"]))).collect()
    };
    let pair = |name: &str, state: &str| (name.to_owned(), state.to_owned());
    until(async || states() == [pair("stops", "stopped"), pair("stays", "started")]).await;
    let set =
        async |path: &str| api(&standin, "POST", &format!("/sandbox/stays/{path}")).send().await;
    assert_eq!(set("autodelete/0").await.json()["autoDeleteInterval"], 0);
    assert_eq!(set("nothing/0").await.status, 404);
    assert_eq!(set("stop").await.status, 200);
    assert_eq!(states(), [pair("stops", "stopped")]);
    let started = api(&standin, "POST", "/sandbox/stops/start").send().await;
    assert_eq!(started.json()["state"], "started");
}

#[tokio::test]
async fn code_is_run_to_its_end() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let python = |code: &str| json!({"code": code, "language": "python", "timeout": 5});
    let done = run_code(&sandbox, python("say:a;err:2;exit:3")).await;
    assert_eq!((done.status, done.json()), (200, json!({"exitCode": 3, "result": "a\nxx"})));
    let killed = run_code(&sandbox, python("die")).await;
    assert_eq!(killed.json(), json!({"exitCode": 137, "result": ""}));
    let hidden = run_code(&sandbox, python("say:dtn_artifact_k39fd2:{};say:b")).await;
    assert_eq!(hidden.json()["result"], "b\n");
    assert_eq!(standin.executions_of("lease-1"), 3);
    for (body, word) in [
        (json!({"code": "1"}), "language"),
        (json!({"code": "1", "language": "cobol"}), "unsupported language"),
        (json!({"code": "1", "language": "python", "envs": {"1": "x"}}), "environment variable"),
    ] {
        let refused = run_code(&sandbox, body).await;
        assert_eq!((refused.status, refused.text().contains(word)), (400, true), "{word}");
        assert_eq!(refused.json()["source"], "DAYTONA_DAEMON");
    }
    assert_eq!(standin.executions(), 3);
}

#[tokio::test]
async fn the_platforms_own_limit_ends_code_without_output() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let code = json!({"code": "say:a;loop", "language": "python", "timeout": 1});
    for reply in [
        run_code(&sandbox, code).await,
        execute(&sandbox, json!({"command": "echo a; sleep 9", "timeout": 1})).await,
    ] {
        let body = reply.json();
        assert_eq!((reply.status, &body["code"]), (408, &json!("PROCESS_EXECUTION_TIMEOUT")));
        assert_eq!(body["message"], "request timeout: command execution timeout");
        assert_eq!((body.get("result"), &body["method"]), (None, &json!("POST")));
    }
}

#[tokio::test]
async fn a_toolbox_wants_a_key_and_a_sandbox_that_is_there() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let url = format!(
        "{}/{}/process/execute",
        sandbox["toolboxProxyUrl"].as_str().unwrap(),
        sandbox["id"].as_str().unwrap()
    );
    let stranger = Call::new("POST", &url).json(&json!({"command": "true"})).send().await;
    assert_eq!((stranger.status, &stranger.json()["code"]), (401, &json!("UNAUTHORIZED")));
    standin.destroy_all();
    let late = execute(&sandbox, json!({"command": "true"})).await;
    let id = sandbox["id"].as_str().unwrap();
    assert_eq!((late.status, &late.json()["code"]), (404, &json!("NOT_FOUND")));
    assert_eq!(late.json()["path"], format!("/sandboxes/{id}/toolbox/process/execute"));
    assert_eq!(standin.executions(), 0);
}

#[tokio::test]
async fn a_run_breaks_off_when_its_sandbox_goes() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let running = tokio::spawn({
        let sandbox = sandbox.clone();
        async move { run_code(&sandbox, json!({"code": "loop", "language": "python"})).await }
    });
    until(async || standin.executions() == 1).await;
    assert_eq!(api(&standin, "DELETE", "/sandbox/thud-1").send().await.status, 200);
    let reply = running.await.unwrap();
    assert_eq!((reply.status, reply.text().as_str()), (502, ""));
}

#[tokio::test]
async fn a_command_is_run_by_the_little_shell() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    for (command, exit_code, result) in [
        ("echo hello; echo oops >&2", 0, "hello\noops\n"),
        ("echo bad >&2; exit 3", 3, "bad\n"),
        ("kill -9 $$", -1, ""),
        ("env", 0, "K=v\nMODE=test\n"),
    ] {
        let reply = execute(&sandbox, json!({"command": command, "envs": {"K": "v"}})).await;
        assert_eq!(reply.json(), json!({"exitCode": exit_code, "result": result}), "{command}");
    }
    assert_eq!(execute(&sandbox, json!({"command": " "})).await.status, 400);
    assert_eq!(execute(&sandbox, json!({})).await.json()["code"], "INVALID_REQUEST_BODY");
}

#[tokio::test]
async fn thuds_own_script_runs_once_for_an_attempt() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let script = |attempt: &str, code: &str| {
        let encoded = BASE64_STANDARD.encode(code);
        let head = format!("# thud 1 {attempt} python 200 4");
        json!({"command": format!("{head}\ncat <<'THUD_CODE'\n{encoded}\nTHUD_CODE\nmore\n")})
    };
    let done = execute(&sandbox, script("a1", "out:6;err:3;exit:5")).await.json();
    let result = done["result"].as_str().unwrap();
    let lines: Vec<&str> = result.lines().collect();
    let words: Vec<&str> = lines[0].split(' ').collect();
    assert_eq!(
        (words[..4].join(" "), words[5..].join(" ")),
        ("thud-result 1 a1 5".to_owned(), "0 2 0".to_owned())
    );
    assert_eq!((lines[1], lines[2], &done["exitCode"]), ("eHh4eA==", "eHh4", &json!(0)));
    let again = execute(&sandbox, script("a1", "out:6")).await.json();
    assert_eq!(again, json!({"exitCode": 97, "result": "thud-replay a1\n"}));
    let late = execute(&sandbox, script("a2", "loop")).await.json();
    let words: Vec<&str> = late["result"].as_str().unwrap().split([' ', '\n']).collect();
    assert_eq!((words[2], words[3], words[5]), ("a2", "124", "1"));
    assert_eq!(standin.executions_of("lease-1"), 2);
}

#[tokio::test]
async fn a_session_keeps_both_outputs_apart() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let ask = async |method: &str, path: &str, version: &str, body: Value| {
        let call = toolbox(&sandbox, method, &format!("/process/session{path}"));
        let call =
            if version.is_empty() { call } else { call.header("x-daytona-sdk-version", version) };
        call.json(&body).send().await
    };
    assert_eq!(ask("POST", "", "", json!({"sessionId": "s1"})).await.status, 201);
    assert_eq!(ask("POST", "", "", json!({"sessionId": "s1"})).await.status, 409);
    let wanted = json!({"command": "echo hello; printf oops >&2"});
    let new = ask("POST", "/s1/exec", "0.226.1", wanted.clone()).await.json();
    assert_eq!((&new["stdout"], &new["stderr"]), (&json!("hello\n"), &json!("oops\n")));
    assert_eq!(
        (&new["output"], &new["exitCode"]),
        (&json!("\u{1}\u{1}\u{1}hello\n\u{2}\u{2}\u{2}oops\n"), &json!(0))
    );
    let old = ask("POST", "/s1/exec", "0.166.9", wanted.clone()).await.json();
    assert_eq!((&old["stdout"], &old["output"]), (&Value::Null, &new["output"]));
    let plain = ask("POST", "/s1/exec", "", wanted.clone()).await.json();
    assert_eq!(plain["output"], "hello\noops\n");
    let background = json!({"command": "echo hello", "runAsync": true});
    let begun = ask("POST", "/s1/exec", "", background).await;
    assert_eq!(begun.status, 202);
    let path = format!("/s1/command/{}", begun.json()["cmdId"].as_str().unwrap());
    until(async || ask("GET", &path, "", json!({})).await.json()["exitCode"] == 0).await;
    let logs = ask("GET", &format!("{path}/logs"), "0.226.1", json!({})).await.json();
    assert_eq!(logs["stdout"], "hello\n");
    assert_eq!(ask("DELETE", "/s1", "", json!({})).await.status, 204);
    assert_eq!(ask("POST", "/s1/exec", "", wanted).await.status, 404);
    assert_eq!(standin.executions(), 4);
}

/// The frames of the interpreter, and how it closed; nothing if the connection just broke off.
async fn interpreted(sandbox: &Value, wanted: Value) -> (Vec<Value>, Option<(u16, String)>) {
    let text = |name: &str| sandbox[name].as_str().unwrap();
    let url = text("toolboxProxyUrl").replace("http:", "ws:");
    let url = format!("{url}/{}/process/interpreter/execute", text("id"));
    let mut request: Handshake<()> = url.into_client_request().unwrap();
    request.headers_mut().insert("authorization", format!("Bearer {KEY}").parse().unwrap());
    let talk = async {
        let (mut socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
        socket.send(Message::text(wanted.to_string())).await.unwrap();
        let (mut frames, mut closed) = (Vec::new(), None);
        while let Some(Ok(message)) = socket.next().await {
            match message {
                Message::Text(text) => frames.push(serde_json::from_str(&text).unwrap()),
                Message::Close(frame) => {
                    closed = frame.map(|frame| (u16::from(frame.code), frame.reason.to_string()));
                }
                _ => {}
            }
        }
        (frames, closed)
    };
    tokio::time::timeout(LIMIT, talk).await.unwrap()
}

#[tokio::test]
async fn the_interpreter_closes_as_the_real_one() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let frame = |kind: &str, text: &str| json!({"type": kind, "text": text, "name": "", "value": "", "traceback": ""});
    let normal = Some((1000, String::new()));
    let (frames, closed) = interpreted(&sandbox, json!({"code": "say:a;err:1"})).await;
    let expected = [frame("stdout", "a\n"), frame("stderr", "x"), frame("control", "completed")];
    assert_eq!((frames.as_slice(), &closed), (expected.as_slice(), &normal));
    let (frames, closed) = interpreted(&sandbox, json!({"code": "raise"})).await;
    assert_eq!((&frames[0]["type"], &frames[0]["name"]), (&json!("error"), &json!("ValueError")));
    assert_eq!((&frames[1], &closed), (&frame("control", "completed"), &normal));
    let (frames, closed) = interpreted(&sandbox, json!({"code": "exit:3"})).await;
    assert_eq!((frames.as_slice(), &closed), ([frame("control", "completed")].as_slice(), &normal));
    let (frames, closed) = interpreted(&sandbox, json!({"code": "loop", "timeout": 1})).await;
    assert_eq!(frames, [frame("control", "interrupted")]);
    assert_eq!(closed, Some((4008, String::new())));
    for (wanted, code, reason) in [
        (json!({"code": "die"}), 1001, "worker process ended"),
        (json!({"code": ""}), 1008, "code is required"),
        (json!({"code": "out:1", "contextId": "x"}), 1008, "context not found: x"),
    ] {
        let (frames, closed) = interpreted(&sandbox, wanted).await;
        assert_eq!((frames.len(), closed), (0, Some((code, reason.to_owned()))));
    }
}

#[tokio::test]
async fn the_interpreter_breaks_off_when_its_sandbox_goes() {
    let standin = standin().await;
    let sandbox = made(&standin).await;
    let running = tokio::spawn({
        let sandbox = sandbox.clone();
        async move { interpreted(&sandbox, json!({"code": "loop"})).await }
    });
    until(async || standin.executions() == 1).await;
    standin.destroy_all();
    assert_eq!(running.await.unwrap(), (Vec::new(), None));
}

#[tokio::test]
async fn a_create_answer_can_be_spoilt() {
    let standin = standin().await;
    for (kind, name, value) in [
        (Garble::OtherHost, "toolboxProxyUrl", json!("http://127.0.0.1:1/toolbox")),
        (Garble::EgressOpen, "networkBlockAll", json!(false)),
        (Garble::ContainerClass, "sandboxClass", json!("container")),
        (Garble::Larger, "cpu", json!(8)),
    ] {
        standin.script(vec![Fault::at(Stage::Create, What::Garble { kind })]);
        assert_eq!(made(&standin).await[name], value, "{kind:?}");
        standin.destroy_all();
    }
}
