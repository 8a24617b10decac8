//! What a run does next: pure. Given who may be tried, what was tried, and the time, either an attempt or the end.
//!
//! Not here: how an attempt is made (`router.rs`), and whether a sandbox may be lost (`lease.rs`).

use std::time::Duration;

use crate::catalog::claim::Tier;
use crate::money::Usd;
use crate::runs::{
    AttemptOutcome, Cost, Egress, Language, Next, NotTried, Omission, Outcome, satisfies,
};

use super::breaker;

/// What is kept back of a run's time for the teardown of its last sandbox.
pub const TEARDOWN_RESERVE: Duration = Duration::from_secs(5);

/// A provider that could be tried, as it is when the run begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its slug.
    pub provider: String,
    /// Languages that it runs.
    pub languages: Vec<Language>,
    /// The wall that its sandboxes have.
    pub tier: Tier,
    /// The egress that it can give.
    pub egress: Vec<Egress>,
    /// Its longest wall clock.
    pub timeout_max: Duration,
    /// Its share of the time to start in.
    pub start_slice: Duration,
    /// What a sandbox of it can cost until the platform itself has killed it.
    pub quote: Cost,
    /// Whether it is set up.
    pub configured: bool,
    /// Whether the caller may use it.
    pub permitted: bool,
    /// Whether it is not ready yet.
    pub warming_up: bool,
    /// Its circuit breaker.
    pub breaker: breaker::State,
    /// Its fixed place in the catalog.
    pub position: u32,
}

/// What bounds a choice of candidates.
#[derive(Debug, Clone)]
pub struct Wish {
    /// What the code is written in.
    pub language: Language,
    /// The weakest wall.
    pub isolation_at_least: Tier,
    /// What the code may reach.
    pub egress: Egress,
    /// Wall clock of the code.
    pub timeout: Duration,
    /// The only ones that may be tried, in order.
    pub providers: Option<Vec<String>>,
    /// Whether a second one may be tried.
    pub fallback: bool,
    /// What all of them together may cost at most, with the fee.
    pub max_cost_usd: Option<Usd>,
}

/// Who will be tried, in order, and who will not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// In the order in which they are tried.
    pub candidates: Vec<Candidate>,
    /// The others, in the order of the catalog or of the request.
    pub not_tried: Vec<NotTried>,
}

impl Candidate {
    /// Why nobody can use it now, whatever is asked for; `None` where it is ready.
    pub fn hindrance(&self) -> Option<Omission> {
        if !self.configured {
            Some(Omission::NotConfigured)
        } else if self.breaker == breaker::State::Open {
            Some(Omission::BreakerOpen)
        } else {
            self.warming_up.then_some(Omission::WarmingUp)
        }
    }
}

impl Selection {
    /// What the run can cost at most: every sandbox of the chain until the platforms kill it.
    pub fn quote(&self) -> Cost {
        self.candidates.iter().fold(Cost::ZERO, |sum, one| sum.plus(one.quote))
    }

    /// How long the run takes at most: every share to start in, the code, and the teardown.
    pub fn time_max(&self, timeout: Duration) -> Duration {
        let starts: Duration = self.candidates.iter().map(|one| one.start_slice).sum();
        starts + timeout + TEARDOWN_RESERVE
    }
}

/// Chooses who is tried, in which order. A list in the request is an allow-list in its own order; without one it is breaker
/// state, then price, then position. Where all of them together cost too much, the last ones are left out.
pub fn select(wish: &Wish, all: Vec<Candidate>) -> Selection {
    let mut ordered = all;
    if let Some(named) = &wish.providers {
        let place = |one: &Candidate| named.iter().position(|name| *name == one.provider);
        ordered.retain(|one| place(one).is_some());
        ordered.sort_by_key(place);
    } else {
        ordered.sort_by_key(|one| (one.breaker, one.quote.routed_usd, one.position));
    }
    let mut selection = Selection { candidates: Vec::new(), not_tried: Vec::new() };
    for one in ordered {
        let cost = selection.quote().plus(one.quote).routed_usd;
        let reason = unfit(wish, &one).or_else(|| {
            if !wish.fallback && !selection.candidates.is_empty() {
                return Some(Omission::NotNeeded);
            }
            let is_over = wish.max_cost_usd.is_some_and(|most| cost > most);
            is_over.then_some(Omission::OverCostCap)
        });
        match reason {
            None => selection.candidates.push(one),
            Some(reason) => {
                selection.not_tried.push(NotTried { provider: one.provider, reason });
            }
        }
    }
    // Nobody waits for one that warms up while another is ready.
    if selection.candidates.iter().any(|one| !one.warming_up) {
        let (ready, warming): (Vec<_>, Vec<_>) =
            selection.candidates.into_iter().partition(|one| !one.warming_up);
        selection.candidates = ready;
        let reason = Omission::WarmingUp;
        selection
            .not_tried
            .extend(warming.into_iter().map(|one| NotTried { provider: one.provider, reason }));
    }
    selection
}

