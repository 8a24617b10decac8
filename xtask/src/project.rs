//! Where things are: the checkout, the build folder, the cache. Nothing here builds or writes.

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result};
use directories::ProjectDirs;

/// The folders that every command works in.
pub struct Project {
    /// The checkout.
    pub root: PathBuf,
    /// Cargo's build folder: `CARGO_TARGET_DIR` or `target` in the checkout.
    pub target: PathBuf,
    /// What outlives a build folder: the browser's standard library, wasm-opt.
    pub cache: PathBuf,
}

impl Project {
    /// Finds the folders from where cargo runs this program.
    pub fn find() -> Result<Self> {
        // The variable first: one build folder may serve several checkouts.
        let package = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = package.parent().context("xtask lies in no workspace")?.to_owned();
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => std::path::absolute(folder)?,
            None => root.join("target"),
        };
        let cache = platform_folders()?.cache_dir().to_owned();
        Ok(Self { root, target, cache })
    }

    /// The folder that the server serves files from.
    pub fn site(&self) -> PathBuf {
        self.target.join("site")
    }
}

/// The platform's folders for this project; the server asks for them by the same name.
pub fn platform_folders() -> Result<ProjectDirs> {
    ProjectDirs::from("", "", "thud").context("this user has no home folder")
}

/// The first program of this name on the `PATH`.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders = env::split_paths(&path)
        // Debian keeps servers where only root's path leads.
        .chain([PathBuf::from("/usr/sbin")]);
    folders.map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
}
