//! `cargo xtask build`: both halves and the stylesheet, for release or quickly. What each half is made of lies
//! in `browser_half.rs` and `assets.rs`.

use std::path::PathBuf;

use anyhow::Result;

use crate::children::run as run_child;
use crate::progress::step;
use crate::project::Project;
use crate::toolchain::{self, Toolchain};
use crate::{assets, browser_half, budgets};

/// How much time a build may take for a smaller and faster result.
#[derive(Clone, Copy, PartialEq)]
pub enum Effort {
    /// For a look at the site: little optimised, nothing compressed.
    Quick,
    /// For visitors.
    Release,
}

/// Builds all for release and prints the sizes against the budgets.
pub fn run(project: &Project) -> Result<()> {
    let toolchain = toolchain::for_both_halves(project)?;
    site(project, &toolchain, Effort::Release)?;
    let program = server(project, &toolchain, Effort::Release)?;
    println!(
        "\nThe server is {}, its files are in {}",
        program.display(),
        project.site().display()
    );
    budgets::check(&project.site())
}

/// Builds the server and gives the program's path.
pub fn server(project: &Project, toolchain: &Toolchain, effort: Effort) -> Result<PathBuf> {
    server_with(project, toolchain, effort, &[])
}

/// Builds the server with providers that follow a script, for tests.
pub fn server_with_standins(project: &Project, toolchain: &Toolchain) -> Result<PathBuf> {
    server_with(project, toolchain, Effort::Quick, &["--features", "standins"])
}

fn server_with(
    project: &Project,
    toolchain: &Toolchain,
    effort: Effort,
    features: &[&str],
) -> Result<PathBuf> {
    step("Building the server");
    let mut cargo = toolchain.cargo(project);
    cargo.args(["build", "--package", "thud", "--bin", "thud"]).args(features);
    let folder = match effort {
        Effort::Quick => "debug",
        Effort::Release => {
            cargo.arg("--release");
            "release"
        }
    };
    run_child(&mut cargo, "building the server")?;
    Ok(toolchain.target.join(folder).join("thud"))
}

/// Builds the browser half and the stylesheet and lays all that the server serves from files.
pub fn site(project: &Project, toolchain: &Toolchain, effort: Effort) -> Result<()> {
    let browser_half = browser_half::build(project, toolchain, effort)?;
    step("Laying the site's files");
    assets::lay(project, &browser_half, effort)
}
