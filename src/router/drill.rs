//! Drills: a first provider that is not there fails as it was ordered to, so that anybody can watch what follows. It asks
//! nobody for anything, executes nothing and costs nothing, and no figure about providers counts it.
//!
//! Not here: whether drills are on ([`super::Limits::drills`]), and what follows a failure (`plan.rs`).

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use super::adapter::{
    Adapter, Created, Ended, Failure, Gone, KillFrom, Order, Owed, Sandbox, Snippet, Terms, Watch,
};
use super::breaker;
use super::plan::{Candidate, Selection, Wish};
use crate::catalog::claim::Tier;
use crate::runs::{
    Applied, Cost, Drill, Egress, Language, NotTried, Omission, OutputMode, Proof, Reason,
    TIMEOUT_MS_MAX,
};

/// What a drill is called. No vendor is named.
pub const SLUG: &str = "drill";
/// What somebody reads who orders one where they are off.
pub const OFF: &str = "drills are off here: a site that is started with THUD_DRILLS=1 has them";
/// Its share of a run's time to start in: so long it hangs.
const START_SLICE: Duration = Duration::from_secs(2);

/// One adapter a drill.
pub fn adapters() -> [(Drill, Arc<dyn Adapter>); Drill::ALL.len()] {
    Drill::ALL.map(|drill| -> (Drill, Arc<dyn Adapter>) { (drill, Arc::new(Drilled(drill))) })
}

/// Puts a drill before those who would be tried; where there are none, there is nothing to be watched. Who cannot follow it is
/// left out now, so that nothing is held for him.
pub fn lead(selection: &mut Selection, drill: Drill, wish: &Wish) {
    if selection.candidates.is_empty() {
        return;
    }
    if drill == Drill::FailsAfterStart || !wish.fallback {
        let reason = Omission::NotNeeded;
        let left_out = selection.candidates.drain(..);
        let left_out = left_out.map(|one| NotTried { provider: one.provider, reason });
        selection.not_tried.splice(..0, left_out);
    }
    let first = Candidate {
        provider: SLUG.to_owned(),
        languages: vec![wish.language],
        // It would give whatever is asked for.
        tier: wish.isolation_at_least,
        egress: vec![wish.egress],
        timeout_max: wish.timeout,
        start_slice: START_SLICE,
        quote: Cost::ZERO,
        configured: true,
        permitted: true,
        warming_up: false,
        breaker: breaker::State::Closed,
        position: 0,
    };
    selection.candidates.insert(0, first);
}

/// A provider that is not there.
struct Drilled(Drill);

#[async_trait]
impl Adapter for Drilled {
    fn slug(&self) -> &'static str {
        SLUG
    }

    fn terms(&self) -> Terms {
        Terms {
            languages: Language::ALL.to_vec(),
            tier: Tier::VirtualMachine,
            egress: Egress::ALL.to_vec(),
            output_mode: OutputMode::Live,
            start_slice: START_SLICE,
            timeout_max: Duration::from_millis(TIMEOUT_MS_MAX),
            answer_grace: Duration::ZERO,
            kill_step: Duration::from_millis(1),
            kill_from: KillFrom::Asked,
            shape: None,
            variant: None,
        }
    }

    async fn create(&self, order: &Order) -> Result<Created, Failure> {
        let refused = |status| {
            let failure = Failure::leaving_nothing(Reason::Drill);
            Err(Failure { http_status: Some(status), ..failure })
        };
        match self.0 {
            Drill::Refuses => refused(503),
            Drill::RateLimits => refused(429),
            // The router gives up on it, as on anybody.
            Drill::Hangs => std::future::pending().await,
            Drill::FailsAfterStart => Ok(Created {
                handle: order.lease.clone(),
                answered: Timestamp::now(),
                isolation: Applied { value: order.isolation_at_least, evidence: Proof::Declared },
                egress: Applied { value: order.egress, evidence: Proof::Declared },
                shape: None,
                sandbox: Box::new(Nothing),
            }),
        }
    }

    async fn destroy(&self, _: &Owed) -> Result<Gone, Failure> {
        Ok(Gone::Already)
    }

    async fn tagged(&self) -> Result<Vec<Owed>, Failure> {
        Ok(Vec::new())
    }
}

/// A sandbox that is not there either.
struct Nothing;

#[async_trait]
impl Sandbox for Nothing {
    async fn run(&mut self, _: &Snippet<'_>, watch: &dyn Watch) -> Ended {
        // Said as it would be said of code that runs. None of it does, whatever the answer.
        let _ = watch.code_starts().await;
        Ended::Lost(Failure::leaving_nothing(Reason::Drill))
    }
}
