//! E2B's control plane: sandboxes are made, looked at, listed, given more time and killed.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, post, put};
use serde::Deserialize;
use serde_json::{Value, json};

use super::sandbox::{self, Network, Own, Reach};
use super::{KEY_PREFIX, Sandbox, SharedWorld, templates};
use crate::standins::ids;
use crate::standins::serving::{empty, json as answer_json, plain};
use crate::standins::world::locked;

/// The longest life of a sandbox, seconds.
const LIFETIME_SECONDS_MAX: i64 = 3600;
/// The life of a sandbox if nothing is said, seconds.
const LIFETIME_SECONDS: i64 = 300;
/// The same by the old call.
const OLD_LIFETIME_SECONDS: i64 = 15;
/// The most sandboxes of one page of a list.
const PAGE_MAX: usize = 100;
/// The longest idempotency key.
const IDEMPOTENCY_KEY_MAX: usize = 255;
/// How many idempotency keys are remembered; beyond that all are forgotten.
const IDEMPOTENCY_KEYS_MAX: usize = 1000;
/// What denies everything.
const EVERYTHING: &str = "0.0.0.0/0";
/// The process number before the first that a sandbox gives.
const PID_BEFORE_FIRST: u32 = 742;

/// The addresses.
pub fn routes(world: &SharedWorld) -> Router {
    let state = Plane { world: world.clone(), made: Made::default() };
    let locked_routes = Router::new()
        .route("/v2/sandboxes", post(create).get(list))
        .route("/sandboxes", post(create_old_way).get(list_old_way))
        .route("/sandboxes/{id}", get(detail).delete(kill))
        .route("/sandboxes/{id}/timeout", post(set_timeout))
        .route("/sandboxes/{id}/network", put(set_network))
        .route_layer(middleware::from_fn_with_state(world.clone(), with_key));
    Router::new()
        .route("/health", get(async || plain(StatusCode::OK, "Health check successful")))
        .merge(locked_routes)
        .fallback(async || problem(StatusCode::NOT_FOUND, "no matching operation was found"))
        .with_state(std::sync::Arc::new(state))
}

type SharedPlane = State<std::sync::Arc<Plane>>;

struct Plane {
    world: SharedWorld,
    made: Made,
}

/// What was made under an idempotency key: the body that asked, and the sandbox's id.
type Made = Mutex<BTreeMap<String, (Bytes, String)>>;

/// An error in E2B's form.
fn problem(status: StatusCode, message: &str) -> Response {
    answer_json(status, &json!({"code": status.as_u16(), "message": message}))
}

async fn with_key(State(world): State<SharedWorld>, request: Request, next: Next) -> Response {
    let key = request.headers().get("x-api-key").and_then(|key| key.to_str().ok());
    let message = match key {
        None => "Missing authentication header X-API-Key",
        Some(key) if !key.starts_with(KEY_PREFIX) => {
            "Invalid API key format. The key begins with e2b_"
        }
        Some(key) if !world.keys.iter().any(|known| known == key) => {
            "Invalid API key, please visit https://e2b.dev/docs/api-key for more information.\n\
             Cannot get the team for the given API key"
        }
        Some(_) => return next.run(request).await,
    };
    problem(StatusCode::UNAUTHORIZED, message)
}

/// What a create call asks for.
#[derive(Debug, Deserialize)]
struct Wanted {
    #[serde(rename = "templateID")]
    template_id: String,
    timeout: Option<i64>,
    secure: Option<bool>,
    allow_internet_access: Option<bool>,
    network: Option<Network>,
    metadata: Option<BTreeMap<String, String>>,
    #[serde(rename = "envVars")]
    environment: Option<BTreeMap<String, String>>,
    #[serde(rename = "autoPause")]
    auto_pause: Option<bool>,
    #[serde(rename = "autoPauseMemory")]
    auto_pause_memory: Option<bool>,
}

async fn create(plane: SharedPlane, headers: HeaderMap, body: Bytes) -> Response {
    make(&plane, &headers, &body, true)
}

