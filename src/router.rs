//! Where code runs: one request, one fresh sandbox per attempt, one deadline for everything.
//!
//! [`SandboxRouter::submit`] accepts a run, [`Inner::attempts`] is the loop. It follows eight rules:
//!
//! 1. Nothing is reused: every attempt has a sandbox of its own, and no credential enters it.
//! 2. One deadline, passed down as an instant; each candidate has a share of its own to start in.
//! 3. Another provider is tried only while it is certain that no code has run (`plan.rs`).
//! 4. Nobody is tried below the isolation and egress that were asked for, nor in another language.
//! 5. A lease is written before a sandbox is asked for and open until its destruction is confirmed (`lease.rs`, `reaper.rs`).
//! 6. Output is hostile: capped while it is read, decoded lossily, never interpreted.
//! 7. What the whole chain can cost is reserved before anything is created, or the run is refused.
//! 8. A provider whose platform fails again and again is left out for a while (`breaker.rs`).
//!
//! Not here: HTTP, pages, tokens as text. Providers are behind [`adapter::Adapter`].

pub mod adapter;
mod attempt;
mod breaker;
#[cfg(feature = "standins")]
mod checkpoint;
#[cfg(not(feature = "standins"))]
#[path = "router/no_checkpoint.rs"]
mod checkpoint;
pub mod daytona;
pub mod doctor;
mod drill;
pub mod e2b;
pub mod embedded;
mod lease;
mod live;
pub mod local;
pub mod not_set_up;
pub mod outbound;
mod plan;
mod prices;
mod reaper;
mod start;
mod teardown;

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use sqlx::SqlitePool;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tracing::error;

use self::adapter::{Adapter, Remains};
use self::attempt::Over;
use self::breaker::Breaker;
use self::live::Live;
use self::plan::{Action, Selection, Tried};
use self::prices::Prices;
use self::reaper::Care;
use crate::access::Rate;
use crate::catalog::Catalog;
use crate::moment::{millis, stamp};
use crate::runs::events::{Cursor, Event};
use crate::runs::store::{self, StoreError};
use crate::runs::{
    Drill, Next, NotTried, Omission, Outcome, Output, Receipt, Request, Run, RunState,
    TeardownState,
};

pub use self::lease::instance;
pub use self::reaper::Report;
pub use self::start::{OPEN_TO_ALL, Refusal, Submitted};

/// So long an answer waits for the teardown, so that it can say that the sandbox is gone.
const TEARDOWN_PATIENCE: Duration = Duration::from_millis(200);
/// How long one try to destroy a sandbox may take, if nothing else is said.
const TEARDOWN_TRY: Duration = Duration::from_secs(15);
/// How long a sandbox whose order was never answered may still come, if nothing else is said.
const LATE_SANDBOX: Duration = Duration::from_secs(90);
/// How often a site that stops looks whether a run is gone.
const DRAIN_LOOK: Duration = Duration::from_millis(50);
/// How often the reaper looks by itself.
const REAP_INTERVAL: Duration = Duration::from_secs(30);

/// What bounds runs.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Runs without a token at once, on the whole site.
    pub anonymous_running: usize,
    /// Runs without a token that wait for a place.
    pub anonymous_waiting: usize,
    /// How long they wait.
    pub anonymous_wait: Duration,
    /// Runs a minute of one address without a token.
    pub anonymous_per_minute: NonZeroU32,
    /// The longest wall clock of a run without a token.
    pub anonymous_timeout: Duration,
    /// Runs with a token at once, on the whole site.
    pub running: usize,
    /// What is kept of each output, bytes.
    pub output_bytes: usize,
    /// How long one try to destroy a sandbox may take.
    pub teardown_try: Duration,
    /// How long a sandbox whose order was never answered may still come.
    pub late_sandbox: Duration,
    /// How long code and output of a run without a token are kept.
    pub anonymous_kept: Duration,
    /// The same with a token.
    pub kept: Duration,
    /// Whether a fault may be ordered, to see what follows.
    pub drills: bool,
}

impl Default for Limits {
    fn default() -> Self {
        const DAY: Duration = Duration::from_hours(24);
        Self {
            anonymous_running: 2,
            anonymous_waiting: 8,
            anonymous_wait: Duration::from_secs(5),
            anonymous_per_minute: NonZeroU32::new(crate::access::RUNS_PER_MINUTE)
                .unwrap_or(NonZeroU32::MIN),
            anonymous_timeout: Duration::from_millis(crate::runs::ANONYMOUS_TIMEOUT_MS_MAX),
            running: 256,
            output_bytes: crate::runs::output::OUTPUT_BYTES_MAX,
            teardown_try: TEARDOWN_TRY,
            late_sandbox: LATE_SANDBOX,
            anonymous_kept: DAY,
            kept: DAY * 30,
            drills: false,
        }
    }
}

