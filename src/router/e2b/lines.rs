//! The interpreter's answer: one JSON object a line, as they come. Pure: bytes in, events out.
//!
//! Nothing in it is trusted: lines of any length, kind and encoding come to an end here in bounded memory.

use serde::Deserialize;

use crate::runs::Stream;

/// The longest line that is read whole, bytes: more than all output that is kept can need. Of a longer one the beginning
/// counts, where that is output.
pub const LINE_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The longest escape at the end of a piece of JSON text, a pair of surrogates.
const ESCAPE_BYTES_MAX: usize = 12;

/// What one line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The interpreter took the code: it runs.
    Accepted,
    /// Some output.
    Output {
        /// Where it was written.
        stream: Stream,
        /// What was written.
        text: String,
        /// Bytes of the line behind it that were not read.
        dropped_bytes: u64,
    },
    /// The code raised something, or the interpreter broke.
    Error {
        /// The class of what was raised.
        name: String,
        /// What it says.
        value: String,
        /// Where it came about.
        traceback: String,
    },
    /// The last line.
    End,
    /// Something that tells nothing of the run: a value of an expression, a sign of life, an unknown kind.
    Other,
}

/// A line that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a line of the answer is not what it should be")]
pub struct Malformed;

/// Puts lines together.
#[derive(Debug, Default)]
pub struct Lines {
    line: Vec<u8>,
    /// Bytes of the line that were too many.
    over: u64,
}

impl Lines {
    /// Takes some bytes and returns the events of the lines that they end.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<Vec<Event>, Malformed> {
        let mut events = Vec::new();
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.extend(&bytes[..end]);
            bytes = &bytes[end + 1..];
            let (line, over) = (std::mem::take(&mut self.line), std::mem::take(&mut self.over));
            if !line.trim_ascii().is_empty() {
                events.push(if over > 0 { beginning(line, over) } else { event(&line)? });
            }
        }
        self.extend(bytes);
        Ok(events)
    }

    fn extend(&mut self, bytes: &[u8]) {
        let room = (LINE_BYTES_MAX - self.line.len()).min(bytes.len());
        self.line.extend_from_slice(&bytes[..room]);
        self.over += (bytes.len() - room) as u64;
    }
}

/// The fields that count; all others are ignored.
#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    text: Option<serde_json::Value>,
    name: Option<String>,
    value: Option<String>,
    traceback: Option<String>,
}

fn event(line: &[u8]) -> Result<Event, Malformed> {
    // Lossily: a broken character is the code's business, not a broken line.
    let Line { kind, text, name, value, traceback } =
        serde_json::from_str(&String::from_utf8_lossy(line)).map_err(|_| Malformed)?;
    let output = |stream| match text {
        Some(serde_json::Value::String(text)) => {
            Ok(Event::Output { stream, text, dropped_bytes: 0 })
        }
        _ => Err(Malformed),
    };
    match kind.as_str() {
        "number_of_executions" => Ok(Event::Accepted),
        "stdout" => output(Stream::Stdout),
        "stderr" => output(Stream::Stderr),
        "error" => Ok(Event::Error {
            name: name.ok_or(Malformed)?,
            value: value.unwrap_or_default(),
            traceback: traceback.unwrap_or_default(),
        }),
        "end_of_execution" => Ok(Event::End),
        _ => Ok(Event::Other),
    }
}

