//! What is Daytona's own of a sandbox, its states, and how answers describe one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::snapshots::Snapshot;
use super::{Cloud, Sandbox, SharedCloud};
use crate::moment::stamp;
use crate::standins::world::{Details, locked};

/// The organisation that every key belongs to.
const ORGANISATION: &str = "a3c1d7f2-2f55-4b57-9b8e-1d2f3a4b5c6d";
/// The version of the daemon in a sandbox.
const DAEMON_VERSION: &str = "0.190.0";
/// Minutes until a stopped sandbox is archived, as the provider has it.
const ARCHIVE_MINUTES: u32 = 10_080;

/// What is Daytona's own.
#[derive(Debug)]
pub struct Own {
    /// Tags.
    pub labels: BTreeMap<String, String>,
    /// Its environment.
    pub environment: BTreeMap<String, String>,
    /// What it was made from, with its size.
    pub snapshot: Snapshot,
    /// Its Unix user.
    pub user: String,
    /// The region.
    pub target: String,
    /// Whether previews want no token.
    pub is_public: bool,
    /// What it may reach.
    pub reach: Mutex<Reach>,
    /// When it stops and goes by itself.
    pub limits: Mutex<Limits>,
    /// Where it is in its life.
    pub state: Mutex<State>,
    /// When it was last asked for something.
    pub active: Mutex<Instant>,
    /// Requests of its toolbox that are under way.
    pub busy: AtomicU32,
    /// Attempts that a script of ours was run for.
    pub attempts: Mutex<BTreeSet<String>>,
    /// Sessions of its toolbox.
    pub sessions: super::sessions::Sessions,
}

/// What a sandbox may reach.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    /// Nothing.
    pub block_all: bool,
    /// CIDR blocks, parted by commas.
    pub allow_list: Option<String>,
    /// Domains, parted by commas.
    pub domain_allow_list: Option<String>,
}

/// When a sandbox stops and goes by itself, in minutes.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Idle time until it stops; 0 is never.
    pub auto_stop: u32,
    /// Time from stopped to destroyed; 0 is at once, less is never.
    pub auto_delete: i64,
    /// Time from its creation until it is destroyed; 0 is never.
    pub ttl: u32,
}

/// Where a sandbox is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not yet usable.
    Creating,
    /// Usable.
    Started,
    /// Usable again after a start.
    Stopped,
    /// Almost gone.
    Destroying,
}

impl State {
    /// In the provider's word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Creating => "creating",
            Self::Started => "started",
            Self::Stopped => "stopped",
            Self::Destroying => "destroying",
        }
    }

    const fn desired(self) -> &'static str {
        match self {
            Self::Creating | Self::Started => "started",
            Self::Stopped => "stopped",
            Self::Destroying => "destroyed",
        }
    }
}

impl Details for Own {
    const TAGS: &'static str = "labels";

    fn tags(&self) -> &BTreeMap<String, String> {
        &self.labels
    }

    fn state(&self) -> String {
        self.now().word().to_owned()
    }
}

impl Own {
    /// Where it is in its life.
    pub fn now(&self) -> State {
        *locked(&self.state)
    }

    /// That it was asked for something.
    pub fn touch(&self) {
        *locked(&self.active) = Instant::now();
    }
}

/// Keeps a sandbox from being idle.
pub struct Busy(Sandbox);

