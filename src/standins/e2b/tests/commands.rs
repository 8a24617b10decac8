//! Commands, and whether a sandbox lives.

use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt;

use super::*;
use crate::standins::client::LIMIT;

/// Waits for what comes by itself.
async fn until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LIMIT, "it does not come");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
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

const EVALUATE_PARTS: &str = r#"c=$1$2$3; set --; eval "$c""#;

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
