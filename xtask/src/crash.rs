//! Kills the server between any two steps of a run, starts it again over the same data, and looks at what is left: no
//! worker process, no sandbox that is still owed, and a final record that says what is known.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::children::run as run_child;
use crate::progress::step;
use crate::project::Project;
use crate::temporary_server::free_address;
use crate::toolchain::Toolchain;

/// Where the server is held and killed, and what may be known of the run afterwards.
const PLACES: [(&str, &str); 6] = [
    ("lease_written", "unavailable"),
    ("created", "unavailable"),
    ("code_sent", "interrupted"),
    ("result_read", "interrupted"),
    ("destroyed", "completed"),
    ("cleared", "completed"),
];
/// How long anything may take.
const LIMIT: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(20);
/// Code that ends, and code that does not.
const HELLO: &str = "console.log(1)";
const LOOP: &str = "for (;;) {}";

/// Kills and restarts it once for each place.
pub fn run(project: &Project, toolchain: &Toolchain) -> Result<()> {
    let mut cargo = toolchain.cargo(project);
    cargo.args(["build", "--package", "thud", "--bin", "thud", "--features", "standins"]);
    run_child(&mut cargo, "building a server that can be held")?;
    let program = toolchain.target.join("debug/thud");
    for (place, outcome) in PLACES {
        step(&format!("Killing the server at {place}"));
        at(project, &program, place, outcome).with_context(|| format!("killed at {place}"))?;
    }
    Ok(())
}

fn at(project: &Project, program: &Path, place: &str, outcome: &str) -> Result<()> {
    let data = tempfile::tempdir()?;
    let mut server = Server::start(project, program, data.path(), Some(place))?;
    let code = if place == "code_sent" { LOOP } else { HELLO };
    let id = server.submit(code)?;
    if place == "code_sent" {
        until("the code runs", || {
            Ok(server.find(&id)?["attempts"][0]["code_started"] == json!(true))
        })?;
    } else {
        server.wait_until_held(place)?;
    }
    if outcome == "completed" {
        // Its sandbox is destroyed beside the end of the run.
        until("the run is final", || Ok(server.find(&id)?["state"] == "final"))?;
    }
    let workers = children_of(server.child.id())?;
    server.child.kill()?;
    server.child.wait()?;
    until("every worker has ended", || Ok(workers.iter().all(|id| !is_running(*id))))?;

    let server = Server::start(project, program, data.path(), None)?;
    let run = server.find(&id)?;
    ensure!(run["state"] == "final", "the run is {} after the restart", run["state"]);
    ensure!(run["outcome"] == outcome, "the run is {}, not {outcome}", run["outcome"]);
    until("no sandbox is owed any more", || {
        let run = server.find(&id)?;
        let attempts = run["attempts"].as_array().cloned().unwrap_or_default();
        let is_paid = |one: &Value| one["teardown"]["state"] == "confirmed";
        Ok(attempts.len() == 1 && attempts.iter().all(is_paid))
    })?;
    let again = server.find(&id)?;
    ensure!(again["outcome"] == outcome, "a final run changed");
    Ok(())
}

fn until(what: &str, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    let started = Instant::now();
    while !is_so()? {
        if started.elapsed() > LIMIT {
            bail!("{what}: not after {} seconds", LIMIT.as_secs());
        }
        sleep(POLL);
    }
    Ok(())
}

/// A server over a folder of data.
struct Server {
    child: Child,
    words: BufReader<std::process::ChildStdout>,
    address: SocketAddr,
}

impl Server {
    fn start(project: &Project, program: &Path, data: &Path, held: Option<&str>) -> Result<Self> {
        let address = free_address()?;
        let mut command = Command::new(program);
        command
            .arg("serve")
            .env("THUD_ADDR", address.to_string())
            .env("THUD_SITE_ROOT", project.site())
            .env("THUD_DATA_DIR", data)
            .env("THUD_CACHE_DIR", project.target.join("guests"))
            .env_remove("THUD_HOLD_AT")
            .stdout(Stdio::piped());
        if let Some(place) = held {
            command.env("THUD_HOLD_AT", place);
        }
        let mut child = command.spawn().context("the server cannot be started")?;
        let words = BufReader::new(child.stdout.take().context("the server has no output")?);
        let mut server = Self { child, words, address };
        server.wait_for("Thud is at")?;
        Ok(server)
    }

    fn wait_until_held(&mut self, place: &str) -> Result<()> {
        self.wait_for(&format!("held at {place}"))
    }

    fn wait_for(&mut self, words: &str) -> Result<()> {
        let mut line = String::new();
        while self.words.read_line(&mut line)? > 0 {
            if line.contains(words) {
                return Ok(());
            }
            line.clear();
        }
        bail!("the server ended before it said {words:?}")
    }

    /// Starts a run at the embedded sandbox, as soon as that is ready.
    fn submit(&self, code: &str) -> Result<String> {
        let started = Instant::now();
        loop {
            let body = json!({ "language": "javascript", "code": code, "providers": ["local"] });
            let url = format!("http://{}/api/v1/runs", self.address);
            let answer = ureq::post(&url)
                .header("content-type", "application/json")
                .header("prefer", "respond-async")
                .send(body.to_string())?;
            let run: Value = serde_json::from_str(&answer.into_body().read_to_string()?)?;
            let id = run["id"].as_str().context("a run without an id")?.to_owned();
            // The first start of a version compiles its guests.
            let is_warm =
                |run: &Value| run["attempts"].as_array().is_some_and(|all| !all.is_empty());
            let mut found = self.find(&id)?;
            while found["state"] != "final" && !is_warm(&found) {
                sleep(POLL);
                found = self.find(&id)?;
            }
            if is_warm(&found) {
                return Ok(id);
            }
            ensure!(started.elapsed() < LIMIT, "the embedded sandbox is not ready");
        }
    }

    fn find(&self, id: &str) -> Result<Value> {
        let answer = ureq::get(format!("http://{}/api/v1/runs/{id}", self.address)).call()?;
        Ok(serde_json::from_str(&answer.into_body().read_to_string()?)?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have been killed already, which is what this is about.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The processes that a process has started.
fn children_of(parent: u32) -> Result<Vec<u32>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").context("this test wants /proc")? {
        let Ok(id) = entry?.file_name().to_string_lossy().parse::<u32>() else { continue };
        if stat(id).is_some_and(|(_, of)| of == parent) {
            found.push(id);
        }
    }
    Ok(found)
}

/// Whether a process is there and more than a name.
fn is_running(id: u32) -> bool {
    stat(id).is_some_and(|(state, _)| state != 'Z')
}

/// State and parent of a process; nothing where there is none.
fn stat(id: u32) -> Option<(char, u32)> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name in parentheses may hold anything.
    let mut rest = text.rsplit(") ").next()?.split(' ');
    Some((rest.next()?.chars().next()?, rest.next()?.parse().ok()?))
}