/// Runs code at providers. Cheap to clone; clones are the same router.
#[derive(Clone)]
pub struct SandboxRouter(Arc<Inner>);

/// What all runs share.
struct Inner {
    pool: SqlitePool,
    adapters: Vec<Arc<dyn Adapter>>,
    drills: [(Drill, Arc<dyn Adapter>); Drill::ALL.len()],
    prices: Prices,
    limits: Limits,
    breakers: Mutex<HashMap<&'static str, Breaker>>,
    live: Mutex<HashMap<String, Arc<Live>>>,
    /// Leases whose teardown is somebody's business already.
    in_care: Mutex<HashSet<String>>,
    anonymous_places: Arc<Semaphore>,
    anonymous_waiting: Arc<Semaphore>,
    places: Arc<Semaphore>,
    rate: Rate,
    nudge: Notify,
    draining: tokio::sync::watch::Sender<bool>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now() -> String {
    stamp(Timestamp::now())
}

fn after(at: Timestamp, wait: Duration) -> Timestamp {
    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX);
    at.saturating_add(wait).unwrap_or(Timestamp::MAX)
}

impl SandboxRouter {
    /// A router over some adapters. Nothing happens by itself before [`SandboxRouter::start`].
    pub fn new(
        pool: SqlitePool,
        catalog: Arc<Catalog>,
        adapters: Vec<Arc<dyn Adapter>>,
        limits: Limits,
    ) -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self(Arc::new(Inner {
            pool,
            adapters,
            drills: drill::adapters(),
            prices: Prices::of(catalog),
            breakers: Mutex::default(),
            live: Mutex::default(),
            in_care: Mutex::default(),
            anonymous_places: places(limits.anonymous_running),
            anonymous_waiting: places(limits.anonymous_waiting),
            places: places(limits.running),
            rate: Rate::per_minute(limits.anonymous_per_minute),
            limits,
            nudge: Notify::new(),
            draining: tokio::sync::watch::Sender::new(false),
        }))
    }

    /// Ends what a former process left, and goes on reaping in the background. Only the one process that runs code over this
    /// database may call it, in a Tokio runtime.
    pub async fn start(&self) -> Result<(), StoreError> {
        self.0.end_what_is_left().await?;
        tokio::spawn(reaper::keep_reaping(Arc::downgrade(&self.0)));
        Ok(())
    }

    /// Slugs of the providers that can be named, in order.
    pub fn providers(&self) -> Vec<&'static str> {
        self.0.adapters.iter().map(|adapter| adapter.slug()).collect()
    }

    /// What bounds runs here.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// What people should know of a provider's wall, in words; `None` where it says nothing itself.
    pub fn about(&self, slug: &str) -> Option<String> {
        self.0.adapter(slug).and_then(|adapter| adapter.about())
    }

    /// Looks for sandboxes that are owed a teardown, now.
    pub async fn reap(&self) -> Result<Report, StoreError> {
        self.0.reap(Care::Ours).await
    }

    /// The same for a process beside the one that runs code: it leaves alone what is not past its end, for it cannot know
    /// whose business that is.
    pub async fn reap_overdue(&self) -> Result<Report, StoreError> {
        self.0.reap(Care::Others).await
    }

    /// Takes no new runs from now on, and waits for those that are on their way and for their teardowns, for so long at most.
    /// Says whether none is left.
    pub async fn drain(&self, wait: Duration) -> bool {
        self.0.draining.send_replace(true);
        let all = async {
            while self.0.is_busy() {
                tokio::time::sleep(DRAIN_LOOK).await;
            }
        };
        timeout(wait, all).await.is_ok()
    }

    /// The receipt of a run; `None` where there is none of that id.
    pub async fn receipt(&self, id: &str) -> Result<Option<Receipt>, StoreError> {
        self.0.receipt(id).await
    }

    /// The same without output and code, for lists.
    pub async fn outline(&self, id: &str) -> Result<Option<Receipt>, StoreError> {
        let Some(run) = self.0.record(id).await? else { return Ok(None) };
        let kept_until = store::kept_until(&self.0.pool, id).await?;
        Ok(Some(Receipt { run, output: None, code: None, kept_until }))
    }

    /// Waits until a run of this process is final and, for a moment, until its sandbox is gone; never past its deadline.
    pub async fn wait(&self, id: &str) {
        let Some(live) = self.0.live(id) else { return };
        let mut changes = live.subscribe();
        let is_settled =
            |run: &Run| run.attempts.iter().all(|one| one.teardown.state != TeardownState::Pending);
        let settled = async {
            // Whoever waits holds the run, and so its sender: neither can fail.
            let _ = changes.wait_for(|_| live.is_final()).await;
            let gone = changes.wait_for(|_| live.read(is_settled));
            let _ = timeout(TEARDOWN_PATIENCE, gone).await;
        };
        let _ = timeout_at(live.deadline.into(), settled).await;
    }

    /// The next event of a run after a cursor, as soon as there is one; `None` when everything was told. `kept` holds the
    /// receipt of a run that is over, so that one stream reads it once.
    pub async fn next_event(
        &self,
        id: &str,
        at: Cursor,
        kept: &mut Option<Receipt>,
    ) -> Result<Option<(Event, Cursor)>, StoreError> {
        if let Some(live) = self.0.live(id) {
            let mut changes = live.subscribe();
            loop {
                changes.borrow_and_update();
                match live.next_event(at) {
                    (Some(event), _) => return Ok(Some(event)),
                    (None, true) => return Ok(None),
                    (None, false) if changes.changed().await.is_err() => break,
                    (None, false) => {}
                }
            }
        }
        if kept.is_none() {
            *kept = self.0.receipt(id).await?;
        }
        let Some(Receipt { run, output, .. }) = kept else { return Ok(None) };
        let (stdout, stderr) = output
            .as_ref()
            .map_or(("", ""), |output| (output.stdout.as_str(), output.stderr.as_str()));
        Ok(crate::runs::events::next(run, stdout, stderr, at))
    }
}

