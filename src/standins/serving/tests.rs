//! Each fault does to a connection what it says, whichever provider is stood in for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use crate::standins::client::{Call, LIMIT};
use crate::standins::e2b::{self, KEY};
use crate::standins::faults::{Fault, Garble, Stage, What};
use crate::standins::runner::Echo;
use crate::standins::{Standin, daytona};

/// How long something that never comes is waited for.
const NEVER: Duration = Duration::from_millis(150);

async fn standin() -> Standin {
    e2b::start(Arc::new(Echo)).await.unwrap()
}

fn create(standin: &Standin) -> Call {
    let wanted = json!({"templateID": "base", "metadata": {"thud_lease": "lease-1"}});
    let url = standin.url() + "/v2/sandboxes";
    Call::new("POST", &url).header("x-api-key", KEY).json(&wanted)
}

fn at_create(what: What) -> Vec<Fault> {
    vec![Fault::at(Stage::Create, what)]
}

#[tokio::test]
async fn an_answer_of_the_script_is_given_and_nothing_done() {
    let standin = standin().await;
    let text = r#"[{"at": "create", "do": {"answer": {"status": 503, "body": "no room", "content_type": "text/html", "headers": {"Retry-After": "7"}}}, "times": 1}]"#;
    standin.script(serde_json::from_str(text).unwrap());
    let reply = create(&standin).send().await;
    assert_eq!((reply.status, reply.text().as_str(), reply.is_whole), (503, "no room", true));
    assert_eq!(reply.header("retry-after"), Some("7"));
    assert_eq!(reply.header("content-type"), Some("text/html"));
    assert!(standin.sandboxes().is_empty());
    assert_eq!(create(&standin).send().await.status, 201);
}

#[tokio::test]
async fn a_connection_hangs_with_or_without_the_work_done() {
    let standin = standin().await;
    for (what, made) in [(What::Hang {}, 0), (What::HangAfter {}, 1)] {
        standin.script(at_create(what));
        let mut connection = create(&standin).open().await;
        let read = tokio::time::timeout(NEVER, connection.read_u8()).await;
        assert!(read.is_err(), "something came");
        assert_eq!(standin.sandboxes().len(), made);
    }
}

#[tokio::test]
async fn a_connection_is_cut_with_or_without_the_work_done() {
    let standin = standin().await;
    for (what, made) in [(What::Cut {}, 0), (What::CutAfter {}, 1)] {
        standin.script(at_create(what));
        assert!(create(&standin).reply().await.is_none());
        assert_eq!(standin.sandboxes().len(), made);
    }
}

#[tokio::test]
async fn a_connection_is_cut_within_the_body() {
    let standin = standin().await;
    for bytes in [0, 1, 40] {
        standin.script(at_create(What::CutWithin { bytes }));
        let reply = create(&standin).send().await;
        assert_eq!((reply.status, reply.body.len(), reply.is_whole), (201, bytes, false));
    }
    assert_eq!(standin.sandboxes().len(), 3);
}

#[tokio::test]
async fn a_stream_is_cut_within_too() {
    let standin = standin().await;
    let sandbox = sandbox(&standin).await;
    standin.script(vec![Fault::at(Stage::Run, What::CutWithin { bytes: 60 })]);
    let reply = cell(&standin, &sandbox).send().await;
    assert_eq!((reply.status, reply.body.len(), reply.is_whole), (200, 60, false));
    assert_eq!(standin.executions(), 1);
}

#[tokio::test]
async fn an_answer_drips() {
    let standin = standin().await;
    standin.script(at_create(What::Drip {}));
    let begun = Instant::now();
    let mut connection = create(&standin).open().await;
    let mut bytes = [0; 3];
    let read = tokio::time::timeout(LIMIT, connection.read_exact(&mut bytes)).await;
    assert_eq!((read.unwrap().unwrap(), &bytes), (3, b"HTT"));
    assert!(begun.elapsed() >= Duration::from_secs(2));
    assert_eq!(standin.sandboxes().len(), 1);
}

#[tokio::test]
async fn another_address_is_named_and_nothing_done() {
    let standin = standin().await;
    let to = "http://127.0.0.1:1/elsewhere";
    standin.script(at_create(What::Redirect { to: to.to_owned() }));
    let reply = create(&standin).send().await;
    assert_eq!((reply.status, reply.header("location")), (307, Some(to)));
    assert!(standin.sandboxes().is_empty());
}

