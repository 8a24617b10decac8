//! `cargo xtask serve`: from a bare Rust installation to the site in a browser. Builds quickly rather than small;
//! for visitors there is `build`.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, anyhow};

use crate::build::{self, Effort};
use crate::progress::step;
use crate::project::{Project, platform_folders};
use crate::toolchain;

const DEFAULT_ADDRESS: &str = "127.0.0.1:3000";

/// `THUD_ADDR`, as the server itself understands it, or port 3000 of this machine.
pub fn default_address() -> Result<SocketAddr> {
    let text = env::var("THUD_ADDR").unwrap_or_else(|_| DEFAULT_ADDRESS.to_owned());
    text.parse().with_context(|| format!("THUD_ADDR is {text:?}, not IP:PORT"))
}

/// Builds what is missing and becomes the server.
pub fn run(project: &Project, address: SocketAddr) -> Result<()> {
    // Both before the long build, not after it.
    check_port(address)?;
    check_data_folder()?;
    let toolchain = toolchain::for_both_halves(project)?;
    let program = build::server(project, &toolchain, Effort::Quick)?;
    build::site(project, &toolchain, Effort::Quick)?;
    check_port(address)?;
    step("Starting the server");
    // This program becomes the server, so that signals and the exit code are the server's own.
    let problem = Command::new(&program)
        .arg("serve")
        .env("THUD_ADDR", address.to_string())
        .env("THUD_SITE_ROOT", project.site())
        .exec();
    Err(problem).with_context(|| format!("{} cannot be started", program.display()))
}

fn check_port(address: SocketAddr) -> Result<()> {
    let Err(problem) = TcpListener::bind(address) else {
        return Ok(());
    };
    Err(match problem.kind() {
        ErrorKind::AddrInUse => {
            anyhow!(
                "{address} is taken: end what listens there, or choose another port with --port N"
            )
        }
        ErrorKind::PermissionDenied => {
            anyhow!("{address} is not for this user: choose a port above 1023 with --port N")
        }
        _ => anyhow!(
            "{address} cannot be listened on ({problem}): choose another with --addr IP:PORT"
        ),
    })
}

fn check_data_folder() -> Result<()> {
    let folder = match env::var_os("THUD_DATA_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => platform_folders()?.data_dir().to_owned(),
    };
    let advice = || {
        format!("{} cannot be written: set THUD_DATA_DIR to a folder that can", folder.display())
    };
    fs::create_dir_all(&folder).with_context(advice)?;
    tempfile::tempfile_in(&folder).with_context(advice)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_said_to_be_taken() {
        let Ok(listener) = TcpListener::bind("127.0.0.1:0") else { panic!("no port at all") };
        let Ok(address) = listener.local_addr() else { panic!("a port without a number") };
        let words =
            check_port(address).err().map(|problem| problem.to_string()).unwrap_or_default();
        assert!(words.contains("is taken"), "{words}");
    }
}
