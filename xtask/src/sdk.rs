//! Drives the stand-ins of E2B and Daytona with the vendors' own clients for Python and JavaScript. What the clients are told to
//! do and what they should say lies in `end2end/sdk/`; here they are installed, and started where nothing else reaches them.

use std::env;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::build;
use crate::children::{Running, run_within};
use crate::nodejs::NodeJs;
use crate::progress::step;
use crate::project::Project;
use crate::python::{Environment, Wanted};
use crate::toolchain::Toolchain;

/// The oldest minor version of Python 3 that E2B's client runs on.
const PYTHON_OLDEST: u32 = 11;
/// How long the stand-ins may take until they listen; the first start of a version compiles the guests.
const START_LIMIT: Duration = Duration::from_mins(3);
/// How long one client may take for all its scenarios, which on an idle machine is ten seconds.
const CLIENT_LIMIT: Duration = Duration::from_mins(3);
/// Every driver, by the folder and name of its file.
const DRIVERS: [&str; 4] = [
    "python/drive_e2b.py",
    "javascript/drive_e2b.mjs",
    "python/drive_daytona.py",
    "javascript/drive_daytona.mjs",
];

/// How long sandboxes of Daytona are not yet started: every client has to ask again.
const START_DELAY_MS: &str = "50";
/// The variables that lead the clients to the stand-ins, by what the stand-ins call their values.
const TOLD: [(&str, &str); 5] = [
    ("E2B_API_KEY", "e2b_api_key"),
    ("E2B_API_URL", "e2b"),
    ("E2B_SANDBOX_URL", "e2b"),
    ("DAYTONA_API_KEY", "daytona_api_key"),
    ("DAYTONA_API_URL", "daytona"),
];
/// Those that are always the same. Daytona's socket of events is optional; one scenario turns it on again.
const FIXED: [(&str, &str); 3] =
    [("DAYTONA_TARGET", "us"), ("DAYTONA_USE_DEPRECATED_POLLING", "true"), ("LANG", "C.UTF-8")];

/// Installs the clients, starts the stand-ins and runs every driver, also after one that failed.
pub fn run(project: &Project, toolchain: &Toolchain) -> Result<()> {
    let node = NodeJs::find().context(
        "the JavaScript clients want Node.js 20 or newer, with npm: install it and start again",
    )?;
    let folder = project.root.join("end2end/sdk");
    step("Fetching the official clients");
    node.fetch(&folder, "fetching the JavaScript clients by npm")?;
    let wanted = Wanted {
        requirements: &folder.join("requirements.txt"),
        oldest: PYTHON_OLDEST,
        purpose: "for the official Python clients",
        hint: "",
    };
    let environment = Environment::with(&wanted, &project.target.join("sdk"))?;
    let program = build::server_with_standins(project, toolchain)?;

    step("Starting the stand-ins");
    let standins = StandIns::start(project, &program)?;
    let mut failed = Vec::new();
    for driver in DRIVERS {
        step(&format!("Running {driver}"));
        let path = folder.join(driver);
        let mut command = node.script(&path);
        if path.extension().is_some_and(|extension| extension == "py") {
            command = environment.python();
            // Nothing is written beside the sources; what a client warns of is its makers' business.
            command.args(["-B", "-W", "ignore::DeprecationWarning"]).arg(&path);
        }
        let empty = tempfile::tempdir()?;
        standins.tell(&mut command, empty.path());
        if let Err(error) = run_within(CLIENT_LIMIT, &mut command, driver) {
            println!("{error:#}");
            failed.push(driver);
        }
    }
    if !failed.is_empty() {
        bail!(
            "failed: {}; what each client should have said stands in its table, what it said above",
            failed.join(", ")
        );
    }
    Ok(())
}

/// Running stand-ins; dropping them ends them.
struct StandIns {
    _running: Running,
    variables: Vec<(&'static str, String)>,
}

impl StandIns {
    /// Starts both and waits until they say where they are.
    fn start(project: &Project, program: &Path) -> Result<Self> {
        let log = project.target.join("standins.log");
        let mut command = Command::new(program);
        command
            .args(["standins", "--start-delay-ms", START_DELAY_MS])
            .env("THUD_CACHE_DIR", project.target.join("local"))
            // Open as long as we are: they end by themselves should we be killed.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&log)?);
        let mut running = Running::start(&mut command)?;
        let line = running.first_line(START_LIMIT).with_context(|| {
            format!("the stand-ins did not start; their words are in {}", log.display())
        })?;
        let told: Value = serde_json::from_str(&line).context("their first line is no JSON")?;
        let variable = |&(variable, name): &(&'static str, &str)| {
            let value = told[name].as_str().with_context(|| format!("they do not tell {name}"))?;
            Ok((variable, value.to_owned()))
        };
        let variables = TOLD.iter().map(variable).collect::<Result<_>>()?;
        Ok(Self { _running: running, variables })
    }

    /// Gives a driver nothing but the way to the stand-ins: no proxies, no keys, no settings of this user.
    fn tell(&self, driver: &mut Command, home: &Path) {
        driver.env_clear().current_dir(home).env("HOME", home).stdin(Stdio::null());
        driver.env("PATH", env::var_os("PATH").unwrap_or_default());
        driver.envs(FIXED).envs(self.variables.iter().map(|(name, value)| (name, value)));
    }
}
