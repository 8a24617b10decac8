//! The command line: `thud serve`, `thud catalog`, `thud token`, `thud reap` and `thud doctor`.

#![expect(clippy::print_stdout, reason = "a command line prints")]

#[path = "main/doctor.rs"]
mod doctor;
#[path = "main/hosted.rs"]
mod hosted;
#[cfg(not(feature = "standins"))]
#[path = "main/no_standins.rs"]
mod standins;
#[cfg(feature = "standins")]
#[path = "main/standins.rs"]
mod standins;
#[path = "main/tokens.rs"]
mod tokens;

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::ListenerExt;
use clap::{Parser, Subcommand};
use sqlx::SqlitePool;
use thud::catalog::load::{CatalogFile, Problem, digest, embedded_files, files_in, load};
use thud::catalog::{Catalog, store};
use thud::causes::chain;
use thud::moment::today;
use thud::router::adapter::Adapter;
use thud::router::embedded::{self, Embedded};
use thud::router::local::Local;
use thud::router::{Limits, SandboxRouter, daytona, e2b};
use thud::server::config::Config;
use thud::state::{AppState, Site};
use thud::{api, database, router, server};
use tokio_util::sync::CancellationToken;

use tokens::TokenCommand;
use tracing_subscriber::EnvFilter;

/// Bytes in a MiB.
const BYTES_PER_MIB: u64 = 1024 * 1024;
/// The file that says that a process runs code over the database beside it.
const LOCK_FILE: &str = "thud.lock";
/// How long a stop waits for the last answers to be read.
const GOODBYE_MAX: Duration = Duration::from_secs(5);
/// How long a stop waits for runs that are on their way.
const DRAIN_MAX: Duration = Duration::from_secs(30);

/// The open catalog of code sandboxes for AI agents.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// What to do; the site is started if nothing is said.
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Starts the site. Settings come from the environment: `THUD_ADDR`, `THUD_DATA_DIR`,
    /// `THUD_CATALOG_DIR`, `THUD_SITE_ROOT`, `THUD_PUBLIC_URL`, `THUD_REPOSITORY_URL`, `THUD_LOG`.
    Serve,
    /// Works with the provider files.
    Catalog {
        #[command(subcommand)]
        command: CatalogCommand,
    },
    /// Makes, lists and revokes the tokens that hosted providers want.
    Token {
        #[command(subcommand)]
        command: TokenCommand,
    },
    /// Destroys every sandbox that is owed a teardown, once, and says what it found. The site does so by itself.
    Reap,
    /// Looks whether every configured provider does what it should: makes one sandbox at each, looks at its isolation, size and
    /// egress from without and within, destroys it, and says what it saw. Exit code 1 if a check failed. It costs what a
    /// sandbox costs for some seconds.
    Doctor,
    /// Works with the embedded sandbox.
    #[command(hide = true)]
    Local {
        #[command(subcommand)]
        command: LocalCommand,
    },
    #[command(flatten)]
    Standins(standins::Command),
}

#[derive(Subcommand)]
enum LocalCommand {
    /// Prints how long runs of one line take: language, whether a worker was waiting, milliseconds.
    Bench {
        /// How many of each kind.
        #[arg(default_value_t = 100)]
        samples: usize,
    },
}

#[derive(Subcommand)]
enum CatalogCommand {
    /// Reads every provider file and prints all problems; exit code 1 if there are any.
    Check {
        /// A folder of provider files; those that are built in if left out.
        folder: Option<PathBuf>,
    },
    /// Writes the whole catalog into a folder as JSON, CSV and Markdown, each file as the site answers it. Settings come
    /// from the environment as they do for `serve`.
    Export {
        /// The folder; made where it is not there. Files of the same name are written anew.
        folder: PathBuf,
    },
}

/// How the program is started to be a worker of the embedded sandbox: only by itself.
const WORKER: &str = "__local-worker";

fn main() -> ExitCode {
    // Before anything starts a thread or opens a file.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == WORKER) {
        return embedded::worker_main();
    }
    let result = match Arguments::parse().command.unwrap_or(Command::Serve) {
        Command::Serve => serve(),
        Command::Catalog { command: CatalogCommand::Check { folder } } => check(folder.as_deref()),
        Command::Catalog { command: CatalogCommand::Export { folder } } => export(&folder),
        Command::Token { command } => token(command),
        Command::Reap => reap(),
        Command::Doctor => doctor(),
        Command::Local { command: LocalCommand::Bench { samples } } => bench_local(samples),
        Command::Standins(command) => Config::from_env().and_then(|config| {
            standins::run(command, config.cache_dir, embedded_options, stopped())
        }),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("thud: {message}");
            ExitCode::FAILURE
        }
    }
}