/// Why a provider is not for a run, whatever it costs.
fn unfit(wish: &Wish, one: &Candidate) -> Option<Omission> {
    if !one.configured {
        Some(Omission::NotConfigured)
    } else if !one.permitted {
        Some(Omission::NotPermitted)
    } else if !satisfies(one.tier, wish.isolation_at_least) {
        Some(Omission::IsolationBelowFloor)
    } else if !one.egress.contains(&wish.egress) {
        Some(Omission::EgressUnavailable)
    } else if !one.languages.contains(&wish.language) {
        Some(Omission::Language)
    } else if one.timeout_max < wish.timeout {
        Some(Omission::Deadline)
    } else if one.breaker == breaker::State::Open {
        Some(Omission::BreakerOpen)
    } else {
        None
    }
}

/// An attempt that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tried {
    /// What became of it.
    pub outcome: AttemptOutcome,
    /// Whether any of the code may have been executed.
    pub code_started: bool,
}

/// What a run does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Tries a candidate.
    Try {
        /// Its place in the selection.
        candidate: usize,
        /// How long it has to start, from now.
        start_within: Duration,
    },
    /// Ends.
    End {
        /// With which outcome.
        outcome: Outcome,
        /// What is said of the last attempt.
        next: Next,
    },
}

/// The next action. Candidate `n` is tried as attempt `n`: nobody twice. `left` is the time until the deadline of the
/// whole run.
pub fn next(
    selection: &Selection,
    timeout: Duration,
    fallback: bool,
    tried: &[Tried],
    left: Duration,
) -> Action {
    if let Some(last) = tried.last() {
        let decided = match last.outcome {
            AttemptOutcome::Completed => Some(Outcome::Completed),
            AttemptOutcome::TimedOut => Some(Outcome::TimedOut),
            AttemptOutcome::Interrupted => Some(Outcome::Interrupted),
            AttemptOutcome::Cancelled => Some(Outcome::Cancelled),
            // Whatever an adapter calls it: what may have run is never run again.
            AttemptOutcome::Unavailable if last.code_started => Some(Outcome::Interrupted),
            AttemptOutcome::Unavailable => None,
        };
        if let Some(outcome) = decided {
            return Action::End { outcome, next: Next::Final };
        }
    }
    let unavailable = |next| Action::End { outcome: Outcome::Unavailable, next };
    if !fallback && !tried.is_empty() {
        return unavailable(Next::FallbackOff);
    }
    let Some(candidate) = selection.candidates.get(tried.len()) else {
        return unavailable(Next::NoCandidateLeft);
    };
    // Time that others have left over is not given away: a candidate has its own share, whatever went before.
    let for_start = left.saturating_sub(timeout + TEARDOWN_RESERVE);
    if for_start.is_zero() {
        return unavailable(Next::Deadline);
    }
    Action::Try { candidate: tried.len(), start_within: candidate.start_slice.min(for_start) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select as one_of;

    use super::*;

    const TIERS: [Tier; 4] = [Tier::Process, Tier::Container, Tier::VirtualMachine, Tier::Wasm];

    fn candidates() -> impl Strategy<Value = Vec<Candidate>> {
        let one = (
            one_of(Language::ALL.to_vec()),
            one_of(TIERS.to_vec()),
            any::<(bool, bool, bool, bool)>(),
            1u64..40_000,
            0u64..1_000,
            one_of(vec![breaker::State::Closed, breaker::State::Trial, breaker::State::Open]),
        );
        let made = one.prop_map(
            |(language, tier, (open, configured, permitted, warming_up), slice, usd, breaker)| {
                let egress =
                    if open { vec![Egress::None, Egress::Open] } else { vec![Egress::None] };
                let usd = Usd::from(usd);
                Candidate {
                    provider: String::new(),
                    languages: vec![language],
                    tier,
                    egress,
                    timeout_max: Duration::from_mins(5),
                    start_slice: Duration::from_millis(slice),
                    quote: Cost { list_usd: usd, routed_usd: usd },
                    configured,
                    permitted,
                    warming_up,
                    breaker,
                    position: 0,
                }
            },
        );
        proptest::collection::vec(made, 0..6).prop_map(|mut all| {
            for (place, one) in all.iter_mut().enumerate() {
                one.provider = format!("p{place}");
                one.position = u32::try_from(place).unwrap();
            }
            all
        })
    }

    fn wishes() -> impl Strategy<Value = Wish> {
        (
            one_of(Language::ALL.to_vec()),
            one_of(TIERS.to_vec()),
            one_of(Egress::ALL.to_vec()),
            100u64..300_000,
            proptest::option::of(proptest::collection::vec(0usize..6, 1..4)),
            any::<bool>(),
            proptest::option::of(0u64..2_000),
        )
            .prop_map(|(language, floor, egress, timeout, named, fallback, most)| Wish {
                language,
                isolation_at_least: floor,
                egress,
                timeout: Duration::from_millis(timeout),
                providers: named
                    .map(|named| named.into_iter().map(|place| format!("p{place}")).collect()),
                fallback,
                max_cost_usd: most.map(Usd::from),
            })
    }

    proptest! {
        #[test]
        fn nobody_is_chosen_below_what_was_asked(wish in wishes(), all in candidates()) {
            let selection = select(&wish, all.clone());
            for one in &selection.candidates {
                prop_assert!(satisfies(one.tier, wish.isolation_at_least));
                prop_assert!(one.egress.contains(&wish.egress));
                prop_assert!(one.languages.contains(&wish.language));
                prop_assert!(one.configured && one.permitted);
                prop_assert!(one.breaker != breaker::State::Open);
                if let Some(named) = &wish.providers {
                    prop_assert!(named.contains(&one.provider));
                }
            }
            if let Some(most) = wish.max_cost_usd {
                prop_assert!(selection.quote().routed_usd <= most);
            }
            if !wish.fallback {
                prop_assert!(selection.candidates.len() <= 1);
            }
            // Everybody who was eligible by name is told of, once.
            let eligible = match &wish.providers {
                Some(named) => all.iter().filter(|one| named.contains(&one.provider)).count(),
                None => all.len(),
            };
            prop_assert_eq!(selection.candidates.len() + selection.not_tried.len(), eligible);
        }

        #[test]
        fn a_run_keeps_its_deadline_and_never_runs_code_twice(
            wish in wishes(),
            all in candidates(),
            outcomes in proptest::collection::vec(
                (one_of(AttemptOutcome::ALL.to_vec()), any::<bool>(), 0u32..=1_000), 12),
        ) {
            let selection = select(&wish, all);
            let time_max = selection.time_max(wish.timeout);
            let mut passed = Duration::ZERO;
            let mut tried: Vec<Tried> = Vec::new();
            let mut had_code = false;
            loop {
                let left = time_max.saturating_sub(passed);
                let action = next(&selection, wish.timeout, wish.fallback, &tried, left);
                let Action::Try { candidate, start_within } = action else { break };
                prop_assert!(!had_code, "code that may have run is run again");
                prop_assert_eq!(candidate, tried.len(), "somebody is tried twice");
                let slice = selection.candidates[candidate].start_slice;
                // However long those before took of their own share, this one has all of its.
                prop_assert_eq!(start_within, slice);
                let (outcome, code_started, part) = outcomes[tried.len()];
                passed += start_within * part / 1_000;
                if code_started || outcome != AttemptOutcome::Unavailable {
                    passed += wish.timeout;
                }
                prop_assert!(passed + TEARDOWN_RESERVE <= time_max, "past the deadline");
                had_code |= code_started || outcome != AttemptOutcome::Unavailable;
                tried.push(Tried { outcome, code_started });
                prop_assert!(tried.len() <= selection.candidates.len());
            }
        }
    }

    #[test]
    fn an_order_is_breaker_then_price_then_position() {
        let one = |provider: &str, breaker, usd: u64, position| Candidate {
            provider: provider.to_owned(),
            languages: vec![Language::Python],
            tier: Tier::VirtualMachine,
            egress: vec![Egress::None],
            timeout_max: Duration::from_mins(5),
            start_slice: Duration::from_secs(1),
            quote: Cost { list_usd: Usd::from(usd), routed_usd: Usd::from(usd) },
            configured: true,
            permitted: true,
            warming_up: false,
            breaker,
            position,
        };
        let wish = Wish {
            language: Language::Python,
            isolation_at_least: Tier::Process,
            egress: Egress::None,
            timeout: Duration::from_secs(1),
            providers: None,
            fallback: true,
            max_cost_usd: None,
        };
        let all = vec![
            one("a", breaker::State::Trial, 1, 1),
            one("b", breaker::State::Closed, 3, 3),
            one("c", breaker::State::Closed, 3, 2),
            one("d", breaker::State::Closed, 2, 4),
        ];
        let order = |selection: &Selection| -> Vec<String> {
            selection.candidates.iter().map(|one| one.provider.clone()).collect()
        };
        assert_eq!(order(&select(&wish, all.clone())), ["d", "c", "b", "a"]);
        let named = Wish { providers: Some(vec!["b".into(), "a".into()]), ..wish.clone() };
        assert_eq!(order(&select(&named, all.clone())), ["b", "a"]);
        let capped = Wish { max_cost_usd: Some(Usd::from(5)), ..wish };
        let selection = select(&capped, all);
        assert_eq!(order(&selection), ["d", "c"]);
        let left_out: Vec<_> = selection.not_tried.iter().map(|one| one.reason).collect();
        assert_eq!(left_out, [Omission::OverCostCap, Omission::OverCostCap]);
    }
}
