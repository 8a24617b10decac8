//! Who executes the code that a stand-in is given. A stand-in itself starts no process.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc::UnboundedSender;

use super::shell;
use crate::runs::{Language, Stream};

mod cell;
mod echo;
mod embedded;

pub use self::echo::Echo;
pub use self::embedded::EmbeddedRunner;

/// How much of each output of a run there is at most; what is beyond is dropped. Also the limit of what waits to be sent.
pub const OUTPUT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How long code runs where the provider has no limit.
pub const RUN_MAX: Duration = Duration::from_hours(1);

/// Executes code.
#[async_trait]
pub trait Runner: Send + Sync + 'static {
    /// Runs Python or JavaScript to its end. Dropping the future ends the code.
    async fn run(&self, code: &Code, output: &Outlet) -> Finished;
}

/// What is to be executed.
#[derive(Debug, Clone)]
pub struct Code {
    /// What it is written in.
    pub language: Language,
    /// The code.
    pub text: String,
    /// How it is executed.
    pub mode: Mode,
    /// Its environment; JavaScript does not see it.
    pub environment: BTreeMap<String, String>,
    /// Its wall clock.
    pub timeout: Duration,
}

/// How code is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// As a program: an error is text on standard error, and there is an exit code.
    Program,
    /// As a notebook does: an error and the value of the last expression are told apart from the output.
    Cell,
}

impl Code {
    /// A program.
    pub const fn program(language: Language, text: String, timeout: Duration) -> Self {
        Self { language, text, mode: Mode::Program, environment: BTreeMap::new(), timeout }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// By what.
    pub end: End,
    /// The error that a cell ended with.
    pub raised: Option<Raised>,
    /// The value of a cell's last expression, as text.
    pub value: Option<String>,
}

/// What ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Itself, with this exit code.
    Exited(i32),
    /// Its wall clock.
    TimedOut,
    /// Its process died.
    Died,
}

impl From<End> for Finished {
    fn from(end: End) -> Self {
        Self { end, raised: None, value: None }
    }
}

/// An error that code raised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raised {
    /// Its type.
    pub name: String,
    /// What it says.
    pub value: String,
    /// Where it happened, over several lines.
    pub traceback: String,
}

/// Where output goes, piece by piece. Nobody has to read it.
#[derive(Debug, Clone)]
pub struct Outlet(UnboundedSender<Piece>);

/// Some output as it came.
pub type Piece = (Stream, Vec<u8>);

impl Outlet {
    /// An outlet into a queue, which holds [`OUTPUT_BYTES_MAX`] of each output at most.
    pub const fn new(sender: UnboundedSender<Piece>) -> Self {
        Self(sender)
    }

    /// Hands output on.
    pub fn write(&self, stream: Stream, bytes: &[u8]) {
        if !bytes.is_empty() {
            // Whoever has stopped reading does not want it.
            let _ = self.0.send((stream, bytes.to_vec()));
        }
    }
}

/// Runs code of any language: Bash by the little shell, the rest by the runner.
pub async fn run(runner: &Arc<dyn Runner>, code: &Code, output: &Outlet) -> Finished {
    if code.language != Language::Bash {
        return runner.run(code, output).await;
    }
    let shell = shell::run(runner, code, output);
    match tokio::time::timeout(code.timeout, shell).await {
        Ok(end) => end.into(),
        Err(_) => End::TimedOut.into(),
    }
}

/// Runs code and gathers its output, as pieces in the order in which they came.
pub async fn run_whole(runner: &Arc<dyn Runner>, code: &Code) -> (Finished, Vec<Piece>) {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let finished = run(runner, code, &Outlet::new(sender)).await;
    let mut pieces = Vec::new();
    while let Ok(piece) = receiver.try_recv() {
        pieces.push(piece);
    }
    (finished, pieces)
}
