//! The reaper: destroys every sandbox that is owed a teardown and nobody's business. It takes no input, and doing it twice
//! changes nothing. It runs at the start, on a timer, and when it is nudged.
//!
//! Three sets are reconciled: leases that nobody looks after, sandboxes that carry our tag without an open lease, and
//! leases whose sandbox is gone already.

use std::sync::Weak;

use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use tokio::time::{Duration, Instant, timeout, timeout_at};
use tracing::{info, warn};

use super::adapter::{Adapter, Gone};
use super::lease::{self, Lease};
use super::{Inner, REAP_INTERVAL, end, locked, now};
use crate::runs::store::{self, StoreError};
use crate::runs::{AttemptOutcome, Next, Outcome, Output, Reason};

/// How long one look takes at one provider.
const LOOK_MAX: Duration = Duration::from_mins(1);
/// How many sandboxes of one provider are destroyed at the same time.
const AT_ONCE: usize = 8;

/// What one look found and did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// Sandboxes and leases that nobody looked after.
    pub found: u64,
    /// Of these, destroyed now.
    pub destroyed: u64,
    /// Of these, gone already.
    pub already_gone: u64,
    /// Of these, not destroyed yet.
    pub failed: u64,
}

impl Report {
    fn add(&mut self, other: Self) {
        self.found += other.found;
        self.destroyed += other.destroyed;
        self.already_gone += other.already_gone;
        self.failed += other.failed;
    }

    fn count(&mut self, gone: Option<Gone>) {
        self.found += 1;
        match gone {
            Some(Gone::Destroyed) => self.destroyed += 1,
            Some(Gone::Already | Gone::Unseen) => self.already_gone += 1,
            None => self.failed += 1,
        }
    }
}

/// Whose business the leases are that are not overdue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Care {
    /// This process's: it knows which runs and teardowns are on their way.
    Ours,
    /// Perhaps another process's.
    Others,
}

/// Goes on until the router is gone.
pub async fn keep_reaping(inner: Weak<Inner>) {
    loop {
        let Some(shared) = inner.upgrade() else { return };
        // A task of its own: a panic at one provider must not be the end of all reaping.
        let look = shared.clone();
        match tokio::spawn(async move { look.reap(Care::Ours).await }).await {
            Ok(Ok(Report { found: 0, .. })) => {}
            Ok(Ok(report)) => info!(?report, "the reaper found something"),
            Err(error) => warn!(error = &error as &dyn std::error::Error, "the reaper broke off"),
            Ok(Err(error)) => {
                warn!(error = &error as &dyn std::error::Error, "the reaper could not look");
            }
        }
        if let Err(error) = store::delete_old_output(&shared.pool, &now()).await {
            warn!(error = &error as &dyn std::error::Error, "old output could not be deleted");
        }
        shared.rate.forget_idle();
        let nudged = shared.nudge.notified();
        let _ = timeout(REAP_INTERVAL, nudged).await;
    }
}

fn not_listed(adapter: &dyn Adapter, reason: &str) {
    warn!(provider.slug = adapter.slug(), reason, "sandboxes could not be listed");
}

impl Inner {
    /// One look.
    pub(super) async fn reap(&self, care: Care) -> Result<Report, StoreError> {
        let mut report = Report::default();
        if care == Care::Ours {
            self.end_what_is_left().await?;
        }
        let mut owed = lease::owed(&self.pool).await?;
        owed.retain(|lease| match care {
            Care::Ours => !self.is_in_care(lease),
            Care::Others => lease.kill_at <= now(),
        });
        // One slow provider must not keep the others' sandboxes alive.
        let by_provider = self.adapters.iter().map(|adapter| {
            let own = owed.iter().filter(|lease| lease.provider == adapter.slug());
            self.reap_at(adapter.as_ref(), own.cloned().collect())
        });
        for one in join_all(by_provider).await {
            report.add(one?);
        }
        // A drill is nobody who could be asked in turn.
        let is_asked = |slug: &str| self.adapters.iter().any(|adapter| adapter.slug() == slug);
        let is_known = |lease: &&Lease| is_asked(&lease.provider);
        for lease in owed.iter().filter(|lease| !is_known(lease)) {
            report.count(self.destroy(&mut lease.clone()).await.ok().map(|(gone, _)| gone));
        }
        Ok(report)
    }

