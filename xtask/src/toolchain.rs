//! Which compiler builds both halves. One must build both: the names of islands are hashed by it.
//!
//! The toolchain at hand is taken where it has the wasm target or `rustup` can add it. Where it cannot (only package
//! mirrors within reach), Debian and Ubuntu have a compiler with the sources of its standard library.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::children::{ask, run_within};
use crate::progress::step;
use crate::project::{Project, find_program};
use crate::{packages, wasm_std};

/// The browser's target.
pub const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// The distribution's compiler, cargo, sources of the standard library and linker for wasm.
const DISTRIBUTION_PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld-22"];
const DISTRIBUTION_CARGO: &str = "/usr/bin/cargo";
const DISTRIBUTION_RUSTC: &str = "/usr/bin/rustc";
const DISTRIBUTION_RUSTDOC: &str = "/usr/bin/rustdoc";
const DISTRIBUTION_WASM_LINKER: &str = "/usr/bin/wasm-ld-22";

/// How long `rustup` may take over some 20 MB.
const RUSTUP_LIMIT: Duration = Duration::from_mins(2);

/// A compiler and the folder that it builds into.
pub struct Toolchain {
    cargo: PathBuf,
    /// What cargo's environment says to use it.
    variables: Vec<(&'static str, OsString)>,
    /// What it must not inherit.
    cleared: &'static [&'static str],
    /// Where its results lie; never another compiler's folder.
    pub target: PathBuf,
}

