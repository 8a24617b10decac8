//! How a sandbox is destroyed and paid for, however its run ended.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use sqlx::SqliteConnection;
use tokio::time::{sleep, timeout};
use tracing::warn;

use super::adapter::{Adapter, Gone, Owed, Readiness};
use super::lease::{self, Lease};
use super::live::Live;
use super::{Inner, checkpoint, locked};
use crate::access;
use crate::moment::{day_of, stamp};
use crate::runs::store::{self, StoreError};
use crate::runs::{Attempt, Cost, Outcome, RunState, TeardownState};

/// How often a run itself tries to destroy its sandbox before it leaves it to the reaper.
const TRIES: u32 = 3;
/// How long it waits before the second try; twice as long before every other.
const PAUSE: Duration = Duration::from_millis(500);

/// So long after the platform itself must have destroyed a sandbox it is believed to have, where nobody can ask any more.
const GIVEN_UP_AFTER: SignedDuration = SignedDuration::from_hours(1);

/// That a sandbox is not certainly gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StillOwed {
    /// Destroying it failed.
    Failed,
    /// It is not there, but it may still come.
    MayCome,
}

impl Inner {
    /// Destroys the sandbox of a lease beside whatever goes on.
    pub(super) fn tear_down(self: &Arc<Self>, live: &Arc<Live>, lease: Lease) {
        let (inner, live) = (self.clone(), live.clone());
        locked(&self.in_care).insert(lease.id.clone());
        tokio::spawn(async move {
            let (id, shared, mut lease) = (lease.id.clone(), inner.clone(), lease);
            // A task of its own: a panic in there must not leave the lease in nobody's care.
            let torn_down =
                tokio::spawn(async move { shared.try_to_destroy(&live, &mut lease).await });
            let is_gone = torn_down.await.unwrap_or(false);
            locked(&inner.in_care).remove(&id);
            if !is_gone {
                // What is still owed is the reaper's.
                inner.nudge.notify_one();
            }
        });
    }

    async fn try_to_destroy(&self, live: &Live, lease: &mut Lease) -> bool {
        let mut pause = PAUSE;
        for number in 1..=TRIES {
            let paid = self.destroy(lease).await;
            if paid == Err(StillOwed::MayCome) {
                return false;
            }
            let is_gone = paid.is_ok();
            live.change_attempt(lease.attempt, |attempt| {
                attempt.cost = paid
                    .map_or_else(|_| self.cost(lease, Timestamp::now(), None), |(_, cost)| cost);
                attempt.teardown.duration_ms = is_gone.then(|| since_end(attempt));
                attempt.teardown.state =
                    if is_gone { TeardownState::Confirmed } else { TeardownState::Failed };
            });
            if is_gone {
                return true;
            }
            if number < TRIES {
                sleep(pause).await;
                pause *= 2;
            }
        }
        false
    }

    /// Destroys the sandbox of a lease once, and pays the lease if it is gone. Says what it cost.
    pub(super) async fn destroy(&self, lease: &mut Lease) -> Result<(Gone, Cost), StillOwed> {
        let owed = Owed { lease: lease.id.clone(), handle: lease.handle.clone() };
        let adapter = self.adapter(&lease.provider).filter(|adapter| is_set_up(adapter.as_ref()));
        let destroyed = match adapter {
            // Nobody can ask, and by now the platform has done it itself.
            None if is_given_up(lease) => Ok(Gone::Already),
            None => Err("its provider is not configured any more"),
            Some(adapter) => {
                match timeout(self.limits.teardown_try, adapter.destroy(&owed)).await {
                    Ok(Ok(gone)) => Ok(gone),
                    Ok(Err(failure)) => {
                        self.learn_name(lease, failure.handle).await;
                        Err(failure.reason.word())
                    }
                    Err(_) => Err("no answer in time"),
                }
            }
        };
        let paid = match destroyed {
            Ok(Gone::Unseen) if self.may_come(lease) => return Err(StillOwed::MayCome),
            Ok(gone) => {
                checkpoint::reached("destroyed").await;
                let paid = self.pay(lease, gone).await.map(|cost| Ok((gone, cost)));
                checkpoint::reached("cleared").await;
                paid
            }
            Err(reason) => {
                let (slug, id) = (&lease.provider, &lease.id);
                warn!(provider.slug = slug, lease.id = id, reason, "a sandbox is still owed");
                lease.failures += 1;
                let counted = lease::fail(&self.pool, &lease.id).await;
                counted.map(|()| Err(StillOwed::Failed)).map_err(StoreError::from)
            }
        };
        paid.unwrap_or_else(|error| {
            let error: &dyn std::error::Error = &error;
            warn!(lease.id = lease.id, error, "a teardown could not be written down");
            Err(StillOwed::Failed)
        })
    }