async fn create_old_way(plane: SharedPlane, headers: HeaderMap, body: Bytes) -> Response {
    make(&plane, &headers, &body, false)
}

fn make(plane: &Plane, headers: &HeaderMap, body: &Bytes, is_new: bool) -> Response {
    let key = match idempotency_key(headers) {
        Ok(key) => key,
        Err(message) => return problem(StatusCode::BAD_REQUEST, message),
    };
    if let Some(key) = &key
        && let Some((asked, id)) = locked(&plane.made).get(key)
    {
        if asked != body {
            let message = "The idempotency key was used with another request";
            let code = "idempotency_request_mismatch";
            let body = json!({"code": 409, "message": message, "error_code": code});
            return answer_json(StatusCode::CONFLICT, &body);
        }
        if let Some(made) = plane.world.by_id(id) {
            return answer_json(StatusCode::CREATED, &sandbox::created(&made));
        }
    }
    let wanted: Wanted = match serde_json::from_slice(body) {
        Ok(wanted) => wanted,
        Err(error) => {
            let message = format!("Error when parsing request: {error}");
            return problem(StatusCode::BAD_REQUEST, &message);
        }
    };
    let made = match made(plane, wanted, is_new) {
        Ok(made) => made,
        Err(refusal) => return refusal,
    };
    if let Some(key) = key {
        let mut remembered = locked(&plane.made);
        if remembered.len() >= IDEMPOTENCY_KEYS_MAX {
            remembered.clear();
        }
        remembered.insert(key, (body.clone(), made.id.clone()));
    }
    answer_json(StatusCode::CREATED, &sandbox::created(&made))
}

/// Makes a sandbox, or tells why not.
#[expect(clippy::result_large_err, reason = "it is an answer, on its way to the client")]
fn made(plane: &Plane, wanted: Wanted, is_new: bool) -> Result<Sandbox, Response> {
    let refuse = |message: &str| Err(problem(StatusCode::BAD_REQUEST, message));
    let Some(template) = templates::find(&wanted.template_id) else {
        let message = format!("template '{}' not found", wanted.template_id);
        return Err(problem(StatusCode::NOT_FOUND, &message));
    };
    let usual = if is_new { LIFETIME_SECONDS } else { OLD_LIFETIME_SECONDS };
    let lifetime = lifetime(wanted.timeout.unwrap_or(usual), 1)?;
    let network = wanted.network.unwrap_or_default();
    if let Some(message) = contradiction(&network) {
        return refuse(message);
    }
    let is_secure = is_new || wanted.secure == Some(true);
    let is_closed = network.allow_public_traffic == Some(false);
    if is_closed && !is_secure {
        return refuse("network.allowPublicTraffic can be false only if secure is true");
    }
    if wanted.auto_pause_memory == Some(false) && wanted.auto_pause != Some(true) {
        return refuse("autoPauseMemory can be false only if autoPause is true");
    }
    if plane.world.is_full() {
        let message = "you have reached the maximum number of concurrent E2B sandboxes";
        return Err(problem(StatusCode::TOO_MANY_REQUESTS, message));
    }
    let allow_internet_access = wanted.allow_internet_access;
    let own = Own {
        template,
        metadata: wanted.metadata.unwrap_or_default(),
        environment: wanted.environment.unwrap_or_default(),
        envd_token: is_secure.then(|| ids::token("ea_")),
        traffic_token: is_closed.then(|| ids::token("ta_")),
        reach: Mutex::new(Reach {
            allow_internet_access,
            network: effective(network, allow_internet_access),
        }),
        processes: Mutex::default(),
        contexts: Mutex::default(),
        last_pid: AtomicU32::new(PID_BEFORE_FIRST),
    };
    let id = ids::e2b_id();
    Ok(plane.world.add(id.clone(), id, own, Some(lifetime)))
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, &'static str> {
    let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
    let key = key.to_str().unwrap_or_default();
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if (1..=IDEMPOTENCY_KEY_MAX).contains(&key.len()) && key.chars().all(is_allowed) {
        Ok(Some(key.to_owned()))
    } else {
        Err("Idempotency-Key is 1 to 255 characters of a-z, 0-9 and -")
    }
}