impl Toolchain {
    /// The toolchain that runs this program; good for all that needs no wasm.
    pub fn active(project: &Project) -> Self {
        Self {
            cargo: env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from),
            variables: Vec::new(),
            cleared: &[],
            target: project.target.clone(),
        }
    }

    /// The distribution's, with this sysroot for the browser half.
    pub fn distribution(project: &Project, sysroot: &Path) -> Self {
        let mut sysroot_flag = OsString::from("--sysroot=");
        sysroot_flag.push(sysroot);
        let variables = vec![
            ("RUSTC", DISTRIBUTION_RUSTC.into()),
            ("RUSTDOC", DISTRIBUTION_RUSTDOC.into()),
            ("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", DISTRIBUTION_WASM_LINKER.into()),
            ("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", sysroot_flag),
        ];
        Self {
            cargo: DISTRIBUTION_CARGO.into(),
            variables,
            // The first two are the other toolchain's; the rest would override the sysroot.
            cleared: &[
                "RUSTUP_TOOLCHAIN",
                "LD_LIBRARY_PATH",
                "RUSTFLAGS",
                "CARGO_ENCODED_RUSTFLAGS",
            ],
            target: project.target.join("distribution"),
        }
    }

    /// A cargo command in the checkout.
    pub fn cargo(&self, project: &Project) -> Command {
        let mut command = Command::new(&self.cargo);
        command.current_dir(&project.root).env("CARGO_TARGET_DIR", &self.target);
        for name in self.cleared {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// Prepares the compiler for both halves and says which it is and why.
pub fn for_both_halves(project: &Project) -> Result<Toolchain> {
    let mut facts = Facts::probe(project);
    loop {
        match choose(facts) {
            Choice::Active => {
                step("Both halves by the active toolchain: it has the wasm target");
                return Ok(Toolchain::active(project));
            }
            Choice::AddTarget => {
                step("Asking rustup for the wasm target");
                facts.rustup = Rustup::Refused;
                facts.active_has_wasm = add_target();
            }
            Choice::InstallDistribution => {
                packages::install(
                    &DISTRIBUTION_PACKAGES,
                    "to build for wasm, since rustup cannot get the target",
                )?;
                facts.distribution = Distribution::Installed;
            }
            Choice::Distribution => {
                let version = ask(Command::new(DISTRIBUTION_RUSTC).arg("--version"))
                    .context("rustc-web does not run")?;
                step(&format!(
                    "Both halves by the distribution's {version}: the active toolchain has no wasm target"
                ));
                let sysroot = wasm_std::sysroot(project, &version);
                if !sysroot.is_dir() {
                    wasm_std::build(project, &sysroot)?;
                }
                return Ok(Toolchain::distribution(project, &sysroot));
            }
            Choice::Nothing => bail!(
                "no wasm target to be had: run `rustup target add {WASM_TARGET}` where the network allows it \
                 (or, on Debian and Ubuntu, install {})",
                DISTRIBUTION_PACKAGES.join(" ")
            ),
        }
    }
}

/// What was found out before choosing.
#[derive(Clone, Copy)]
struct Facts {
    active_has_wasm: bool,
    rustup: Rustup,
    distribution: Distribution,
}

#[derive(Clone, Copy)]
enum Rustup {
    Missing,
    Untried,
    Refused,
}

#[derive(Clone, Copy)]
enum Distribution {
    Unknown,
    Offered,
    Installed,
    /// Installed, and the standard library was built on an earlier day.
    Prepared,
}

#[derive(Debug, PartialEq)]
enum Choice {
    Active,
    AddTarget,
    Distribution,
    InstallDistribution,
    Nothing,
}

impl Facts {
    fn probe(project: &Project) -> Self {
        let sysroot = ask(Command::new("rustc").args(["--print", "sysroot"]));
        let active_has_wasm =
            sysroot.is_some_and(|sysroot| wasm_std::libraries(Path::new(&sysroot)).is_dir());
        let rustup =
            if find_program("rustup").is_some() { Rustup::Untried } else { Rustup::Missing };
        let distribution = if !packages::manager_present() {
            Distribution::Unknown
        } else if !packages::installed(&DISTRIBUTION_PACKAGES) {
            Distribution::Offered
        } else {
            let version = ask(Command::new(DISTRIBUTION_RUSTC).arg("--version"));
            let prepared =
                version.is_some_and(|version| wasm_std::sysroot(project, &version).is_dir());
            if prepared { Distribution::Prepared } else { Distribution::Installed }
        };
        Self { active_has_wasm, rustup, distribution }
    }
}

fn choose(facts: Facts) -> Choice {
    match (facts.active_has_wasm, facts.rustup, facts.distribution) {
        (true, _, _) => Choice::Active,
        // Before rustup: it refused on the day this was prepared, and asking again takes time.
        (_, _, Distribution::Prepared) => Choice::Distribution,
        (_, Rustup::Untried, _) => Choice::AddTarget,
        (_, _, Distribution::Installed) => Choice::Distribution,
        (_, _, Distribution::Offered) => Choice::InstallDistribution,
        (_, Rustup::Missing | Rustup::Refused, Distribution::Unknown) => Choice::Nothing,
    }
}

fn add_target() -> bool {
    let mut command = Command::new("rustup");
    command
        .args(["target", "add", WASM_TARGET])
        .env("RUSTUP_MAX_RETRIES", "1")
        .stdin(Stdio::null());
    // Its own message would read as ours; a refusal only means that another way is taken.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    run_within(RUSTUP_LIMIT, &mut command, "rustup target add").is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(active_has_wasm: bool, rustup: Rustup, distribution: Distribution, expected: Choice) {
        assert_eq!(choose(Facts { active_has_wasm, rustup, distribution }), expected);
    }

    #[test]
    fn a_toolchain_that_has_the_target_is_taken() {
        check(true, Rustup::Missing, Distribution::Prepared, Choice::Active);
        check(true, Rustup::Untried, Distribution::Unknown, Choice::Active);
    }

    #[test]
    fn rustup_is_asked_before_the_distribution_but_only_once() {
        check(false, Rustup::Untried, Distribution::Installed, Choice::AddTarget);
        check(false, Rustup::Untried, Distribution::Offered, Choice::AddTarget);
        check(false, Rustup::Refused, Distribution::Installed, Choice::Distribution);
        check(false, Rustup::Refused, Distribution::Offered, Choice::InstallDistribution);
    }

    #[test]
    fn what_was_prepared_before_is_taken_without_asking_rustup_again() {
        check(false, Rustup::Untried, Distribution::Prepared, Choice::Distribution);
    }

    #[test]
    fn without_rustup_and_distribution_there_is_no_way() {
        check(false, Rustup::Missing, Distribution::Unknown, Choice::Nothing);
        check(false, Rustup::Refused, Distribution::Unknown, Choice::Nothing);
    }
}
