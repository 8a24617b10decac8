//! wrk as the load: one round of it, and how its report is read.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::children::Running;

/// One thread of load for two cores, and some connections for each of them.
pub const LOAD: [&str; 5] = ["-t", "1", "-c", "16", "--latency"];

/// A round that takes this much longer than it should is stuck.
const SLACK: Duration = Duration::from_secs(30);

/// What one round of load showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    pub requests_per_second: f64,
    /// What the slowest hundredth of the answers took at least.
    pub p99: Duration,
}

/// Asks for one address over and over for some seconds.
pub fn load(program: &Path, url: &str, accepted: &str, seconds: u64) -> Result<Round> {
    let mut command = Command::new(program);
    command.args(LOAD).arg("-d").arg(format!("{seconds}s"));
    command.arg("-H").arg(format!("Accept-Encoding: {accepted}")).arg(url);
    let mut running = Running::start(command.stdout(Stdio::piped()))?;
    if running.wait_for(Duration::from_secs(seconds) + SLACK)?.is_none() {
        bail!("wrk does not end");
    }
    read_round(&running.output()?).with_context(|| format!("measuring {url}"))
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
}
