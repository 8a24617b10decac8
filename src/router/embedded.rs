//! The sandbox `local`: Python and JavaScript interpreters, compiled to WebAssembly, run under Wasmtime, each run in a
//! fresh and locked process of this very program. Nothing has to be installed, and no other machine is asked.
//!
//! Two fixed guests are carried along (`guests/`). At the first start of a version they are compiled, by a child
//! process, into a private folder; until then the sandbox is warming up. A run gets a worker process of its own that
//! has mapped the compiled guest and given up everything else (`lock.rs`), sends it the code, passes its output on and
//! kills it. Some workers may be started beforehand.
//!
//! Invariants, each held by a test: a worker runs one snippet; it knows no environment, file, socket or process; it ends
//! when its server does; what is dropped is counted.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::thread::available_parallelism;

use serde::{Deserialize, Serialize};

use crate::runs::output::OUTPUT_BYTES_MAX;
use crate::runs::{CODE_BYTES_MAX, Stream};

mod engine;
mod frames;
mod guests;
#[cfg(target_os = "linux")]
mod lock;
#[cfg(not(target_os = "linux"))]
#[path = "embedded/no_lock.rs"]
mod lock;
mod locked;
mod measure;
mod outlet;
mod pool;
mod process;
mod worker;

#[cfg(test)]
mod tests;

pub use self::locked::Isolation;
pub use self::measure::{Start, measure};
pub use self::pool::{Embedded, Readiness, StartError};
pub use self::process::{Chunk, CodeTooLarge, Ended, EndedKind, Worker};
/// The child's side of a worker process; see [`Options::worker_program`].
pub use self::worker::main as worker_main;

/// The exit code that a crash is shown as, as shells do for an aborted program.
pub const CRASH_EXIT_CODE: i32 = 134;

/// What a run may use of memory if nothing else is said.
const MEMORY_BYTES_PER_RUN: u64 = 128 * 1024 * 1024;
/// The Python guest needs 27 MiB before it does anything.
const LEAST_MEMORY_BYTES_PER_RUN: u64 = 32 * 1024 * 1024;
/// What all runs may use of memory together if nothing else is said.
const MEMORY_TOTAL_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// How many workers of each language wait for their code if nothing else is said.
const IDLE_WORKERS: usize = 1;

/// A language that the sandbox runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    /// Python 3.14 with most of its standard library.
    Python,
    /// JavaScript (ES2023 and newer) by QuickJS-ng.
    JavaScript,
}

impl Language {
    /// Each there is; what compiles fastest first.
    pub const ALL: [Self; 2] = [Self::JavaScript, Self::Python];
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Python => "Python",
            Self::JavaScript => "JavaScript",
        })
    }
}

/// How the sandbox is set up.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where compiled guests are kept, about 51 MB; made private to this user.
    pub cache_dir: PathBuf,
    /// A folder of guests to run instead of those that the program carries, to try a rebuilt one.
    pub guest_dir: Option<PathBuf>,
    /// The program whose [`worker_main`] is a worker. `/proc/self/exe` is this very program, even where it was replaced
    /// on disk meanwhile.
    pub worker_program: PathBuf,
    /// The arguments by which it becomes one.
    pub worker_arguments: Vec<OsString>,
    /// What one run may use of memory; at least 32 MiB.
    pub memory_bytes_per_run: u64,
    /// What all runs together may use of memory.
    pub memory_total_bytes: u64,
    /// How many runs there are at once, memory permitting; the rest wait.
    pub workers: usize,
    /// How many workers of each language are started before they are needed.
    pub idle_workers: usize,
    /// How much of each output of a run is kept.
    pub output_bytes: u64,
}

impl Options {
    /// The defaults: 128 MiB a run and 2 GiB in all, as many runs as cores, one idle worker of each language, 1 MiB of
    /// each output.
    pub fn new(
        cache_dir: PathBuf,
        worker_program: PathBuf,
        worker_arguments: Vec<OsString>,
    ) -> Self {
        Self {
            cache_dir,
            guest_dir: None,
            worker_program,
            worker_arguments,
            memory_bytes_per_run: MEMORY_BYTES_PER_RUN,
            memory_total_bytes: MEMORY_TOTAL_BYTES,
            workers: available_parallelism().map_or(1, usize::from),
            idle_workers: IDLE_WORKERS,
            output_bytes: OUTPUT_BYTES_MAX as u64,
        }
    }

    /// The memory of one run, never less than a guest needs.
    fn memory_bytes(&self) -> u64 {
        self.memory_bytes_per_run.max(LEAST_MEMORY_BYTES_PER_RUN)
    }

    /// How many runs there may be at once, by cores and by memory; at least one.
    fn places(&self) -> usize {
        let by_memory = self.memory_total_bytes / self.memory_bytes();
        self.workers.min(usize::try_from(by_memory).unwrap_or(usize::MAX)).max(1)
    }
}