    /// Whether the sandbox of a lease may still come: its order was never answered, and that is not long ago.
    fn may_come(&self, lease: &Lease) -> bool {
        let asked: Option<Timestamp> = lease.created_at.parse().ok();
        let passed = asked.map(|asked| Timestamp::now().duration_since(asked));
        let late = SignedDuration::try_from(self.limits.late_sandbox).unwrap_or_default();
        // An order of the future is one of before the clock was put back.
        passed.is_some_and(|passed| passed < late)
    }

    /// Writes down the name of a sandbox that came to light when it was to be destroyed.
    async fn learn_name(&self, lease: &mut Lease, handle: Option<String>) {
        let Some(handle) = handle.filter(|_| lease.handle.is_none()) else { return };
        if let Err(error) = lease::name(&self.pool, lease, &handle).await {
            let error: &dyn std::error::Error = &error;
            warn!(error, "the name of a sandbox could not be written down");
        }
    }

    async fn pay(&self, lease: &Lease, gone: Gone) -> Result<Cost, StoreError> {
        let at = Timestamp::now();
        let cost = self.cost(lease, at, Some(gone));
        let mut transaction = self.pool.begin_with("begin immediate").await?;
        lease::pay(&mut transaction, &lease.id, &stamp(at), cost).await?;
        settle_if_over(&mut transaction, &lease.run_id, None).await?;
        transaction.commit().await?;
        Ok(cost)
    }

    /// What a sandbox costs that is gone at an instant: from create answered on, or from when it was asked for where that
    /// answer was lost but a sandbox was there; and never longer than the platform lets it live, which is what was quoted.
    pub(super) fn cost(&self, lease: &Lease, at: Timestamp, gone: Option<Gone>) -> Cost {
        let read = |text: &str| text.parse::<Timestamp>().ok();
        let adapter = self.adapter(&lease.provider);
        // Destroying failed before it was not to be found: that it was there is likely, and how long nobody knows.
        let is_unknown = gone == Some(Gone::Unseen) && lease.failures > 0;
        let was_there = lease.handle.is_some() || gone == Some(Gone::Destroyed) || is_unknown;
        let (answered, in_start) = match &lease.answered_at {
            Some(answered) => (read(answered), Duration::ZERO),
            None if was_there => {
                let slice = adapter.map(|adapter| adapter.terms().start_slice);
                (read(&lease.created_at), slice.unwrap_or_default())
            }
            None => (None, Duration::ZERO),
        };
        let Some(answered) = answered else { return Cost::ZERO };
        let in_start = SignedDuration::try_from(in_start).unwrap_or_default();
        let last = read(&lease.kill_at).and_then(|kill| kill.checked_sub(in_start).ok());
        let gone = match last {
            Some(last) if is_unknown => last,
            Some(last) => last.min(at),
            None => at,
        };
        let lifetime = Duration::try_from(gone.duration_since(answered)).unwrap_or_default();
        let variant = adapter.and_then(|adapter| adapter.terms().variant);
        if lease.shape.vcpu.is_zero() {
            return Cost::ZERO;
        }
        self.prices
            .cost(&lease.provider, variant, lease.shape, lifetime, day_of(answered))
            .unwrap_or(Cost::ZERO)
    }
}

/// Whether a provider can be asked for anything.
fn is_set_up(adapter: &dyn Adapter) -> bool {
    adapter.readiness() != Readiness::NotConfigured
}

/// Whether the platform must have destroyed a sandbox long ago.
fn is_given_up(lease: &Lease) -> bool {
    let kill_at: Option<Timestamp> = lease.kill_at.parse().ok();
    kill_at.is_some_and(|kill_at| Timestamp::now().duration_since(kill_at) > GIVEN_UP_AFTER)
}

/// Milliseconds since an attempt was over.
fn since_end(attempt: &Attempt) -> u64 {
    let begun: Option<Timestamp> = attempt.started_at.parse().ok();
    let passed = begun.map(|begun| Timestamp::now().duration_since(begun).as_millis());
    let passed = passed.and_then(|passed| u64::try_from(passed).ok()).unwrap_or(0);
    passed.saturating_sub(attempt.duration_ms.unwrap_or(0))
}

/// Gives back what a final run did not cost, once every sandbox of it is paid for. Of an interrupted run all that was reserved
/// is kept: nobody knows what it did. `outcome` is that of a run whose end is written in the same transaction.
pub(super) async fn settle_if_over(
    connection: &mut SqliteConnection,
    run_id: &str,
    outcome: Option<Outcome>,
) -> Result<(), StoreError> {
    let outcome = match outcome {
        Some(outcome) => Some(outcome),
        None => store::state(connection, run_id)
            .await?
            .filter(|(state, _)| *state == RunState::Final)
            .and_then(|(_, outcome)| outcome),
    };
    let Some(outcome) = outcome else { return Ok(()) };
    if outcome == Outcome::Interrupted {
        return Ok(());
    }
    let (is_paid, picodollars) = lease::settled(connection, run_id).await?;
    if is_paid {
        access::settle(connection, run_id, picodollars).await?;
    }
    Ok(())
}
