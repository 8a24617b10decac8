//! Sessions of a sandbox of Daytona: commands one after the other, with their outputs apart.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use super::problem::Problem;
use super::toolbox::read;
use super::{Sandbox, SharedCloud};
use crate::runs::{Language, Stream};
use crate::standins::ids;
use crate::standins::runner::{self, Code, End, Piece, RUN_MAX};
use crate::standins::serving::empty;
use crate::standins::world::locked;

/// The header by which answers have both outputs apart.
const SDK_VERSION: &str = "x-daytona-sdk-version";
/// From which version on.
const SPLIT_SINCE: [u32; 2] = [0, 167];
/// How many sessions a sandbox has at most.
const SESSIONS_MAX: usize = 100;
/// How many commands a session remembers at most.
const COMMANDS_MAX: usize = 1000;
/// What stands before each piece of standard output in the raw log.
const STDOUT_MARK: &str = "\u{1}\u{1}\u{1}";
/// What stands before each piece of standard error.
const STDERR_MARK: &str = "\u{2}\u{2}\u{2}";
/// The exit code of a shell that was killed.
const KILLED: i32 = 137;

/// The sessions of a sandbox by their ids.
pub type Sessions = Mutex<BTreeMap<String, Vec<Arc<Command>>>>;

/// A command of a session.
#[derive(Debug)]
pub struct Command {
    id: String,
    text: String,
    /// Empty until it is over.
    done: Mutex<Option<(i32, Vec<Piece>)>>,
}

