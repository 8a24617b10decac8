//! Code, commands and sessions.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::*;

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
