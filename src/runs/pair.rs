//! Two runs of one snippet, side by side: what differs, in a sentence and row by row. Pure.
//!
//! Not here: what each of them did on its own. That is its receipt.

use jiff::Timestamp;

use super::verdict::duration;
use super::{Outcome, Receipt, Run};

/// A question, both answers, and whether they differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The question.
    pub label: &'static str,
    /// The answers, in the order of the runs.
    pub cells: [String; 2],
}

impl Row {
    /// Whether the answers differ.
    pub fn differs(&self) -> bool {
        self.cells[0] != self.cells[1]
    }
}

/// What differs between two runs, in plain words.
pub fn sentence(one: &Receipt, two: &Receipt) -> String {
    let (first, second) = (&one.run, &two.run);
    if !first.is_final() || !second.is_final() {
        return "Not both are over yet.".to_owned();
    }
    let is_same_code = first.asked.code_sha256 == second.asked.code_sha256
        && first.asked.language == second.asked.language;
    let other_code = if is_same_code { "" } else { "These are runs of different code. " };
    if first.outcome != second.outcome {
        let label = |run: &Run| run.outcome.map_or("unknown", Outcome::label);
        let (first, second) = (label(first), label(second));
        return format!(
            "{other_code}They did not end alike: the first {first}, the second {second}."
        );
    }
    if first.ran_at().is_none() && second.ran_at().is_none() {
        return format!("{other_code}Neither ran any of the code.");
    }
    let (Some(wrote), Some(other)) = (&one.output, &two.output) else {
        return format!("{other_code}What they wrote is deleted.");
    };
    let is_cut = |dropped: u64| if dropped > 0 { ", as far as it is kept" } else { "" };
    let stdout = match first_difference(&wrote.stdout, &other.stdout) {
        None => "The output is the same".to_owned(),
        Some(line) => format!("The output differs from line {line} on"),
    };
    let stdout_cut = is_cut(wrote.stdout_dropped_bytes.max(other.stdout_dropped_bytes));
    let stderr = match first_difference(&wrote.stderr, &other.stderr) {
        None => String::new(),
        Some(line) => format!("; the standard error differs from line {line} on"),
    };
    let exit_code = match (first.exit_code, second.exit_code) {
        (Some(one), Some(two)) if one == two => format!(", and both exit codes are {one}"),
        (Some(one), Some(two)) => format!(", and the exit codes are {one} and {two}"),
        _ => String::new(),
    };
    format!("{other_code}{stdout}{stdout_cut}{stderr}{exit_code}.")
}

/// The first line that differs, counted from one.
fn first_difference(one: &str, two: &str) -> Option<usize> {
    if one == two {
        return None;
    }
    let alike = one.split('\n').zip(two.split('\n')).take_while(|(one, two)| one == two).count();
    Some(alike + 1)
}

/// Everything that stands in the records beside each other.
pub fn rows(one: &Run, two: &Run) -> Vec<Row> {
    let row = |label, cell: fn(&Run) -> String| Row { label, cells: [cell(one), cell(two)] };
    vec![
        row("Outcome", |run| {
            run.outcome.map_or_else(|| run.state.label(), Outcome::label).to_owned()
        }),
        row("Exit code", |run| {
            run.exit_code.map_or_else(|| NONE.to_owned(), |code| code.to_string())
        }),
        row("Start of its sandbox", |run| {
            time(run.attempts.last().and_then(|attempt| attempt.start_ms))
        }),
        row("The code ran for", |run| time(run.duration_ms)),
        row("From asked to over", |run| time(whole_ms(run))),
        row("Cost", |run| run.cost().routed_usd.shown()),
        row("Isolation", |run| {
            of_last(run, |one| {
                format!("{}, {}", one.isolation.value.label(), one.isolation.evidence.label())
            })
        }),
        row("Network", |run| {
            of_last(run, |one| {
                format!("{}, {}", one.egress.value.label(), one.egress.evidence.label())
            })
        }),
        row("Its teardown", |run| of_last(run, |one| one.teardown.state.label().to_owned())),
    ]
}

/// What stands where there is nothing to be said.
const NONE: &str = "–";

fn time(milliseconds: Option<u64>) -> String {
    milliseconds.map_or_else(|| NONE.to_owned(), duration)
}

fn of_last(run: &Run, words: impl Fn(&super::Attempt) -> String) -> String {
    run.attempts.last().map_or_else(|| NONE.to_owned(), words)
}

/// From when it was asked for until it was over.
fn whole_ms(run: &Run) -> Option<u64> {
    let read = |stamp: &str| stamp.parse::<Timestamp>().ok();
    let over = read(run.final_at.as_deref()?)?;
    let asked = read(&run.requested_at)?;
    u64::try_from(over.duration_since(asked).as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_named() {
        for (one, two, line) in [
            ("", "", None),
            ("a\nb\n", "a\nb\n", None),
            ("a\nb\n", "a\nc\n", Some(2)),
            ("a\nb", "a\nb\n", Some(3)),
            ("a", "", Some(1)),
            ("a\nb\nc", "a\nb", Some(3)),
        ] {
            assert_eq!(first_difference(one, two), line, "{one:?} {two:?}");
        }
    }
}
