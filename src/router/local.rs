//! The provider `local`: the embedded sandbox behind the adapters' contract.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use jiff::Timestamp;

use super::adapter::{
    Adapter, Created, Ended, Failure, Gone, KillFrom, Order, Owed, Readiness, Sandbox, Snippet,
    Terms, Watch,
};
use super::embedded::{self, Chunk, Embedded, EndedKind, StartError, Worker};
use super::start::OPEN_TO_ALL;
use crate::catalog::claim::Tier;
use crate::runs::{Applied, Egress, Language, OutputMode, Proof, Reason, Stream};

/// Its share of a run's time to start in.
const START_SLICE: Duration = Duration::from_secs(5);
/// The longest wall clock.
const TIMEOUT_MAX: Duration = Duration::from_mins(5);

/// MiB in bytes.
const MIB: u64 = 1024 * 1024;

/// The embedded sandbox as a provider.
pub struct Local(Embedded);

impl Local {
    /// The adapter of a sandbox.
    pub const fn new(embedded: Embedded) -> Self {
        Self(embedded)
    }
}

fn embedded_language(language: Language) -> Option<embedded::Language> {
    match language {
        Language::Python => Some(embedded::Language::Python),
        Language::JavaScript => Some(embedded::Language::JavaScript),
        Language::Bash => None,
    }
}

#[async_trait]
impl Adapter for Local {
    fn slug(&self) -> &'static str {
        OPEN_TO_ALL
    }

    fn terms(&self) -> Terms {
        Terms {
            languages: vec![Language::Python, Language::JavaScript],
            tier: Tier::Wasm,
            egress: vec![Egress::None],
            output_mode: OutputMode::Live,
            start_slice: START_SLICE,
            timeout_max: TIMEOUT_MAX,
            answer_grace: Duration::from_secs(1),
            kill_step: Duration::from_millis(1),
            kill_from: KillFrom::Started,
            shape: None,
            variant: None,
        }
    }

    fn about(&self) -> Option<String> {
        // Before the first worker has told what this system can lock, nothing is claimed.
        let isolation = self.0.isolation()?;
        let memory = self.0.memory_bytes_per_run() / MIB;
        Some(format!("{} A run may use {memory} MiB of memory.", isolation.text()))
    }

    fn readiness(&self) -> Readiness {
        match self.0.readiness() {
            embedded::Readiness::Ready => Readiness::Ready,
            embedded::Readiness::WarmingUp => Readiness::WarmingUp,
            embedded::Readiness::Failed(_) => Readiness::NotConfigured,
        }
    }

    async fn ready_by(&self, deadline: Instant) -> Readiness {
        self.0.ready_by(deadline).await;
        self.readiness()
    }

    async fn create(&self, order: &Order) -> Result<Created, Failure> {
        let language = embedded_language(order.language)
            .ok_or_else(|| Failure::leaving_nothing(Reason::BadRequest))?;
        let started = self.0.start(language, order.start_by).await;
        let worker = started.map_err(|error| {
            let reason = match error {
                StartError::WarmingUp => Reason::StartTimeout,
                StartError::Busy => Reason::Capacity,
                StartError::Broken(_) => Reason::Outage,
            };
            Failure::leaving_nothing(reason).because(error)
        })?;
        Ok(Created {
            handle: order.lease.clone(),
            answered: Timestamp::now(),
            // It is our own process: we know.
            isolation: Applied { value: Tier::Wasm, evidence: Proof::Confirmed },
            egress: Applied { value: Egress::None, evidence: Proof::Confirmed },
            shape: None,
            sandbox: Box::new(Process { worker: Some(worker) }),
        })
    }

    async fn destroy(&self, _: &Owed) -> Result<Gone, Failure> {
        // A worker ends when whoever holds it drops it, and by itself when its server is gone.
        Ok(Gone::Destroyed)
    }

    async fn tagged(&self) -> Result<Vec<Owed>, Failure> {
        Ok(Vec::new())
    }
}

/// A worker process for one run.
struct Process {
    worker: Option<Worker>,
}

#[async_trait]
impl Sandbox for Process {
    async fn run(&mut self, code: &Snippet<'_>, watch: &dyn Watch) -> Ended {
        let Some(worker) = self.worker.take() else {
            return Ended::Lost(Failure::leaving_nothing(Reason::Protocol));
        };
        if watch.code_starts().await.is_err() {
            return Ended::Lost(Failure::leaving_nothing(Reason::Outage));
        }
        let forward = |piece: Chunk| watch.output(piece.stream, &piece.bytes);
        let ended = match worker.run(code.code, code.timeout, forward).await {
            Ok(ended) => ended,
            Err(error) => {
                return Ended::Lost(Failure::leaving_nothing(Reason::BadRequest).because(error));
            }
        };
        watch.dropped(Stream::Stdout, ended.stdout_dropped_bytes);
        watch.dropped(Stream::Stderr, ended.stderr_dropped_bytes);
        let duration = ended.duration;
        match ended.kind {
            EndedKind::Exited(exit_code) => Ended::Exited { exit_code, duration },
            EndedKind::TimedOut => Ended::TimedOut { duration },
            EndedKind::Crashed(text) => {
                watch.output(Stream::Stderr, format!("{text}\n").as_bytes());
                Ended::Exited { exit_code: embedded::CRASH_EXIT_CODE, duration }
            }
            EndedKind::Lost => Ended::Lost(Failure::leaving_perhaps(Reason::LostConnection)),
        }
    }
}
