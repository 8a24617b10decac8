//! The browser half: cargo's wasm, its glue by wasm-bindgen as a library, then `wasm-opt` where Node.js is.
//! Nothing here knows the site's other files.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

use crate::build::Effort;
use crate::children::run;
use crate::nodejs::NodeJs;
use crate::progress::step;
use crate::project::Project;
use crate::toolchain::{Toolchain, WASM_TARGET};

/// The name that the pages ask for, in `pkg/`.
pub const NAME: &str = "thud";

/// What wasm-opt may use: what every browser with islands has. Naming them matters: all of its
/// features together include encodings that browsers refuse.
const WASM_OPT_ARGUMENTS: [&str; 9] = [
    "-Oz",
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-call-indirect-overlong",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

const WASM_OPT_PACKAGE: &str = include_str!("../binaryen/package.json");
const WASM_OPT_LOCK: &str = include_str!("../binaryen/package-lock.json");

/// Builds the browser half and gives the folder that holds it.
pub fn build(project: &Project, toolchain: &Toolchain, effort: Effort) -> Result<PathBuf> {
    step("Building the browser half");
    let (profile, profile_folder) = match effort {
        Effort::Quick => ("dev", "debug"),
        Effort::Release => ("wasm-release", "wasm-release"),
    };
    let mut cargo = toolchain.cargo(project);
    cargo.args(["build", "--package", "thud", "--lib"]);
    cargo.args(["--no-default-features", "--features", "hydrate"]);
    cargo.args(["--target", WASM_TARGET, "--profile", profile]);
    run(&mut cargo, "building the browser half")?;

    let compiled =
        fs::read(toolchain.target.join(WASM_TARGET).join(profile_folder).join("thud.wasm"))?;
    let optimizer = match effort {
        Effort::Quick => None,
        Effort::Release => Optimizer::find(project)?,
    };
    let folder = project.target.join("browser-half").join(profile);
    let stamp = stamp(&compiled, optimizer.is_some());
    let stamp_file = folder.join("stamp");
    if fs::read_to_string(&stamp_file).is_ok_and(|earlier| earlier == stamp) {
        return Ok(folder.join("pkg"));
    }

    step("Binding the browser half to JavaScript");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let pkg = folder.join("pkg");
    fs::create_dir_all(&pkg)?;
    bind(compiled, &pkg)?;
    if let Some(optimizer) = optimizer {
        step("Making the wasm smaller");
        optimizer.run(&pkg.join(format!("{NAME}.wasm")))?;
    }
    fs::write(stamp_file, stamp)?;
    Ok(pkg)
}

/// What the result depends on; equal stamps mean an equal result.
fn stamp(compiled: &[u8], optimized: bool) -> String {
    let mut hasher = DefaultHasher::new();
    (compiled, optimized, WASM_OPT_ARGUMENTS, WASM_OPT_LOCK).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn bind(compiled: Vec<u8>, pkg: &Path) -> Result<()> {
    Bindgen::new()
        .input_bytes(NAME, compiled)
        .out_name(NAME)
        .web(true)?
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(pkg)
        .context("wasm-bindgen failed")?;
    // One name for all that is ours, and the glue's own default points to it.
    let wasm = format!("{NAME}.wasm");
    let given_name = format!("{NAME}_bg.wasm");
    fs::rename(pkg.join(&given_name), pkg.join(&wasm))?;
    let script = pkg.join(format!("{NAME}.js"));
    fs::write(&script, fs::read_to_string(&script)?.replace(&given_name, &wasm))?;
    Ok(())
}

/// wasm-opt as Node.js runs it.
struct Optimizer {
    node: NodeJs,
    program: PathBuf,
}

impl Optimizer {
    /// Finds wasm-opt, fetched once into the cache; none where there is no Node.js.
    fn find(project: &Project) -> Result<Option<Self>> {
        let Some(node) = NodeJs::find() else {
            step("No Node.js with npm: the wasm stays about twice as large as it could be");
            return Ok(None);
        };
        let folder = project.cache.join("wasm-opt");
        let program = folder.join("node_modules/binaryen/bin/wasm-opt");
        let lock = folder.join("package-lock.json");
        let present = program.is_file()
            && fs::read_to_string(&lock).is_ok_and(|earlier| earlier == WASM_OPT_LOCK);
        if !present {
            step("Fetching wasm-opt, once");
            fs::create_dir_all(&folder)?;
            fs::write(folder.join("package.json"), WASM_OPT_PACKAGE)?;
            fs::write(&lock, WASM_OPT_LOCK)?;
            node.fetch(&folder, "fetching wasm-opt by npm")?;
        }
        Ok(Some(Self { node, program }))
    }

    fn run(&self, wasm: &Path) -> Result<()> {
        let smaller = wasm.with_extension("smaller");
        let mut command = self.node.script(&self.program);
        command.args(WASM_OPT_ARGUMENTS).arg(wasm).arg("-o").arg(&smaller);
        run(&mut command, "wasm-opt")?;
        fs::rename(smaller, wasm)?;
        Ok(())
    }
}
