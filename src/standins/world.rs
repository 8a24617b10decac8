//! What a stand-in remembers: its sandboxes, how long each lives, and every execution that was ever started.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::faults::Script;
use super::runner::Runner;

/// How many sandboxes there are at most.
pub const SANDBOXES_MAX: usize = 1000;
/// The tag by which executions are counted.
pub const LEASE_TAG: &str = "thud_lease";

/// What is one provider's own of a sandbox.
pub trait Details: Send + Sync + 'static {
    /// How the provider calls its tags: `metadata` or `labels`.
    const TAGS: &'static str;

    /// The tags.
    fn tags(&self) -> &BTreeMap<String, String>;

    /// The state, in the provider's words.
    fn state(&self) -> String;
}

/// A sandbox.
#[derive(Debug)]
pub struct Sandbox<D> {
    /// Its id.
    pub id: String,
    /// Its name; where the provider knows no names, its id.
    pub name: String,
    /// When it was made.
    pub created: Timestamp,
    /// What is its provider's own.
    pub details: D,
    /// When it is killed, if ever.
    ends: watch::Sender<Option<Instant>>,
    /// Cancelled once it is gone: whatever runs in it ends.
    gone: CancellationToken,
    executions: AtomicU32,
}

impl<D: Details> Sandbox<D> {
    /// Cancelled once it is gone.
    pub const fn gone(&self) -> &CancellationToken {
        &self.gone
    }

    /// When it is killed, if ever.
    pub fn ends(&self) -> Option<Instant> {
        *self.ends.borrow()
    }

    /// Lets it be killed after some time from now; never, if there is none.
    pub fn end_in(&self, lifetime: Option<Duration>) {
        self.ends.send_replace(lifetime.map(|lifetime| Instant::now() + lifetime));
    }

    fn lease(&self) -> &str {
        self.details.tags().get(LEASE_TAG).map_or("", String::as_str)
    }

    /// What the control address says of it.
    fn listed(&self) -> Value {
        let mut listed = json!({
            "id": self.id,
            "name": self.name,
            "state": self.details.state(),
            "executions": self.executions.load(Ordering::SeqCst),
        });
        listed[D::TAGS] = json!(self.details.tags());
        listed
    }
}

/// How often code was executed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Executions {
    /// In all.
    pub total: u64,
    /// By the lease that the sandbox was made for; empty where it has none.
    pub by_tag: BTreeMap<String, u64>,
}

/// Everything that one stand-in remembers.
pub struct World<D> {
    /// The keys that it takes.
    pub keys: Vec<String>,
    /// What it does wrong.
    pub script: Script,
    /// Who executes code.
    pub runner: Arc<dyn Runner>,
    /// Cancelled when the stand-in stops.
    pub stop: CancellationToken,
    /// In the order in which they were made.
    sandboxes: Mutex<Vec<Arc<Sandbox<D>>>>,
    executions: Mutex<Executions>,
}

/// A lock that a panic elsewhere does not spoil.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<D: Details> World<D> {
    /// An empty one.
    pub fn new(keys: Vec<String>, runner: Arc<dyn Runner>) -> Arc<Self> {
        Arc::new(Self {
            keys,
            script: Script::default(),
            runner,
            stop: CancellationToken::new(),
            sandboxes: Mutex::default(),
            executions: Mutex::default(),
        })
    }

    /// Whether no sandbox can be added.
    pub fn is_full(&self) -> bool {
        locked(&self.sandboxes).len() >= SANDBOXES_MAX
    }

    /// Adds a sandbox that is killed after its lifetime, if it has one.
    pub fn add(
        self: &Arc<Self>,
        id: String,
        name: String,
        details: D,
        lifetime: Option<Duration>,
    ) -> Arc<Sandbox<D>> {
        let (ends, mut told) = watch::channel(lifetime.map(|time| Instant::now() + time));
        let gone = self.stop.child_token();
        let created = Timestamp::now();
        let executions = AtomicU32::default();
        let sandbox = Arc::new(Sandbox { id, name, created, details, ends, gone, executions });
        locked(&self.sandboxes).push(Arc::clone(&sandbox));
        let (world, watched) = (Arc::downgrade(self), Arc::clone(&sandbox));
        tokio::spawn(async move {
            let expired = async {
                loop {
                    let ends = *told.borrow_and_update();
                    let over = async {
                        match ends {
                            Some(ends) => tokio::time::sleep_until(ends).await,
                            None => std::future::pending().await,
                        }
                    };
                    tokio::select! {
                        () = over => break,
                        changed = told.changed() => if changed.is_err() { break },
                    }
                }
            };
            if watched.gone.run_until_cancelled(expired).await.is_some()
                && let Some(world) = world.upgrade()
            {
                world.remove(&watched);
            }
        });
        sandbox
    }

    /// Takes a sandbox away and ends whatever runs in it; `false` if it was gone.
    pub fn remove(&self, sandbox: &Sandbox<D>) -> bool {
        let mut sandboxes = locked(&self.sandboxes);
        let before = sandboxes.len();
        sandboxes.retain(|other| other.id != sandbox.id);
        sandbox.gone.cancel();
        sandboxes.len() < before
    }

    /// All that are there, oldest first.
    pub fn sandboxes(&self) -> Vec<Arc<Sandbox<D>>> {
        locked(&self.sandboxes).clone()
    }

    /// The one of this id.
    pub fn by_id(&self, id: &str) -> Option<Arc<Sandbox<D>>> {
        locked(&self.sandboxes).iter().find(|sandbox| sandbox.id == id).cloned()
    }

    /// Counts an execution. Must be called before the code starts.
    pub fn count(&self, sandbox: &Sandbox<D>) {
        sandbox.executions.fetch_add(1, Ordering::SeqCst);
        let mut executions = locked(&self.executions);
        executions.total += 1;
        *executions.by_tag.entry(sandbox.lease().to_owned()).or_default() += 1;
    }
}

/// What the control address and tests do with a stand-in, whichever it stands in for.
pub trait Control: Send + Sync {
    /// What it does wrong.
    fn script(&self) -> &Script;

    /// The sandboxes that are there.
    fn listed(&self) -> Vec<Value>;

    /// Every execution that was ever started.
    fn executions(&self) -> Executions;

    /// Destroys every sandbox at once.
    fn destroy_all(&self);
}

impl<D: Details> Control for World<D> {
    fn script(&self) -> &Script {
        &self.script
    }

    fn listed(&self) -> Vec<Value> {
        self.sandboxes().iter().map(|sandbox| sandbox.listed()).collect()
    }

    fn executions(&self) -> Executions {
        locked(&self.executions).clone()
    }

    fn destroy_all(&self) {
        for sandbox in self.sandboxes() {
            self.remove(&sandbox);
        }
    }
}
