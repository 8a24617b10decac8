//! A run: one request to execute code, the chain of attempts that answered it, and what it cost. Words and records, pure.
//!
//! Not here: how a run is made (`router`) and how it is kept (`runs/store.rs`).

use serde::{Deserialize, Serialize};

use crate::catalog::claim::Tier;
use crate::money::Usd;

pub mod draft;
pub mod events;
pub mod health;
pub mod output;
pub mod pair;
pub mod typed;
pub mod verdict;

#[cfg(feature = "ssr")]
pub mod store;

/// The longest code, bytes.
pub const CODE_BYTES_MAX: usize = 256 * 1024;
/// The wall clock of the code where nothing is said, milliseconds.
pub const TIMEOUT_MS_DEFAULT: u64 = 10_000;
/// The shortest wall clock that can be asked for, milliseconds.
pub const TIMEOUT_MS_MIN: u64 = 100;
/// The longest wall clock that can be asked for, milliseconds.
pub const TIMEOUT_MS_MAX: u64 = 300_000;
/// The longest wall clock of a run without a token, milliseconds.
pub const ANONYMOUS_TIMEOUT_MS_MAX: u64 = 10_000;

words! {
    /// What the code is written in.
    Language {
        /// Python.
        Python = "python", "Python";
        /// JavaScript.
        JavaScript = "javascript", "JavaScript";
        /// A shell script.
        Bash = "bash", "Bash";
    }
}

words! {
    /// What the code may reach.
    Egress {
        /// Nothing.
        None = "none", "none";
        /// The internet.
        Open = "open", "open";
    }
}

words! {
    /// How far a run is.
    RunState {
        /// Accepted, not begun.
        Queued = "queued", "queued";
        /// On its way.
        Running = "running", "running";
        /// Over: its record never changes again.
        Final = "final", "final";
    }
}

words! {
    /// What became of a run.
    Outcome {
        /// The code ended by itself, whatever its exit code.
        Completed = "completed", "completed";
        /// The wall clock ended it. Never run again: a longer limit is not the cure.
        TimedOut = "timed_out", "timed out";
        /// The connection was lost after code may have started: what it did is not known, and it is never run again.
        Interrupted = "interrupted", "interrupted";
        /// Nobody could start it.
        Unavailable = "unavailable", "unavailable";
        /// Nobody may run it as it was asked for.
        Refused = "refused", "refused";
        /// Somebody ended it.
        Cancelled = "cancelled", "cancelled";
    }
}

words! {
    /// What became of an attempt.
    AttemptOutcome {
        /// The code ended by itself.
        Completed = "completed", "completed";
        /// The wall clock ended it.
        TimedOut = "timed_out", "timed out";
        /// Lost after code may have started.
        Interrupted = "interrupted", "interrupted";
        /// The provider failed before any code ran.
        Unavailable = "unavailable", "unavailable";
        /// Somebody ended it.
        Cancelled = "cancelled", "cancelled";
    }
}

words! {
    /// How far an attempt came.
    Stage {
        /// A sandbox was asked for.
        Create = "create", "create";
        /// It was being started.
        Start = "start", "start";
        /// What was asked of it was being checked.
        Confirm = "confirm", "confirm";
        /// The code was sent.
        Run = "run", "run";
        /// The code ended.
        Done = "done", "done";
    }
}

words! {
    /// Why an attempt did not do what it should.
    Reason {
        /// The provider does not accept our key.
        Auth = "auth", "key not accepted";
        /// Our quota there is used up.
        Quota = "quota", "quota used up";
        /// We asked too often.
        RateLimited = "rate_limited", "rate limited";
        /// It has no room.
        Capacity = "capacity", "no capacity";
        /// It refuses what we ask.
        BadRequest = "bad_request", "request refused";
        /// It is broken.
        Outage = "outage", "outage";
        /// No sandbox within its share of time.
        StartTimeout = "start_timeout", "did not start in time";
        /// The connection was lost.
        LostConnection = "lost_connection", "connection lost";
        /// It answered what it should not.
        Protocol = "protocol", "unexpected answer";
        /// It gave a weaker wall than was asked for.
        IsolationNotConfirmed = "isolation_not_confirmed", "isolation not confirmed";
        /// It left a way out that was to be closed.
        EgressNotConfirmed = "egress_not_confirmed", "egress not confirmed";
        /// A fault that was ordered, to see what happens.
        Drill = "drill", "drill";
    }
}

