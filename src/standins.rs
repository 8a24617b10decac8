//! Providers that are not there. Some follow a script, so that a chain of attempts can be seen and tested
//! (`scripted.rs`). Two are servers that speak the protocol of a hosted provider and remember what they were asked for
//! ([`e2b`], [`daytona`]); what they are given they execute in the embedded sandbox. Never part of a release.
//!
//! A server is made of: `serving.rs` (connections, and faults by [`faults`] and `garble.rs`), `world.rs` (its sandboxes),
//! `control.rs` (the address by which it is led and asked), [`runner`] and `shell.rs` (who executes code), and the
//! provider's own addresses.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};

pub mod daytona;
pub mod e2b;
pub mod faults;
pub mod runner;
pub mod scripted;

#[cfg(test)]
mod client;
mod connect;
mod control;
mod dripping;
mod garble;
mod ids;
mod python_json;
mod serving;
mod shell;
mod text;
mod world;
mod written;

use self::faults::Fault;
use self::serving::Site;
use self::world::Control;

pub use self::world::{Executions, LEASE_TAG};

/// A server that stands in for a provider. Dropping it stops it and all that runs in it.
pub struct Standin {
    address: SocketAddr,
    /// What stands behind scheme and address.
    path: &'static str,
    key: String,
    control: Arc<dyn Control>,
    _running: DropGuard,
}

impl Standin {
    /// Where the provider's API is, without a slash at its end.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.path)
    }

    /// A key that it takes.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Tells it what to do wrong from now on, instead of what it was told before.
    pub fn script(&self, faults: Vec<Fault>) {
        self.control.script().set(faults);
    }

    /// Every execution of code that was ever started, also in sandboxes that are gone.
    pub fn executions(&self) -> u64 {
        self.control.executions().total
    }

    /// The same in the sandboxes of one lease, by their tag [`LEASE_TAG`].
    pub fn executions_of(&self, lease: &str) -> u64 {
        self.control.executions().by_tag.get(lease).copied().unwrap_or_default()
    }

    /// The sandboxes that are there: `id`, `name`, `state`, `executions`, and `metadata` or `labels`.
    pub fn sandboxes(&self) -> Vec<Value> {
        self.control.listed()
    }

    /// Destroys every sandbox at once.
    pub fn destroy_all(&self) {
        self.control.destroy_all();
    }
}

/// Serves a provider at an address, for ever or until it is dropped.
async fn start(
    address: SocketAddr,
    key: String,
    path: &'static str,
    site: impl FnOnce(SocketAddr) -> Site,
) -> io::Result<Standin> {
    let listener = serving::listen(address).await?;
    let address = listener.local_addr()?;
    let site = site(address);
    let (control, stop): (_, CancellationToken) = (Arc::clone(&site.control), site.stop.clone());
    tokio::spawn(serving::serve(listener, site));
    Ok(Standin { address, path, key, control, _running: stop.drop_guard() })
}

/// Any free port of this machine's own.
fn anywhere() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}
