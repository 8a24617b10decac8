//! The JSON types of runs. No envelope: a run is not of the catalog.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::runs::draft::Draft;
use crate::runs::{Applied, Attempt, Cost, NotTried, Omission, Receipt, Run};

/// What is asked for. What is left out takes its default; unknown fields are errors.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// `python`, `javascript` or `bash`.
    pub language: String,
    /// The code, at most 262,144 bytes.
    pub code: String,
    /// Wall clock of the code, 100 to 300,000; 10,000 if left out.
    pub timeout_ms: Option<u64>,
    /// Slugs of the only providers that may be tried, in order; all that the caller may use if left out.
    pub providers: Option<Vec<String>>,
    /// Whether another provider may be tried where one fails before any code ran; true if left out.
    pub fallback: Option<bool>,
    /// `virtual_machine`, `container`, `wasm` or `process`: the weakest wall that may be used. `virtual_machine` if left out
    /// by a token that may use a hosted provider, else `wasm`.
    pub isolation_at_least: Option<String>,
    /// `none` (if left out) or `open`.
    pub egress: Option<String>,
    /// What the run may cost at most, with the router's fee, decimal.
    pub max_cost_usd: Option<String>,
    /// `refuses`, `hangs`, `fails_after_start` or `rate_limits`: a fault to be watched. A first provider that is not there
    /// fails in this way, then those follow who would have run it. Only on a site that was started with drills.
    pub drill: Option<String>,
    /// Tokens only, 1 to 200 characters: the same request under the same key is the same run.
    pub idempotency_key: Option<String>,
}

impl From<&RunRequest> for Draft {
    fn from(request: &RunRequest) -> Self {
        Self {
            language: request.language.clone(),
            code: request.code.clone(),
            timeout_ms: request.timeout_ms,
            providers: request.providers.clone(),
            fallback: request.fallback,
            isolation_at_least: request.isolation_at_least.clone(),
            egress: request.egress.clone(),
            max_cost_usd: request.max_cost_usd.clone(),
            drill: request.drill.clone(),
        }
    }
}

/// An amount at list price and with the router's fee, decimals.
#[derive(Debug, Serialize, ToSchema)]
pub struct CostView {
    /// What the provider takes.
    pub list_usd: String,
    /// The same with the fee.
    pub routed_usd: String,
}

impl From<Cost> for CostView {
    fn from(cost: Cost) -> Self {
        Self { list_usd: cost.list_usd.to_string(), routed_usd: cost.routed_usd.to_string() }
    }
}

/// The floor of isolation.
#[derive(Debug, Serialize, ToSchema)]
pub struct FloorView {
    /// `virtual_machine`, `container`, `wasm` or `process`.
    pub value: &'static str,
    /// `asked` or `default`.
    pub from: &'static str,
}

/// The wall that applied to an attempt.
#[derive(Debug, Serialize, ToSchema)]
pub struct IsolationView {
    /// `virtual_machine`, `container`, `wasm` or `process`.
    pub tier: &'static str,
    /// `confirmed` by the platform's answer, or `declared`: asked for, but not reported.
    pub evidence: &'static str,
}

/// The egress that applied to an attempt.
#[derive(Debug, Serialize, ToSchema)]
pub struct EgressView {
    /// `none` or `open`.
    pub value: &'static str,
    /// `confirmed` or `declared`.
    pub evidence: &'static str,
}

/// What became of the sandbox of an attempt.
#[derive(Debug, Serialize, ToSchema)]
pub struct TeardownView {
    /// `nothing_created`, `pending`, `confirmed` or `failed` (and being tried again).
    pub state: &'static str,
    /// From the end of the attempt until it was certainly gone; null while it is not.
    pub duration_ms: Option<u64>,
}

/// One try at one provider.
#[derive(Debug, Serialize, ToSchema)]
pub struct AttemptView {
    /// The provider's slug.
    pub provider: String,
    /// `completed`, `timed_out`, `interrupted`, `unavailable` or `cancelled`; null while it is under way.
    pub outcome: Option<&'static str>,
    /// `create`, `start`, `confirm`, `run` or `done`: how far it came.
    pub stage: &'static str,
    /// Whether any of the code may have been executed.
    pub code_started: bool,
    /// The status of the provider's answer that decided it, where that was HTTP.
    pub http_status: Option<u16>,
    /// Why it did not do what it should; null where it did.
    pub reason: Option<&'static str>,
    /// `final`, `failed_over`, `no_candidate_left`, `fallback_off` or `deadline`; null while it is under way.
    pub next: Option<&'static str>,
    /// The wall that applied.
    pub isolation: IsolationView,
    /// The egress that applied.
    pub egress: EgressView,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// From its start until the sandbox was there; null where it never was.
    pub start_ms: Option<u64>,
    /// From its start to its end, without the teardown; null while it is under way.
    pub duration_ms: Option<u64>,
    /// From create answered to destroy confirmed.
    pub cost: CostView,
    /// Its sandbox.
    pub teardown: TeardownView,
}

impl From<&Attempt> for AttemptView {
    fn from(attempt: &Attempt) -> Self {
        let Applied { value: tier, evidence } = attempt.isolation;
        Self {
            provider: attempt.provider.clone(),
            outcome: attempt.outcome.map(crate::runs::AttemptOutcome::word),
            stage: attempt.stage.word(),
            code_started: attempt.code_started,
            http_status: attempt.http_status,
            reason: attempt.reason.map(crate::runs::Reason::word),
            next: attempt.next.map(crate::runs::Next::word),
            isolation: IsolationView { tier: tier.word(), evidence: evidence.word() },
            egress: EgressView {
                value: attempt.egress.value.word(),
                evidence: attempt.egress.evidence.word(),
            },
            started_at: attempt.started_at.clone(),
            start_ms: attempt.start_ms,
            duration_ms: attempt.duration_ms,
            cost: attempt.cost.into(),
            teardown: TeardownView {
                state: attempt.teardown.state.word(),
                duration_ms: attempt.teardown.duration_ms,
            },
        }
    }
}

