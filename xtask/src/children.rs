//! Programs that we start: each is ended when we are, whether by an error, Ctrl-C or a signal.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

/// The exit code that shells expect of a program ended by Ctrl-C.
pub const INTERRUPTED_CODE: u8 = 130;

/// How long a program may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(20);
/// How much of a first line is read.
const LINE_BYTES_MAX: u64 = 64 * 1024;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Asks every program that we started to end once we are asked to; a second time ends us at once.
pub fn end_on_signal() -> Result<()> {
    ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(INTERRUPTED_CODE.into());
        }
        running().iter().for_each(|&id| ask_to_end(id));
    })
    .context("signals cannot be listened for")
}

/// Whether we were asked to end.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Runs a program to its end; `doing` completes "failed: …".
pub fn run(command: &mut Command, doing: &str) -> Result<()> {
    check(Running::start(command)?.wait()?, doing)
}

/// Like [`run`], but a program that takes longer than `limit` is ended and counts as failed.
pub fn run_within(limit: Duration, command: &mut Command, doing: &str) -> Result<()> {
    let mut running = Running::start(command)?;
    let Some(status) = running.wait_for(limit)? else {
        bail!("failed: {doing} (no end after {} seconds)", limit.as_secs());
    };
    check(status, doing)
}

fn check(status: ExitStatus, doing: &str) -> Result<()> {
    if !status.success() {
        bail!("failed: {doing} ({status})");
    }
    Ok(())
}

/// Runs a program quietly and gives what it printed, or nothing where it is missing or fails.
pub fn ask(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// A program that runs beside us; dropping it ends it.
pub struct Running {
    child: Child,
}

impl Running {
    /// Starts a program.
    pub fn start(command: &mut Command) -> Result<Self> {
        // Held across the start, so that a signal finds every program that there is.
        let mut running = running();
        if interrupted() {
            bail!("interrupted");
        }
        let program = command.get_program().to_owned();
        let child =
            command.spawn().with_context(|| format!("{} cannot be started", program.display()))?;
        running.insert(child.id());
        Ok(Self { child })
    }

    /// What the program printed, if its output was piped to us.
    pub fn output(&mut self) -> Result<String> {
        let mut pipe = self.child.stdout.take().context("the output is not piped")?;
        Ok(std::io::read_to_string(&mut pipe)?)
    }

    /// The first line that the program prints, if its output was piped to us. What it prints later is read by nobody.
    pub fn first_line(&mut self, limit: Duration) -> Result<String> {
        let pipe = self.child.stdout.take().context("the output is not piped")?;
        let (sender, receiver) = channel();
        // It ends with the program's output, and so with the program.
        spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(pipe.take(LINE_BYTES_MAX)).read_line(&mut line);
            // Nobody listens any more after the limit.
            let _ = sender.send(read.map(|_| line));
        });
        let line = receiver.recv_timeout(limit);
        let line = line.with_context(|| format!("silent for {} seconds", limit.as_secs()))??;
        if line.is_empty() {
            bail!("ended without a word");
        }
        Ok(line)
    }

    /// Waits for the program's own end.
    pub fn wait(&mut self) -> Result<ExitStatus> {
        Ok(self.child.wait()?)
    }

    /// Waits for the program's own end, but no longer than `limit`.
    pub fn wait_for(&mut self, limit: Duration) -> Result<Option<ExitStatus>> {
        let started = Instant::now();
        loop {
            let status = self.child.try_wait()?;
            if status.is_some() || started.elapsed() > limit {
                return Ok(status);
            }
            sleep(POLL);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let id = self.child.id();
        if matches!(self.child.try_wait(), Ok(None)) {
            ask_to_end(id);
            if !matches!(self.wait_for(GRACE), Ok(Some(_))) {
                // Nothing more can be done about one that survives even this.
                let _ = self.child.kill();
                let _ = self.child.wait();
            }
        }
        running().remove(&id);
    }
}

fn ask_to_end(id: u32) {
    // A program that ended by itself meanwhile is what we want.
    if let Some(process) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process(process, Signal::TERM);
    }
}

fn running() -> MutexGuard<'static, BTreeSet<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