    /// What is owed at one provider, and what carries our tag there without a lease. What it does not come to within its time
    /// is left to the next look.
    async fn reap_at(&self, adapter: &dyn Adapter, owed: Vec<Lease>) -> Result<Report, StoreError> {
        let mut report = Report::default();
        let until = Instant::now() + LOOK_MAX;
        let mut destroyed = stream::iter(owed)
            .map(async |mut lease| self.destroy(&mut lease).await.ok().map(|(gone, _)| gone))
            .buffer_unordered(AT_ONCE);
        while let Ok(Some(gone)) = timeout_at(until, destroyed.next()).await {
            report.count(gone);
        }
        drop(destroyed);
        let tagged = match timeout(self.limits.teardown_try, adapter.tagged()).await {
            Ok(Ok(tagged)) => tagged,
            Ok(Err(failure)) => {
                not_listed(adapter, failure.reason.word());
                return Ok(report);
            }
            Err(_) => {
                not_listed(adapter, "no answer in time");
                return Ok(report);
            }
        };
        let mut strays = Vec::new();
        for owed in tagged {
            // An open lease is its run's, or was looked at above.
            if !lease::is_owed(&self.pool, &owed.lease).await? {
                strays.push(owed);
            }
        }
        let mut destroyed = stream::iter(strays)
            .map(async |owed| timeout(self.limits.teardown_try, adapter.destroy(&owed)).await)
            .buffer_unordered(AT_ONCE);
        while let Ok(Some(gone)) = timeout_at(until, destroyed.next()).await {
            report.count(gone.ok().and_then(Result::ok));
        }
        Ok(report)
    }

    /// Whether the run of a lease or its teardown is on its way in this process.
    fn is_in_care(&self, lease: &Lease) -> bool {
        let is_running = self.live(&lease.run_id).is_some_and(|live| !live.is_final());
        is_running || locked(&self.in_care).contains(&lease.id)
    }

    /// Ends the runs that a former process left, or that broke off in this one: interrupted where code may have run, else
    /// unavailable. Their sandboxes are looked at after that.
    pub(super) async fn end_what_is_left(&self) -> Result<(), StoreError> {
        for id in store::under_way(&self.pool).await? {
            if self.live(&id).is_some() {
                continue;
            }
            let Some(mut run) = store::find(&self.pool, &id).await? else { continue };
            // It may have ended between the two looks.
            if run.is_final() {
                continue;
            }
            let mut transaction = self.pool.begin_with("begin immediate").await?;
            let mut outcome = Outcome::Unavailable;
            for attempt in &mut run.attempts {
                if attempt.outcome.is_some() {
                    // Its end was written, that of the run was not.
                    outcome = match attempt.outcome {
                        Some(
                            AttemptOutcome::Completed
                            | AttemptOutcome::TimedOut
                            | AttemptOutcome::Interrupted,
                        ) => Outcome::Interrupted,
                        Some(AttemptOutcome::Cancelled) => Outcome::Cancelled,
                        Some(AttemptOutcome::Unavailable) | None => outcome,
                    };
                    continue;
                }
                let (of_attempt, of_run) = if attempt.code_started {
                    (AttemptOutcome::Interrupted, Outcome::Interrupted)
                } else {
                    (AttemptOutcome::Unavailable, Outcome::Unavailable)
                };
                outcome = of_run;
                attempt.outcome = Some(of_attempt);
                attempt.reason = Some(Reason::LostConnection);
                attempt.next = Some(Next::Final);
                store::end_attempt(&mut transaction, &id, attempt).await?;
            }
            run.provider = run.ran_at();
            end(&mut run, outcome);
            store::end(&mut transaction, &run, &Output::default()).await?;
            super::teardown::settle_if_over(&mut transaction, &id, Some(outcome)).await?;
            transaction.commit().await?;
            info!(outcome = outcome.word(), "ended a run that was left");
        }
        Ok(())
    }
}
