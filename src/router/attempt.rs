//! One attempt: a lease, a sandbox, the checks of what was given, the code.
//!
//! Not here: what follows an attempt (`plan.rs`), and how its sandbox is destroyed (`teardown.rs`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::SqlitePool;
use tokio::sync::Notify;
use tokio::time::{sleep_until, timeout};
use tracing::{error, warn};

use super::adapter::{
    self, Created, Ended, Failure, KillFrom, Order, Remains, Sandbox, Snippet, Unrecorded, Watch,
};
use super::breaker::Breaker;
use super::lease::{self, Lease};
use super::live::Live;
use super::plan::Candidate;
use super::{Drive, Inner, after, checkpoint, drill, start};
use crate::access::random_hex;
use crate::catalog::claim::Tier;
use crate::catalog::shape::Shape;
use crate::moment::{millis, stamp, today};
use crate::money::Quantity;
use crate::runs::store::{self, StoreError};
use crate::runs::{
    Applied, Attempt, AttemptOutcome, Cost, Egress, Next, Proof, Reason, Stage, Stream, Teardown,
    TeardownState, satisfies,
};

/// The platform itself kills a sandbox so long after the wall clock of its code.
const KILL_AFTER_TIMEOUT: Duration = Duration::from_secs(15);
/// What of the time to start in may pass after the platform has begun to count, without anything being added for it.
const CHECKS_MAX: Duration = Duration::from_secs(10);
/// A provider that wants to be left alone for longer is asked again after this all the same.
const REST_MAX: Duration = Duration::from_mins(10);

/// What came of an attempt.
pub(super) struct Over {
    pub(super) outcome: AttemptOutcome,
    pub(super) reason: Option<Reason>,
    pub(super) http_status: Option<u16>,
    pub(super) remains: Remains,
    pub(super) exit_code: Option<i32>,
    pub(super) ran_for: Option<Duration>,
}

impl Inner {
    /// One attempt: lease, sandbox, checks, code. The lease is open afterwards unless certainly nothing was made.
    pub(super) async fn attempt(
        self: &Arc<Self>,
        drive: &Drive,
        candidate: &Candidate,
        number: u32,
        start_within: Duration,
    ) -> Result<(Lease, Over), StoreError> {
        let Drive { live, request, .. } = drive;
        let floor = live.read(|run| run.asked.isolation_at_least);
        let begun = Instant::now();
        let (mut lease, order) = self.open_lease(drive, candidate, number, start_within).await?;
        // The selection was made of these very adapters.
        let Some(adapter) = self.adapter_for(&candidate.provider, request) else {
            return Ok((lease, failed(Failure::leaving_nothing(Reason::BadRequest))));
        };
        let slug = adapter.slug();
        self.breaker(slug, |breaker| breaker.tries(Instant::now()));
        checkpoint::reached("lease_written").await;
        let made = tokio::select! {
            () = live.cancel.cancelled() => return Ok((lease, cancelled())),
            made = timeout(start_within, adapter.create(&order)) => made,
        };
        let late = if slug == drill::SLUG { Reason::Drill } else { Reason::StartTimeout };
        let made = made.unwrap_or_else(|_| Err(Failure::leaving_perhaps(late)));
        let Created { handle, answered, isolation, egress, shape, mut sandbox } = match made {
            Ok(created) => created,
            Err(failure) => {
                self.note(slug, &failure);
                if let Some(handle) = &failure.handle {
                    lease::name(&self.pool, &mut lease, handle).await?;
                }
                return Ok((lease, failed(failure)));
            }
        };
        checkpoint::reached("created").await;
        lease.handle = Some(handle);
        lease.answered_at = Some(stamp(answered));
        lease.kill_at = stamp(after(answered, order.kill_after));
        let quoted = lease.shape;
        lease.shape = shape.unwrap_or(quoted);
        lease::answer(&self.pool, &lease).await?;
        live.change_attempt(number, |attempt| {
            (attempt.isolation, attempt.egress) = (isolation, egress);
            attempt.start_ms = Some(millis(begun.elapsed()));
        });
        let unmet = if !satisfies(isolation.value, floor) {
            Some(Reason::IsolationNotConfirmed)
        } else if egress.value != request.egress {
            Some(Reason::EgressNotConfirmed)
        } else if self.is_dearer(&lease, quoted) {
            // What was reserved would not hold it.
            Some(Reason::Protocol)
        } else {
            None
        };
        if let Some(reason) = unmet {
            let failure = Failure::leaving_perhaps(reason).because(Unmet {
                isolation: isolation.value,
                egress: egress.value,
                shape: lease.shape,
            });
            self.note(slug, &failure);
            return Ok((lease, failed(failure)));
        }
        let start_by = begun + start_within;
        let over = self.run_code(drive, (slug, number), sandbox.as_mut(), start_by).await;
        checkpoint::reached("result_read").await;
        // However it ended, the sandbox is there.
        let over = Over { remains: Remains::Perhaps, ..over };
        // That the time was over says nothing: a platform that hangs looks the same.
        if over.outcome == AttemptOutcome::Completed {
            self.breaker(slug, Breaker::works);
        }
        Ok((lease, over))
    }

