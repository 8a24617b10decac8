//! The toolbox of a sandbox of Daytona: code and commands are run to their end, with both outputs in one text.
//!
//! Not here: arguments of code, and folders; nothing of what runs could see them.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Extension, Json, Router};
use serde::Deserialize;
use serde_json::json;

use super::problem::Problem;
use super::sandbox::{Busy, State as Life};
use super::script::Script;
use super::{Sandbox, SharedCloud, interpreter, sessions};
use crate::runs::Language;
use crate::standins::runner::{self, Code, End, RUN_MAX};
use crate::standins::serving::empty;

/// What a shell makes of a program that was killed.
const KILLED_IN_SHELL: i32 = 137;
/// What the daemon makes of a shell that was killed.
const SHELL_KILLED: i32 = -1;
/// Lines that begin so are no output of code.
const ARTIFACT: &str = "dtn_artifact_k39fd2:";

/// The addresses.
pub fn routes(cloud: &SharedCloud) -> Router {
    let ours = Router::new()
        .route("/process/code-run", post(run_code))
        .route("/process/execute", post(execute))
        .merge(interpreter::routes())
        .merge(sessions::routes());
    Router::new()
        .nest("/{id}", ours)
        .route_layer(middleware::from_fn_with_state(cloud.clone(), lead))
        .with_state(cloud.clone())
}

/// Lets a request into its sandbox, as the proxy and the machine before it do.
async fn lead(
    State(cloud): State<SharedCloud>,
    Path(path): Path<BTreeMap<String, String>>,
    mut request: Request,
    next: Next,
) -> Response {
    if !super::is_known(&cloud.world, request.headers()) {
        let message = "unauthorized: authentication failed: Bearer token is invalid";
        return Problem::proxy(StatusCode::UNAUTHORIZED, message).into_response();
    }
    let id = path.get("id").map_or("", String::as_str);
    let Some(sandbox) = cloud.world.by_id(id) else {
        let message =
            "not found: sandbox container not found: Error response from daemon: No such container";
        return Problem::runner(StatusCode::NOT_FOUND, message).into_response();
    };
    if sandbox.details.now() != Life::Started {
        let message = "bad request: no IP address found. Is the Sandbox started?";
        return Problem::runner(StatusCode::BAD_REQUEST, message).into_response();
    }
    let _busy = Busy::new(&sandbox);
    request.extensions_mut().insert(sandbox.clone());
    // A connection into a sandbox that goes away breaks off.
    let answered = sandbox.gone().run_until_cancelled(next.run(request)).await;
    answered.unwrap_or_else(|| empty(StatusCode::BAD_GATEWAY))
}

#[derive(Debug, Deserialize)]
struct WantedCode {
    code: String,
    language: String,
    #[serde(default)]
    envs: BTreeMap<String, String>,
    timeout: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct WantedCommand {
    command: String,
    #[serde(default)]
    envs: BTreeMap<String, String>,
    timeout: Option<u64>,
}

/// A body of the daemon's calls.
pub fn read<T: for<'de> Deserialize<'de>>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|error| {
        let message = format!("invalid request body: {error}");
        Problem::daemon(StatusCode::BAD_REQUEST, "INVALID_REQUEST_BODY", message)
    })
}

fn check_names(environment: &BTreeMap<String, String>) -> Result<(), Problem> {
    let is_name = |name: &String| {
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && name.chars().next().is_some_and(|c| !c.is_ascii_digit())
    };
    match environment.keys().find(|name| !is_name(name)) {
        Some(name) => {
            Err(Problem::bad_request(format!("invalid environment variable name: '{name}'")))
        }
        None => Ok(()),
    }
}

/// The environment of a sandbox, and what a call adds.
fn environment(sandbox: &Sandbox, added: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut environment = sandbox.details.environment.clone();
    environment.extend(added);
    environment
}

/// Seconds as a wall clock: none or 0 is none.
fn limit(seconds: Option<u64>) -> Duration {
    match seconds {
        None | Some(0) => RUN_MAX,
        Some(seconds) => Duration::from_secs(seconds).min(RUN_MAX),
    }
}

fn timed_out() -> Problem {
    let message = "request timeout: command execution timeout";
    Problem::daemon(StatusCode::REQUEST_TIMEOUT, "PROCESS_EXECUTION_TIMEOUT", message)
}

async fn run_code(
    State(cloud): State<SharedCloud>,
    Extension(sandbox): Extension<Sandbox>,
    body: Bytes,
) -> Result<Response, Problem> {
    let wanted: WantedCode = read(&body)?;
    check_names(&wanted.envs)?;
    let language = match wanted.language.as_str() {
        "python" => Language::Python,
        "javascript" | "typescript" => Language::JavaScript,
        other => {
            let message =
                format!("unsupported language: {other}; it is python, javascript or typescript");
            return Err(Problem::bad_request(message));
        }
    };
    let mut code = Code::program(language, wanted.code, limit(wanted.timeout));
    code.environment = environment(&sandbox, wanted.envs);
    let (exit_code, text) = whole(&cloud, &sandbox, &code, KILLED_IN_SHELL).await?;
    let kept = text.split_inclusive('\n').filter(|line| !line.starts_with(ARTIFACT));
    Ok(ended(exit_code, &kept.collect::<String>()))
}

async fn execute(
    State(cloud): State<SharedCloud>,
    Extension(sandbox): Extension<Sandbox>,
    body: Bytes,
) -> Result<Response, Problem> {
    let wanted: WantedCommand = read(&body)?;
    check_names(&wanted.envs)?;
    if wanted.command.trim().is_empty() {
        return Err(Problem::bad_request("empty command"));
    }
    let limit = limit(wanted.timeout);
    let (exit_code, text) = if let Some(script) = Script::read(&wanted.command) {
        let run = script.run(&cloud, &sandbox);
        tokio::time::timeout(limit, run).await.map_err(|_| timed_out())?
    } else {
        let mut code = Code::program(Language::Bash, wanted.command, limit);
        code.environment = environment(&sandbox, wanted.envs);
        whole(&cloud, &sandbox, &code, SHELL_KILLED).await?
    };
    Ok(ended(exit_code, &text))
}

/// Runs code to its end and gives its exit code and both outputs in the order in which they came.
async fn whole(
    cloud: &SharedCloud,
    sandbox: &Sandbox,
    code: &Code,
    killed: i32,
) -> Result<(i32, String), Problem> {
    cloud.world.count(sandbox);
    let (finished, pieces) = runner::run_whole(&cloud.world.runner, code).await;
    let exit_code = match finished.end {
        End::Exited(exit_code) => exit_code,
        End::Died => killed,
        End::TimedOut => return Err(timed_out()),
    };
    let bytes: Vec<u8> = pieces.into_iter().flat_map(|(_, bytes)| bytes).collect();
    Ok((exit_code, String::from_utf8_lossy(&bytes).into_owned()))
}

fn ended(exit_code: i32, result: &str) -> Response {
    Json(json!({"exitCode": exit_code, "result": result})).into_response()
}
