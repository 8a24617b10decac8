//! Python packages that a requirements file pins by hash, in a virtual environment of their own. Python itself comes from the
//! system; what is done with the packages is told where they are asked for.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::children::{ask, run as run_child};
use crate::hash::hash;
use crate::packages;
use crate::progress::step;
use crate::project::find_program;

/// The names that systems give to Python, the first of them Debian's package too.
const NAMES: [&str; 5] = ["python3", "python3.14", "python3.13", "python3.12", "python3.11"];

/// Packages, and what they need.
pub struct Wanted<'a> {
    /// The file that names each with its version and hashes; no others are installed.
    pub requirements: &'a Path,
    /// The oldest minor version of Python 3 that they run on.
    pub oldest: u32,
    /// Completes "needed …".
    pub purpose: &'a str,
    /// Completes "failed: pip install …" where not every system is served; else empty.
    pub hint: &'a str,
}

/// A virtual environment.
pub struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// The packages in a folder below `parent`, installed unless these very ones are there already.
    pub fn with(wanted: &Wanted, parent: &Path) -> Result<Self> {
        let pinned = hash(&fs::read(wanted.requirements)?);
        let environment = Self { folder: parent.join(&pinned[..16]) };
        let done = environment.folder.join("complete");
        // A system's new Python leaves links behind that lead nowhere.
        if done.exists() && ask(environment.python().arg("--version")).is_some() {
            return Ok(environment);
        }
        step(&format!("Installing Python packages {}", wanted.purpose));
        let python = system_python(wanted)?;
        // Debian and Ubuntu have Python's own installer apart.
        let mut look = Command::new(&python);
        look.args(["-c", "import ensurepip, venv"]).stderr(Stdio::null());
        if ask(&mut look).is_none() {
            packages::install(&["python3-venv"], wanted.purpose)?;
        }
        let mut venv = Command::new(python);
        venv.args(["-m", "venv", "--clear"]).arg(&environment.folder);
        run_child(&mut venv, "python3 -m venv")?;
        let mut pip = environment.python();
        pip.args(["-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps"]);
        pip.args(["--only-binary", ":all:", "-r"]).arg(wanted.requirements);
        run_child(&mut pip, format!("pip install {}", wanted.hint).trim_end())?;
        File::create(done)?;
        Ok(environment)
    }

    /// A command that runs its Python.
    pub fn python(&self) -> Command {
        Command::new(self.program("python"))
    }

    /// A program that one of the packages brought.
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join("bin").join(name)
    }
}

/// The first Python on the `PATH` that is new enough; the system's package where there is none at all.
fn system_python(wanted: &Wanted) -> Result<PathBuf> {
    let test = format!("import sys; assert sys.version_info >= (3, {})", wanted.oldest);
    let is_new_enough = |python: &PathBuf| {
        ask(Command::new(python).args(["-c", &test]).stderr(Stdio::null())).is_some()
    };
    let found = || NAMES.iter().filter_map(|name| find_program(name)).find(is_new_enough);
    if let Some(python) = found() {
        return Ok(python);
    }
    packages::find_or_install(&NAMES, wanted.purpose)?;
    let Some(python) = found() else {
        bail!("Python 3.{} or newer is needed {}", wanted.oldest, wanted.purpose);
    };
    Ok(python)
}