    async fn open_lease(
        &self,
        drive: &Drive,
        candidate: &Candidate,
        number: u32,
        start_within: Duration,
    ) -> Result<(Lease, Order), StoreError> {
        let Drive { live, request, .. } = drive;
        let floor = live.read(|run| run.asked.isolation_at_least);
        let terms = self.adapter(&candidate.provider).map(|adapter| adapter.terms());
        let timeout = Duration::from_millis(request.timeout_ms);
        let kill_after = terms.as_ref().map_or(timeout, |terms| kill_horizon(terms, timeout));
        let begun = Timestamp::now();
        let run_id = live.id();
        let lease = Lease {
            id: random_hex::<16>().map_err(|error| StoreError::Unreadable(error.to_string()))?,
            run_id: run_id.clone(),
            attempt: number,
            provider: candidate.provider.clone(),
            handle: None,
            created_at: stamp(begun),
            answered_at: None,
            ended_at: None,
            kill_at: stamp(after(begun, start_within + kill_after)),
            shape: terms.and_then(|terms| terms.shape).unwrap_or(NO_SIZE),
            failures: 0,
        };
        let attempt = Attempt {
            number,
            provider: candidate.provider.clone(),
            outcome: None,
            stage: Stage::Create,
            code_started: false,
            http_status: None,
            reason: None,
            next: None,
            isolation: Applied { value: candidate.tier, evidence: Proof::Declared },
            egress: Applied { value: request.egress, evidence: Proof::Declared },
            started_at: stamp(begun),
            start_ms: None,
            duration_ms: None,
            cost: Cost::ZERO,
            teardown: Teardown { state: TeardownState::Pending, duration_ms: None },
        };
        let mut transaction = self.pool.begin_with("begin immediate").await?;
        store::insert_attempt(&mut transaction, &run_id, &attempt).await?;
        lease::open(&mut transaction, &lease).await?;
        transaction.commit().await?;
        live.change(|run| run.attempts.push(attempt));
        let order = Order {
            lease: lease.id.clone(),
            run: run_id,
            language: request.language,
            isolation_at_least: floor,
            egress: request.egress,
            timeout,
            kill_after,
            start_by: Instant::now() + start_within,
        };
        Ok((lease, order))
    }

