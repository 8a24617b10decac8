//! Node.js, where it is installed: what the lockfiles of three folders name is fetched and run by it. Neither Node.js
//! itself nor any install script of a package is run unasked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Result;

use crate::children::run;
use crate::project::find_program;

/// Node.js and its package manager.
pub struct NodeJs {
    node: PathBuf,
    npm: PathBuf,
}

impl NodeJs {
    /// Finds both on the `PATH`.
    pub fn find() -> Option<Self> {
        Some(Self { node: find_program("node")?, npm: find_program("npm")? })
    }

    /// Fetches exactly what the folder's lockfile names, unless that is there already.
    pub fn fetch(&self, folder: &Path, doing: &str) -> Result<()> {
        let lock = fs::read(folder.join("package-lock.json"))?;
        // In the folder that npm empties first: it stands for a whole one.
        let fetched = folder.join("node_modules/.fetched-lock.json");
        if fs::read(&fetched).is_ok_and(|earlier| earlier == lock) {
            return Ok(());
        }
        let mut npm = Command::new(&self.npm);
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder);
        run(npm.stdout(Stdio::null()), doing)?;
        Ok(fs::write(fetched, lock)?)
    }

    /// A command that runs a script.
    pub fn script(&self, path: &Path) -> Command {
        let mut node = Command::new(&self.node);
        node.arg(path);
        node
    }
}
