//! The project's own commands: `cargo xtask serve` and `cargo xtask test`.
//!
//! Not here: anything that the site does. This is only how it is built, started and checked.

use std::process::{Command, ExitCode};
use std::time::Instant;

/// One check of `cargo xtask test`: its name and the cargo arguments that run it.
struct Step {
    name: &'static str,
    arguments: &'static [&'static str],
}

/// Everything that CI runs, in order.
const STEPS: &[Step] = &[
    Step { name: "format", arguments: &["fmt", "--all", "--check"] },
    Step {
        name: "clippy, server half",
        arguments: &["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"],
    },
    Step {
        name: "clippy, browser half",
        // The browser half type-checks on the host: no wasm target is needed to find its mistakes.
        arguments: &[
            "clippy",
            "--lib",
            "--no-default-features",
            "--features",
            "hydrate",
            "--",
            "--deny",
            "warnings",
        ],
    },
    Step { name: "tests", arguments: &["test", "--workspace"] },
];

const USAGE: &str = "usage: cargo xtask <command>

  serve    builds the site and starts it on http://127.0.0.1:3000 (THUD_ADDR changes the address)
  test     runs everything that CI runs";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["serve"] => serve(),
        ["test"] => test(),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Whether a command ran and succeeded.
fn succeeds(command: &mut Command) -> bool {
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("xtask: {} cannot be started: {error}", command.get_program().display());
            false
        }
    }
}

fn serve() -> ExitCode {
    eprintln!("xtask: building and starting the site; a first build takes some minutes");
    if succeeds(cargo().args(["run", "--package", "thud", "--", "serve"])) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn test() -> ExitCode {
    for step in STEPS {
        eprintln!("xtask: {} …", step.name);
        let begun = Instant::now();
        if !succeeds(cargo().args(step.arguments)) {
            eprintln!("xtask: {} failed: cargo {}", step.name, step.arguments.join(" "));
            return ExitCode::FAILURE;
        }
        eprintln!("xtask: {} passed in {} s", step.name, begun.elapsed().as_secs());
    }
    ExitCode::SUCCESS
}
