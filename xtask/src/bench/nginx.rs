//! nginx as the yardstick: it serves the site's own answers, byte for byte, from files.

use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::bench::Case;
use crate::children::Running;
use crate::temporary_server::{free_address, wait_until_listening};

/// nginx with the saved answers; dropping it ends it and removes them.
pub struct Nginx {
    _running: Running,
    _folder: tempfile::TempDir,
    address: SocketAddr,
}

impl Nginx {
    /// Saves the answers and serves them.
    pub fn start(program: &Path, cases: &[Case]) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let address = free_address()?;
        for (index, case) in cases.iter().enumerate() {
            fs::write(folder.path().join(index.to_string()), &case.body)?;
        }
        let settings = folder.path().join("nginx.conf");
        let log = folder.path().join("error.log");
        fs::write(&settings, configuration(folder.path(), address, cases)?)?;
        let mut command = Command::new(program);
        command.arg("-e").arg(&log).arg("-c").arg(&settings).arg("-p").arg(folder.path());
        let mut running = Running::start(&mut command)?;
        wait_until_listening(&mut running, address, &log)?;
        Ok(Self { _running: running, _folder: folder, address })
    }

    /// Where the answer of the case with this index is.
    pub fn url(&self, index: usize) -> String {
        format!("http://{}/{index}", self.address)
    }
}

fn configuration(folder: &Path, address: SocketAddr, cases: &[Case]) -> Result<String> {
    let folder = folder.display();
    let mut text = String::new();
    if rustix::process::geteuid().is_root() {
        // Its workers would else be a user who may not read the folder.
        writeln!(text, "user root;")?;
    }
    // Without `tcp_nopush`: on this machine's own network it holds larger answers back for 40 ms.
    writeln!(
        text,
        "daemon off; worker_processes auto; pid {folder}/pid;\n\
         events {{ worker_connections 1024; }}\n\
         http {{\n\
         access_log off; sendfile on; tcp_nodelay on; keepalive_requests 100000000;\n\
         open_file_cache max=100; open_file_cache_valid 10m;\n\
         client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;\n\
         uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;\n\
         server {{ listen {address}; root {folder};"
    )?;
    for (index, case) in cases.iter().enumerate() {
        write!(text, "location = /{index} {{ default_type \"{}\";", case.content_type)?;
        if let Some(encoding) = &case.content_encoding {
            write!(text, " add_header Content-Encoding {encoding};")?;
        }
        writeln!(text, " }}")?;
    }
    text.push_str("}}\n");
    Ok(text)
}
