//! Packages of the system (Debian, Ubuntu): installed only as root where nobody can be asked, or after
//! a plain yes to the exact command. Never anything outside the distribution's own packages.

use std::io::{IsTerminal, Write, stdin, stdout};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::children::{ask, run};
use crate::progress::step;
use crate::project::find_program;

/// Finds a program of one of these names, if need be by installing the package called by the first of them.
pub fn find_or_install(names: &[&str], purpose: &str) -> Result<PathBuf> {
    let find = || names.iter().find_map(|name| find_program(name));
    if let Some(found) = find() {
        return Ok(found);
    }
    install(&names[..1], purpose)?;
    find().with_context(|| format!("the package {} brought no program of that name", names[0]))
}

/// Installs packages under the rule above; `purpose` completes "needed …".
pub fn install(packages: &[&str], purpose: &str) -> Result<()> {
    let root = rustix::process::geteuid().is_root();
    let command = command_line(packages, root);
    if find_program("apt-get").is_none() {
        bail!("{} needed {purpose}: install it and start again", packages.join(" "));
    }
    let someone_to_ask = stdin().is_terminal() && std::env::var_os("CI").is_none();
    match consent(root, someone_to_ask) {
        Consent::Given => {}
        Consent::Ask if agrees(&command, purpose)? => {}
        Consent::Ask | Consent::Refused => {
            bail!("needed {purpose}; run this, then start again: {command}")
        }
    }
    step(&format!("Installing {} ({purpose})", packages.join(" ")));
    let mut shell = Command::new("sh");
    // RUNLEVEL: a server that comes with a package must not start by itself.
    shell.args(["-c", &command]).env("DEBIAN_FRONTEND", "noninteractive").env("RUNLEVEL", "1");
    run(shell.stdout(Stdio::null()), &command)
}

/// Whether all these packages are installed.
pub fn installed(packages: &[&str]) -> bool {
    let query = ["--show", "--showformat", "${db:Status-Status}\n"];
    ask(Command::new("dpkg-query").args(query).args(packages).stderr(Stdio::null()))
        .is_some_and(|list| list.lines().all(|status| status == "installed"))
}

/// Whether this system has a package manager that could install them.
pub fn manager_present() -> bool {
    find_program("apt-get").is_some() && find_program("dpkg-query").is_some()
}

#[derive(Debug, PartialEq)]
enum Consent {
    Given,
    Ask,
    Refused,
}

fn consent(root: bool, someone_to_ask: bool) -> Consent {
    match (root, someone_to_ask) {
        (_, true) => Consent::Ask,
        (true, false) => Consent::Given,
        (false, false) => Consent::Refused,
    }
}

fn agrees(command: &str, purpose: &str) -> Result<bool> {
    print!("Needed {purpose}:\n  {command}\nRun this now? [y/N] ");
    stdout().flush()?;
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn command_line(packages: &[&str], root: bool) -> String {
    let sudo = if root { "" } else { "sudo " };
    let list = packages.join(" ");
    format!("{sudo}apt-get update && {sudo}apt-get install --yes --no-install-recommends {list}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_installed_without_a_yes_where_someone_can_be_asked() {
        assert_eq!(consent(true, true), Consent::Ask);
        assert_eq!(consent(false, true), Consent::Ask);
    }

    #[test]
    fn only_root_installs_where_nobody_can_be_asked() {
        assert_eq!(consent(true, false), Consent::Given);
        assert_eq!(consent(false, false), Consent::Refused);
    }

    #[test]
    fn the_command_shown_is_one_that_the_user_may_run() {
        assert!(
            command_line(&["a", "b"], false).starts_with("sudo apt-get update && sudo apt-get")
        );
        assert!(command_line(&["a", "b"], true).ends_with(" a b"));
    }
}
