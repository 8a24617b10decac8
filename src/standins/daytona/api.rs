//! Daytona's API: sandboxes are made, looked at, listed, limited and destroyed, by id or by name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;

use axum::body::Bytes;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::problem::Problem;
use super::sandbox::{self, Limits, Own, Reach, State as Life};
use super::snapshots::{self, Snapshot};
use super::{Sandbox, SharedCloud};
use crate::standins::ids;
use crate::standins::world::locked;

/// Minutes of idle time until a sandbox stops, if nothing is said.
const AUTO_STOP_MINUTES: u32 = 15;
/// The most sandboxes of one page of a list.
const PAGE_MAX: usize = 200;
/// The sandboxes of one page if nothing is said.
const PAGE: usize = 100;
/// The regions that there are.
const REGIONS: [&str; 2] = ["us", "eu"];
/// The longest name of a sandbox.
const NAME_MAX: usize = 100;

/// The addresses.
pub fn routes(cloud: &SharedCloud) -> Router {
    let with_key = middleware::from_fn_with_state(cloud.clone(), with_key);
    Router::new()
        .route("/sandbox", get(list).post(create))
        .route("/sandbox/{id}", get(detail).delete(destroy))
        .route("/sandbox/{id}/toolbox-proxy-url", get(toolbox_url))
        .route("/sandbox/{id}/stop", post(stop))
        .route("/sandbox/{id}/start", post(start))
        .route("/sandbox/{id}/network-settings", post(set_network))
        .route("/sandbox/{id}/{limit}/{minutes}", post(set_limit))
        .route_layer(with_key)
        .route("/config", get(config))
        .with_state(cloud.clone())
}

type Answer = Result<Json<Value>, Problem>;

async fn with_key(State(cloud): State<SharedCloud>, request: Request, next: Next) -> Response {
    if super::is_known(&cloud.world, request.headers()) {
        return next.run(request).await;
    }
    Problem::api(StatusCode::UNAUTHORIZED, "Invalid credentials").into_response()
}

/// What a create call asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Wanted {
    name: Option<String>,
    snapshot: Option<String>,
    build_info: Option<Value>,
    user: Option<String>,
    env: BTreeMap<String, String>,
    labels: BTreeMap<String, String>,
    public: bool,
    network_block_all: bool,
    network_allow_list: Option<String>,
    domain_allow_list: Option<String>,
    target: Option<String>,
    cpu: Option<u32>,
    memory: Option<u32>,
    disk: Option<u32>,
    auto_stop_interval: Option<i64>,
    auto_delete_interval: Option<i64>,
    ttl_minutes: Option<i64>,
}

fn bad(message: impl Into<String>) -> Problem {
    Problem::api(StatusCode::BAD_REQUEST, message)
}

/// A number of minutes that is not negative.
fn minutes(name: &str, said: Option<i64>, usual: u32) -> Result<u32, Problem> {
    let said = said.unwrap_or(i64::from(usual));
    u32::try_from(said).map_err(|_| bad(format!("{name} must not be less than 0")))
}

/// What the sandbox is made from, and its size.
fn source(wanted: &Wanted) -> Result<Snapshot, Problem> {
    let size = [wanted.cpu, wanted.memory, wanted.disk];
    if wanted.build_info.is_some() {
        if wanted.snapshot.is_some() {
            return Err(bad("Cannot specify both a snapshot and build info"));
        }
        let [cpu, memory, disk] = size;
        let usual = snapshots::USUAL;
        return Ok(Snapshot {
            cpu: cpu.unwrap_or(usual.cpu),
            memory: memory.unwrap_or(usual.memory),
            disk: disk.unwrap_or(usual.disk),
            ..usual
        });
    }
    if size.iter().any(Option::is_some) {
        return Err(bad("Cannot specify Sandbox resources when using a snapshot"));
    }
    let Some(name) = &wanted.snapshot else { return Ok(snapshots::USUAL) };
    let missing =
        || bad(format!("Snapshot {name} not found. Did you add it through the Daytona Dashboard?"));
    snapshots::find(name).ok_or_else(missing)
}