    async fn run_code(
        self: &Arc<Self>,
        Drive { live, request, .. }: &Drive,
        (slug, number): (&'static str, u32),
        sandbox: &mut dyn Sandbox,
        start_by: Instant,
    ) -> Over {
        let wall = Duration::from_millis(request.timeout_ms);
        let grace = self.adapter(slug).map(|adapter| adapter.terms().answer_grace);
        let snippet = Snippet {
            language: request.language,
            code: &request.code,
            timeout: wall,
            output_bytes_max: self.limits.output_bytes,
        };
        let started = Notify::new();
        let watched = Watched { pool: &self.pool, live, run: live.id(), number, started: &started };
        let mut run = sandbox.run(&snippet, &watched);
        // Until the code starts it is the candidate's share of time that passes, from then on the code's own.
        let early = tokio::select! {
            () = live.cancel.cancelled() => return cancelled(),
            ended = &mut run => Some(ended),
            () = started.notified() => None,
            () = sleep_until(start_by.into()) => {
                let failure = Failure::leaving_perhaps(Reason::StartTimeout);
                self.note(slug, &failure);
                return failed(failure);
            }
        };
        let begun = Instant::now();
        let ended = if let Some(ended) = early {
            Ok(ended)
        } else {
            tokio::select! {
                () = live.cancel.cancelled() => return cancelled(),
                ended = timeout(wall + grace.unwrap_or_default(), run) => ended,
            }
        };
        let code_started = live.code_started();
        match ended {
            Ok(Ended::Exited { exit_code, duration }) => {
                Over { exit_code: Some(exit_code), ..timed(AttemptOutcome::Completed, duration) }
            }
            Ok(Ended::TimedOut { duration }) => timed(AttemptOutcome::TimedOut, duration),
            Ok(Ended::Lost(failure)) => {
                Self::log(slug, &failure);
                // Code can break whatever it runs in: from then on nothing is the platform's alone.
                if !code_started {
                    self.count(slug, &failure);
                }
                let over = failed(failure);
                if code_started {
                    let (outcome, ran_for) = (AttemptOutcome::Interrupted, Some(begun.elapsed()));
                    Over { outcome, ran_for, ..over }
                } else {
                    over
                }
            }
            Ok(Ended::NotRun(failure)) => {
                // Written down with the end of the attempt; a crash before that leaves what is safe.
                live.change_attempt(number, |attempt| attempt.code_started = false);
                self.note(slug, &failure);
                failed(failure)
            }
            // The adapter should have said so itself.
            Err(_) => timed(AttemptOutcome::TimedOut, begun.elapsed()),
        }
    }

    pub(super) async fn end_attempt(
        &self,
        live: &Live,
        number: u32,
        lease: &Lease,
        over: &Over,
        next: Next,
    ) -> Result<(), StoreError> {
        let ended = Timestamp::now();
        let begun: Option<Timestamp> = lease.created_at.parse().ok();
        let took = begun.map(|begun| ended.duration_since(begun));
        let took = took.and_then(|took| Duration::try_from(took).ok()).unwrap_or_default();
        let attempt = live.run().attempts.into_iter().find(|attempt| attempt.number == number);
        let Some(mut attempt) = attempt else { return Ok(()) };
        attempt.outcome = Some(over.outcome);
        attempt.reason = over.reason;
        attempt.http_status = over.http_status;
        attempt.next = Some(next);
        attempt.duration_ms = Some(millis(took));
        if matches!(over.outcome, AttemptOutcome::Completed | AttemptOutcome::TimedOut) {
            attempt.stage = Stage::Done;
        }
        if over.remains == Remains::Nothing {
            attempt.teardown.state = TeardownState::NothingCreated;
        }
        let mut transaction = self.pool.begin_with("begin immediate").await?;
        store::end_attempt(&mut transaction, &lease.run_id, &attempt).await?;
        let ended = stamp(ended);
        match over.remains {
            Remains::Nothing => lease::close_empty(&mut transaction, &lease.id, &ended).await?,
            Remains::Perhaps => lease::end(&mut transaction, &lease.id, &ended).await?,
        }
        transaction.commit().await?;
        live.change_attempt(number, |own| *own = attempt);
        Ok(())
    }

    /// Whether a sandbox costs more than the size that was quoted.
    fn is_dearer(&self, lease: &Lease, quoted: Shape) -> bool {
        if lease.shape == quoted {
            return false;
        }
        let variant = self.adapter(&lease.provider).and_then(|adapter| adapter.terms().variant);
        let of = |shape| {
            let lifetime = Duration::from_hours(1);
            self.prices.cost(&lease.provider, variant, shape, lifetime, today())
        };
        match (of(lease.shape), of(quoted)) {
            (Some(real), Some(quoted)) => real.routed_usd > quoted.routed_usd,
            _ => true,
        }
    }

    /// Tells the log and the breaker of a failure of a provider's platform.
    fn note(&self, slug: &'static str, failure: &Failure) {
        Self::log(slug, failure);
        self.count(slug, failure);
    }

    fn log(slug: &'static str, failure: &Failure) {
        warn!(
            provider.slug = slug,
            reason = failure.reason.word(),
            http.status = failure.http_status,
            error = failure.source.as_deref().map(|source| source as &dyn std::error::Error),
            "an attempt failed"
        );
    }

    fn count(&self, slug: &'static str, failure: &Failure) {
        if let Some(wait) = failure.retry_after {
            let until = Instant::now() + wait.min(REST_MAX);
            self.breaker(slug, |breaker| breaker.rests(until));
        }
        // What we asked wrongly, too often or on purpose says nothing of the platform; and what callers fill up among
        // themselves must not shut our own sandbox for all of them.
        let says_nothing = match failure.reason {
            Reason::RateLimited | Reason::Quota | Reason::BadRequest | Reason::Drill => true,
            Reason::Outage => false,
            _ => slug == start::OPEN_TO_ALL,
        };
        if !says_nothing {
            self.breaker(slug, |breaker| breaker.fails(Instant::now()));
        }
    }
}

/// What a sandbox has instead of what was asked for.
#[derive(Debug, thiserror::Error)]
#[error("the sandbox has isolation {}, egress {}, {} vCPU, {} GiB of memory and {} GiB of disk",
    isolation.word(), egress.word(), shape.vcpu, shape.memory_gib, shape.disk_gib)]