words! {
    /// What followed an attempt.
    Next {
        /// Nothing: it decided the run.
        Final = "final", "final";
        /// Another provider was tried.
        FailedOver = "failed_over", "failed over";
        /// There was nobody left to try.
        NoCandidateLeft = "no_candidate_left", "no candidate left";
        /// Nobody else was to be tried.
        FallbackOff = "fallback_off", "fallback off";
        /// There was no time left.
        Deadline = "deadline", "deadline";
    }
}

words! {
    /// What became of the sandbox of an attempt.
    TeardownState {
        /// There is none.
        NothingCreated = "nothing_created", "nothing created";
        /// It is being destroyed.
        Pending = "pending", "pending";
        /// It is gone.
        Confirmed = "confirmed", "confirmed";
        /// It could not be destroyed yet; the reaper goes on trying.
        Failed = "failed", "failed, being tried again";
    }
}

words! {
    /// Why a provider was not tried.
    Omission {
        /// It is not set up here.
        NotConfigured = "not_configured", "not configured";
        /// The caller may not use it.
        NotPermitted = "not_permitted", "not permitted";
        /// Its wall is weaker than was asked for.
        IsolationBelowFloor = "isolation_below_floor", "isolation below the floor";
        /// It cannot give the egress that was asked for.
        EgressUnavailable = "egress_unavailable", "egress unavailable";
        /// It does not run the language.
        Language = "language", "language not offered";
        /// It would cost more than was allowed.
        OverCostCap = "over_cost_cap", "over the cost cap";
        /// It failed too often just now.
        BreakerOpen = "breaker_open", "left out after failures";
        /// It is not ready yet.
        WarmingUp = "warming_up", "warming up";
        /// Somebody else did it.
        NotNeeded = "not_needed", "not needed";
        /// There was no time left.
        Deadline = "deadline", "deadline";
    }
}

words! {
    /// A fault that is ordered, to see what follows it: a first provider that is not there fails in this way.
    Drill {
        /// It refuses to make a sandbox.
        Refuses = "refuses", "the first refuses";
        /// It never answers.
        Hangs = "hangs", "the first never answers";
        /// It loses the connection after code may have started, though it executes nothing.
        FailsAfterStart = "fails_after_start", "the first fails after the code started";
        /// It says that it was asked too often.
        RateLimits = "rate_limits", "the first says too many requests";
    }
}

words! {
    /// How far something is known of a sandbox.
    Proof {
        /// The platform's answer says so.
        Confirmed = "confirmed", "confirmed by the platform";
        /// It was asked for; the platform does not report it.
        Declared = "declared", "declared";
    }
}

words! {
    /// When output arrives.
    OutputMode {
        /// As it is made.
        Live = "live", "live";
        /// When the code has ended.
        AtEnd = "at_end", "at the end";
    }
}

words! {
    /// Who chose a value.
    Choice {
        /// The caller.
        Asked = "asked", "asked for";
        /// Nobody: it is the default.
        Default = "default", "default";
    }
}

words! {
    /// One of the two outputs.
    Stream {
        /// Standard output.
        Stdout = "stdout", "stdout";
        /// Standard error.
        Stderr = "stderr", "stderr";
    }
}