async fn create(State(cloud): State<SharedCloud>, body: Bytes) -> Answer {
    let unreadable = |error: serde_json::Error| bad(error.to_string());
    let wanted: Wanted = serde_json::from_slice(&body).map_err(unreadable)?;
    let snapshot = source(&wanted)?;
    let limits = Limits {
        auto_stop: minutes("autoStopInterval", wanted.auto_stop_interval, AUTO_STOP_MINUTES)?,
        auto_delete: wanted.auto_delete_interval.unwrap_or(-1),
        ttl: minutes("ttlMinutes", wanted.ttl_minutes, 0)?,
    };
    let target = wanted.target.unwrap_or_else(|| REGIONS[0].to_owned());
    if !REGIONS.contains(&target.as_str()) {
        return Err(Problem::api(StatusCode::NOT_FOUND, format!("Region {target} not found")));
    }
    let id = ids::uuid();
    let name = wanted.name.unwrap_or_else(|| id.clone());
    if name.is_empty() || name.len() > NAME_MAX {
        return Err(bad(format!("name must be 1 to {NAME_MAX} characters")));
    }
    if by_name(&cloud, &name).is_some() {
        let message = format!("Sandbox with name {name} already exists");
        return Err(Problem::api(StatusCode::CONFLICT, message));
    }
    if cloud.world.is_full() {
        return Err(bad("Total CPU limit exceeded. Maximum allowed: 1000."));
    }
    let is_immediate = cloud.pace.start_delay.is_zero();
    let own = Own {
        labels: wanted.labels,
        environment: wanted.env,
        snapshot,
        user: wanted.user.unwrap_or_else(|| "daytona".to_owned()),
        target,
        is_public: wanted.public,
        reach: Mutex::new(Reach {
            block_all: wanted.network_block_all,
            allow_list: wanted.network_allow_list,
            domain_allow_list: wanted.domain_allow_list,
        }),
        limits: Mutex::new(limits),
        state: Mutex::new(if is_immediate { Life::Started } else { Life::Creating }),
        active: Mutex::new(Instant::now()),
        busy: AtomicU32::default(),
        attempts: Mutex::new(BTreeSet::new()),
        sessions: Mutex::default(),
    };
    let lifetime = (limits.ttl > 0).then(|| cloud.pace.minute * limits.ttl);
    let sandbox = cloud.world.add(id, name, own, lifetime);
    sandbox::live(&cloud, &sandbox);
    Ok(Json(sandbox::described(&cloud, &sandbox)))
}

/// The one of a name. One that is being destroyed has lost its name.
fn by_name(cloud: &SharedCloud, name: &str) -> Option<Sandbox> {
    let is_it =
        |sandbox: &Sandbox| sandbox.name == name && sandbox.details.now() != Life::Destroying;
    cloud.world.sandboxes().into_iter().find(is_it)
}

fn found(cloud: &SharedCloud, id: &str) -> Result<Sandbox, Problem> {
    let missing =
        || Problem::api(StatusCode::NOT_FOUND, format!("Sandbox with ID or name {id} not found"));
    cloud.world.by_id(id).or_else(|| by_name(cloud, id)).ok_or_else(missing)
}

async fn detail(State(cloud): State<SharedCloud>, Path(id): Path<String>) -> Answer {
    let sandbox = found(&cloud, &id)?;
    Ok(Json(sandbox::described(&cloud, &sandbox)))
}

fn in_change() -> Problem {
    Problem::api(StatusCode::CONFLICT, "Sandbox state change in progress")
}

async fn destroy(State(cloud): State<SharedCloud>, Path(id): Path<String>) -> Answer {
    let sandbox = found(&cloud, &id)?;
    let is_begun = [Life::Started, Life::Stopped]
        .into_iter()
        .any(|from| sandbox::advance(&sandbox, from, Life::Destroying));
    if !is_begun {
        return Err(in_change());
    }
    let answer = sandbox::described(&cloud, &sandbox);
    tokio::spawn(async move {
        tokio::time::sleep(cloud.pace.destroy_delay).await;
        cloud.world.remove(&sandbox);
    });
    Ok(Json(answer))
}

async fn toolbox_url(State(cloud): State<SharedCloud>, Path(id): Path<String>) -> Answer {
    found(&cloud, &id)?;
    Ok(Json(json!({"url": cloud.toolbox_url})))
}