struct Unmet {
    isolation: Tier,
    egress: Egress,
    shape: Shape,
}

/// The size of a sandbox that costs nothing.
const NO_SIZE: Shape =
    Shape { vcpu: Quantity::ZERO, memory_gib: Quantity::ZERO, disk_gib: Quantity::ZERO };

/// When the platform itself must have killed a sandbox: a little after the wall clock, in its own steps.
pub(super) fn kill_horizon(terms: &adapter::Terms, timeout: Duration) -> Duration {
    let to_start = match terms.kill_from {
        // What is done between the start and the code takes of it too, but not for longer than this, usually.
        KillFrom::Started => terms.start_slice.saturating_sub(CHECKS_MAX),
        KillFrom::Asked => terms.start_slice,
    };
    let least = to_start + timeout + KILL_AFTER_TIMEOUT;
    let step = terms.kill_step.max(Duration::from_millis(1));
    let steps = least.as_nanos().div_ceil(step.as_nanos());
    step.saturating_mul(u32::try_from(steps).unwrap_or(u32::MAX))
}

fn failed(failure: Failure) -> Over {
    Over {
        outcome: AttemptOutcome::Unavailable,
        reason: Some(failure.reason),
        http_status: failure.http_status,
        remains: failure.remains,
        exit_code: None,
        ran_for: None,
    }
}

fn cancelled() -> Over {
    Over {
        outcome: AttemptOutcome::Cancelled,
        reason: None,
        http_status: None,
        remains: Remains::Perhaps,
        exit_code: None,
        ran_for: None,
    }
}

fn timed(outcome: AttemptOutcome, duration: Duration) -> Over {
    Over { outcome, ran_for: Some(duration), ..cancelled() }
}

/// What an adapter tells while a sandbox works, put where it belongs.
struct Watched<'a> {
    pool: &'a SqlitePool,
    live: &'a Live,
    run: String,
    number: u32,
    started: &'a Notify,
}

#[async_trait]
impl Watch for Watched<'_> {
    fn stage(&self, stage: Stage) {
        self.live.change_attempt(self.number, |attempt| attempt.stage = stage);
    }

    async fn code_starts(&self) -> Result<(), Unrecorded> {
        store::set_code_started(self.pool, &self.run, self.number).await.map_err(|error| {
            error!(error = &error as &dyn std::error::Error, "a run could not be recorded");
            Unrecorded
        })?;
        self.live.change_attempt(self.number, |attempt| {
            (attempt.code_started, attempt.stage) = (true, Stage::Run);
        });
        self.started.notify_one();
        Ok(())
    }

    fn output(&self, stream: Stream, bytes: &[u8]) {
        self.live.output(stream, bytes);
    }

    fn dropped(&self, stream: Stream, bytes: u64) {
        self.live.dropped(stream, bytes);
    }
}
