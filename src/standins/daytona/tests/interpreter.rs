//! The interpreter and its closes.

use axum::http::Request as Handshake;
use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use super::*;

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
