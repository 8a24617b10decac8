//! Cells and their contexts.

use tokio::io::AsyncReadExt;

use super::*;

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
