//! `cargo xtask test`: everything that CI runs, in order, up to the first failure. What each step does is one function
//! here; how things are built is not.

use std::cell::OnceCell;
use std::env;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::build::{self, Effort};
use crate::children::run as run_child;
use crate::nodejs::NodeJs;
use crate::progress::step;
use crate::project::Project;
use crate::temporary_server::TemporaryServer;
use crate::toolchain::{self, Toolchain};
use crate::{budgets, crash, guests, packages, sdk};

/// The browser by the names that systems give it; the first is Debian's package too.
const CHROMIUM_NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Which steps to run.
#[derive(Debug, PartialEq)]
pub enum Selection {
    /// All, in order.
    All,
    /// None; only say what there is.
    List,
    /// The one of this name.
    Only(String),
}

struct Step {
    name: &'static str,
    about: &'static str,
    run: fn(&Workshop) -> Result<()>,
}

const STEPS: [Step; 9] = [
    Step { name: "format", about: "every file is formatted", run: format },
    Step {
        name: "lint",
        about: "clippy has no word against the server half, tests and xtask",
        run: lint,
    },
    Step { name: "lint-browser", about: "nor against the browser half", run: lint_browser },
    Step { name: "unit", about: "every Rust test", run: unit },
    Step {
        name: "guests",
        about: "the guests of the embedded sandbox are what their sources make",
        run: guests,
    },
    Step {
        name: "size",
        about: "the browser half and the stylesheet fit their budgets",
        run: size,
    },
    Step {
        name: "crash",
        about: "a server that is killed between any two steps of a run leaves nothing behind",
        run: |workshop| crash::run(workshop.project, workshop.both_halves()?),
    },
    Step {
        name: "sdk",
        about: "the official clients of E2B and Daytona accept the stand-ins",
        run: |workshop| sdk::run(workshop.project, workshop.both_halves()?),
    },
    Step {
        name: "browser",
        about: "the site in a browser, with scripts and without",
        run: browser,
    },
];

/// Runs the chosen steps and says how long each took.
pub fn run(project: &Project, selection: &Selection) -> Result<()> {
    let chosen: Vec<&Step> = match selection {
        Selection::All => STEPS.iter().collect(),
        Selection::Only(name) => STEPS.iter().filter(|step| step.name == name).collect(),
        Selection::List => {
            for step in &STEPS {
                println!("{:<14} {}", step.name, step.about);
            }
            return Ok(());
        }
    };
    if chosen.is_empty() {
        bail!("there is no such step; `cargo xtask test --list` names them");
    }
    let workshop = Workshop { project, both_halves: OnceCell::new() };
    let mut times = Vec::new();
    for Step { name, about, run } in chosen {
        step(&format!("Step {name}: {about}"));
        let started = Instant::now();
        let outcome = run(&workshop);
        times.push((*name, started.elapsed()));
        if outcome.is_err() {
            print_times(&times);
            return outcome
                .with_context(|| format!("step {name} (alone: cargo xtask test --only {name})"));
        }
    }
    print_times(&times);
    Ok(())
}

fn print_times(times: &[(&str, Duration)]) {
    println!();
    for (name, time) in times {
        println!("{name:<14} {:>5} s", time.as_secs());
    }
}

/// What the steps share.
struct Workshop<'a> {
    project: &'a Project,
    both_halves: OnceCell<Toolchain>,
}

impl Workshop<'_> {
    /// The compiler of both halves, prepared when first needed.
    fn both_halves(&self) -> Result<&Toolchain> {
        if let Some(toolchain) = self.both_halves.get() {
            return Ok(toolchain);
        }
        let toolchain = toolchain::for_both_halves(self.project)?;
        Ok(self.both_halves.get_or_init(|| toolchain))
    }

    fn active_cargo(&self, arguments: &str) -> Command {
        let mut cargo = Toolchain::active(self.project).cargo(self.project);
        cargo.args(arguments.split_whitespace());
        cargo
    }
}

fn format(workshop: &Workshop) -> Result<()> {
    run_child(
        &mut workshop.active_cargo("fmt --all --check"),
        "the format differs: run cargo fmt --all",
    )
}

fn lint(workshop: &Workshop) -> Result<()> {
    run_child(
        &mut workshop.active_cargo("clippy --workspace --all-targets -- -D warnings"),
        "clippy, server half",
    )
}

fn lint_browser(workshop: &Workshop) -> Result<()> {
    // On this machine's own target: types are the same, and no wasm target is needed.
    let arguments =
        "clippy --package thud --lib --no-default-features --features hydrate -- -D warnings";
    run_child(&mut workshop.active_cargo(arguments), "clippy, browser half")
}

fn unit(workshop: &Workshop) -> Result<()> {
    // Each package by the compiler that has built its dependencies already or will need them built.
    run_child(&mut workshop.active_cargo("test --package xtask"), "tests of xtask")?;
    let mut cargo = workshop.both_halves()?.cargo(workshop.project);
    run_child(cargo.args(["test", "--package", "thud"]), "tests of thud")
}

fn guests(workshop: &Workshop) -> Result<()> {
    guests::check(workshop.project, workshop.both_halves()?)
}

fn size(workshop: &Workshop) -> Result<()> {
    build::site(workshop.project, workshop.both_halves()?, Effort::Release)?;
    budgets::check(&workshop.project.site())
}

fn browser(workshop: &Workshop) -> Result<()> {
    let project = workshop.project;
    let toolchain = workshop.both_halves()?;
    let node = NodeJs::find().context(
        "the browser tests want Node.js 20 or newer, with npm: install it and start again",
    )?;
    let chromium = match env::var_os("CHROMIUM") {
        Some(program) => program.into(),
        None => packages::find_or_install(&CHROMIUM_NAMES, "for the browser tests")?,
    };
    build::site(project, toolchain, Effort::Release)?;
    let program = build::server_with_standins(project, toolchain)?;

    step("Fetching the browser tests' packages");
    let folder = project.root.join("end2end");
    node.fetch(&folder, "fetching the browser tests' packages by npm")?;

    let (server, token) = TemporaryServer::start_with_standins(project, &program)?;
    let address = format!("http://{}", server.address);
    step(&format!("Running the browser tests against {address}"));
    let mut playwright = node.script(Path::new("node_modules/@playwright/test/cli.js"));
    playwright.arg("test").current_dir(&folder);
    playwright.env("THUD_BASE_URL", address).env("CHROMIUM", chromium).env("THUD_TOKEN", token);
    run_child(&mut playwright, "browser tests")
}
