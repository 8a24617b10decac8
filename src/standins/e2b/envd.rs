//! envd, the daemon in a sandbox of E2B: it starts commands and streams what they write, by Connect with JSON.
//!
//! Not here: files, terminals, input, and all but the first few of its calls.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, post};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};

use super::{Sandbox, SharedWorld};
use crate::runs::{Language, Stream};
use crate::standins::connect;
use crate::standins::garble::Form;
use crate::standins::runner::{self, Code, End, Outlet, Piece, RUN_MAX};
use crate::standins::serving::{empty, json as answer_json, plain};
use crate::standins::world::locked;
use crate::standins::written::{self, Writer};

/// After so much silence a frame says that the connection lives, where the client wishes nothing else.
const KEEPALIVE: Duration = Duration::from_secs(90);
/// The most of an output in one frame.
const DATA_BYTES_MAX: usize = 32 * 1024;
/// The longest argument of a program, as Linux has it.
const ARGUMENT_BYTES_MAX: usize = 128 * 1024;
/// How many commands run in a sandbox at once.
const PROCESSES_MAX: usize = 100;
/// The folders that there are.
const FOLDERS: [&str; 5] = ["/", "/home", "/home/user", "/root", "/tmp"];
/// The programs that there are.
const SHELLS: [&str; 4] = ["/bin/bash", "bash", "/bin/sh", "sh"];
/// The users that there are.
const USERS: [&str; 2] = ["user", "root"];
/// A script that runs its arguments: code that is longer than one argument comes in several.
const EVALUATE: &str = r#"c=$1$2$3; set --; eval "$c""#;

/// The processes of a sandbox by their numbers; each is ended by naming a signal.
pub type Processes = Mutex<BTreeMap<u32, watch::Sender<Option<&'static str>>>>;

/// The addresses.
pub fn routes(world: &SharedWorld) -> Router {
    Router::new()
        .route("/process.Process/Start", post(start))
        .route("/process.Process/SendSignal", post(send_signal))
        .route_layer(middleware::from_fn(with_token))
        .route("/health", get(async || empty(StatusCode::NO_CONTENT)))
        .fallback(async || plain(StatusCode::NOT_FOUND, "404 page not found\n"))
        .with_state(world.clone())
}

async fn with_token(
    Extension(sandbox): Extension<Sandbox>,
    request: Request,
    next: Next,
) -> Response {
    let token = request.headers().get("x-access-token").and_then(|token| token.to_str().ok());
    if let Some(wanted) = &sandbox.details.envd_token
        && token != Some(wanted)
    {
        let message = "unauthorized access, please provide a valid access token or method signing if supported";
        return answer_json(StatusCode::UNAUTHORIZED, &json!({"code": 401, "message": message}));
    }
    next.run(request).await
}

#[derive(Debug, Deserialize)]
struct Wanted {
    process: Program,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Program {
    cmd: String,
    args: Vec<String>,
    envs: BTreeMap<String, String>,
    cwd: Option<String>,
}

impl Program {
    /// The script of the shell that this starts; else what envd says.
    fn script(&self) -> Result<String, String> {
        if let Some(folder) = &self.cwd
            && !FOLDERS.contains(&folder.as_str())
        {
            return Err(format!("cwd '{folder}' does not exist"));
        }
        if !SHELLS.contains(&self.cmd.as_str()) {
            return Err(format!("exec: \"{}\": executable file not found in $PATH", self.cmd));
        }
        if self.args.iter().any(|argument| argument.len() >= ARGUMENT_BYTES_MAX) {
            return Err(format!("fork/exec {}: argument list too long", self.cmd));
        }
        let mut rest = self.args.iter().skip_while(|argument| *argument != "-c").skip(1);
        match rest.next().map(String::as_str) {
            // What follows first is the script's own name.
            Some(EVALUATE) => Ok(rest.skip(1).take(3).map(String::as_str).collect()),
            script => Ok(script.unwrap_or_default().to_owned()),
        }
    }
}

/// A call that failed before its stream began.
fn refusal(status: StatusCode, code: &str, message: &str) -> Response {
    answer_json(status, &json!({"code": code, "message": message}))
}

fn streamed(body: axum::body::Body) -> Response {
    let mut response = Response::new(body);
    let content_type = HeaderValue::from_static("application/connect+json");
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    let encoding = HeaderValue::from_static("gzip");
    response.headers_mut().insert("connect-accept-encoding", encoding);
    response.extensions_mut().insert(Form::Frames);
    response
}

/// A whole number in a header.
fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.parse().ok()
}

/// The user of `Basic`, or the usual one.
fn user(headers: &HeaderMap) -> String {
    let said = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let encoded = said.and_then(|said| said.strip_prefix("Basic "));
    let bytes = encoded.and_then(|encoded| BASE64_STANDARD.decode(encoded).ok());
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.map_or_else(|| USERS[0].to_owned(), |text| text.trim_end_matches(':').to_owned())
}

