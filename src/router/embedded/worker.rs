//! The child's side: `thud __local-worker`. A worker does one thing that the server asks for on standard input, tells of
//! it by frames on standard error and ends; nothing else may print there. It also ends, at once, when its input closes:
//! so none outlives its server, however that ended. (The kernel's "parent death signal" would fire already when the
//! *thread* ends that started the worker.)

use std::io::{self, Read};
use std::path::Path;
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::engine::{Guest, Instance};
use super::frames::{self, Message, Request, cut};
use super::outlet::Outlet;
use super::{Language, Stream, guests, lock};
use crate::causes::chain;

/// The exit code of a worker whose server is gone or talks nonsense.
const ORPHANED: i32 = 1;
/// How much the compiler gives way to everything else.
const COMPILER_NICENESS: i32 = 10;

/// Does what the server asks. Must be called before the process has any other thread.
pub fn main() -> ExitCode {
    lock::close_inherited();
    // Its text would pass for frames. The server sees that the worker is gone.
    std::panic::set_hook(Box::new(|_| {}));
    // Not to stand in a folder that somebody wants to remove.
    if std::env::set_current_dir("/").is_err() {
        return ExitCode::FAILURE;
    }
    let outcome = match next_request() {
        Request::Prepare { language, cache, guests } => {
            end_with_input();
            // Compiling takes every core, and pages are waiting for one. It is no matter if it cannot be had.
            let _ = rustix::process::nice(COMPILER_NICENESS);
            prepare(language, &cache, guests.as_deref())
        }
        Request::Load { language, compiled, memory_bytes, output_bytes } => {
            load_and_run(language, &compiled, memory_bytes, output_bytes)
        }
        Request::Run { .. } => Err("nothing is loaded".to_owned()),
        #[cfg(test)]
        Request::Probe => {
            say(&super::tests::probe::answer());
            Ok(())
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            say(&Message::Failed(cut(text)));
            ExitCode::FAILURE
        }
    }
}

fn prepare(language: Language, cache: &Path, guests: Option<&Path>) -> Result<(), String> {
    let compiled = guests::prepare(language, cache, guests).map_err(|error| chain(&error))?;
    say(&Message::Prepared(compiled));
    Ok(())
}

fn load_and_run(
    language: Language,
    compiled: &Path,
    memory_bytes: u64,
    output_bytes: u64,
) -> Result<(), String> {
    let guest = Guest::load(language, compiled, memory_bytes).map_err(|error| error.to_string())?;
    let lock = lock::apply();
    let outlet = Arc::new(Outlet::new(output_bytes));
    // Of one thread and without a reactor, which the lock would refuse.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| error.to_string())?;
    let instance =
        runtime.block_on(guest.instantiate(&outlet)).map_err(|error| error.to_string())?;
    say(&Message::Loaded(lock));

    let Request::Run { code, wall } = next_request() else {
        return Err("a run was expected".to_owned());
    };
    end_with_input();
    runtime.block_on(run(instance, &code, wall, &outlet));
    // Without taking anything apart first.
    process::exit(0);
}

async fn run(instance: Instance, code: &str, wall: Duration, outlet: &Outlet) {
    say(&Message::Started);
    let end = instance.run(code, Instant::now() + wall).await;
    say(&Message::Ended {
        end,
        stdout_dropped_bytes: outlet.dropped(Stream::Stdout),
        stderr_dropped_bytes: outlet.dropped(Stream::Stderr),
    });
}

fn next_request() -> Request {
    frames::read_request(&mut io::stdin().lock()).unwrap_or_else(|_| process::exit(ORPHANED))
}

fn say(message: &Message) {
    if frames::write_message(&mut io::stderr(), message).is_err() {
        process::exit(ORPHANED);
    }
}

/// Ends the process once its input closes, whatever else it is busy with.
fn end_with_input() {
    std::thread::spawn(|| {
        // Nothing more is ever sent: whatever comes is the end.
        let _ = io::stdin().lock().read(&mut [0]);
        process::exit(ORPHANED);
    });
}
