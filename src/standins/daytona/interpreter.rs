//! The interpreter in a sandbox of Daytona: one piece of Python over one WebSocket, with its outputs apart.

use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc::unbounded_channel;

use super::sandbox::Busy;
use super::{Sandbox, SharedCloud};
use crate::runs::{Language, Stream};
use crate::standins::runner::{self, Code, End, Finished, Mode, Outlet, RUN_MAX, Raised};
use crate::standins::text::Text;

/// The wall clock if nothing is said.
const TIMEOUT: Duration = Duration::from_mins(10);
/// How long a client has to say what it wants, and to answer a close.
const CLIENT_LIMIT: Duration = Duration::from_secs(10);
/// It ended well.
const NORMAL: u16 = 1000;
/// The worker died.
const WORKER_ENDED: u16 = 1001;
/// What was asked for cannot be done.
const POLICY: u16 = 1008;
/// Its time was over.
const TIMED_OUT: u16 = 4008;

/// The addresses.
pub fn routes() -> Router<SharedCloud> {
    Router::new().route("/process/interpreter/execute", get(execute))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wanted {
    #[serde(default)]
    code: String,
    context_id: Option<String>,
    timeout: Option<u64>,
}

async fn execute(
    State(cloud): State<SharedCloud>,
    Extension(sandbox): Extension<Sandbox>,
    upgrade: WebSocketUpgrade,
) -> Response {
    upgrade.on_upgrade(async move |mut socket| {
        let _busy = Busy::new(&sandbox);
        let gone = sandbox.gone().clone();
        let talk = talk(&cloud, &sandbox, &mut socket);
        // When the sandbox goes, the connection just breaks off.
        if let Some((code, reason)) = gone.run_until_cancelled(talk).await.flatten() {
            close(&mut socket, code, reason).await;
        }
    })
}

/// Says why and waits for the client's answer to that.
async fn close(socket: &mut WebSocket, code: u16, reason: String) {
    let frame = CloseFrame { code, reason: reason.into() };
    if socket.send(Message::Close(Some(frame))).await.is_ok() {
        let answered = async { while let Some(Ok(_)) = socket.recv().await {} };
        // One that never answers is left alone.
        let _ = tokio::time::timeout(CLIENT_LIMIT, answered).await;
    }
}

/// Executes what the client asks for. Gives how to close, or `None` if nobody is there any more.
async fn talk(
    cloud: &SharedCloud,
    sandbox: &Sandbox,
    socket: &mut WebSocket,
) -> Option<(u16, String)> {
    let first = tokio::time::timeout(CLIENT_LIMIT, socket.recv()).await.ok().flatten()?.ok()?;
    let wanted = first.to_text().ok().map(serde_json::from_str::<Wanted>);
    let wanted = match wanted {
        Some(Ok(wanted)) if !wanted.code.is_empty() => wanted,
        Some(Ok(_)) => return Some((POLICY, "code is required".to_owned())),
        _ => return Some((POLICY, "invalid request".to_owned())),
    };
    if let Some(context) = wanted.context_id.filter(|context| !context.is_empty()) {
        return Some((POLICY, format!("context not found: {context}")));
    }
    let timeout = match wanted.timeout {
        None => TIMEOUT,
        Some(0) => RUN_MAX,
        Some(seconds) => Duration::from_secs(seconds).min(RUN_MAX),
    };
    let language = Language::Python;
    let environment = sandbox.details.environment.clone();
    let code = Code { language, text: wanted.code, mode: Mode::Cell, environment, timeout };
    cloud.world.count(sandbox);
    let Finished { end, raised, .. } = told(cloud, &code, socket).await?;
    match end {
        End::Died => return Some((WORKER_ENDED, "worker process ended".to_owned())),
        End::TimedOut => {
            send(socket, "control", "interrupted", None).await?;
            return Some((TIMED_OUT, String::new()));
        }
        End::Exited(_) => {}
    }
    // Whoever exits has completed, and how is lost.
    if let Some(raised) = raised.filter(|raised| raised.name != "SystemExit") {
        send(socket, "error", "", Some(raised)).await?;
    }
    send(socket, "control", "completed", None).await?;
    Some((NORMAL, String::new()))
}

/// Runs the code and tells its output while it comes. `None` if the client is gone; then the code is ended.
async fn told(cloud: &SharedCloud, code: &Code, socket: &mut WebSocket) -> Option<Finished> {
    let (sender, mut pieces) = unbounded_channel();
    let outlet = Outlet::new(sender);
    let mut texts = [Text::default(), Text::default()];
    let mut work = std::pin::pin!(async {
        let finished = runner::run(&cloud.world.runner, code, &outlet).await;
        drop(outlet);
        finished
    });
    let mut finished = None;
    loop {
        tokio::select! {
            biased;
            piece = pieces.recv() => match piece {
                Some((stream, bytes)) => {
                    let text = texts[stream as usize].push(&bytes);
                    send(socket, name(stream), &text, None).await?;
                }
                None => break,
            },
            ended = &mut work, if finished.is_none() => finished = Some(ended),
            // Whatever a client says meanwhile is nothing but a ping, or its end.
            message = socket.recv() => match message {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            },
        }
    }
    for stream in Stream::ALL {
        let rest = texts[stream as usize].end();
        if !rest.is_empty() {
            send(socket, name(stream), &rest, None).await?;
        }
    }
    finished
}

const fn name(stream: Stream) -> &'static str {
    match stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    }
}

/// Sends one frame; `None` if the client is gone.
async fn send(
    socket: &mut WebSocket,
    kind: &str,
    text: &str,
    raised: Option<Raised>,
) -> Option<()> {
    let (name, value, traceback) = raised
        .map_or_else(Default::default, |raised| (raised.name, raised.value, raised.traceback));
    let frame = json!({
        "type": kind, "text": text, "name": name, "value": value, "traceback": traceback,
    });
    socket.send(Message::text(frame.to_string())).await.ok()
}