async fn start(
    State(world): State<SharedWorld>,
    Extension(sandbox): Extension<Sandbox>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if content_type != Some("application/connect+json") {
        let mut response = empty(StatusCode::UNSUPPORTED_MEDIA_TYPE);
        let accepted =
            HeaderValue::from_static("application/connect+json, application/connect+proto");
        response.headers_mut().insert("accept-post", accepted);
        return response;
    }
    let user = user(&headers);
    if !USERS.contains(&user.as_str()) {
        let message = format!("invalid username: 'user: unknown user {user}'");
        return refusal(StatusCode::UNAUTHORIZED, "unauthenticated", &message);
    }
    let refused =
        |message: &str| streamed(connect::end(Some(("invalid_argument", message))).into());
    let message = connect::split(&body).next().map(|frame| &frame[connect::HEADER_BYTES..]);
    let wanted = message.map(serde_json::from_slice::<Wanted>);
    let program = match wanted {
        Some(Ok(wanted)) => wanted.process,
        Some(Err(error)) => return refused(&format!("unmarshal message: {error}")),
        None => return refused("protocol error: incomplete envelope"),
    };
    let text = match program.script() {
        Ok(text) => text,
        Err(message) => return refused(&message),
    };
    if locked(&sandbox.details.processes).len() >= PROCESSES_MAX {
        let message = "fork/exec /bin/bash: resource temporarily unavailable";
        return refusal(StatusCode::TOO_MANY_REQUESTS, "resource_exhausted", message);
    }
    let limit = number(&headers, "connect-timeout-ms").map_or(RUN_MAX, Duration::from_millis);
    let silence =
        number(&headers, "keepalive-ping-interval").map_or(KEEPALIVE, Duration::from_secs);
    let mut code = Code::program(Language::Bash, text, limit.min(RUN_MAX));
    code.environment.clone_from(&sandbox.details.environment);
    code.environment.extend(program.envs);
    let gone = sandbox.gone().clone();
    let process = Process::begin(&world, &sandbox, code);
    streamed(written::body(gone, async move |writer| process.written(&writer, silence).await))
}

/// A process that was started. It goes on when nobody reads what it writes.
struct Process {
    pid: u32,
    pieces: mpsc::UnboundedReceiver<Piece>,
    ended: oneshot::Receiver<Stop>,
}

/// What ended a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Exited(i32),
    Signal(&'static str),
    Deadline,
}

impl Process {
    fn begin(world: &SharedWorld, sandbox: &Sandbox, code: Code) -> Self {
        let pid = sandbox.details.next_pid();
        let (signal, mut signalled) = watch::channel(None);
        locked(&sandbox.details.processes).insert(pid, signal);
        let (sender, pieces) = mpsc::unbounded_channel();
        let (tell, ended) = oneshot::channel();
        let (world, sandbox) = (world.clone(), sandbox.clone());
        world.count(&sandbox);
        tokio::spawn(async move {
            let outlet = Outlet::new(sender);
            let stop = tokio::select! {
                finished = runner::run(&world.runner, &code, &outlet) => match finished.end {
                    End::Exited(exit_code) => Some(Stop::Exited(exit_code)),
                    End::TimedOut => Some(Stop::Deadline),
                    End::Died => Some(Stop::Signal("killed")),
                },
                named = signalled.wait_for(Option::is_some) => {
                    named.ok().and_then(|named| *named).map(Stop::Signal)
                }
                () = sandbox.gone().cancelled() => None,
            };
            locked(&sandbox.details.processes).remove(&pid);
            if let Some(stop) = stop {
                // Whoever does not read does not want to know.
                let _ = tell.send(stop);
            }
        });
        Self { pid, pieces, ended }
    }

    async fn written(mut self, writer: &Writer, silence: Duration) {
        let event = |event: Value| connect::message(&json!({"event": event}));
        writer.write(event(json!({"start": {"pid": self.pid}}))).await;
        loop {
            let Ok(piece) = tokio::time::timeout(silence, self.pieces.recv()).await else {
                writer.write(event(json!({"keepalive": {}}))).await;
                continue;
            };
            let Some((stream, bytes)) = piece else { break };
            let name = match stream {
                Stream::Stdout => "stdout",
                Stream::Stderr => "stderr",
            };
            for piece in bytes.chunks(DATA_BYTES_MAX) {
                let data = json!({"data": {name: BASE64_STANDARD.encode(piece)}});
                writer.write(event(data)).await;
            }
        }
        let end = match self.ended.await {
            Ok(Stop::Deadline) => {
                let error = ("deadline_exceeded", "context deadline exceeded");
                return writer.write(connect::end(Some(error))).await;
            }
            // Zero is left out, as protocol buffers do.
            Ok(Stop::Exited(0)) => json!({"exited": true, "status": "exit status 0"}),
            Ok(Stop::Exited(exit_code)) => {
                let status = format!("exit status {exit_code}");
                json!({"exitCode": exit_code, "exited": true, "status": status, "error": status})
            }
            Ok(Stop::Signal(name)) => {
                let status = format!("signal: {name}");
                json!({"exitCode": -1, "status": status, "error": status})
            }
            // The sandbox is gone, and with it this connection.
            Err(_) => return,
        };
        writer.write(event(json!({"end": end}))).await;
        writer.write(connect::end(None)).await;
    }
}

async fn send_signal(Extension(sandbox): Extension<Sandbox>, body: Bytes) -> Response {
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let signal = match asked["signal"].as_str() {
        Some("SIGNAL_SIGKILL") => "killed",
        Some("SIGNAL_SIGTERM") => "terminated",
        _ => {
            let message = "invalid signal: it is SIGNAL_SIGKILL or SIGNAL_SIGTERM";
            return refusal(StatusCode::BAD_REQUEST, "invalid_argument", message);
        }
    };
    let pid = asked["process"]["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
    let processes = locked(&sandbox.details.processes);
    let Some(process) = pid.and_then(|pid| processes.get(&pid)) else {
        let message = format!("process with pid {} not found", pid.unwrap_or_default());
        return refusal(StatusCode::NOT_FOUND, "not_found", &message);
    };
    process.send_replace(Some(signal));
    answer_json(StatusCode::OK, &json!({}))
}