/// A life in seconds, if it is one.
#[expect(clippy::result_large_err, reason = "it is an answer, on its way to the client")]
fn lifetime(seconds: i64, least: i64) -> Result<Duration, Response> {
    if seconds > LIFETIME_SECONDS_MAX {
        let hours = LIFETIME_SECONDS_MAX / 3600;
        let message = format!("Timeout cannot be greater than {hours} hours");
        return Err(problem(StatusCode::BAD_REQUEST, &message));
    }
    match u64::try_from(seconds) {
        Ok(seconds_as_count) if seconds >= least => Ok(Duration::from_secs(seconds_as_count)),
        _ => {
            let message = format!("timeout must be at least {least}");
            Err(problem(StatusCode::BAD_REQUEST, &message))
        }
    }
}

/// What the rules of a network must not say.
fn contradiction(network: &Network) -> Option<&'static str> {
    let is_domain = |rule: &String| rule.chars().any(char::is_alphabetic) && !rule.contains(':');
    let denied = network.deny_out.as_deref().unwrap_or_default();
    let allowed = network.allow_out.as_deref().unwrap_or_default();
    if denied.iter().any(is_domain) {
        return Some("denyOut takes addresses and CIDR blocks, no domains");
    }
    let needs_all = allowed.iter().any(is_domain) && !denied.iter().any(|rule| rule == EVERYTHING);
    needs_all.then_some("a domain in allowOut needs 0.0.0.0/0 in denyOut")
}

/// The rules that hold: without internet access everything is denied.
fn effective(network: Network, allow_internet_access: Option<bool>) -> Network {
    let is_denied = allow_internet_access == Some(false);
    let deny_out = if is_denied { Some(vec![EVERYTHING.to_owned()]) } else { network.deny_out };
    Network { deny_out, ..network }
}

#[expect(clippy::result_large_err, reason = "it is an answer, on its way to the client")]
fn found(plane: &Plane, id: &str) -> Result<Sandbox, Response> {
    let missing = || {
        let message = format!("Sandbox \"{id}\" doesn't exist or you don't have access to it");
        problem(StatusCode::NOT_FOUND, &message)
    };
    plane.world.by_id(id).ok_or_else(missing)
}

async fn detail(plane: SharedPlane, Path(id): Path<String>) -> Result<Response, Response> {
    let sandbox = found(&plane, &id)?;
    Ok(answer_json(StatusCode::OK, &sandbox::detail(&sandbox)))
}

async fn kill(plane: SharedPlane, Path(id): Path<String>) -> Result<Response, Response> {
    let sandbox = found(&plane, &id)?;
    plane.world.remove(&sandbox);
    Ok(empty(StatusCode::NO_CONTENT))
}