/// Whether a wall is as strong as a floor demands. WebAssembly is a kind of its own: it satisfies itself and `process`.
pub fn satisfies(tier: Tier, floor: Tier) -> bool {
    match floor {
        Tier::Process => true,
        Tier::Wasm => matches!(tier, Tier::Wasm | Tier::VirtualMachine),
        Tier::Container => matches!(tier, Tier::Container | Tier::VirtualMachine),
        Tier::VirtualMachine => tier == Tier::VirtualMachine,
    }
}

/// An amount at list price and with the router's fee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// What the provider takes.
    pub list_usd: Usd,
    /// The same with the fee: what caps and budgets are compared with.
    pub routed_usd: Usd,
}

impl Cost {
    /// Nothing.
    pub const ZERO: Self = Self { list_usd: Usd::ZERO, routed_usd: Usd::ZERO };

    /// Both together. A sum beyond the exact range stays at the larger part, which no price reaches.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let sum = |one: Usd, two: Usd| one.plus(two).unwrap_or_else(|_| one.max(two));
        Self {
            list_usd: sum(self.list_usd, other.list_usd),
            routed_usd: sum(self.routed_usd, other.routed_usd),
        }
    }
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What the code is written in.
    pub language: Language,
    /// The code, at most [`CODE_BYTES_MAX`].
    pub code: String,
    /// Wall clock of the code, milliseconds.
    pub timeout_ms: u64,
    /// The only providers that may be tried, in order; `None` for all that the caller may use.
    pub providers: Option<Vec<String>>,
    /// Whether another provider may be tried where one fails.
    pub fallback: bool,
    /// The weakest wall that may be used; `None` for the default of the caller.
    pub isolation_at_least: Option<Tier>,
    /// What the code may reach.
    pub egress: Egress,
    /// What the run may cost at most, with the fee.
    pub max_cost_usd: Option<Usd>,
    /// The fault that comes first, where one is ordered.
    pub drill: Option<Drill>,
}

/// The facts of a request that are kept for ever. The code itself is only kept as a hash and a length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// What the code is written in.
    pub language: Language,
    /// SHA-256 of the code, hexadecimal.
    pub code_sha256: String,
    /// Length of the code.
    pub code_bytes: u64,
    /// Wall clock of the code, milliseconds.
    pub timeout_ms: u64,
    /// The only providers that may be tried, in order.
    pub providers: Option<Vec<String>>,
    /// Whether another may be tried where one fails.
    pub fallback: bool,
    /// The weakest wall that may be used.
    pub isolation_at_least: Tier,
    /// Who chose it.
    pub isolation_from: Choice,
    /// What the code may reach.
    pub egress: Egress,
    /// What the run may cost at most, with the fee.
    pub max_cost_usd: Option<Usd>,
    /// The fault that was ordered, where one was.
    pub drill: Option<Drill>,
}

/// What is known of a sandbox's wall or egress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied<T> {
    /// What applied.
    pub value: T,
    /// How far that is known.
    pub evidence: Proof,
}

impl<T> Applied<T> {
    /// What the platform says, which confirms it; where it says nothing, what it was asked for.
    pub fn said_or_asked(said: Option<T>, asked: T) -> Self {
        match said {
            Some(value) => Self { value, evidence: Proof::Confirmed },
            None => Self { value: asked, evidence: Proof::Declared },
        }
    }
}

/// What became of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Teardown {
    /// How far it is.
    pub state: TeardownState,
    /// From the end of the attempt until it was confirmed, milliseconds.
    pub duration_ms: Option<u64>,
}