/// What the beginning of a line that is too long says: output, an error, or nothing of the run.
fn beginning(mut line: Vec<u8>, over: u64) -> Event {
    for _ in 0..=ESCAPE_BYTES_MAX {
        let whole = format!("{}\"}}", String::from_utf8_lossy(&line));
        match event(whole.as_bytes()) {
            Ok(Event::Output { stream, text, .. }) => {
                return Event::Output { stream, text, dropped_bytes: over };
            }
            Ok(event) => return event,
            Err(Malformed) => {}
        }
        line.pop();
    }
    Event::Other
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn output(stream: Stream, text: &str) -> Event {
        Event::Output { stream, text: text.to_owned(), dropped_bytes: 0 }
    }

    #[test]
    fn lines_come_in_any_pieces() {
        let answer = "{\"type\": \"number_of_executions\", \"execution_count\": 1}\n\
            {\"type\": \"stdout\", \"text\": \"h\u{e4}\\n\", \"timestamp\": \"2026-11-30T02:57:44.516779+00:00\"}\n\
            {\"type\": \"keepalive\"}\n{\"type\": \"surprise\", \"text\": 7}\n\n\
            {\"type\": \"error\", \"name\": \"SystemExit\", \"value\": \"3\", \"traceback\": \"t\"}\n\
            {\"type\": \"end_of_execution\"}\n";
        let error = Event::Error {
            name: "SystemExit".to_owned(),
            value: "3".to_owned(),
            traceback: "t".to_owned(),
        };
        let expected = [
            Event::Accepted,
            output(Stream::Stdout, "h\u{e4}\n"),
            Event::Other,
            Event::Other,
            error,
            Event::End,
        ];
        for size in [1, 2, 7, 1000] {
            let mut lines = Lines::default();
            let pieces = answer.as_bytes().chunks(size);
            let events: Vec<Event> = pieces.flat_map(|piece| lines.push(piece).unwrap()).collect();
            assert_eq!(events, expected, "{size}");
        }
    }

    #[test]
    fn what_is_no_line_of_the_protocol_is_an_error() {
        for line in [
            "nonsense",
            "[]",
            "7",
            "{}",
            "{\"type\": 7}",
            "{\"type\": \"stdout\"}",
            "{\"type\": \"stdout\", \"text\": 7}",
            "{\"type\": \"error\"}",
        ] {
            assert_eq!(
                Lines::default().push(format!("{line}\n").as_bytes()),
                Err(Malformed),
                "{line}"
            );
        }
    }

    #[test]
    fn a_broken_character_is_replaced() {
        let events = Lines::default().push(b"{\"type\":\"stdout\",\"text\":\"a\xffb\"}\n");
        assert_eq!(events, Ok(vec![output(Stream::Stdout, "a\u{fffd}b")]));
    }

    #[test]
    fn of_a_line_that_is_too_long_the_beginning_counts_and_the_rest_is_counted() {
        for filler in ["x", "\\n", "\\ud83d\\ude00", "\u{20ac}"] {
            let mut lines = Lines::default();
            assert_eq!(lines.push(b"{\"type\":\"stderr\",\"text\":\""), Ok(vec![]));
            let piece = filler.repeat(1000);
            let mut sent = 0;
            while sent < 3 * LINE_BYTES_MAX {
                assert_eq!(lines.push(piece.as_bytes()), Ok(vec![]));
                sent += piece.len();
                assert!(lines.line.len() <= LINE_BYTES_MAX);
            }
            let events = lines.push(b"\"}\n{\"type\":\"end_of_execution\"}\n").unwrap();
            let [Event::Output { stream: Stream::Stderr, text, dropped_bytes }, Event::End] =
                events.as_slice()
            else {
                panic!("{filler}: {} events", events.len());
            };
            assert!(text.len() > LINE_BYTES_MAX / 4, "{filler}");
            assert!(*dropped_bytes >= LINE_BYTES_MAX as u64, "{filler}");
        }
        // An error is one, however much it says.
        let mut lines = Lines::default();
        lines.push(b"{\"type\":\"error\",\"name\":\"ValueError\",\"value\":\"").unwrap();
        lines.push("x".repeat(2 * LINE_BYTES_MAX).as_bytes()).unwrap();
        let events = lines.push(b"\",\"traceback\":\"t\"}\n").unwrap();
        let [Event::Error { name, .. }] = events.as_slice() else { panic!("{}", events.len()) };
        assert_eq!(name, "ValueError");
        // A picture is nothing that counts.
        let mut lines = Lines::default();
        lines.push(b"{\"type\":\"result\",\"png\":\"").unwrap();
        lines.push("A".repeat(2 * LINE_BYTES_MAX).as_bytes()).unwrap();
        assert_eq!(lines.push(b"\"}\n"), Ok(vec![Event::Other]));
    }

    proptest! {
        #[test]
        fn nothing_that_comes_in_breaks_the_reader(
            pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..200), 0..20),
        ) {
            let mut lines = Lines::default();
            for piece in pieces {
                if lines.push(&piece).is_err() {
                    break;
                }
                prop_assert!(lines.line.len() <= LINE_BYTES_MAX);
            }
        }
    }
}