impl Busy {
    /// While this is held.
    pub fn new(sandbox: &Sandbox) -> Self {
        sandbox.details.busy.fetch_add(1, Ordering::SeqCst);
        Self(sandbox.clone())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.details.touch();
        self.0.details.busy.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Lets a sandbox live: it starts in its time, and stops when it was idle for too long.
pub fn live(cloud: &SharedCloud, sandbox: &Sandbox) {
    let (cloud, sandbox) = (cloud.clone(), sandbox.clone());
    tokio::spawn(async move {
        let gone = sandbox.gone().clone();
        let life = async {
            tokio::time::sleep(cloud.pace.start_delay).await;
            advance(&sandbox, State::Creating, State::Started);
            sandbox.details.touch();
            loop {
                // A change of its limits is seen a minute later at most.
                tokio::time::sleep(idle_left(&cloud, &sandbox).min(cloud.pace.minute)).await;
                if idle_left(&cloud, &sandbox).is_zero() {
                    stop(&cloud, &sandbox);
                }
            }
        };
        gone.run_until_cancelled(life).await;
    });
}

/// How long a sandbox may still do nothing.
fn idle_left(cloud: &Cloud, sandbox: &Sandbox) -> std::time::Duration {
    let own = &sandbox.details;
    let minutes = locked(&own.limits).auto_stop;
    let is_waiting = own.now() == State::Started && own.busy.load(Ordering::SeqCst) == 0;
    if minutes == 0 || !is_waiting {
        return cloud.pace.minute;
    }
    let limit = cloud.pace.minute * minutes;
    limit.saturating_sub(locked(&own.active).elapsed())
}

/// Goes from one state to another, if it is in the first.
pub fn advance(sandbox: &Sandbox, from: State, to: State) -> bool {
    let mut state = locked(&sandbox.details.state);
    let is_there = *state == from;
    if is_there {
        *state = to;
    }
    is_there
}

/// Stops a sandbox; one that is ephemeral goes with it.
pub fn stop(cloud: &Cloud, sandbox: &Sandbox) {
    if advance(sandbox, State::Started, State::Stopped)
        && locked(&sandbox.details.limits).auto_delete == 0
    {
        cloud.world.remove(sandbox);
    }
}

/// Everything that is told of one.
pub fn described(cloud: &Cloud, sandbox: &Sandbox) -> Value {
    let mut answer = listed(cloud, sandbox);
    answer["env"] = json!(sandbox.details.environment);
    answer["volumes"] = json!([]);
    answer
}

/// How one stands in a list.
pub fn listed(cloud: &Cloud, sandbox: &Sandbox) -> Value {
    let own = &sandbox.details;
    let (state, limits, reach) = (own.now(), *locked(&own.limits), locked(&own.reach).clone());
    let created = stamp(sandbox.created);
    let idle = SignedDuration::try_from(locked(&own.active).elapsed()).unwrap_or_default();
    let active = Timestamp::now().checked_sub(idle).unwrap_or(sandbox.created);
    let mut answer = json!({
        "id": sandbox.id,
        "organizationId": ORGANISATION,
        "name": sandbox.name,
        "snapshot": own.snapshot.name,
        "user": own.user,
        "labels": own.labels,
        "public": own.is_public,
        "networkBlockAll": reach.block_all,
        "target": own.target,
        "cpu": own.snapshot.cpu,
        "gpu": 0,
        "memory": own.snapshot.memory,
        "disk": own.snapshot.disk,
        "state": state.word(),
        "desiredState": state.desired(),
        "autoStopInterval": limits.auto_stop,
        "autoArchiveInterval": ARCHIVE_MINUTES,
        "autoDeleteInterval": limits.auto_delete,
        "kvm": false,
        "spot": false,
        "createdAt": created,
        "updatedAt": created,
        "lastActivityAt": stamp(active),
        "sandboxClass": own.snapshot.class,
        "daemonVersion": DAEMON_VERSION,
        "toolboxProxyUrl": cloud.toolbox_url,
    });
    if let Some(list) = reach.allow_list {
        answer["networkAllowList"] = json!(list);
    }
    if let Some(list) = reach.domain_allow_list {
        answer["domainAllowList"] = json!(list);
    }
    let left = sandbox.ends().map(|ends| ends.saturating_duration_since(Instant::now()));
    if let Some(ends) = left.and_then(|left| Timestamp::now().checked_add(left).ok()) {
        answer["autoDestroyAt"] = json!(stamp(ends));
    }
    answer
}
