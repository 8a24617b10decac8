//! A line of code in the embedded sandbox beside the same line in the interpreters that this machine has, each a process
//! of its own, one after the other with pauses.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::milliseconds;
use crate::children::ask;
use crate::progress::step;
use crate::project::find_program;

const SAMPLES: usize = 200;
/// As between two runs of the sandbox.
const PAUSE: Duration = Duration::from_millis(50);

/// A language as the sandbox calls it, and how a bare interpreter is given the same line.
const LANGUAGES: [(&str, &str, [&str; 2]); 2] =
    [("Python", "python3", ["-c", "print(1)"]), ("JavaScript", "node", ["-e", "console.log(1)"])];

/// Measures both and gives the table.
pub fn measure(program: &Path) -> Result<String> {
    step("Measuring the embedded sandbox");
    let samples = SAMPLES.to_string();
    let told = ask(Command::new(program).args(["local", "bench", &samples]))
        .context("thud local bench fails")?;
    let mut lines = vec![
        "One line of code, from the wish to the end of its process:".to_owned(),
        String::new(),
        "| language | what | samples | p50 ms | p95 ms | p50 : bare |".to_owned(),
        "|---|---|---:|---:|---:|---:|".to_owned(),
    ];
    for (language, name, arguments) in LANGUAGES {
        step(&format!("Measuring a bare {name}"));
        let bare = find_program(name).map(|program| bare(&program, arguments)).transpose()?;
        let bare_p50 = bare.as_ref().map(|times| percentile(times, 50));
        let mut row = |what: &str, times: &[f64]| {
            let p50 = percentile(times, 50);
            let ratio = bare_p50.map_or("–".to_owned(), |bare| format!("{:.2}", p50 / bare));
            let (count, p95) = (times.len(), percentile(times, 95));
            lines
                .push(format!("| {language} | {what} | {count} | {p50:.1} | {p95:.1} | {ratio} |"));
        };
        match &bare {
            Some(times) => row(&format!("bare `{name}`"), times),
            None => step(&format!("There is no {name} here to compare with")),
        }
        for (start, what) in [("Warm", "sandbox, a worker waits"), ("Cold", "sandbox, none waits")]
        {
            row(what, &sandbox(&told, language, start)?);
        }
    }
    Ok(lines.join("\n") + "\n")
}

/// The times of a bare interpreter, in order.
fn bare(program: &Path, arguments: [&str; 2]) -> Result<Vec<f64>> {
    let mut times = Vec::new();
    for _ in 0..SAMPLES {
        sleep(PAUSE);
        let begun = Instant::now();
        let ended = Command::new(program).args(arguments).stdin(Stdio::null()).output()?;
        times.push(milliseconds(begun.elapsed()));
        if ended.stdout != b"1\n" {
            bail!("{} did not print 1", program.display());
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// The times that `thud local bench` told of one kind of run, in order.
fn sandbox(told: &str, language: &str, start: &str) -> Result<Vec<f64>> {
    let kind = format!("{language} {start} ");
    let times = told.lines().filter_map(|line| line.strip_prefix(&kind));
    let mut times = times.map(str::parse).collect::<Result<Vec<f64>, _>>()?;
    if times.is_empty() {
        bail!("thud local bench told nothing of {kind}");
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// The value that so many percent of the times do not exceed; there is at least one.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() * percent).div_ceil(100).max(1) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let times: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!((percentile(&times, 50), percentile(&times, 95)), (100.0, 190.0));
        assert_eq!((percentile(&[7.0], 50), percentile(&[7.0], 95)), (7.0, 7.0));
    }

    #[test]
    fn the_times_of_each_kind_are_told_apart() {
        let told = "Python Warm 2.5\nPython Cold 9.1\nPython Warm 1.5\n";
        assert_eq!(sandbox(told, "Python", "Warm").unwrap(), [1.5, 2.5]);
        assert!(sandbox(told, "JavaScript", "Warm").is_err());
    }
}