/// One run on its way through the loop.
struct Drive {
    live: Arc<Live>,
    request: Request,
    selection: Selection,
}

impl Inner {
    fn live(&self, id: &str) -> Option<Arc<Live>> {
        locked(&self.live).get(id).cloned()
    }

    /// Whether a run or a teardown is on its way.
    fn is_busy(&self) -> bool {
        !locked(&self.live).is_empty() || !locked(&self.in_care).is_empty()
    }

    /// The adapter of a slug. What a drill owes any drill can pay: it is nothing.
    fn adapter(&self, slug: &str) -> Option<&Arc<dyn Adapter>> {
        let drills = self.drills.iter().map(|(_, adapter)| adapter);
        self.adapters.iter().chain(drills).find(|adapter| adapter.slug() == slug)
    }

    /// Whom a run asks for the sandbox of a candidate.
    fn adapter_for(&self, slug: &str, request: &Request) -> Option<&Arc<dyn Adapter>> {
        match request.drill.filter(|_| slug == drill::SLUG) {
            Some(ordered) => self.drills.iter().find(|(one, _)| *one == ordered).map(|(_, it)| it),
            None => self.adapter(slug),
        }
    }

    fn breaker<T>(&self, slug: &'static str, change: impl FnOnce(&mut Breaker) -> T) -> T {
        change(locked(&self.breakers).entry(slug).or_default())
    }

