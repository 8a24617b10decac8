//! The browser's standard library where `rustup` cannot bring it: built once from the distribution's sources, into our
//! cache, so that the system's own folders stay as they are. Which compiler is taken is decided elsewhere.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::children::run;
use crate::progress::step;
use crate::project::Project;
use crate::toolchain::{Toolchain, WASM_TARGET};

/// Builds the standard library with an empty crate and puts its parts where a sysroot has them.
pub fn build(project: &Project, sysroot: &Path) -> Result<()> {
    step("Building the wasm standard library, once");
    let cache = sysroot.parent().context("a sysroot has a parent folder")?;
    fs::create_dir_all(cache).with_context(|| format!("{} cannot be written", cache.display()))?;
    let work = tempfile::Builder::new().prefix("building-").tempdir_in(cache)?;
    let manifest = "[package]\nname = \"empty\"\nedition = \"2024\"\n[lib]\npath = \"empty.rs\"\n[workspace]\n";
    fs::write(work.path().join("Cargo.toml"), manifest)?;
    fs::write(work.path().join("empty.rs"), "#![no_std]\n")?;

    let mut toolchain = Toolchain::distribution(project, sysroot);
    toolchain.target = work.path().join("target");
    let mut cargo = toolchain.cargo(project);
    cargo.current_dir(work.path());
    cargo.args(["build", "--release", "--target", WASM_TARGET]);
    cargo.args(["-Z", "build-std=std,panic_abort,panic_unwind"]);
    // Building the standard library is unstable; with the compiler's own sources it is what its makers do.
    cargo.env("RUSTC_BOOTSTRAP", "1");
    cargo.env_remove("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS");
    run(&mut cargo, "building the wasm standard library")?;

    let finished = work.path().join("sysroot");
    let shelf = libraries(&finished);
    fs::create_dir_all(&shelf)?;
    for entry in fs::read_dir(toolchain.target.join(WASM_TARGET).join("release/deps"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rlib") {
            let name = path.file_name().context("a library has a name")?;
            if !name.to_string_lossy().starts_with("libempty-") {
                fs::copy(&path, shelf.join(name))?;
            }
        }
    }
    // Last and at once: what has this name is whole.
    fs::rename(&finished, sysroot)?;
    Ok(())
}

/// Where a sysroot has the libraries of the browser's target.
pub fn libraries(sysroot: &Path) -> PathBuf {
    sysroot.join("lib/rustlib").join(WASM_TARGET).join("lib")
}

/// The sysroot in our cache, keyed by the compiler's whole version: a library works only with the compiler that
/// built it.
pub fn sysroot(project: &Project, version: &str) -> PathBuf {
    let key: String = version
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' })
        .collect();
    project.cache.join("wasm-std").join(key)
}
