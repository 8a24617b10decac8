//! How a sandbox is destroyed and paid for, however its run ended.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use sqlx::SqliteConnection;
use tokio::time::{sleep, timeout};
use tracing::warn;

use super::adapter::{Gone, Owed};
use super::lease::{self, Lease};
use super::live::Live;
use super::{Inner, checkpoint, day, locked, stamp};
use crate::access;
use crate::runs::store::{self, StoreError};
use crate::runs::{Cost, Outcome, RunState, TeardownState};

/// How often a run itself tries to destroy its sandbox before it leaves it to the reaper.
const TRIES: u32 = 3;
/// How long one try may take.
const TRY_LIMIT: Duration = Duration::from_secs(15);
/// How long it waits before the second try; twice as long before every other.
const PAUSE: Duration = Duration::from_millis(500);

impl Inner {
    /// Destroys the sandbox of a lease beside whatever goes on.
    pub(super) fn tear_down(self: &Arc<Self>, live: &Arc<Live>, lease: Lease) {
        let (inner, live) = (self.clone(), live.clone());
        locked(&self.in_care).insert(lease.id.clone());
        tokio::spawn(async move {
            let mut pause = PAUSE;
            for number in 1..=TRIES {
                let gone = inner.destroy(&lease).await.is_ok();
                let cost = inner.cost(&lease, Timestamp::now());
                live.change_attempt(lease.attempt, |attempt| {
                    attempt.cost = cost;
                    attempt.teardown.duration_ms = gone.then(|| since(lease_end(attempt, &lease)));
                    attempt.teardown.state =
                        if gone { TeardownState::Confirmed } else { TeardownState::Failed };
                });
                if gone {
                    break;
                }
                if number < TRIES {
                    sleep(pause).await;
                    pause *= 2;
                }
            }
            locked(&inner.in_care).remove(&lease.id);
            // What is still owed is the reaper's.
            inner.nudge.notify_one();
        });
    }

    /// Destroys the sandbox of a lease once, and pays the lease if it is gone.
    pub(super) async fn destroy(&self, lease: &Lease) -> Result<Gone, StoreError> {
        let failed = |text: &str| StoreError::Unreadable(text.to_owned());
        let Some(adapter) = self.adapter(&lease.provider) else {
            lease::fail(&self.pool, &lease.id).await?;
            return Err(failed("its provider is not configured any more"));
        };
        let owed = Owed { lease: lease.id.clone(), handle: lease.handle.clone() };
        match timeout(TRY_LIMIT, adapter.destroy(&owed)).await {
            Ok(Ok(gone)) => {
                checkpoint::reached("destroyed").await;
                self.pay(lease).await?;
                checkpoint::reached("cleared").await;
                Ok(gone)
            }
            other => {
                let reason = other.ok().and_then(Result::err).map(|failure| failure.reason.word());
                warn!(
                    provider.slug = lease.provider,
                    lease.id = lease.id,
                    reason = reason.unwrap_or("no answer in time"),
                    "a sandbox could not be destroyed"
                );
                lease::fail(&self.pool, &lease.id).await?;
                Err(failed("the sandbox could not be destroyed"))
            }
        }
    }

    async fn pay(&self, lease: &Lease) -> Result<(), StoreError> {
        let at = Timestamp::now();
        let mut transaction = self.pool.begin_with("begin immediate").await?;
        lease::pay(&mut transaction, &lease.id, &stamp(at), self.cost(lease, at)).await?;
        settle_if_over(&mut transaction, &lease.run_id, None).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// What a sandbox costs that is gone at an instant: from create answered on, and never longer than the platform lets
    /// it live.
    pub(super) fn cost(&self, lease: &Lease, gone: Timestamp) -> Cost {
        let read = |text: &str| text.parse::<Timestamp>().ok();
        let Some(answered) = lease.answered_at.as_deref().and_then(read) else {
            return Cost::ZERO;
        };
        let gone = read(&lease.kill_at).map_or(gone, |kill| kill.min(gone));
        let lifetime = Duration::try_from(gone.duration_since(answered)).unwrap_or_default();
        let adapter = self.adapter(&lease.provider);
        let variant = adapter.and_then(|adapter| adapter.terms().variant);
        if lease.shape.vcpu.is_zero() {
            return Cost::ZERO;
        }
        self.prices
            .cost(&lease.provider, variant, lease.shape, lifetime, day(answered))
            .unwrap_or(Cost::ZERO)
    }
}

fn lease_end<'a>(attempt: &'a crate::runs::Attempt, lease: &'a Lease) -> (&'a str, u64) {
    (
        attempt.started_at.as_str(),
        attempt.duration_ms.unwrap_or_else(|| since((&lease.created_at, 0))),
    )
}

/// Milliseconds since an instant and some more.
fn since((start, more): (&str, u64)) -> u64 {
    let begun: Option<Timestamp> = start.parse().ok();
    let passed = begun.map(|begun| Timestamp::now().duration_since(begun).as_millis());
    passed.and_then(|passed| u64::try_from(passed).ok()).unwrap_or(0).saturating_sub(more)
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
