//! A server that stands in for E2B: its control plane, and behind the headers `E2b-Sandbox-Id` and `E2b-Sandbox-Port` the
//! ports of a sandbox, envd (commands) and the code interpreter, all at one address.
//!
//! Unlike the real one it keeps no variables from cell to cell, has no files, does not pause, and leads by those headers
//! alone, never by host names. It never limits by itself: 429 comes by script only.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use serde::Serialize;
use serde_json::json;

use super::faults::Stage;
use super::runner::Runner;
use super::serving::{Site, json as answer_json, plain};
use super::world::World;
use super::{Standin, anywhere};

mod control_plane;
mod envd;
mod interpreter;
mod sandbox;
mod templates;

use self::sandbox::Own;

/// The key that is taken if no other is said.
pub const KEY: &str = "e2b_0123456789abcdef0123456789abcdef01234567";
/// What every key begins with.
pub const KEY_PREFIX: &str = "e2b_";

/// The port of envd.
const ENVD_PORT: u16 = 49983;
/// The port of the code interpreter.
const INTERPRETER_PORT: u16 = 49999;
/// Who leads a request to a sandbox.
const SANDBOX_ID: &str = "e2b-sandbox-id";
/// Who leads it to a port.
const SANDBOX_PORT: &str = "e2b-sandbox-port";
/// The header without which a sandbox with closed ports answers nobody.
const TRAFFIC_TOKEN: &str = "e2b-traffic-access-token";
/// What User-Agents of browsers contain.
const BROWSERS: [&str; 6] = ["Mozilla", "Chrome", "Safari", "Firefox", "Edge", "Opera"];
/// Addresses in a sandbox that only the provider itself may ask.
const RESERVED: [&str; 3] = ["/init", "/freeze", "/unfreeze"];

type SharedWorld = Arc<World<Own>>;
type Sandbox = Arc<super::world::Sandbox<Own>>;

/// Starts one at a free port of this machine's own.
pub async fn start(runner: Arc<dyn Runner>) -> io::Result<Standin> {
    start_at(anywhere(), vec![KEY.to_owned()], runner).await
}

/// Starts one at an address of this machine's own, with the keys that it takes.
pub async fn start_at(
    address: SocketAddr,
    keys: Vec<String>,
    runner: Arc<dyn Runner>,
) -> io::Result<Standin> {
    let key = keys.first().cloned().unwrap_or_default();
    let world = World::new(keys, runner);
    super::start(address, key, "", |_| Site {
        routes: routes(&world),
        stage_of,
        control: Arc::clone(&world) as _,
        stop: world.stop.clone(),
    })
    .await
}

fn routes(world: &SharedWorld) -> Router {
    let ports = Ports {
        world: Arc::clone(world),
        envd: envd::routes(world),
        interpreter: interpreter::routes(world),
    };
    control_plane::routes(world).layer(middleware::from_fn_with_state(Arc::new(ports), lead))
}

/// What a request is about, by its address.
fn stage_of(request: &Request<Body>) -> Option<Stage> {
    let path = request.uri().path();
    if request.headers().contains_key(SANDBOX_ID) {
        return match path {
            "/health" => Some(Stage::Health),
            "/execute" | "/process.Process/Start" => Some(Stage::Run),
            _ => None,
        };
    }
    let path = path.strip_prefix("/v2").unwrap_or(path).strip_prefix("/sandboxes")?;
    Stage::of_sandboxes(request.method(), path)
}

struct Ports {
    world: SharedWorld,
    envd: Router,
    interpreter: Router,
}

/// Leads a request with the two headers to a port of a sandbox, as the proxies before it do; all others to the control plane.
async fn lead(State(ports): State<Arc<Ports>>, mut request: Request, next: Next) -> Response {
    let [id, port, token] =
        [SANDBOX_ID, SANDBOX_PORT, TRAFFIC_TOKEN].map(|name| said(request.headers(), name));
    let (id, port) = match (id, port) {
        (None, None) => return next.run(request).await,
        (Some(id), Some(port)) => (id, port),
        _ => return plain(StatusCode::BAD_REQUEST, "missing header"),
    };
    let is_id = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if id.is_empty() || !id.chars().all(is_id) {
        return plain(StatusCode::BAD_REQUEST, "Invalid sandbox ID");
    }
    let Ok(port) = port.parse::<u16>() else {
        return plain(StatusCode::BAD_REQUEST, "Invalid sandbox port");
    };
    let Some(sandbox) = ports.world.by_id(&id) else {
        let status = StatusCode::BAD_GATEWAY;
        return refusal(&request, status, &id, "The sandbox was not found", None);
    };
    if port != ENVD_PORT
        && let Some(wanted) = &sandbox.details.traffic_token
        && token.as_ref() != Some(wanted)
    {
        let what = if token.is_some() { "invalid" } else { "missing" };
        let message = format!(
            "Sandbox is secured with traffic access token. Token header '{TRAFFIC_TOKEN}' is {what}"
        );
        return refusal(&request, StatusCode::FORBIDDEN, &id, &message, None);
    }
    if RESERVED.contains(&request.uri().path()) {
        let path = request.uri().path();
        let message = "This endpoint is reserved for the E2B control plane and cannot be accessed";
        let body = json!({"sandboxId": id, "message": message, "path": path, "code": 404});
        return answer_json(StatusCode::NOT_FOUND, &body);
    }
    let routes = match port {
        ENVD_PORT => ports.envd.clone(),
        INTERPRETER_PORT if sandbox.details.template.has_interpreter => ports.interpreter.clone(),
        _ => {
            let message = "The sandbox is running but port is not open";
            return refusal(&request, StatusCode::BAD_GATEWAY, &id, message, Some(port));
        }
    };
    request.extensions_mut().insert(sandbox);
    match tower::ServiceExt::oneshot(routes, request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

fn said(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).map(|value| value.to_str().unwrap_or_default().to_owned())
}

/// What a proxy before a sandbox says, with the fields in its order: the official clients show the whole text.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Refusal<'a> {
    sandbox_id: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
    code: u16,
}

/// What a proxy before a sandbox says: HTML to browsers, JSON to the rest.
fn refusal(
    request: &Request,
    status: StatusCode,
    id: &str,
    message: &str,
    port: Option<u16>,
) -> Response {
    let agent = request.headers().get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    if agent.is_some_and(|agent| BROWSERS.iter().any(|browser| agent.contains(browser))) {
        let mut response = plain(status, format!("<html><body>{message}</body></html>"));
        let html = header::HeaderValue::from_static("text/html; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, html);
        return response;
    }
    answer_json(status, &Refusal { sandbox_id: id, message, port, code: status.as_u16() })
}

#[cfg(test)]
mod tests;
