//! What became of a run, in a sentence: each outcome has its own.
//!
//! Not here: what every attempt did. That is the receipt's table.

use super::{AttemptOutcome, Outcome, Run, RunState};

/// A heading and a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// In three or four words.
    pub title: &'static str,
    /// What it means for whoever asked.
    pub sentence: String,
}

/// A duration as a page says it.
pub fn duration(milliseconds: u64) -> String {
    match milliseconds {
        0..1_000 => format!("{milliseconds} ms"),
        _ if milliseconds.is_multiple_of(1_000) => format!("{} s", milliseconds / 1_000),
        _ => {
            let hundredths = milliseconds / 10;
            format!("{}.{:02} s", hundredths / 100, hundredths % 100)
        }
    }
}

/// Says what became of a run; `name` is what a provider is called.
pub fn verdict(run: &Run, name: impl Fn(&str) -> String) -> Verdict {
    let by = run.provider.as_deref().map_or_else(|| "The sandbox".to_owned(), &name);
    let last = run.attempts.last();
    let took = run.duration_ms.map_or_else(String::new, |ms| format!(" in {}", duration(ms)));
    let limit = duration(run.asked.timeout_ms);
    let (title, sentence) = match run.outcome {
        None if run.state == RunState::Queued => {
            ("It is waiting", "It was accepted and begins in a moment.".to_owned())
        }
        None => (
            "It is running",
            format!(
                "An answer is there after {limit} of code at the latest, and the time to start in."
            ),
        ),
        Some(Outcome::Completed) if run.exit_code == Some(0) => {
            ("It ran to its end", format!("{by} ran it{took}; exit code 0."))
        }
        Some(Outcome::Completed) => (
            "It ran, and failed by itself",
            format!(
                "{by} ran it{took}; exit code {}. That is the code's own failure and not the sandbox's, so nobody else \
                 was tried.",
                run.exit_code.map_or_else(|| "unknown".to_owned(), |code| code.to_string())
            ),
        ),
        Some(Outcome::TimedOut) => (
            "The time limit ended it",
            format!(
                "The limit of {limit} did its work: the code was still running and would have gone on. It is the code that \
                 wants changing, not the limit, so it is not run again, here or elsewhere."
            ),
        ),
        Some(Outcome::Interrupted) => (
            "What it did is not known",
            format!(
                "The connection to {} was lost after the code may have started: it may have run in part, as a whole or not \
                 at all. It is never run again, by nobody, since that could repeat what it did.",
                last.map_or_else(|| "the sandbox".to_owned(), |one| name(&one.provider))
            ),
        ),
        Some(Outcome::Unavailable) => {
            let tried = run.attempts.len();
            let whom = match tried {
                0 => "Nobody was ready in time".to_owned(),
                1 => "The one provider that was tried could not start it".to_owned(),
                _ => format!("None of the {tried} providers that were tried could start it"),
            };
            (
                "Nobody could start it",
                format!("{whom}. None of the code has run: asking again repeats nothing."),
            )
        }
        Some(Outcome::Refused) => {
            let why = run.refusal.as_deref().unwrap_or("Nobody may run it as it was asked for.");
            ("It was not run", format!("{why} None of it has run, and nothing was spent."))
        }
        Some(Outcome::Cancelled) => {
            let begun = last.is_some_and(|one| {
                one.code_started && one.outcome == Some(AttemptOutcome::Cancelled)
            });
            let far = if begun {
                "The code had started, and may have run in part."
            } else {
                "None of the code has run."
            };
            ("It was cancelled", format!("Somebody who may ended it. {far}"))
        }
    };
    Verdict { title, sentence }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_short() {
        for (ms, text) in [(0, "0 ms"), (999, "999 ms"), (2_000, "2 s"), (2_345, "2.34 s")] {
            assert_eq!(duration(ms), text);
        }
    }
}
