//! `cargo xtask test`: everything that CI runs, in order, up to the first failure. What each step does is one function
//! here; how things are built is not.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::build::{self, Effort};
use crate::children::run as run_child;
use crate::progress::step;
use crate::project::{Project, find_program};
use crate::server::Server;
use crate::toolchain::{self, Toolchain};
use crate::{assets, packages};

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
    run: fn(&Context) -> Result<()>,
}

const STEPS: [Step; 6] = [
    Step { name: "format", about: "every file is formatted", run: format },
    Step {
        name: "lint",
        about: "clippy has no word against the server half, tests and xtask",
        run: lint,
    },
    Step { name: "lint-browser", about: "nor against the browser half", run: lint_browser },
    Step { name: "unit", about: "every Rust test", run: unit },
    Step {
        name: "size",
        about: "the browser half and the stylesheet fit their budgets",
        run: size,
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
    let context = Context { project, both_halves: OnceCell::new() };
    let mut times = Vec::new();
    for Step { name, about, run } in chosen {
        step(&format!("Step {name}: {about}"));
        let started = Instant::now();
        let outcome = run(&context);
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
struct Context<'a> {
    project: &'a Project,
    both_halves: OnceCell<Toolchain>,
}

impl Context<'_> {
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

fn format(context: &Context) -> Result<()> {
    run_child(
        &mut context.active_cargo("fmt --all --check"),
        "the format differs: run cargo fmt --all",
    )
}

fn lint(context: &Context) -> Result<()> {
    run_child(
        &mut context.active_cargo("clippy --workspace --all-targets -- -D warnings"),
        "clippy, server half",
    )
}

fn lint_browser(context: &Context) -> Result<()> {
    // On this machine's own target: types are the same, and no wasm target is needed.
    let arguments =
        "clippy --package thud --lib --no-default-features --features hydrate -- -D warnings";
    run_child(&mut context.active_cargo(arguments), "clippy, browser half")
}

fn unit(context: &Context) -> Result<()> {
    // Each package by the compiler that has built its dependencies already or will need them built.
    run_child(&mut context.active_cargo("test --package xtask"), "tests of xtask")?;
    let mut cargo = context.both_halves()?.cargo(context.project);
    run_child(cargo.args(["test", "--package", "thud"]), "tests of thud")
}

fn size(context: &Context) -> Result<()> {
    build::site(context.project, context.both_halves()?, Effort::Release)?;
    assets::check_budgets(&context.project.site())
}

fn browser(context: &Context) -> Result<()> {
    let project = context.project;
    let toolchain = context.both_halves()?;
    let (Some(node), Some(npm)) = (find_program(&["node"]), find_program(&["npm"])) else {
        bail!("the browser tests want Node.js 20 or newer, with npm: install it and start again");
    };
    let chromium = find_chromium()?;
    build::site(project, toolchain, Effort::Release)?;
    let program = build::server(project, toolchain, Effort::Quick)?;

    step("Fetching the browser tests' packages");
    let folder = project.root.join("end2end");
    let mut fetch = Command::new(npm);
    fetch
        .arg("ci")
        .current_dir(&folder)
        .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
        .stdout(Stdio::null());
    run_child(&mut fetch, "npm ci in end2end")?;

    let server = Server::start(project, &program)?;
    step(&format!("Running the browser tests against http://{}", server.address));
    let mut playwright = Command::new(node);
    playwright
        .args(["node_modules/@playwright/test/cli.js", "test"])
        .current_dir(&folder)
        .env("THUD_BASE_URL", format!("http://{}", server.address))
        .env("CHROMIUM", chromium);
    run_child(&mut playwright, "browser tests")
}

fn find_chromium() -> Result<PathBuf> {
    let find = || find_program(&["chromium", "chromium-browser", "google-chrome"]);
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Ok(named.into());
    }
    if let Some(found) = find() {
        return Ok(found);
    }
    packages::install(&["chromium"], "for the browser tests")?;
    find().context("the package chromium brought no program of that name")
}
