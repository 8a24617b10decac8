//! The stand-in for Daytona, asked as its SDKs ask: its API. Runs are in `runs.rs`, the interpreter in `interpreter.rs`.

mod interpreter;
mod runs;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

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