/// A provider that was not tried.
#[derive(Debug, Serialize, ToSchema)]
pub struct NotTriedView {
    /// Its slug.
    pub provider: String,
    /// `not_configured`, `not_permitted`, `isolation_below_floor`, `egress_unavailable`, `language`, `over_cost_cap`,
    /// `breaker_open`, `warming_up`, `not_needed` or `deadline`.
    pub reason: &'static str,
}

impl From<&NotTried> for NotTriedView {
    fn from(one: &NotTried) -> Self {
        Self { provider: one.provider.clone(), reason: Omission::word(one.reason) }
    }
}

/// A run: always with the whole chain, success or not.
#[derive(Serialize, ToSchema)]
pub struct RunView {
    /// Whoever knows it may read the run.
    pub id: String,
    /// `queued`, `running` or `final`.
    pub state: &'static str,
    /// `completed`, `timed_out` (never run again: a longer limit is not the cure), `interrupted` (what it did is not known), `unavailable`,
    /// `refused` or `cancelled`; null until it is final.
    pub outcome: Option<&'static str>,
    /// Why it was refused, in a sentence; null where it was not.
    pub refusal: Option<String>,
    /// What the code is written in.
    pub language: &'static str,
    /// SHA-256 of the code, hexadecimal.
    pub code_sha256: String,
    /// Length of the code.
    pub code_bytes: u64,
    /// Wall clock of the code.
    pub timeout_ms: u64,
    /// The fault that was ordered; null where none was.
    pub drill: Option<&'static str>,
    /// Who ran it; null where nobody did.
    pub provider: Option<String>,
    /// Its exit code; null unless it ended by itself.
    pub exit_code: Option<i32>,
    /// Hostile text; null once it was deleted, and in lists.
    pub stdout: Option<String>,
    /// Hostile text; null once it was deleted, and in lists.
    pub stderr: Option<String>,
    /// What of stdout was beyond the limit.
    pub stdout_dropped_bytes: Option<u64>,
    /// What of stderr was beyond the limit.
    pub stderr_dropped_bytes: Option<u64>,
    /// `live` or `at_end`; null where no code ran.
    pub output_mode: Option<&'static str>,
    /// Always `untrusted`: it comes from code that nobody trusts.
    pub output_trust: &'static str,
    /// How long the code ran.
    pub duration_ms: Option<u64>,
    /// RFC 3339, UTC.
    pub requested_at: String,
    /// When an answer is there at the latest; null where nothing was tried.
    pub deadline_at: Option<String>,
    /// When it became final.
    pub final_at: Option<String>,
    /// When code and output are deleted; null once they are.
    pub kept_until: Option<String>,
    /// What it can cost at most over the whole chain.
    pub quote: CostView,
    /// What it cost.
    pub cost: CostView,
    /// The weakest wall that may be used.
    pub isolation_at_least: FloorView,
    /// `none` or `open`.
    pub egress: &'static str,
    /// Every attempt, in order.
    pub attempts: Vec<AttemptView>,
    /// Who was not tried, and why.
    pub not_tried: Vec<NotTriedView>,
    /// Cancels the run; only in the answer to whoever started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel_secret: Option<String>,
}

impl RunView {
    /// A receipt.
    pub fn new(receipt: &Receipt, cancel_secret: Option<String>) -> Self {
        let Receipt { run, output, kept_until, .. } = receipt;
        let Run { asked, .. } = run;
        Self {
            id: run.id.clone(),
            state: run.state.word(),
            outcome: run.outcome.map(crate::runs::Outcome::word),
            refusal: run.refusal.clone(),
            language: asked.language.word(),
            code_sha256: asked.code_sha256.clone(),
            code_bytes: asked.code_bytes,
            timeout_ms: asked.timeout_ms,
            drill: asked.drill.map(crate::runs::Drill::word),
            provider: run.provider.clone(),
            exit_code: run.exit_code,
            stdout: output.as_ref().map(|output| output.stdout.clone()),
            stderr: output.as_ref().map(|output| output.stderr.clone()),
            stdout_dropped_bytes: output.as_ref().map(|output| output.stdout_dropped_bytes),
            stderr_dropped_bytes: output.as_ref().map(|output| output.stderr_dropped_bytes),
            output_mode: run.output_mode.map(crate::runs::OutputMode::word),
            output_trust: "untrusted",
            duration_ms: run.duration_ms,
            requested_at: run.requested_at.clone(),
            deadline_at: run.deadline_at.clone(),
            final_at: run.final_at.clone(),
            kept_until: kept_until.clone(),
            quote: run.quote.into(),
            cost: run.cost().into(),
            isolation_at_least: FloorView {
                value: asked.isolation_at_least.word(),
                from: asked.isolation_from.word(),
            },
            egress: asked.egress.word(),
            attempts: run.attempts.iter().map(AttemptView::from).collect(),
            not_tried: run.not_tried.iter().map(NotTriedView::from).collect(),
            cancel_secret,
        }
    }
}

/// A page of a token's runs, the newest first.
#[derive(Serialize, ToSchema)]
pub struct RunsView {
    /// The runs.
    pub result: Vec<RunView>,
    /// What to ask for as `cursor` for those before; null where there are none.
    pub next_cursor: Option<String>,
}

/// Some output, as an event tells it.
#[derive(Debug, Serialize, ToSchema)]
pub struct PieceView {
    /// `stdout` or `stderr`.
    pub stream: &'static str,
    /// Hostile text.
    pub text: String,
}