fn read(folder: Option<&Path>) -> Result<(Vec<CatalogFile>, Catalog), String> {
    let listed = |problems: Vec<Problem>| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let problems = if lines.len() == 1 { "a problem" } else { "problems" };
        format!("the catalog has {problems}:\n{}", lines.join("\n"))
    };
    let files = folder.map_or_else(|| Ok(embedded_files()), files_in).map_err(listed)?;
    let catalog = load(&files, today()).map_err(listed)?;
    Ok((files, catalog))
}

fn check(folder: Option<&Path>) -> Result<(), String> {
    let (files, catalog) = read(folder)?;
    println!("{} files, {} providers, no problems", files.len(), catalog.providers().len());
    Ok(())
}

fn bench_local(samples: usize) -> Result<(), String> {
    let options = embedded_options(Config::from_env()?.cache_dir);
    let tell = |language, start, time: std::time::Duration| {
        println!("{language} {start:?} {:.3}", time.as_secs_f64() * 1000.0);
    };
    let runtime = runtime()?;
    runtime.block_on(embedded::measure(&options, samples, tell)).map_err(|error| chain(&error))
}

fn serve() -> Result<(), String> {
    let config = Config::from_env()?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(&config.log))
        .with_writer(std::io::stderr);
    // Text for people, lines of JSON for programs.
    if std::io::stderr().is_terminal() {
        log.init();
    } else {
        log.json().init();
    }
    if !config.site_root.join("pkg/thud.css").is_file() {
        let folder = config.site_root.display();
        tracing::warn!(
            "{folder} has no stylesheet: pages come without one; cargo xtask serve lays it"
        );
    }
    let runtime = runtime()?;
    runtime.block_on(run(config))
}

/// Everything that requests share, over a database.
async fn opened(
    config: Config,
    base_url: String,
    pool: SqlitePool,
    adapters: Vec<Arc<dyn Adapter>>,
) -> Result<AppState, String> {
    let (files, catalog) = read(config.catalog_dir.as_deref())?;
    let site_files = server::files_below(&config.site_root);
    let site = Site {
        build: server::build_name(&config.site_root, &site_files),
        files: site_files,
        root: config.site_root,
        base_url: config.public_url.clone().unwrap_or(base_url),
        public_url: config.public_url,
        repository_url: config.repository_url,
        api_document: api::document(),
    };
    AppState::open(files, catalog, pool, site, adapters, config.limits)
        .await
        .map_err(|error| chain(&error))
}

/// Every provider that this site can run code at, or could with a key. Must be called in a Tokio runtime.
async fn adapters(config: &Config, pool: &SqlitePool) -> Result<Vec<Arc<dyn Adapter>>, String> {
    let options = embedded::Options {
        memory_bytes_per_run: config.local_memory_mib * BYTES_PER_MIB,
        ..embedded_options(config.cache_dir.clone())
    };
    let local = Local::new(Embedded::open(options));
    let instance = router::instance(pool).await.map_err(|error| chain(&error))?;
    let mut adapters: Vec<Arc<dyn Adapter>> = vec![Arc::new(local)];
    adapters.extend(hosted::adapters(config, &instance)?);
    if config.standins {
        adapters.extend(standins::offered()?);
    }
    Ok(adapters)
}

fn runtime() -> Result<tokio::runtime::Runtime, String> {
    tokio::runtime::Runtime::new().map_err(|error| chain(&error))
}

fn token(command: TokenCommand) -> Result<(), String> {
    let config = Config::from_env()?;
    runtime()?.block_on(async {
        let pool = database::open(&config.database()).await.map_err(|error| chain(&error))?;
        let offered = if config.standins { standins::offered()? } else { Vec::new() };
        let offered = offered.iter().map(|adapter| adapter.slug());
        let always = [router::OPEN_TO_ALL, e2b::SLUG, daytona::SLUG];
        let known: Vec<&str> = always.into_iter().chain(offered).collect();
        println!("{}", tokens::run(&pool, command, &known).await?);
        Ok(())
    })
}

fn reap() -> Result<(), String> {
    let config = Config::from_env()?;
    runtime()?.block_on(async {
        let pool = database::open(&config.database()).await.map_err(|error| chain(&error))?;
        let (_, catalog) = read(config.catalog_dir.as_deref())?;
        let adapters = adapters(&config, &pool).await?;
        let router = SandboxRouter::new(pool, Arc::new(catalog), adapters, Limits::default());
        let report = router.reap_overdue().await.map_err(|error| chain(&error))?;
        let router::Report { found, destroyed, already_gone, failed } = report;
        println!(
            "found {found}, destroyed {destroyed}, already gone {already_gone}, failed {failed}"
        );
        Ok(())
    })
}

