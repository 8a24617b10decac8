//! What can be told of a run, in order, and from where on: so that a stream that broke off goes on where it was.

use super::{Attempt, Run, Stream, TeardownState};

/// What the next piece of output that is told holds at most, bytes.
const PIECE_BYTES_MAX: usize = 16 * 1024;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A provider is being tried.
    AttemptStarted(Attempt),
    /// Some output.
    Output {
        /// Which.
        stream: Stream,
        /// Hostile text.
        text: String,
    },
    /// An attempt is over.
    AttemptEnded(Attempt),
    /// A sandbox is gone, or could not be destroyed yet.
    Teardown(Attempt),
}

/// What was told already. Written as five numbers with points between them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cursor {
    started: usize,
    ended: usize,
    stdout: usize,
    stderr: usize,
    torn_down: usize,
}

impl Cursor {
    /// Reads what [`Cursor`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        let parts: Option<Vec<usize>> = text.split('.').map(|part| part.parse().ok()).collect();
        let [started, ended, stdout, stderr, torn_down] = parts?.try_into().ok()?;
        Some(Self { started, ended, stdout, stderr, torn_down })
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { started, ended, stdout, stderr, torn_down } = self;
        write!(formatter, "{started}.{ended}.{stdout}.{stderr}.{torn_down}")
    }
}

/// The next event after a cursor, with the cursor after it; `None` where there is nothing new.
pub fn next(run: &Run, stdout: &str, stderr: &str, at: Cursor) -> Option<(Event, Cursor)> {
    if let Some(attempt) = run.attempts.get(at.started).filter(|_| at.started == at.ended) {
        return Some((
            Event::AttemptStarted(attempt.clone()),
            Cursor { started: at.started + 1, ..at },
        ));
    }
    if let Some(attempt) = run.attempts.get(at.ended).filter(|_| at.ended < at.started) {
        // All output is that of the attempt whose code ran: told before its end.
        let told = |text, from| piece(text, from).filter(|_| attempt.code_started);
        if let Some((text, stdout)) = told(stdout, at.stdout) {
            return Some((Event::Output { stream: Stream::Stdout, text }, Cursor { stdout, ..at }));
        }
        if let Some((text, stderr)) = told(stderr, at.stderr) {
            return Some((Event::Output { stream: Stream::Stderr, text }, Cursor { stderr, ..at }));
        }
        if attempt.outcome.is_some() {
            let ended = at.ended + 1;
            return Some((Event::AttemptEnded(attempt.clone()), Cursor { ended, ..at }));
        }
    }
    let torn_down = run.attempts.get(at.torn_down).filter(|attempt| {
        at.torn_down < at.ended && attempt.teardown.state != TeardownState::Pending
    });
    torn_down.map(|attempt| {
        (Event::Teardown(attempt.clone()), Cursor { torn_down: at.torn_down + 1, ..at })
    })
}

/// Some text from a place on, and the place behind it; nothing from a place that is none.
fn piece(text: &str, from: usize) -> Option<(String, usize)> {
    let rest = text.get(from..)?;
    let mut end = rest.len().min(PIECE_BYTES_MAX);
    while !rest.is_char_boundary(end) {
        end -= 1;
    }
    (end > 0).then(|| (rest[..end].to_owned(), from + end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_its_text_and_nothing_else_is_one() {
        let cursor = Cursor { started: 2, ended: 1, stdout: 30, stderr: 4, torn_down: 0 };
        assert_eq!(Cursor::parse(&cursor.to_string()), Some(cursor));
        for wrong in ["", "1", "1.2.3.4", "1.2.3.4.5.6", "a.b.c.d.e", "-1.0.0.0.0"] {
            assert_eq!(Cursor::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn text_is_told_in_whole_characters_up_to_its_end() {
        let text = "ä".repeat(PIECE_BYTES_MAX);
        let (mut at, mut told) = (1, String::new());
        assert_eq!(piece(&text, at), None, "inside of a character");
        at = 0;
        while let Some((part, next)) = piece(&text, at) {
            assert!(part.len() <= PIECE_BYTES_MAX);
            told.push_str(&part);
            at = next;
        }
        assert_eq!(told, text);
    }
}
