//! What only a program that was built with stand-ins has: providers that follow a script, and servers that stand in for
//! hosted providers.

use std::io::Read;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use serde_json::json;
use thud::causes::chain;
use thud::router::adapter::Adapter;
use thud::router::embedded::{Embedded, Options, Readiness};
use thud::standins::daytona::{self, Pace};
use thud::standins::e2b;
use thud::standins::runner::{EmbeddedRunner, OUTPUT_BYTES_MAX};
use thud::standins::scripted::Scripted;
use tokio_util::sync::CancellationToken;

/// How long the embedded sandbox has to get ready.
const READY_LIMIT: Duration = Duration::from_mins(10);
/// How much code runs at once, whatever the number of processors: some of it only waits.
const WORKERS: usize = 8;

/// What such a program can do besides.
#[derive(Subcommand)]
pub enum Command {
    /// Serves stand-ins for E2B and Daytona on this machine until standard input ends or it is asked to end. Prints one line
    /// of JSON when they can be used.
    Standins(Settings),
}

/// How they are served.
#[derive(Args)]
pub struct Settings {
    /// Address and port of the one for E2B; 0 is any free port.
    #[arg(long, default_value = "127.0.0.1:0")]
    e2b: SocketAddr,
    /// Address and port of the one for Daytona; 0 is any free port.
    #[arg(long, default_value = "127.0.0.1:0")]
    daytona: SocketAddr,
    /// Keys that they take instead of their own, `e2b_…` or `dtn_…`.
    #[arg(long, num_args = 1..)]
    key: Vec<String>,
    /// How long sandboxes of Daytona are `creating`, milliseconds.
    #[arg(long, default_value_t = 0)]
    start_delay_ms: u64,
}

/// All that are offered.
#[expect(clippy::unnecessary_wraps, reason = "a program without stand-ins refuses")]
pub fn offered() -> Result<Vec<Arc<dyn Adapter>>, String> {
    Ok(Scripted::offered())
}

/// Does it. `options` are those of an embedded sandbox over a folder.
pub fn run(
    command: Command,
    cache: PathBuf,
    options: impl FnOnce(PathBuf) -> Options,
    stopped: impl Future<Output = ()>,
) -> Result<(), String> {
    let Command::Standins(settings) = command;
    let (e2b_keys, daytona_keys) = keys(settings.key)?;
    let output_bytes = OUTPUT_BYTES_MAX as u64;
    let options = Options { workers: WORKERS, output_bytes, ..options(cache) };
    let runtime = tokio::runtime::Runtime::new().map_err(|error| chain(&error))?;
    runtime.block_on(async {
        let embedded = Embedded::open(options);
        if let Readiness::Failed(problem) = embedded.ready_by(Instant::now() + READY_LIMIT).await {
            return Err(format!("the embedded sandbox does not work here: {problem}"));
        }
        let runner = Arc::new(EmbeddedRunner::new(embedded));
        let listening = |name: &str, address: SocketAddr, error: std::io::Error| {
            format!("{address} cannot be had ({error}): choose another with --{name}")
        };
        let e2b = e2b::start_at(settings.e2b, e2b_keys, runner.clone())
            .await
            .map_err(|error| listening("e2b", settings.e2b, error))?;
        let start_delay = Duration::from_millis(settings.start_delay_ms);
        let pace = Pace { start_delay, ..Pace::default() };
        let daytona = daytona::start_at(settings.daytona, daytona_keys, runner, pace)
            .await
            .map_err(|error| listening("daytona", settings.daytona, error))?;
        println!(
            "{}",
            json!({
                "e2b": e2b.url(), "daytona": daytona.url(),
                "e2b_api_key": e2b.key(), "daytona_api_key": daytona.key(),
            })
        );
        tokio::select! {
            () = stopped => {}
            () = input_ended() => {}
        }
        Ok(())
    })?;
    // What still runs ends with the process.
    runtime.shutdown_background();
    Ok(())
}

/// The keys for each, by what they begin with.
fn keys(given: Vec<String>) -> Result<(Vec<String>, Vec<String>), String> {
    let (mut e2b_keys, mut daytona_keys) = (Vec::new(), Vec::new());
    for key in given {
        if key.starts_with(e2b::KEY_PREFIX) {
            e2b_keys.push(key);
        } else if key.starts_with(daytona::KEY_PREFIX) {
            daytona_keys.push(key);
        } else {
            return Err("--key takes keys that begin with e2b_ or dtn_".to_owned());
        }
    }
    if e2b_keys.is_empty() {
        e2b_keys.push(e2b::KEY.to_owned());
    }
    if daytona_keys.is_empty() {
        daytona_keys.push(daytona::KEY.to_owned());
    }
    Ok((e2b_keys, daytona_keys))
}

/// Returns when standard input ends.
async fn input_ended() {
    let ended = CancellationToken::new();
    let end = ended.clone();
    // A thread of its own: a read cannot be called off, and must not keep the process.
    std::thread::spawn(move || {
        let mut bytes = [0; 1024];
        while std::io::stdin().read(&mut bytes).is_ok_and(|read| read > 0) {}
        end.cancel();
    });
    ended.cancelled().await;
}