/// One try at one provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Counts from 1.
    pub number: u32,
    /// The provider's slug.
    pub provider: String,
    /// What became of it; `None` while it is under way.
    pub outcome: Option<AttemptOutcome>,
    /// How far it came.
    pub stage: Stage,
    /// Whether any of the code may have been executed.
    pub code_started: bool,
    /// The status of the answer that decided it, where that was HTTP.
    pub http_status: Option<u16>,
    /// Why it did not do what it should.
    pub reason: Option<Reason>,
    /// What followed.
    pub next: Option<Next>,
    /// The wall that applied.
    pub isolation: Applied<Tier>,
    /// The egress that applied.
    pub egress: Applied<Egress>,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// From its start until the sandbox was there, milliseconds; `None` where it never was.
    pub start_ms: Option<u64>,
    /// From its start to its end without the teardown, milliseconds; `None` while it is under way.
    pub duration_ms: Option<u64>,
    /// From create answered to destroy confirmed; so far, while that is pending.
    pub cost: Cost,
    /// Its sandbox.
    pub teardown: Teardown,
}

/// A provider that was not tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotTried {
    /// Its slug.
    pub provider: String,
    /// Why.
    pub reason: Omission,
}

/// A run and all that is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// 128 random bits, hexadecimal: whoever knows it may read it.
    pub id: String,
    /// How far it is.
    pub state: RunState,
    /// What became of it; `None` until it is final.
    pub outcome: Option<Outcome>,
    /// Why it was refused, in a sentence.
    pub refusal: Option<String>,
    /// What was asked for.
    pub asked: Asked,
    /// Who ran it; `None` where nobody did.
    pub provider: Option<String>,
    /// The exit code of the code; `None` unless it ended by itself.
    pub exit_code: Option<i32>,
    /// When output arrives or arrived.
    pub output_mode: Option<OutputMode>,
    /// How long the code ran, milliseconds.
    pub duration_ms: Option<u64>,
    /// When it was asked for. RFC 3339, UTC, like the others.
    pub requested_at: String,
    /// When an answer is there at the latest; `None` where nothing was tried.
    pub deadline_at: Option<String>,
    /// When it became final.
    pub final_at: Option<String>,
    /// What it can cost at most over the whole chain.
    pub quote: Cost,
    /// Every attempt, in order.
    pub attempts: Vec<Attempt>,
    /// Who was not tried, and why.
    pub not_tried: Vec<NotTried>,
}

impl Run {
    /// What it cost, as far as that is known.
    pub fn cost(&self) -> Cost {
        self.attempts.iter().fold(Cost::ZERO, |sum, attempt| sum.plus(attempt.cost))
    }

    /// Who ran its code, as far as any may have run.
    pub fn ran_at(&self) -> Option<String> {
        let last = self.attempts.last().filter(|attempt| attempt.code_started);
        last.map(|attempt| attempt.provider.clone())
    }

    /// Whether its record will not change any more.
    pub fn is_final(&self) -> bool {
        self.state == RunState::Final
    }
}

/// What the code wrote. Hostile: it is text, and nothing in it is to be believed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// Standard output as far as it was kept.
    pub stdout: String,
    /// Standard error as far as it was kept.
    pub stderr: String,
    /// Bytes of standard output beyond that.
    pub stdout_dropped_bytes: u64,
    /// Bytes of standard error beyond that.
    pub stderr_dropped_bytes: u64,
}

/// A run with what is kept of its output and code, each for its own time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The record.
    pub run: Run,
    /// What it wrote; `None` once that was deleted.
    pub output: Option<Output>,
    /// Its code, for "edit and try again"; `None` once that was deleted.
    pub code: Option<String>,
    /// When output and code are deleted.
    pub kept_until: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_satisfied_by_what_the_contract_names() {
        use Tier::{Container, Process, VirtualMachine, Wasm};
        let check = |floor: Tier, by: &[Tier]| {
            for tier in [Process, Container, VirtualMachine, Wasm] {
                assert_eq!(satisfies(tier, floor), by.contains(&tier), "{tier:?} for {floor:?}");
            }
        };
        check(VirtualMachine, &[VirtualMachine]);
        check(Container, &[Container, VirtualMachine]);
        check(Wasm, &[Wasm, VirtualMachine]);
        check(Process, &[Process, Container, VirtualMachine, Wasm]);
    }
}
