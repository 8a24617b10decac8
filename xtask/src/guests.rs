//! `cargo xtask guests`: rebuilds the two guests of the embedded sandbox (`guests/`) from packages that are pinned by
//! hash; and the step of `cargo xtask test` that holds the guests in the repository against rebuilt ones.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::children::run as run_child;
use crate::hash::hash;
use crate::progress::step;
use crate::project::Project;
use crate::python::{Environment, Wanted};
use crate::toolchain::Toolchain;

const PYTHON: &str = "python.wasm";
const JAVASCRIPT: &str = "qjs.wasm";
const PYTHON_SOURCES: [&str; 3] = ["app.py", "preload.py", "runner.wit"];
const SUMS: &str = "SHA256SUMS";
/// The oldest minor version of Python 3 that the tools run on.
const PYTHON_OLDEST: u32 = 8;
/// As small as zstd gets without special settings for whoever unpacks it.
const LEVEL: i32 = 19;

/// How `qjs` is compiled, in its sources; then `-o` and the file.
const QUICKJS: &str = "-target wasm32-wasi -O2 -s -DNDEBUG -D_GNU_SOURCE -DQUICKJS_NG_BUILD -DQJS_BUILD_LIBC \
     -D_WASI_EMULATED_PROCESS_CLOCKS -D_WASI_EMULATED_SIGNAL -Wl,-z,stack-size=4194304 \
     qjs.c gen/repl.c gen/standalone.c quickjs.c libregexp.c libunicode.c dtoa.c quickjs-libc.c \
     -lwasi-emulated-process-clocks -lwasi-emulated-signal";

/// Rebuilds both guests and puts them into the repository.
pub fn run(project: &Project) -> Result<()> {
    let built = build(project)?;
    let folder = project.root.join("guests");
    let mut sums = String::new();
    for name in [PYTHON, JAVASCRIPT] {
        step(&format!("Compressing {name}"));
        let wasm = fs::read(built.join(name))?;
        writeln!(sums, "{}  {name}", hash(&wasm))?;
        fs::write(
            folder.join(name).with_extension("wasm.zst"),
            zstd::bulk::compress(&wasm, LEVEL)?,
        )?;
    }
    fs::write(folder.join(SUMS), &sums)?;
    print!("{sums}");
    Ok(())
}

/// Rebuilds both guests beside those in the repository, unless this very content of `guests/` was checked before: the
/// JavaScript guest must come out the same, the Python guest must pass the sandbox's tests.
pub fn check(project: &Project, toolchain: &Toolchain) -> Result<()> {
    let stamp = project.cache.join("guests-checked").join(digest(&project.root.join("guests"))?);
    if stamp.exists() {
        step("Nothing in guests/ has changed since they were checked on this machine");
        return Ok(());
    }
    let built = build(project)?;
    let sums = fs::read_to_string(project.root.join("guests").join(SUMS))?;
    let rebuilt = format!("{}  {JAVASCRIPT}", hash(&fs::read(built.join(JAVASCRIPT))?));
    if !sums.lines().any(|line| line == rebuilt) {
        bail!(
            "guests/{SUMS} differs from the rebuilt {rebuilt}; `cargo xtask guests` would put that in place"
        );
    }
    step("The JavaScript guest came out the same; testing the rebuilt Python guest");
    let mut tests = toolchain.cargo(project);
    tests.args(["test", "--package", "thud", "--lib", "router::embedded"]);
    run_child(tests.env("THUD_TEST_GUESTS", &built), "the sandbox's tests on the rebuilt guests")?;
    fs::create_dir_all(stamp.parent().context("a stamp lies in a folder")?)?;
    File::create(stamp)?;
    Ok(())
}

/// Builds both and gives the folder that they are in.
fn build(project: &Project) -> Result<PathBuf> {
    let built = project.target.join("guests");
    fs::create_dir_all(&built)?;
    let sources = project.root.join("guests");
    let wanted = Wanted {
        requirements: &sources.join("requirements.txt"),
        oldest: PYTHON_OLDEST,
        purpose: "to rebuild the guests of the embedded sandbox",
        hint: "(the wheels are for Linux on x86-64)",
    };
    let tools = Environment::with(&wanted, &project.cache.join("guest-tools"))?;

    step("Building the Python guest: the standard library is imported and a snapshot taken");
    let mut componentize = Command::new(tools.program("componentize-py"));
    componentize.args(["-d", "runner.wit", "-w", "runner", "componentize", "app", "-o"]);
    componentize.arg(built.join(PYTHON));
    // Of a copy: the guest writes compiled Python beside its sources.
    let copy = built.join("python-sources");
    fs::create_dir_all(&copy)?;
    for name in PYTHON_SOURCES {
        fs::copy(sources.join("python").join(name), copy.join(name))?;
    }
    run_child(componentize.current_dir(copy), "componentize-py")?;

    step("Fetching the sources of QuickJS-ng");
    let vendored = built.join("quickjs-sources");
    let mut vendor = Toolchain::active(project).cargo(project);
    vendor.args(["vendor", "--quiet", "--locked", "--manifest-path"]);
    vendor.arg(sources.join("javascript/Cargo.toml")).arg(&vendored);
    // It would tell how to configure cargo for these, which is not meant.
    run_child(vendor.stdout(Stdio::null()), "cargo vendor")?;

    step("Building the JavaScript guest");
    let mut zig = tools.python();
    zig.args(["-m", "ziglang", "cc"]).args(QUICKJS.split_whitespace());
    zig.arg("-o").arg(built.join(JAVASCRIPT));
    run_child(zig.current_dir(vendored.join("rquickjs-sys/quickjs")), "zig cc")?;
    Ok(built)
}

/// A hash over every file below a folder, and their names.
fn digest(folder: &Path) -> Result<String> {
    let mut files = BTreeMap::new();
    collect(folder, &mut files)?;
    let mut sums = String::new();
    for (path, content) in files {
        let name = path.strip_prefix(folder)?.to_string_lossy().into_owned();
        writeln!(sums, "{}  {name}", hash(&content))?;
    }
    Ok(hash(sums.as_bytes()))
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> Result<()> {
    for entry in
        fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?
    {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            let content = fs::read(&path)?;
            files.insert(path, content);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_change_of_any_file_changes_the_digest() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/b");
        fs::create_dir(folder.path().join("a")).unwrap();
        let digest = || digest(folder.path()).unwrap();
        let mut seen = vec![digest()];
        fs::write(&file, "1").unwrap();
        seen.push(digest());
        fs::write(&file, "2").unwrap();
        seen.push(digest());
        fs::rename(&file, folder.path().join("a/c")).unwrap();
        seen.push(digest());
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 4);
    }
}
