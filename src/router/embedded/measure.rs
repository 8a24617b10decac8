//! How long a run of one line takes, for `thud local bench`.

use std::time::{Duration, Instant};

use thiserror::Error;

use super::{Embedded, EndedKind, Language, Options, Readiness, StartError};

/// How long the guests may take to be compiled.
const WARM_UP: Duration = Duration::from_mins(10);
/// What no run here needs.
const LIMIT: Duration = Duration::from_secs(10);
/// Between two runs, so that a worker waits again.
const PAUSE: Duration = Duration::from_millis(50);

/// Whether a worker was waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// It was.
    Warm,
    /// It was started for the run.
    Cold,
}

/// Why nothing can be measured.
#[derive(Debug, Error)]
pub enum MeasureError {
    /// The sandbox is not ready.
    #[error("the sandbox is not ready: {0:?}")]
    NotReady(Readiness),
    /// No worker started.
    #[error("a run could not be started")]
    Start(#[from] StartError),
    /// The line did not run to its end.
    #[error("a run ended otherwise than it should: {0:?}")]
    Run(EndedKind),
}

/// Runs `samples` lines of each language, with a waiting worker and without, and tells the time of each from asking for a
/// worker until its process is gone.
pub async fn measure(
    options: &Options,
    samples: usize,
    mut tell: impl FnMut(Language, Start, Duration),
) -> Result<(), MeasureError> {
    for (start, idle_workers) in [(Start::Warm, 1), (Start::Cold, 0)] {
        let sandbox = Embedded::open(Options { idle_workers, ..options.clone() });
        let readiness = sandbox.ready_by(Instant::now() + WARM_UP).await;
        if readiness != Readiness::Ready {
            return Err(MeasureError::NotReady(readiness));
        }
        for language in Language::ALL {
            for _ in 0..samples {
                tokio::time::sleep(PAUSE).await;
                tell(language, start, run(&sandbox, language).await?);
            }
        }
    }
    Ok(())
}

async fn run(sandbox: &Embedded, language: Language) -> Result<Duration, MeasureError> {
    let code = match language {
        Language::Python => "print(1)",
        Language::JavaScript => "console.log(1)",
    };
    let begun = Instant::now();
    let worker = sandbox.start(language, begun + LIMIT).await?;
    // Code that short is never too long.
    let ended = worker.run(code, LIMIT, |_| ()).await;
    match ended.map(|ended| ended.kind) {
        Ok(EndedKind::Exited(0)) | Err(_) => Ok(begun.elapsed()),
        Ok(kind) => Err(MeasureError::Run(kind)),
    }
}