fn doctor() -> Result<(), String> {
    let config = Config::from_env()?;
    runtime()?.block_on(async {
        // A name of its own: a site that runs beside it would else destroy what it makes.
        let nowhere = database::in_memory().await.map_err(|error| chain(&error))?;
        doctor::run(&adapters(&config, &nowhere).await?, stopped()).await
    })
}

fn embedded_options(cache: PathBuf) -> embedded::Options {
    embedded::Options::new(cache, "/proc/self/exe".into(), vec![WORKER.into()])
}

/// Writes what a mirror serves.
fn export(folder: &Path) -> Result<(), String> {
    let config = Config::from_env()?;
    let runtime = runtime()?;
    runtime.block_on(async {
        let base_url = format!("http://{}", config.addr);
        let pool = pool_for_export(&config).await?;
        // A mirror runs no code.
        let state = opened(config, base_url, pool, Vec::new()).await?;
        let written = server::export(state, folder).await?;
        println!("{written} files in {}", folder.display());
        Ok(())
    })
}

/// The site's database where its newest revision is what is exported, so that its dates are told; else one in memory: an
/// export publishes nothing.
async fn pool_for_export(config: &Config) -> Result<SqlitePool, String> {
    if config.database().is_file() {
        let pool = database::open(&config.database()).await.map_err(|error| chain(&error))?;
        let mut connection = pool.acquire().await.map_err(|error| chain(&error))?;
        let newest = store::newest(&mut connection).await.map_err(|error| chain(&error))?;
        drop(connection);
        let (files, _) = read(config.catalog_dir.as_deref())?;
        if newest.is_some_and(|newest| newest.digest == digest(&files)) {
            return Ok(pool);
        }
    }
    database::in_memory().await.map_err(|error| chain(&error))
}

async fn run(config: Config) -> Result<(), String> {
    let listener = tokio::net::TcpListener::bind(config.addr).await.map_err(|error| {
        format!("{} is taken or not allowed ({error}): choose another with THUD_ADDR", config.addr)
    })?;
    let address = listener.local_addr().map_err(|error| chain(&error))?;
    let _taken = taken(&config)?;
    let pool = database::open(&config.database()).await.map_err(|error| chain(&error))?;
    let adapters = adapters(&config, &pool).await?;
    let state = opened(config, format!("http://{address}"), pool, adapters).await?;
    let sandboxes = state.sandboxes.clone();
    sandboxes.start().await.map_err(|error| chain(&error))?;
    println!("Thud is at http://{address}");
    // Without TCP_NODELAY small answers wait for an acknowledgement.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::warn!(%error, "TCP_NODELAY could not be set");
        }
    });
    let service = server::router(state).into_make_service_with_connect_info::<SocketAddr>();
    let drained = CancellationToken::new();
    let done = drained.clone();
    let serving = axum::serve(listener, service).with_graceful_shutdown(async move {
        stopped().await;
        if !sandboxes.drain(DRAIN_MAX).await {
            tracing::warn!("some runs were still on their way: the next start ends them");
        }
        done.cancel();
    });
    tokio::select! {
        served = serving => served.map_err(|error| chain(&error)),
        // A client that neither reads nor goes away does not keep the site.
        () = async { drained.cancelled().await; tokio::time::sleep(GOODBYE_MAX).await } => Ok(()),
    }
}

/// Takes the data folder for this process alone: two would destroy each other's sandboxes. It is free again when the file is
/// closed, whatever ends the process.
fn taken(config: &Config) -> Result<std::fs::File, String> {
    let path = config.data_dir.join(LOCK_FILE);
    let shown = path.display();
    let file = std::fs::create_dir_all(&config.data_dir)
        .and_then(|()| std::fs::File::create(&path))
        .map_err(|error| {
            format!("{shown} cannot be written ({error}): choose another folder with THUD_DATA_DIR")
        })?;
    file.try_lock().map_err(|_| {
        format!(
            "another Thud runs over {shown}: end it, or choose another folder with THUD_DATA_DIR"
        )
    })?;
    Ok(file)
}

/// Returns when the process is asked to end.
async fn stopped() {
    let interrupt = async {
        if tokio::signal::ctrl_c().await.is_err() {
            // Without a signal handler the process ends as the system pleases.
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminate = async {
        use tokio::signal::unix::{SignalKind, signal};
        let of = async |kind| match signal(kind) {
            Ok(mut stream) => {
                stream.recv().await;
            }
            Err(_) => std::future::pending().await,
        };
        tokio::select! {
            () = of(SignalKind::terminate()) => {}
            () = of(SignalKind::hangup()) => {}
        }
    };
    #[cfg(not(unix))]
    let terminate = std::future::pending::<()>();
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
}