/// The addresses.
pub fn routes() -> Router<SharedCloud> {
    Router::new()
        .route("/process/session", get(list).post(create))
        .route("/process/session/{session}", get(detail).delete(remove))
        .route("/process/session/{session}/exec", post(execute))
        .route("/process/session/{session}/command/{command}", get(command))
        .route("/process/session/{session}/command/{command}/logs", get(logs))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WantedSession {
    session_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WantedCommand {
    command: String,
    #[serde(default, alias = "async")]
    run_async: bool,
}

/// The parts of an address; the sandbox's id is read before.
#[derive(Debug, Deserialize)]
struct Place {
    session: String,
    #[serde(default)]
    command: String,
}

impl Command {
    fn described(&self) -> Value {
        let mut described = json!({"id": self.id, "command": self.text});
        if let Some((exit_code, _)) = &*locked(&self.done) {
            described["exitCode"] = json!(exit_code);
        }
        described
    }

    /// The outputs: both, and each apart. A last line that does not end is ended.
    fn outputs(&self) -> [String; 3] {
        let done = locked(&self.done);
        let pieces = done.as_ref().map(|(_, pieces)| pieces.as_slice()).unwrap_or_default();
        let text = |bytes: Vec<u8>| {
            let mut text = String::from_utf8_lossy(&bytes).into_owned();
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text
        };
        let of = |wanted: Stream| {
            let own = pieces.iter().filter(|(stream, _)| *stream == wanted);
            text(own.flat_map(|(_, bytes)| bytes.clone()).collect())
        };
        let marked = pieces.iter().flat_map(|(stream, bytes)| {
            let mark = match stream {
                Stream::Stdout => STDOUT_MARK,
                Stream::Stderr => STDERR_MARK,
            };
            [mark.as_bytes(), bytes].concat()
        });
        [text(marked.collect()), of(Stream::Stdout), of(Stream::Stderr)]
    }
}

/// Whether answers have both outputs apart, and whether the raw log is marked.
fn split(headers: &HeaderMap) -> (bool, bool) {
    let version = headers.get(SDK_VERSION).and_then(|version| version.to_str().ok());
    let Some(version) = version else {
        let asked = headers.get("x-daytona-split-output");
        return (false, asked.is_some_and(|asked| asked == "true"));
    };
    let parts: Vec<u32> = version.split('.').take(2).filter_map(|part| part.parse().ok()).collect();
    (parts.as_slice() >= SPLIT_SINCE.as_slice(), true)
}

fn told(command: &Command, headers: &HeaderMap) -> Value {
    let [marked, stdout, stderr] = command.outputs();
    match split(headers) {
        (true, _) => json!({"output": marked, "stdout": stdout, "stderr": stderr}),
        (false, true) => json!({"output": marked}),
        (false, false) => {
            json!({"output": marked.replace(STDOUT_MARK, "").replace(STDERR_MARK, "")})
        }
    }
}

fn missing(what: &str) -> Problem {
    Problem::daemon(StatusCode::NOT_FOUND, "NOT_FOUND", format!("not found: {what} not found"))
}

async fn create(Extension(sandbox): Extension<Sandbox>, body: Bytes) -> Result<Response, Problem> {
    let wanted: WantedSession = read(&body)?;
    let mut sessions = locked(&sandbox.details.sessions);
    if sessions.contains_key(&wanted.session_id) {
        let message = "conflict: session already exists";
        return Err(Problem::daemon(StatusCode::CONFLICT, "CONFLICT", message));
    }
    if sessions.len() >= SESSIONS_MAX {
        return Err(Problem::bad_request("there are too many sessions"));
    }
    sessions.insert(wanted.session_id, Vec::new());
    Ok(empty(StatusCode::CREATED))
}

fn described(id: &str, commands: &[Arc<Command>]) -> Value {
    let commands: Vec<Value> = commands.iter().map(|command| command.described()).collect();
    json!({"sessionId": id, "commands": commands})
}

async fn list(Extension(sandbox): Extension<Sandbox>) -> Json<Vec<Value>> {
    let sessions = locked(&sandbox.details.sessions);
    Json(sessions.iter().map(|(id, commands)| described(id, commands)).collect())
}

async fn detail(
    Extension(sandbox): Extension<Sandbox>,
    Path(place): Path<Place>,
) -> Result<Json<Value>, Problem> {
    let sessions = locked(&sandbox.details.sessions);
    let commands = sessions.get(&place.session).ok_or_else(|| missing("session"))?;
    Ok(Json(described(&place.session, commands)))
}

async fn remove(
    Extension(sandbox): Extension<Sandbox>,
    Path(place): Path<Place>,
) -> Result<Response, Problem> {
    let removed = locked(&sandbox.details.sessions).remove(&place.session);
    removed.map(|_| empty(StatusCode::NO_CONTENT)).ok_or_else(|| missing("session"))
}

async fn execute(
    State(cloud): State<SharedCloud>,
    Extension(sandbox): Extension<Sandbox>,
    Path(place): Path<Place>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let wanted: WantedCommand = read(&body)?;
    if wanted.command.trim().is_empty() {
        return Err(Problem::bad_request("empty command"));
    }
    let (id, text) = (ids::uuid(), wanted.command);
    let command = Arc::new(Command { id, text, done: Mutex::default() });
    {
        let mut sessions = locked(&sandbox.details.sessions);
        let commands = sessions.get_mut(&place.session).ok_or_else(|| missing("session"))?;
        if commands.len() >= COMMANDS_MAX {
            return Err(Problem::bad_request("the session has too many commands"));
        }
        commands.push(Arc::clone(&command));
    }
    cloud.world.count(&sandbox);
    let running = Arc::clone(&command);
    let gone = sandbox.gone().clone();
    let work = async move {
        let mut code = Code::program(Language::Bash, running.text.clone(), RUN_MAX);
        code.environment.clone_from(&sandbox.details.environment);
        let (finished, pieces) = runner::run_whole(&cloud.world.runner, &code).await;
        let exit_code = match finished.end {
            End::Exited(exit_code) => exit_code,
            End::TimedOut | End::Died => KILLED,
        };
        *locked(&running.done) = Some((exit_code, pieces));
        exit_code
    };
    if wanted.run_async {
        tokio::spawn(async move { gone.run_until_cancelled(work).await });
        let answer = Json(json!({"cmdId": command.id}));
        return Ok((StatusCode::ACCEPTED, answer).into_response());
    }
    let exit_code = work.await;
    let mut answer = told(&command, &headers);
    answer["cmdId"] = json!(command.id);
    answer["exitCode"] = json!(exit_code);
    Ok(Json(answer).into_response())
}

fn found(sandbox: &Sandbox, place: &Place) -> Result<Arc<Command>, Problem> {
    let sessions = locked(&sandbox.details.sessions);
    let commands = sessions.get(&place.session).ok_or_else(|| missing("session"))?;
    let command = commands.iter().find(|command| command.id == place.command);
    command.cloned().ok_or_else(|| missing("command"))
}

async fn command(
    Extension(sandbox): Extension<Sandbox>,
    Path(place): Path<Place>,
) -> Result<Json<Value>, Problem> {
    Ok(Json(found(&sandbox, &place)?.described()))
}

async fn logs(
    Extension(sandbox): Extension<Sandbox>,
    Path(place): Path<Place>,
    headers: HeaderMap,
) -> Result<Json<Value>, Problem> {
    Ok(Json(told(found(&sandbox, &place)?.as_ref(), &headers)))
}
