//! `cargo xtask bench`: the release build of the site and nginx with the very same bytes, side by side on this machine.
//! The figures are ratios of one run; nothing is kept or compared with other days.

use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::build::{self, Effort};
use crate::children::Running;
use crate::progress::step;
use crate::project::{Project, find_program};
use crate::server::{Server, free_address, wait_until_listening};
use crate::{packages, toolchain};

/// A page, a page with more work in it, and the API.
const PATHS: [&str; 3] = ["/", "/compare/e2b-vs-daytona", "/api/v1/providers"];
/// What the client accepts; the first row of each path is not compressed.
const ENCODINGS: [&str; 2] = ["identity", "br, gzip"];

const ROUNDS: usize = 3;
const ROUND_SECONDS: u64 = 5;
const WARM_UP_SECONDS: u64 = 1;
/// One thread of load for two cores, and some connections for each of them.
const THREADS: &str = "1";
const CONNECTIONS: &str = "16";
/// A round that takes this much longer than it should is stuck.
const ROUND_SLACK: Duration = Duration::from_secs(30);

/// Measures both servers and prints the table.
pub fn run(project: &Project) -> Result<()> {
    let nginx = find_or_install("nginx")?;
    let wrk = find_or_install("wrk")?;
    let toolchain = toolchain::for_both_halves(project)?;
    build::site(project, &toolchain, Effort::Release)?;
    let program = build::server(project, &toolchain, Effort::Release)?;

    let thud = Server::start(project, &program)?;
    let cases = save_answers(thud.address)?;
    let peer = Nginx::start(&nginx, &cases)?;

    let mut rows = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        step(&format!(
            "Measuring {} ({}), {} of {}",
            case.path,
            case.encoding(),
            number + 1,
            cases.len()
        ));
        let peer_path = format!("/{number}");
        load(&wrk, WARM_UP_SECONDS, thud.address, case.path, case)?;
        load(&wrk, WARM_UP_SECONDS, peer.address, &peer_path, case)?;
        let mut thud_rounds = Vec::new();
        let mut nginx_rounds = Vec::new();
        // By turns, so that a slow moment of the machine falls on both.
        for _ in 0..ROUNDS {
            thud_rounds.push(load(&wrk, ROUND_SECONDS, thud.address, case.path, case)?);
            nginx_rounds.push(load(&wrk, ROUND_SECONDS, peer.address, &peer_path, case)?);
        }
        rows.push((case, Figures::of(&thud_rounds), Figures::of(&nginx_rounds)));
    }
    print!("\n{}", table(&rows));
    Ok(())
}

fn find_or_install(name: &str) -> Result<PathBuf> {
    if let Some(found) = find_program(&[name]) {
        return Ok(found);
    }
    packages::install(&[name], "for the benchmarks")?;
    find_program(&[name])
        .with_context(|| format!("the package {name} brought no program of that name"))
}

/// One answer of the site, to be asked for from both servers.
struct Case {
    path: &'static str,
    accepted: &'static str,
    /// `Content-Encoding` as the site answered.
    content_encoding: Option<String>,
    content_type: String,
    body: Vec<u8>,
}

impl Case {
    fn encoding(&self) -> &str {
        self.content_encoding.as_deref().unwrap_or("plain")
    }
}

/// Asks the site for each path in each encoding and keeps the bytes as they came.
fn save_answers(address: SocketAddr) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for path in PATHS {
        for accepted in ENCODINGS {
            let url = format!("http://{address}{path}");
            let mut answer = ureq::get(&url)
                .header("accept-encoding", accepted)
                .call()
                .with_context(|| format!("{path} does not answer well"))?;
            let header = |name| {
                answer.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
            };
            let content_encoding = header("content-encoding");
            let content_type = header("content-type").unwrap_or_default();
            if accepted != "identity" && content_encoding.is_none() {
                // Not compressed for anyone: the row above says it all.
                continue;
            }
            let body = answer.body_mut().read_to_vec()?;
            cases.push(Case { path, accepted, content_encoding, content_type, body });
        }
    }
    Ok(cases)
}

/// nginx with the saved answers; dropping it ends it and removes them.
struct Nginx {
    _running: Running,
    _folder: tempfile::TempDir,
    address: SocketAddr,
}

impl Nginx {
    fn start(program: &Path, cases: &[Case]) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let address = free_address()?;
        for (number, case) in cases.iter().enumerate() {
            fs::write(folder.path().join(number.to_string()), &case.body)?;
        }
        let configuration = folder.path().join("nginx.conf");
        let log = folder.path().join("error.log");
        fs::write(&configuration, nginx_configuration(folder.path(), address, cases)?)?;
        let mut command = Command::new(program);
        command.arg("-e").arg(&log).arg("-c").arg(&configuration).arg("-p").arg(folder.path());
        let mut running = Running::start(&mut command)?;
        wait_until_listening(&mut running, address, &log)?;
        Ok(Self { _running: running, _folder: folder, address })
    }
}

