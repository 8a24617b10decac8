//! A site for the length of a test or benchmark: the built server on a free port of this machine, with a data folder
//! that vanishes afterwards.

use std::fs::File;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::children::{Running, ask};
use crate::project::Project;

/// How long a server may take until it listens.
const START_LIMIT: Duration = Duration::from_secs(30);
/// Short, since the time of a start is measured too.
const POLL: Duration = Duration::from_millis(1);

/// A running server; dropping it ends it and removes its data.
pub struct TemporaryServer {
    // Before the data: fields are dropped in this order.
    _running: Running,
    _data: TempDir,
    /// Where it listens.
    pub address: SocketAddr,
}

impl TemporaryServer {
    /// Starts the program and waits until it listens.
    pub fn start(project: &Project, program: &Path) -> Result<Self> {
        Self::start_by(project, Command::new(program))
    }

    /// Starts the program with a folder of provider files instead of those that are built in.
    pub fn start_with_catalog(project: &Project, program: &Path, catalog: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        command.env("THUD_CATALOG_DIR", catalog);
        Self::start_by(project, command)
    }

    /// Starts the program with providers that follow a script, and makes a token that they take. What its own sandbox
    /// compiles at the first start is kept for the next time.
    pub fn start_with_standins(project: &Project, program: &Path) -> Result<(Self, String)> {
        let data = tempfile::tempdir()?;
        let mut command = Command::new(program);
        // Before the server starts: both would lay out the database.
        let arguments = "token create --name browser-tests --daily-budget-usd 1";
        command.args(arguments.split(' ')).env("THUD_DATA_DIR", data.path());
        let token = ask(&mut command).context("no token could be made")?;
        let mut command = Command::new(program);
        command.env("THUD_STANDINS", "1").env("THUD_CACHE_DIR", project.target.join("local"));
        // More is run than one visitor may.
        command.env("THUD_DRILLS", "1").env("THUD_ANONYMOUS_PER_MINUTE", "1000");
        Ok((Self::start_in(project, command, data)?, token))
    }

    fn start_by(project: &Project, command: Command) -> Result<Self> {
        Self::start_in(project, command, tempfile::tempdir()?)
    }

    fn start_in(project: &Project, mut command: Command, data: TempDir) -> Result<Self> {
        let address = free_address()?;
        let log = project.target.join("server.log");
        let output = File::create(&log)?;
        command
            .arg("serve")
            .env("THUD_ADDR", address.to_string())
            .env("THUD_SITE_ROOT", project.site())
            .env("THUD_DATA_DIR", data.path())
            .stdout(output.try_clone()?)
            .stderr(output);
        let mut running = Running::start(&mut command)?;
        wait_until_listening(&mut running, address, &log)?;
        Ok(Self { _running: running, _data: data, address })
    }
}

/// Waits until something accepts connections, as long as the program lives.
pub fn wait_until_listening(running: &mut Running, address: SocketAddr, log: &Path) -> Result<()> {
    let started = Instant::now();
    while TcpStream::connect(address).is_err() {
        if let Some(status) = running.wait_for(Duration::ZERO)? {
            bail!(
                "the server ended ({status}) before it listened; its words are in {}",
                log.display()
            );
        }
        if started.elapsed() > START_LIMIT {
            bail!("the server does not listen after {} seconds", START_LIMIT.as_secs());
        }
        sleep(POLL);
    }
    Ok(())
}

/// A port that was free a moment ago: servers here want to be told one.
pub fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port")?;
    Ok(listener.local_addr()?)
}