async fn set_timeout(
    plane: SharedPlane,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Response, Response> {
    let sandbox = found(&plane, &id)?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let seconds = body["timeout"].as_i64();
    let missing = || problem(StatusCode::BAD_REQUEST, "timeout is a whole number of seconds");
    let lifetime = lifetime(seconds.ok_or_else(missing)?, 0)?;
    sandbox.end_in(Some(lifetime));
    Ok(empty(StatusCode::NO_CONTENT))
}

async fn set_network(
    plane: SharedPlane,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Response, Response> {
    let sandbox = found(&plane, &id)?;
    let unreadable = |error: serde_json::Error| {
        problem(StatusCode::BAD_REQUEST, &format!("Error when parsing request: {error}"))
    };
    let network: Network = serde_json::from_slice(&body).map_err(unreadable)?;
    if let Some(message) = contradiction(&network) {
        return Err(problem(StatusCode::BAD_REQUEST, message));
    }
    let mut reach = locked(&sandbox.details.reach);
    reach.network.allow_out = network.allow_out;
    reach.network.deny_out = network.deny_out;
    Ok(empty(StatusCode::NO_CONTENT))
}

async fn list_old_way(plane: SharedPlane) -> Response {
    let all: Vec<Value> = plane.world.sandboxes().iter().map(sandbox::listed).collect();
    answer_json(StatusCode::OK, &all)
}

async fn list(plane: SharedPlane, RawQuery(query): RawQuery) -> Result<Response, Response> {
    let query = query.unwrap_or_default();
    let asked: BTreeMap<_, _> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let wanted = asked.get("metadata").map(|pairs| tags(pairs)).unwrap_or_default();
    let limit = match asked.get("limit").map(|limit| limit.parse::<usize>()) {
        None => PAGE_MAX,
        Some(Ok(limit)) if (1..=PAGE_MAX).contains(&limit) => limit,
        Some(_) => {
            return Err(problem(StatusCode::BAD_REQUEST, "limit is a number from 1 to 100"));
        }
    };
    let is_running = |states: &String| states.split(',').any(|state| state == "running");
    let mut found: Vec<Sandbox> = plane.world.sandboxes();
    let total = found.len();
    found.retain(|sandbox| {
        let own = &sandbox.details.metadata;
        asked.get("state").is_none_or(is_running)
            && wanted.iter().all(|(key, value)| own.get(key) == Some(value))
    });
    if let Some(token) = asked.get("nextToken") {
        // The page begins behind the last sandbox of the one before, though that may be gone.
        let begin = found.iter().position(|sandbox| sandbox.id == *token).map(|at| at + 1);
        let is_known = begin.is_some() || token.starts_with('i');
        if !is_known {
            return Err(problem(StatusCode::BAD_REQUEST, "Invalid next token"));
        }
        found.drain(..begin.unwrap_or(found.len()));
    }
    let next = (found.len() > limit).then(|| found[limit - 1].id.clone());
    found.truncate(limit);
    let page: Vec<Value> = found.iter().map(sandbox::listed).collect();
    let mut response = answer_json(StatusCode::OK, &page);
    let headers = response.headers_mut();
    headers.insert("x-total-running", HeaderValue::from(total));
    if let Some(next) = next.and_then(|next| HeaderValue::from_str(&next).ok()) {
        headers.insert("x-next-token", next);
    }
    Ok(response)
}

/// The pairs of a filter. It was decoded once as a value of the query; it is decoded once more as a whole, and then each part.
fn tags(pairs: &str) -> Vec<(String, String)> {
    let whole = decoded(pairs);
    let pair = |pair: &str| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(key), decoded(value))
    };
    whole.split('&').filter(|part| !part.is_empty()).map(pair).collect()
}

fn decoded(text: &str) -> String {
    // Escaped, so that nothing is taken for a pair of its own.
    let text = text.replace('&', "%26").replace('=', "%3D");
    form_urlencoded::parse(text.as_bytes())
        .next()
        .map(|(key, _)| key.into_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_read_as_sdks_write_it() {
        let query = "metadata=router%252520task%3Da%252526b%25253Dc";
        let (_, value) = form_urlencoded::parse(query.as_bytes()).next().unwrap();
        assert_eq!(tags(&value), [("router task".to_owned(), "a&b=c".to_owned())]);
        assert_eq!(tags("thud_lease=a.b-c"), [("thud_lease".to_owned(), "a.b-c".to_owned())]);
    }

    #[test]
    fn a_domain_needs_all_else_to_be_denied() {
        let rules = |allowed: &str, denied: &[&str]| Network {
            allow_out: Some(vec![allowed.to_owned()]),
            deny_out: Some(denied.iter().map(|rule| (*rule).to_owned()).collect()),
            allow_public_traffic: None,
        };
        assert_eq!(contradiction(&rules("*.example.com", &["0.0.0.0/0"])), None);
        assert_eq!(contradiction(&rules("1.1.1.1/32", &[])), None);
        assert!(contradiction(&rules("example.com", &[])).is_some());
        assert!(contradiction(&rules("1.1.1.1", &["example.com"])).is_some());
    }
}
