//! The project's own commands: what a person or CI says after `cargo xtask`. Each command has its file;
//! this one only reads the command line.
#![expect(clippy::print_stdout, reason = "a command line program speaks by printing")]

mod assets;
mod bench;
mod browser_half;
mod budgets;
mod build;
mod children;
mod crash;
mod guests;
mod hash;
mod nodejs;
mod packages;
mod progress;
mod project;
mod python;
mod sdk;
mod serve;
mod temporary_server;
mod test;
mod toolchain;
mod wasm_std;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use lexopt::prelude::{Long, Short, Value, ValueExt};

use crate::project::Project;

const USAGE: &str = "\
cargo xtask serve [--port N | --addr IP:PORT]   builds what is missing, then serves the site
cargo xtask test [--list | --only STEP]         everything that CI runs
cargo xtask build                               release build of both halves, with sizes against the budgets
cargo xtask bench [--only load|growth|embedded] Thud beside nginx, as it grows, and its sandbox
cargo xtask guests                              rebuilds the guests of the embedded sandbox";

fn main() -> ExitCode {
    let outcome = read_command(std::env::args_os().skip(1)).and_then(run);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) if children::interrupted() => ExitCode::from(children::INTERRUPTED_CODE),
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// What was asked for.
#[derive(Debug, PartialEq)]
enum Command {
    Help,
    Serve(SocketAddr),
    Build,
    Test(test::Selection),
    Bench(Option<bench::Part>),
    Guests,
}

fn run(command: Command) -> Result<()> {
    children::end_on_signal()?;
    match command {
        Command::Help => {
            println!("{USAGE}");
            Ok(())
        }
        Command::Serve(address) => serve::run(&Project::find()?, address),
        Command::Build => build::run(&Project::find()?),
        Command::Test(selection) => test::run(&Project::find()?, &selection),
        Command::Bench(only) => bench::run(&Project::find()?, only),
        Command::Guests => guests::run(&Project::find()?),
    }
}

fn read_command(arguments: impl Iterator<Item = OsString>) -> Result<Command> {
    let mut parser = lexopt::Parser::from_args(arguments);
    let name = match parser.next()? {
        None | Some(Long("help") | Short('h')) => return Ok(Command::Help),
        Some(Value(name)) => name.string()?,
        Some(other) => return Err(other.unexpected().into()),
    };
    match name.as_str() {
        "help" => end(parser, Command::Help),
        "serve" => read_serve(parser),
        "build" => end(parser, Command::Build),
        "test" => read_test(parser),
        "bench" => read_bench(parser),
        "guests" => end(parser, Command::Guests),
        other => bail!("there is no command {other:?}, only serve, test, build, bench and guests"),
    }
}

fn read_serve(mut parser: lexopt::Parser) -> Result<Command> {
    let mut address = serve::default_address()?;
    while let Some(argument) = parser.next()? {
        match argument {
            Long("port") | Short('p') => {
                let port = parser.value()?.parse();
                address.set_port(port.map_err(|_| anyhow!("--port wants a number up to 65535"))?);
            }
            Long("addr") => {
                let given = parser.value()?.parse();
                address = given.map_err(|_| anyhow!("--addr wants IP:PORT"))?;
            }
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(Command::Serve(address))
}

fn read_test(mut parser: lexopt::Parser) -> Result<Command> {
    let mut selection = test::Selection::All;
    while let Some(argument) = parser.next()? {
        selection = match argument {
            Long("list") => test::Selection::List,
            Long("only") => test::Selection::Only(parser.value()?.string()?),
            other => return Err(other.unexpected().into()),
        };
    }
    Ok(Command::Test(selection))
}

fn read_bench(mut parser: lexopt::Parser) -> Result<Command> {
    let mut only = None;
    while let Some(argument) = parser.next()? {
        only = match argument {
            Long("only") => Some(bench::Part::parse(&parser.value()?.string()?)?),
            other => return Err(other.unexpected().into()),
        };
    }
    Ok(Command::Bench(only))
}

/// Refuses whatever follows a command that takes no options.
fn end(mut parser: lexopt::Parser, command: Command) -> Result<Command> {
    match parser.next()? {
        None => Ok(command),
        Some(argument) => Err(argument.unexpected().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Command> {
        read_command(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn a_port_is_taken_from_the_command_line() {
        let Ok(Command::Serve(address)) = read("serve --port 4100") else {
            panic!("not a serve command");
        };
        assert_eq!(address.port(), 4100);
    }

    #[test]
    fn an_address_is_taken_from_the_command_line() {
        let Ok(Command::Serve(address)) = read("serve --addr [::1]:80") else {
            panic!("not a serve command");
        };
        assert_eq!(address.to_string(), "[::1]:80");
    }

    #[test]
    fn a_port_that_is_none_is_refused() {
        assert!(read("serve --port 70000").is_err());
        assert!(read("serve --port x").is_err());
        assert!(read("serve --port").is_err());
    }

    #[test]
    fn one_step_can_be_chosen() {
        let chosen = test::Selection::Only("format".to_owned());
        assert_eq!(read("test --only format").ok(), Some(Command::Test(chosen)));
    }

    #[test]
    fn one_part_can_be_measured() {
        assert_eq!(read("bench").ok(), Some(Command::Bench(None)));
        let growth = Command::Bench(Some(bench::Part::Growth));
        assert_eq!(read("bench --only growth").ok(), Some(growth));
        let embedded = Command::Bench(Some(bench::Part::Embedded));
        assert_eq!(read("bench --only embedded").ok(), Some(embedded));
    }

    #[test]
    fn unknown_words_are_refused() {
        assert!(read("brew").is_err());
        assert!(read("build --fast").is_err());
        assert!(read("bench --only speed").is_err());
    }
}
