//! A server that stands in for Daytona: its API below `/api`, and below `/toolbox` the toolbox of each sandbox, which runs
//! code, commands, an interpreter and sessions.
//!
//! Unlike the real one it answers a create call at once, whatever the state is, keeps no variables and no files, and takes
//! sandboxes for stopped only after their idle time. It never limits by itself: 429 comes by script only.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, header};

use super::faults::Stage;
use super::runner::Runner;
use super::serving::Site;
use super::world::World;
use super::{Standin, anywhere};

mod api;
mod interpreter;
mod problem;
mod sandbox;
mod script;
mod sessions;
mod snapshots;
mod toolbox;

use self::sandbox::Own;

/// The key that is taken if no other is said.
pub const KEY: &str = "dtn_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
/// What every key begins with.
pub const KEY_PREFIX: &str = "dtn_";
/// What the API's addresses begin with.
const API: &str = "/api";
/// What the toolboxes' addresses begin with.
const TOOLBOX: &str = "/toolbox";

type SharedWorld = Arc<World<Own>>;
type Sandbox = Arc<super::world::Sandbox<Own>>;

/// How long things take.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// From the answer of a create call to the state `started`. If it takes no time, that is the state in the answer.
    pub start_delay: Duration,
    /// From the answer of a delete call to when the sandbox is gone.
    pub destroy_delay: Duration,
    /// A minute of the sandboxes' limits; tests have shorter ones.
    pub minute: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            start_delay: Duration::ZERO,
            destroy_delay: Duration::from_millis(50),
            minute: Duration::from_mins(1),
        }
    }
}

/// What all addresses share.
struct Cloud {
    world: SharedWorld,
    pace: Pace,
    /// What the sandboxes' toolboxes are below.
    toolbox_url: String,
}

type SharedCloud = Arc<Cloud>;

/// Starts one at a free port of this machine's own.
pub async fn start(runner: Arc<dyn Runner>) -> io::Result<Standin> {
    start_at(anywhere(), vec![KEY.to_owned()], runner, Pace::default()).await
}

/// Starts one at an address of this machine's own, with the keys that it takes and its pace.
pub async fn start_at(
    address: SocketAddr,
    keys: Vec<String>,
    runner: Arc<dyn Runner>,
    pace: Pace,
) -> io::Result<Standin> {
    let key = keys.first().cloned().unwrap_or_default();
    let world = World::new(keys, runner);
    super::start(address, key, API, |address| {
        let toolbox_url = format!("http://{address}{TOOLBOX}");
        let cloud = Arc::new(Cloud { world: Arc::clone(&world), pace, toolbox_url });
        Site {
            routes: routes(&cloud),
            stage_of,
            control: Arc::clone(&world) as _,
            stop: world.stop.clone(),
        }
    })
    .await
}

fn routes(cloud: &SharedCloud) -> Router {
    Router::new()
        .nest(API, api::routes(cloud))
        .nest(TOOLBOX, toolbox::routes(cloud))
        .fallback(problem::no_such_address)
        .layer(axum::middleware::from_fn(problem::write_out))
}

/// What a request is about, by its address.
fn stage_of(request: &Request<Body>) -> Option<Stage> {
    let path = request.uri().path();
    if path.starts_with(TOOLBOX) {
        return path.contains("/process/").then_some(Stage::Run);
    }
    let path = path.strip_prefix(API)?.strip_prefix("/sandbox")?;
    Stage::of_sandboxes(request.method(), path)
}

/// Whether the bearer's key is one that is taken.
fn is_known(world: &SharedWorld, headers: &HeaderMap) -> bool {
    let said = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let key = said.and_then(|said| said.strip_prefix("Bearer "));
    key.is_some_and(|key| world.keys.iter().any(|known| known == key))
}

#[cfg(test)]
mod tests;
