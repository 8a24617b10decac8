//! Runs by real worker processes, over one sandbox that all tests share. The test program is its own worker.
//!
//! `THUD_TEST_GUESTS` names a folder of rebuilt guests to be tested instead of those that the program carries.

mod attacks;
mod behaviour;
mod hostile;
mod lifetime;
pub mod probe;

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use super::{Chunk, Embedded, Ended, EndedKind, Language, Options, Readiness, Stream, worker_main};
use Language::{JavaScript, Python};

/// What no run here needs, even if guests must be compiled first and the machine is busy.
const AMPLE: Duration = Duration::from_mins(5);

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());
static SANDBOX: LazyLock<Embedded> = LazyLock::new(|| open(options()));

/// This test's name makes the test program a worker; the server clears the environment of its workers, a person or cargo
/// never does.
#[test]
fn the_test_program_is_its_own_worker() {
    if std::env::vars_os().next().is_none() {
        worker_main();
        std::process::exit(0);
    }
}

fn options() -> Options {
    let program = std::env::current_exe().unwrap();
    // Beside the test program, so that guests are compiled once for all.
    let cache = program.ancestors().nth(2).unwrap().join("embedded-cache");
    let name = "router::embedded::tests::the_test_program_is_its_own_worker";
    let arguments = [name, "--exact", "--nocapture", "--test-threads=1"];
    let mut options = Options::new(cache, program, arguments.map(Into::into).to_vec());
    options.guest_dir = std::env::var_os("THUD_TEST_GUESTS").map(PathBuf::from);
    options
}

/// A sandbox that warms up; every start waits for that.
fn open(options: Options) -> Embedded {
    let _runtime = RUNTIME.enter();
    Embedded::open(options)
}

/// A run with all its output.
#[derive(Debug)]
struct Run {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    ended: Ended,
}

impl Run {
    fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

async fn run_in(sandbox: &Embedded, language: Language, code: &str, wall: Duration) -> Run {
    let worker = sandbox.start(language, Instant::now() + AMPLE).await.unwrap();
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let take = |Chunk { stream, bytes }| match stream {
        Stream::Stdout => stdout.extend(bytes),
        Stream::Stderr => stderr.extend(bytes),
    };
    let ended = worker.run(code, wall, take).await.unwrap();
    Run { stdout, stderr, ended }
}

fn run_for(language: Language, code: &str, wall: Duration) -> Run {
    RUNTIME.block_on(run_in(&SANDBOX, language, code, wall))
}

fn run(language: Language, code: &str) -> Run {
    run_for(language, code, AMPLE)
}

/// The code prints this and ends well.
#[track_caller]
fn prints(language: Language, code: &str, stdout: &str) {
    let run = run(language, code);
    assert_eq!(run.stdout().trim_end(), stdout, "{code}\n{}", run.stderr());
    assert_eq!(run.ended.kind, EndedKind::Exited(0), "{code}\n{}", run.stderr());
    assert!(run.ended.code_started);
}

/// The code ends with this code, and its standard error contains all of these.
#[track_caller]
fn fails(language: Language, code: &str, exit_code: i32, stderr: &[&str]) {
    let run = run(language, code);
    assert_eq!(run.ended.kind, EndedKind::Exited(exit_code), "{code}\n{}", run.stderr());
    for part in stderr {
        assert!(run.stderr().contains(part), "{code}\n{}", run.stderr());
    }
}
