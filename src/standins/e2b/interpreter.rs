//! The code interpreter in a sandbox of E2B: cells are executed, and what becomes of them comes as lines of JSON.
//!
//! A context has a number of executions and lets one in at a time; it keeps no variables.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;

use super::{Sandbox, SharedWorld};
use crate::runs::{Language, Stream};
use crate::standins::garble::Form;
use crate::standins::runner::{self, Code, End, Finished, Mode, Outlet, RUN_MAX, Raised};
use crate::standins::serving::{empty, json as answer_json, plain};
use crate::standins::text::Text;
use crate::standins::world::locked;
use crate::standins::written::{self, Writer};
use crate::standins::{ids, python_json};

/// After so much silence a line says that the connection lives.
const KEEPALIVE: Duration = Duration::from_secs(5);
/// How many contexts there are in a sandbox at most.
const CONTEXTS_MAX: usize = 100;
/// Where code starts.
const FOLDER: &str = "/home/user";

/// The kernels of a sandbox by their ids; those that come without an id by their language.
pub type Contexts = Mutex<BTreeMap<String, Arc<Context>>>;

/// A kernel.
#[derive(Debug)]
pub struct Context {
    language: Language,
    /// What it was asked for.
    spoken: String,
    folder: String,
    executions: AtomicU32,
    /// Held while something is executed.
    busy: tokio::sync::Mutex<()>,
}

/// The addresses.
pub fn routes(world: &SharedWorld) -> Router {
    Router::new()
        .route("/health", get(async || Json("OK")))
        .route("/execute", post(execute))
        .route("/contexts", get(contexts).post(add_context))
        .route("/contexts/{id}", delete(remove_context))
        .route("/contexts/{id}/restart", post(restart_context))
        .fallback(async || answer_json(StatusCode::NOT_FOUND, &json!({"detail": "Not Found"})))
        .with_state(world.clone())
}

#[derive(Debug, Deserialize)]
struct Cell {
    code: String,
    context_id: Option<String>,
    language: Option<String>,
    #[serde(default)]
    env_vars: Option<BTreeMap<String, String>>,
}

/// A line of an answer.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    NumberOfExecutions { execution_count: u32 },
    Stdout { text: String, timestamp: String },
    Stderr { text: String, timestamp: String },
    Result { text: String, extra: Value, is_main_result: bool },
    Error { name: String, value: String, traceback: String },
    Keepalive,
    EndOfExecution,
}

impl Event {
    fn output(stream: Stream, text: String) -> Self {
        let timestamp = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00").to_string();
        match stream {
            Stream::Stdout => Self::Stdout { text, timestamp },
            Stream::Stderr => Self::Stderr { text, timestamp },
        }
    }
}

/// What is wrong with a body, as `FastAPI` says it.
fn unreadable(body: &[u8]) -> Response {
    let value: Value = match serde_json::from_slice(body) {
        Ok(value) => value,
        Err(error) => {
            let detail = json!({
                "type": "json_invalid", "loc": ["body", error.column()], "msg": "JSON decode error",
                "input": {}, "ctx": {"error": error.to_string()},
            });
            return answer_json(StatusCode::UNPROCESSABLE_ENTITY, &json!({"detail": [detail]}));
        }
    };
    let (kind, message) = match value.get("code") {
        None => ("missing", "Field required"),
        Some(_) => ("type_error", "Input should be valid"),
    };
    let detail = json!({"type": kind, "loc": ["body", "code"], "msg": message, "input": value});
    answer_json(StatusCode::UNPROCESSABLE_ENTITY, &json!({"detail": [detail]}))
}

fn language(name: &str) -> Option<Language> {
    match name.to_lowercase().as_str() {
        "python" => Some(Language::Python),
        "javascript" | "js" | "typescript" | "ts" => Some(Language::JavaScript),
        "bash" => Some(Language::Bash),
        _ => None,
    }
}

/// The kernel of a language, which is made if it is not there.
#[expect(clippy::result_large_err, reason = "it is an answer, on its way to the client")]
fn of_language(sandbox: &Sandbox, name: &str) -> Result<Arc<Context>, Response> {
    let Some(language) = language(name) else {
        let name = name.to_lowercase();
        let message = json!({
            "message": format!("The '{name}' kernel is not available. Please pick another suitable kernel instead, or install that kernel."),
            "short_message": format!("{name} not found"),
        });
        let text = String::from_utf8_lossy(&python_json::line(&message)).trim_end().to_owned();
        let text = format!("Failed to create context: {text}");
        return Err(plain(StatusCode::INTERNAL_SERVER_ERROR, text));
    };
    let mut contexts = locked(&sandbox.details.contexts);
    let made = || Arc::new(Context::new(language, name, FOLDER));
    Ok(Arc::clone(contexts.entry(language.word().to_owned()).or_insert_with(made)))
}

impl Context {
    fn new(language: Language, spoken: &str, folder: &str) -> Self {
        Self {
            language,
            spoken: spoken.to_owned(),
            folder: folder.to_owned(),
            executions: AtomicU32::default(),
            busy: tokio::sync::Mutex::default(),
        }
    }

    fn described(&self, id: &str) -> Value {
        json!({"id": id, "language": self.spoken, "cwd": self.folder})
    }
}