#[tokio::test]
async fn a_delay_is_waited_for_and_the_work_done_though_the_client_is_gone() {
    let standin = standin().await;
    standin.script(at_create(What::DelayMs { ms: 100 }));
    let begun = Instant::now();
    assert_eq!(create(&standin).send().await.status, 201);
    assert!(begun.elapsed() >= Duration::from_millis(100));
    drop(create(&standin).open().await);
    while standin.sandboxes().len() < 2 {
        assert!(begun.elapsed() < LIMIT, "it was never made");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_bomb_says_that_it_is_gzip() {
    let standin = standin().await;
    standin.script(at_create(What::Garble { kind: Garble::GzipBomb }));
    let reply = create(&standin).send().await;
    assert_eq!(
        (reply.header("content-encoding"), &reply.body[..2]),
        (Some("gzip"), &b"\x1f\x8b"[..])
    );
    assert!(reply.is_whole);
}

#[tokio::test]
async fn a_fault_meets_its_stage_and_no_other() {
    let standin = standin().await;
    let sandbox = sandbox(&standin).await;
    let id = sandbox["sandboxID"].as_str().unwrap();
    let plane = |method: &str, path: &str| {
        Call::new(method, &(standin.url() + path)).header("x-api-key", KEY)
    };
    let detail = format!("/sandboxes/{id}");
    let calls: [(Stage, &dyn Fn() -> Call); 6] = [
        (Stage::Create, &|| create(&standin)),
        (Stage::Detail, &|| plane("GET", &detail)),
        (Stage::List, &|| plane("GET", "/v2/sandboxes")),
        (Stage::Health, &|| port(&standin, &sandbox, "49983", "GET", "/health")),
        (Stage::Run, &|| cell(&standin, &sandbox)),
        (Stage::Delete, &|| plane("DELETE", &detail)),
    ];
    for (at, _) in &calls {
        standin.script(vec![Fault::at(*at, What::answer(599, "{}"))]);
        for (stage, call) in &calls {
            // What is deleted is not there for the next.
            if *stage != Stage::Delete || stage == at {
                assert_eq!(call().send().await.status == 599, stage == at, "{at:?} {stage:?}");
            }
        }
    }
    standin.script(vec![Fault::at(Stage::Any, What::answer(599, "{}"))]);
    for (stage, call) in &calls {
        assert_eq!(call().send().await.status, 599, "{stage:?}");
    }
    assert_eq!(plane("POST", &format!("{detail}/timeout")).send().await.status, 599);
}

#[tokio::test]
async fn the_control_address_leads_and_tells() {
    let standin = daytona::start(Arc::new(Echo)).await.unwrap();
    let base = standin.url().replace("/api", "/_standin/");
    let ask = async |method: &str, path: &str, body: Value| {
        Call::new(method, &format!("{base}{path}")).json(&body).send().await
    };
    let faults = json!([{"at": "create", "do": {"cut": {}}, "times": 2}]);
    assert_eq!(ask("PUT", "faults", faults.clone()).await.status, 204);
    assert_eq!(ask("GET", "faults", json!({})).await.json(), faults);
    let wanted = json!({"labels": {"thud_lease": "lease-1"}});
    let create = || {
        let call = Call::new("POST", &(standin.url() + "/sandbox")).json(&wanted);
        call.header("authorization", &format!("Bearer {}", standin.key()))
    };
    assert!(create().reply().await.is_none());
    assert_eq!(ask("PUT", "faults", json!([])).await.status, 204);
    assert_eq!(create().send().await.status, 200);
    let listed = ask("GET", "sandboxes", json!({})).await.json();
    let one = &listed[0];
    assert_eq!((&one["state"], &one["executions"]), (&json!("started"), &json!(0)));
    assert_eq!(one["labels"], json!({"thud_lease": "lease-1"}));
    assert_eq!(ask("GET", "executions", json!({})).await.json(), json!({"total": 0, "by_tag": {}}));
    assert_eq!(ask("DELETE", "sandboxes", json!({})).await.status, 204);
    assert_eq!(ask("GET", "sandboxes", json!({})).await.json(), json!([]));
    for (body, word) in [
        (json!({}), "not a list of faults"),
        (json!([{"at": "birth", "do": {"cut": {}}}]), "expected one of"),
        (json!([{"at": "run", "do": {"answer": {"status": 99}}}]), "200 to 599"),
    ] {
        let refused = ask("PUT", "faults", body).await;
        assert_eq!((refused.status, refused.text().contains(word)), (400, true), "{word}");
    }
    assert_eq!(ask("GET", "nothing", json!({})).await.status, 404);
}

#[tokio::test]
async fn a_stand_in_listens_on_this_machine_only_and_stops_when_it_is_dropped() {
    let everywhere = "0.0.0.0:0".parse().unwrap();
    let refused = e2b::start_at(everywhere, vec![KEY.to_owned()], Arc::new(Echo)).await;
    assert!(refused.err().unwrap().to_string().contains("loopback"));
    let standin = standin().await;
    standin.script(at_create(What::Hang {}));
    let mut connection = create(&standin).open().await;
    drop(standin);
    let mut bytes = Vec::new();
    let closed = tokio::time::timeout(LIMIT, connection.read_to_end(&mut bytes)).await;
    assert!(closed.is_ok(), "the connection stays");
    assert!(bytes.is_empty());
}

async fn sandbox(standin: &Standin) -> Value {
    let wanted = json!({"templateID": "code-interpreter-v1"});
    let call = Call::new("POST", &(standin.url() + "/v2/sandboxes")).header("x-api-key", KEY);
    call.json(&wanted).send().await.json()
}

fn port(standin: &Standin, sandbox: &Value, port: &str, method: &str, path: &str) -> Call {
    Call::new(method, &(standin.url() + path))
        .header("e2b-sandbox-id", sandbox["sandboxID"].as_str().unwrap())
        .header("e2b-sandbox-port", port)
}

fn cell(standin: &Standin, sandbox: &Value) -> Call {
    port(standin, sandbox, "49999", "POST", "/execute").json(&json!({"code": "out:1"}))
}