    /// Sees a run through to its end, whatever happens on the way.
    async fn see_through(self: Arc<Self>, drive: Drive, place: OwnedSemaphorePermit) {
        let live = drive.live.clone();
        let id = live.id();
        let inner = self.clone();
        // A task of its own: a panic in there is an error here.
        let ended = tokio::spawn(async move { inner.attempts(&drive).await }).await;
        let broke_off = match &ended {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error as &dyn std::error::Error),
            Err(error) => Some(error as &dyn std::error::Error),
        }
        .inspect(|error| error!(error, "a run broke off"))
        .is_some();
        locked(&self.live).remove(&id);
        if broke_off {
            // Its end is what the attempts say: written now, or by the reaper as soon as it can.
            let written = self.end_what_is_left().await;
            if let Err(error) = written {
                error!(error = &error as &dyn std::error::Error, "its end could not be written");
            }
            self.nudge.notify_one();
            // Whoever waits reads the record.
            live.change(|run| end(run, Outcome::Interrupted));
        }
        drop(place);
    }

    /// The loop: attempts until one decides the run or nobody is left.
    async fn attempts(self: &Arc<Self>, drive: &Drive) -> Result<(), StoreError> {
        let Drive { live, request, selection, .. } = drive;
        let timeout = Duration::from_millis(request.timeout_ms);
        let mut tried: Vec<Tried> = Vec::new();
        store::set_running(&self.pool, &live.id()).await?;
        live.change(|run| run.state = RunState::Running);
        if !self.is_ready(selection, &live.cancel).await {
            return self.finish(drive, Outcome::Unavailable, None, Omission::WarmingUp).await;
        }
        loop {
            let left = live.deadline.saturating_duration_since(Instant::now());
            let (candidate, start_within) =
                match plan::next(selection, timeout, request.fallback, &tried, left) {
                    Action::Try { candidate, start_within } => (candidate, start_within),
                    // Only where there is nobody to try at all: else the end is written with the last attempt.
                    Action::End { outcome, .. } => {
                        return self.finish(drive, outcome, None, Omission::Deadline).await;
                    }
                };
            let number = u32::try_from(candidate + 1).unwrap_or(u32::MAX);
            let candidate = &selection.candidates[candidate];
            let (lease, over) = self.attempt(drive, candidate, number, start_within).await?;
            let code_started = live.code_started();
            tried.push(Tried { outcome: over.outcome, code_started });
            let left = live.deadline.saturating_duration_since(Instant::now());
            let action = plan::next(selection, timeout, request.fallback, &tried, left);
            let next = match action {
                Action::Try { .. } => Next::FailedOver,
                Action::End { next, .. } => next,
            };
            self.end_attempt(live, number, &lease, &over, next).await?;
            if over.remains == Remains::Perhaps {
                self.tear_down(live, lease);
            }
            if let Action::End { outcome, .. } = action {
                let is_late = outcome == Outcome::Unavailable;
                let rest = if is_late { Omission::Deadline } else { Omission::NotNeeded };
                return self.finish(drive, outcome, Some(&over), rest).await;
            }
        }
    }

    /// Waits for the first candidate that warms up, as long as it has to start: where one does, all do but a drill.
    async fn is_ready(&self, selection: &Selection, cancel: &CancellationToken) -> bool {
        let Some(first) = selection.candidates.iter().find(|one| one.warming_up) else {
            return true;
        };
        let Some(adapter) = self.adapter(&first.provider) else { return true };
        let ready = adapter.ready_by(Instant::now() + first.start_slice);
        tokio::select! {
            // A cancelled run goes on to its first attempt, which says so.
            () = cancel.cancelled() => true,
            ready = ready => ready == adapter::Readiness::Ready,
        }
    }

    /// Writes the end of a run: its record never changes again. `rest` is why those were not tried who were not.
    async fn finish(
        &self,
        drive: &Drive,
        outcome: Outcome,
        last: Option<&Over>,
        rest: Omission,
    ) -> Result<(), StoreError> {
        let Drive { live, selection, .. } = drive;
        let output: Output = live.end_output();
        let mut run = live.run();
        end(&mut run, outcome);
        run.exit_code = last.and_then(|over| over.exit_code);
        run.duration_ms = last.and_then(|over| over.ran_for).map(millis);
        run.provider = run.ran_at();
        run.output_mode = run
            .provider
            .as_deref()
            .and_then(|slug| self.adapter(slug))
            .map(|adapter| adapter.terms().output_mode);
        let not_tried = selection.candidates.iter().skip(run.attempts.len());
        // Nobody asks why a drill did not take place.
        let not_tried = not_tried.filter(|one| one.provider != drill::SLUG);
        run.not_tried
            .extend(not_tried.map(|one| NotTried { provider: one.provider.clone(), reason: rest }));
        let mut transaction = self.pool.begin_with("begin immediate").await?;
        store::end(&mut transaction, &run, &output).await?;
        teardown::settle_if_over(&mut transaction, &run.id, Some(outcome)).await?;
        transaction.commit().await?;
        live.change(|own| {
            // A teardown may have been confirmed meanwhile: the leases say that, not the record.
            let attempts = std::mem::take(&mut own.attempts);
            *own = Run { attempts, ..run };
        });
        Ok(())
    }

    /// The receipt of a run: record, output and leases, each from where it is kept.
    async fn receipt(&self, id: &str) -> Result<Option<Receipt>, StoreError> {
        let live = self.live(id).map(|live| live.snapshot());
        let text = store::text(&self.pool, id).await?;
        let (code, kept_until) = text
            .as_ref()
            .map_or((None, None), |text| (Some(text.code.clone()), Some(text.delete_at.clone())));
        if let Some((run, output)) = live {
            return Ok(Some(Receipt { run, output: Some(output), code, kept_until }));
        }
        let Some(run) = self.record(id).await? else { return Ok(None) };
        Ok(Some(Receipt { run, output: text.map(|text| text.output), code, kept_until }))
    }

    /// The record of a run with what its leases say, without output and code.
    async fn record(&self, id: &str) -> Result<Option<Run>, StoreError> {
        if let Some(live) = self.live(id) {
            return Ok(Some(live.run()));
        }
        let Some(mut run) = store::find(&self.pool, id).await? else { return Ok(None) };
        for paid in lease::of_run(&self.pool, id).await? {
            let attempt = run.attempts.iter_mut().find(|one| one.number == paid.attempt);
            if let Some(attempt) = attempt {
                attempt.teardown = paid.teardown;
                attempt.cost = paid.cost.unwrap_or(attempt.cost);
            }
        }
        Ok(Some(run))
    }
}

fn end(run: &mut Run, outcome: Outcome) {
    run.state = RunState::Final;
    run.outcome = Some(outcome);
    run.final_at = Some(now());
}