async fn config(State(cloud): State<SharedCloud>) -> Json<Value> {
    Json(json!({"version": "v0.190.0", "proxyToolboxUrl": cloud.toolbox_url}))
}

async fn stop(State(cloud): State<SharedCloud>, Path(id): Path<String>) -> Answer {
    let sandbox = found(&cloud, &id)?;
    if sandbox.details.now() != Life::Started {
        return Err(bad("Sandbox is not started"));
    }
    sandbox::stop(&cloud, &sandbox);
    Ok(Json(sandbox::described(&cloud, &sandbox)))
}

async fn start(State(cloud): State<SharedCloud>, Path(id): Path<String>) -> Answer {
    let sandbox = found(&cloud, &id)?;
    if !sandbox::advance(&sandbox, Life::Stopped, Life::Started) {
        return Err(bad("Sandbox is not in valid state"));
    }
    sandbox.details.touch();
    Ok(Json(sandbox::described(&cloud, &sandbox)))
}

async fn set_network(
    State(cloud): State<SharedCloud>,
    Path(id): Path<String>,
    body: Bytes,
) -> Answer {
    let sandbox = found(&cloud, &id)?;
    let wanted: Wanted = serde_json::from_slice(&body).map_err(|error| bad(error.to_string()))?;
    *locked(&sandbox.details.reach) = Reach {
        block_all: wanted.network_block_all,
        allow_list: wanted.network_allow_list,
        domain_allow_list: wanted.domain_allow_list,
    };
    Ok(Json(sandbox::described(&cloud, &sandbox)))
}

async fn set_limit(
    State(cloud): State<SharedCloud>,
    Path((id, limit, said)): Path<(String, String, i64)>,
) -> Answer {
    let sandbox = found(&cloud, &id)?;
    let mut limits = locked(&sandbox.details.limits);
    match limit.as_str() {
        "autostop" => limits.auto_stop = minutes("autoStopInterval", Some(said), 0)?,
        "autodelete" => limits.auto_delete = said,
        "ttl" => {
            limits.ttl = minutes("ttlMinutes", Some(said), 0)?;
            let lifetime = (limits.ttl > 0).then(|| cloud.pace.minute * limits.ttl);
            sandbox.end_in(lifetime);
        }
        _ => return Err(Problem::api(StatusCode::NOT_FOUND, format!("Cannot POST {limit}"))),
    }
    drop(limits);
    Ok(Json(sandbox::described(&cloud, &sandbox)))
}

async fn list(State(cloud): State<SharedCloud>, RawQuery(query): RawQuery) -> Answer {
    let query = query.unwrap_or_default();
    let pairs: Vec<(String, String)> =
        form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let asked = |name: &str| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let labels: BTreeMap<String, String> = match asked("labels") {
        None => BTreeMap::new(),
        Some(text) => serde_json::from_str(text).map_err(|_| bad("Invalid labels JSON format"))?,
    };
    let limit = match asked("limit").map(|limit| limit.parse::<usize>()) {
        None => PAGE,
        Some(Ok(limit)) if (1..=PAGE_MAX).contains(&limit) => limit,
        Some(_) => return Err(bad(format!("limit must be a number from 1 to {PAGE_MAX}"))),
    };
    let states: Vec<&String> =
        pairs.iter().filter(|(key, _)| key == "states").map(|(_, state)| state).collect();
    let mut all = cloud.world.sandboxes();
    all.retain(|sandbox| {
        let own = &sandbox.details;
        labels.iter().all(|(key, value)| own.labels.get(key) == Some(value))
            && asked("id").is_none_or(|id| sandbox.id.starts_with(id.as_str()))
            && asked("name").is_none_or(|name| sandbox.name.starts_with(name.as_str()))
            && (states.is_empty() || states.iter().any(|state| *state == own.now().word()))
    });
    if let Some(cursor) = asked("cursor") {
        let begin = all.iter().position(|sandbox| sandbox.id == *cursor);
        all.drain(..begin.map_or(all.len(), |at| at + 1));
    }
    let next = (all.len() > limit).then(|| all[limit - 1].id.clone());
    all.truncate(limit);
    let items: Vec<Value> = all.iter().map(|sandbox| sandbox::listed(&cloud, sandbox)).collect();
    Ok(Json(json!({"items": items, "nextCursor": next})))
}