fn nginx_configuration(folder: &Path, address: SocketAddr, cases: &[Case]) -> Result<String> {
    let folder = folder.display();
    let mut text = String::new();
    if rustix::process::geteuid().is_root() {
        // Its workers would else be a user who may not read the folder.
        writeln!(text, "user root;")?;
    }
    writeln!(
        text,
        "daemon off; worker_processes auto; pid {folder}/pid;\n\
         events {{ worker_connections 1024; }}\n\
         http {{\n\
         access_log off; sendfile on; tcp_nopush on; tcp_nodelay on; keepalive_requests 100000000;\n\
         open_file_cache max=100; open_file_cache_valid 10m;\n\
         client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;\n\
         uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;\n\
         server {{ listen {address}; root {folder};"
    )?;
    for (number, case) in cases.iter().enumerate() {
        write!(text, "location = /{number} {{ default_type \"{}\";", case.content_type)?;
        if let Some(encoding) = &case.content_encoding {
            write!(text, " add_header Content-Encoding {encoding};")?;
        }
        writeln!(text, " }}")?;
    }
    text.push_str("}}\n");
    Ok(text)
}

/// What one round of load showed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Round {
    requests_per_second: f64,
    p99: Duration,
}

fn load(wrk: &Path, seconds: u64, address: SocketAddr, path: &str, case: &Case) -> Result<Round> {
    let mut command = Command::new(wrk);
    command.args(["-t", THREADS, "-c", CONNECTIONS, "--latency", "-d", &format!("{seconds}s")]);
    command.args([
        "-H",
        &format!("Accept-Encoding: {}", case.accepted),
        &format!("http://{address}{path}"),
    ]);
    let mut running = Running::start(command.stdout(Stdio::piped()))?;
    if running.wait_for(Duration::from_secs(seconds) + ROUND_SLACK)?.is_none() {
        bail!("wrk does not end");
    }
    read_round(&running.output()?).with_context(|| format!("measuring {path}"))
}

fn read_round(report: &str) -> Result<Round> {
    if report.contains("Non-2xx") || report.contains("Socket errors") {
        bail!("some requests failed:\n{report}");
    }
    let word_after = |label: &str| {
        let line = report.lines().map(str::trim).find_map(|line| line.strip_prefix(label));
        line.map(str::trim).with_context(|| format!("wrk says nothing about {label}:\n{report}"))
    };
    let requests_per_second = word_after("Requests/sec:")?.parse()?;
    let p99 = duration(word_after("99%")?)?;
    Ok(Round { requests_per_second, p99 })
}

fn duration(text: &str) -> Result<Duration> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).context("a time without a unit")?;
    let (number, unit) = text.split_at(split);
    let seconds = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        other => bail!("unknown unit of time {other:?}"),
    };
    Ok(Duration::try_from_secs_f64(number.parse::<f64>()? * seconds)?)
}

/// The middle of some rounds, and how far they lie apart.
struct Figures {
    requests_per_second: f64,
    lowest: f64,
    highest: f64,
    p99: Duration,
}

impl Figures {
    fn of(rounds: &[Round]) -> Self {
        let mut rates: Vec<_> = rounds.iter().map(|round| round.requests_per_second).collect();
        rates.sort_by(f64::total_cmp);
        let mut latencies: Vec<_> = rounds.iter().map(|round| round.p99).collect();
        latencies.sort();
        Self {
            requests_per_second: rates[rates.len() / 2],
            lowest: rates[0],
            highest: rates[rates.len() - 1],
            p99: latencies[latencies.len() / 2],
        }
    }
}

fn table(rows: &[(&Case, Figures, Figures)]) -> String {
    let mut lines = vec![
        format!(
            "`wrk -t {THREADS} -c {CONNECTIONS} --latency -d {ROUND_SECONDS}s`, median of {ROUNDS} rounds (lowest–highest), \
             both servers and the load on this machine:"
        ),
        String::new(),
        "| path | bytes | encoding | Thud requests/s | Thud p99 ms | nginx requests/s | nginx p99 ms | Thud : nginx |".to_owned(),
        "|---|---:|---|---:|---:|---:|---:|---:|".to_owned(),
    ];
    for (case, thud, nginx) in rows {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
        let rate = |figures: &Figures| {
            let Figures { requests_per_second, lowest, highest, .. } = figures;
            format!("{requests_per_second:.0} ({lowest:.0}–{highest:.0})")
        };
        lines.push(format!(
            "| `{}` | {} | {} | {} | {:.2} | {} | {:.2} | {:.2} |",
            case.path,
            case.body.len(),
            case.encoding(),
            rate(thud),
            milliseconds(thud.p99),
            rate(nginx),
            milliseconds(nginx.p99),
            thud.requests_per_second / nginx.requests_per_second,
        ));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "Running 5s test @ http://127.0.0.1:1/\n  Latency Distribution\n     50%    1.15ms\n     \
                          99%  950.00us\n  67000 requests in 5.00s, 1.2GB read\nRequests/sec:  13400.12\n";

    #[test]
    fn the_rate_and_the_slowest_hundredth_are_read() {
        let round = read_round(REPORT).ok();
        let p99 = Duration::from_micros(950);
        assert_eq!(round, Some(Round { requests_per_second: 13400.12, p99 }));
    }

    #[test]
    fn a_round_with_failures_counts_for_nothing() {
        assert!(read_round(&format!("{REPORT}  Non-2xx or 3xx responses: 1\n")).is_err());
    }

    #[test]
    fn the_middle_of_three_rounds_is_shown() {
        let round = |requests_per_second, p99_ms| Round {
            requests_per_second,
            p99: Duration::from_millis(p99_ms),
        };
        let figures = Figures::of(&[round(30.0, 1), round(10.0, 3), round(20.0, 2)]);
        let Figures { requests_per_second, lowest, highest, p99 } = figures;
        assert_eq!(format!("{lowest} {requests_per_second} {highest} {p99:?}"), "10 20 30 2ms");
    }
}