async fn execute(
    State(world): State<SharedWorld>,
    Extension(sandbox): Extension<Sandbox>,
    body: Bytes,
) -> Result<Response, Response> {
    let cell: Cell = serde_json::from_slice(&body).map_err(|_| unreadable(&body))?;
    let context = match (&cell.context_id, &cell.language) {
        (Some(_), Some(_)) => {
            let message = "Only one of context_id or language can be provided";
            return Err(plain(StatusCode::BAD_REQUEST, message));
        }
        (Some(id), None) => found(&sandbox, id)?,
        (None, language) => of_language(&sandbox, language.as_deref().unwrap_or("python"))?,
    };
    let gone = sandbox.gone().clone();
    let body = written::body(gone, async move |writer: Writer| {
        let _turn = context.busy.lock().await;
        world.count(&sandbox);
        let mut environment = sandbox.details.environment.clone();
        environment.extend(cell.env_vars.unwrap_or_default());
        let (language, mode) = (context.language, Mode::Cell);
        let code = Code { language, text: cell.code, mode, environment, timeout: RUN_MAX };
        let execution_count = context.executions.fetch_add(1, Ordering::Relaxed) + 1;
        let begun = Event::NumberOfExecutions { execution_count };
        writer.write(python_json::line(&begun)).await;
        let finished = written(&world, &code, &writer).await;
        if finished.end == End::Died {
            context.executions.store(0, Ordering::Relaxed);
        }
        for event in ending(finished) {
            writer.write(python_json::line(&event)).await;
        }
    });
    let mut response = Response::new(body);
    response.extensions_mut().insert(Form::Lines);
    Ok(response)
}

/// Runs the code and writes its output while it comes.
async fn written(world: &SharedWorld, code: &Code, writer: &Writer) -> Finished {
    let (sender, mut pieces) = unbounded_channel();
    let outlet = Outlet::new(sender);
    let mut texts = [Text::default(), Text::default()];
    let mut work = std::pin::pin!(async {
        let finished = runner::run(&world.runner, code, &outlet).await;
        drop(outlet);
        finished
    });
    let mut finished = None;
    loop {
        let event = tokio::select! {
            biased;
            piece = pieces.recv() => match piece {
                Some((stream, bytes)) => match texts[stream as usize].push(&bytes) {
                    // Half a character waits for its rest.
                    text if text.is_empty() => continue,
                    text => Event::output(stream, text),
                },
                None => break,
            },
            ended = &mut work, if finished.is_none() => {
                finished = Some(ended);
                continue;
            }
            () = tokio::time::sleep(KEEPALIVE) => Event::Keepalive,
        };
        writer.write(python_json::line(&event)).await;
    }
    for stream in Stream::ALL {
        let rest = texts[stream as usize].end();
        if !rest.is_empty() {
            writer.write(python_json::line(&Event::output(stream, rest))).await;
        }
    }
    finished.unwrap_or_else(|| End::Died.into())
}

/// The lines that tell how a cell ended.
fn ending(finished: Finished) -> Vec<Event> {
    let Finished { end, raised, value } = finished;
    let result = value.map(|text| Event::Result { text, extra: json!({}), is_main_result: true });
    let raised = match end {
        End::Exited(_) => raised,
        End::Died => Some(Raised {
            name: "ContextRestarting".to_owned(),
            value: "Context was restarted".to_owned(),
            traceback: String::new(),
        }),
        // The real one has no limit; ours is so long that nobody meets it.
        End::TimedOut => Some(Raised {
            name: "ExecutionAborted".to_owned(),
            value: "Execution was aborted".to_owned(),
            traceback: String::new(),
        }),
    };
    let error =
        raised.map(|Raised { name, value, traceback }| Event::Error { name, value, traceback });
    result.into_iter().chain(error).chain([Event::EndOfExecution]).collect()
}

#[expect(clippy::result_large_err, reason = "it is an answer, on its way to the client")]
fn found(sandbox: &Sandbox, id: &str) -> Result<Arc<Context>, Response> {
    let missing = || plain(StatusCode::NOT_FOUND, format!("Context {id} not found"));
    locked(&sandbox.details.contexts).get(id).cloned().ok_or_else(missing)
}

async fn contexts(Extension(sandbox): Extension<Sandbox>) -> Response {
    let contexts = locked(&sandbox.details.contexts);
    let all: Vec<Value> = contexts.iter().map(|(id, context)| context.described(id)).collect();
    answer_json(StatusCode::OK, &all)
}

async fn add_context(
    Extension(sandbox): Extension<Sandbox>,
    body: Bytes,
) -> Result<Response, Response> {
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let name = asked["language"].as_str().unwrap_or("python");
    let language = of_language(&sandbox, name)?.language;
    let context = Context::new(language, name, asked["cwd"].as_str().unwrap_or(FOLDER));
    let id = ids::uuid();
    let described = context.described(&id);
    let mut contexts = locked(&sandbox.details.contexts);
    if contexts.len() >= CONTEXTS_MAX {
        let message = "Failed to create context: there are too many";
        return Err(plain(StatusCode::INTERNAL_SERVER_ERROR, message));
    }
    contexts.insert(id, Arc::new(context));
    Ok(answer_json(StatusCode::OK, &described))
}

async fn remove_context(
    Extension(sandbox): Extension<Sandbox>,
    Path(id): Path<String>,
) -> Result<Response, Response> {
    found(&sandbox, &id)?;
    locked(&sandbox.details.contexts).remove(&id);
    Ok(empty(StatusCode::NO_CONTENT))
}

async fn restart_context(
    Extension(sandbox): Extension<Sandbox>,
    Path(id): Path<String>,
) -> Result<Response, Response> {
    found(&sandbox, &id)?.executions.store(0, Ordering::Relaxed);
    Ok(Response::new(Body::empty()))
}
