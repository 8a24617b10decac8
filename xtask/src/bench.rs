//! `cargo xtask bench`: the release build of the site and nginx with the very same bytes, side by
//! side on this machine; how the site bears a larger catalog (`growth.rs`); runs of the embedded sandbox beside bare
//! interpreters (`embedded.rs`). The figures are of
//! one run; nothing is kept or compared with other days.

mod embedded;
mod growth;
mod nginx;
mod wrk;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::bench::nginx::Nginx;
use crate::bench::wrk::Round;
use crate::build::{self, Effort};
use crate::progress::step;
use crate::project::Project;
use crate::temporary_server::TemporaryServer;
use crate::toolchain::Toolchain;
use crate::{packages, toolchain};

/// A page, a page with more work in it, and the API.
const PATHS: [&str; 3] = ["/", "/compare/e2b-vs-daytona", "/api/v1/providers"];
/// What the client accepts; the first row of each path is not compressed.
const ENCODINGS: [&str; 2] = ["identity", "br, gzip"];

const ROUNDS: usize = 3;
const ROUND_SECONDS: u64 = 5;
const WARM_UP_SECONDS: u64 = 1;

/// What can be measured alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    /// Thud and nginx under load.
    Load,
    /// Thud with a larger and larger catalog.
    Growth,
    /// The embedded sandbox beside bare interpreters.
    Embedded,
}

impl Part {
    /// Reads the name of a part.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "load" => Ok(Self::Load),
            "growth" => Ok(Self::Growth),
            "embedded" => Ok(Self::Embedded),
            other => bail!("there is no part {other:?}, only load, growth and embedded"),
        }
    }
}

/// Measures one part or all and prints the tables.
pub fn run(project: &Project, only: Option<Part>) -> Result<()> {
    if only == Some(Part::Embedded) {
        // No browser half is needed, so any compiler will do.
        let program = build::server(project, &Toolchain::active(project), Effort::Release)?;
        print!("\n{}", embedded::measure(&program)?);
        return Ok(());
    }
    let is_asked = |part| only.is_none_or(|only| only == part);
    // Before the long build, not after it.
    let tools = if is_asked(Part::Load) { Some(Tools::find_or_install()?) } else { None };
    let toolchain = toolchain::for_both_halves(project)?;
    build::site(project, &toolchain, Effort::Release)?;
    let program = build::server(project, &toolchain, Effort::Release)?;
    if let Some(tools) = &tools {
        print!("\n{}", beside_nginx(project, &program, tools)?);
    }
    if is_asked(Part::Growth) {
        print!("\n{}", growth::measure(project, &program)?);
    }
    if is_asked(Part::Embedded) {
        print!("\n{}", embedded::measure(&program)?);
    }
    Ok(())
}

/// The programs of others that the load needs.
struct Tools {
    nginx: PathBuf,
    wrk: PathBuf,
}

impl Tools {
    fn find_or_install() -> Result<Self> {
        let find = |name| packages::find_or_install(&[name], "for the benchmarks");
        Ok(Self { nginx: find("nginx")?, wrk: find("wrk")? })
    }
}

/// Measures both servers and gives the table.
fn beside_nginx(project: &Project, program: &Path, tools: &Tools) -> Result<String> {
    let thud = TemporaryServer::start(project, program)?;
    let cases = save_answers(thud.address)?;
    let nginx = Nginx::start(&tools.nginx, &cases)?;

    let mut rows = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let (number, count) = (index + 1, cases.len());
        step(&format!("Measuring {} ({}), {number} of {count}", case.path, case.encoding()));
        let thud_url = format!("http://{}{}", thud.address, case.path);
        let nginx_url = nginx.url(index);
        let load = |url: &str, seconds| wrk::load(&tools.wrk, url, case.accepted, seconds);
        load(&thud_url, WARM_UP_SECONDS)?;
        load(&nginx_url, WARM_UP_SECONDS)?;
        let (mut thud_rounds, mut nginx_rounds) = (Vec::new(), Vec::new());
        // By turns, so that a slow moment of the machine falls on both.
        for _ in 0..ROUNDS {
            thud_rounds.push(load(&thud_url, ROUND_SECONDS)?);
            nginx_rounds.push(load(&nginx_url, ROUND_SECONDS)?);
        }
        rows.push((case, Figures::of(&thud_rounds), Figures::of(&nginx_rounds)));
    }
    Ok(table(&rows))
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

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn table(rows: &[(&Case, Figures, Figures)]) -> String {
    let mut lines = vec![
        format!(
            "`wrk {} -d {ROUND_SECONDS}s`, median of {ROUNDS} rounds (lowest–highest), \
             both servers and the load on this machine:",
            wrk::LOAD.join(" ")
        ),
        String::new(),
        "| path | bytes | encoding | Thud requests/s | Thud p99 ms | nginx requests/s | nginx p99 ms | Thud : nginx |".to_owned(),
        "|---|---:|---|---:|---:|---:|---:|---:|".to_owned(),
    ];
    for (case, thud, nginx) in rows {
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
