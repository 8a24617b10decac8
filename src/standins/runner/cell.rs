//! Python as a notebook's cell: the code is wrapped so that its error, or the value of its last expression, is reported on
//! standard error behind a mark that the code cannot guess, and taken out of there again.
//!
//! Variables are not kept: every cell runs in a fresh interpreter.

use serde::Deserialize;
use serde_json::json;

use super::{Code, Raised};
use crate::runs::CODE_BYTES_MAX;
use crate::standins::ids;

const WRAPPER: &str = include_str!("cell.py");
/// The mark begins with a byte that text seldom has.
const MARK_FIRST: char = '\u{1e}';

/// A wrapped cell.
pub struct Cell {
    /// What is executed.
    pub text: String,
    mark: Vec<u8>,
    /// What may be the beginning of the mark, or the report.
    held: Vec<u8>,
    is_reporting: bool,
    report: Option<Report>,
}

/// How a cell ended, as it says itself.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Report {
    value: Option<String>,
    raised: Option<(String, String, String)>,
}

impl Cell {
    /// Wraps code; `None` where it is so long that the wrapper does not fit beside it.
    pub fn new(code: &Code) -> Option<Self> {
        let mark = ids::token(&MARK_FIRST.to_string());
        // A JSON string is a Python string: only backslashes, quotes and control characters are escaped.
        let (text, environment) = (json!(code.text), json!(code.environment));
        let text = format!("{WRAPPER}\n_cell({text}, {environment}, {})\n", json!(mark));
        let is_fitting = text.len() <= CODE_BYTES_MAX;
        let (mark, held) = (mark.into_bytes(), Vec::new());
        is_fitting.then_some(Self { text, mark, held, is_reporting: false, report: None })
    }

    /// Takes some standard error and gives what of it is the code's own.
    pub fn own(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        let mut own = Vec::new();
        if !self.is_reporting {
            let is_mark = |window: &[u8]| window == self.mark;
            let found = self.held.windows(self.mark.len()).position(is_mark);
            let first = |byte: &u8| *byte == MARK_FIRST as u8;
            let tail = self.held.len().saturating_sub(self.mark.len() - 1);
            let begun = self.held[tail..].iter().position(first).map(|at| tail + at);
            own.extend(self.held.drain(..found.or(begun).unwrap_or(self.held.len())));
            self.is_reporting = found.is_some();
            if self.is_reporting {
                self.held.drain(..self.mark.len());
            }
        }
        if self.is_reporting
            && self.report.is_none()
            && let Some(end) = self.held.iter().position(|byte| *byte == b'\n')
        {
            self.report = serde_json::from_slice(&self.held[..end]).ok();
            self.held.drain(..=end);
        }
        if self.report.is_some() {
            own.append(&mut self.held);
        }
        own
    }

    /// How the cell ended: its error and its value; `None` if it never said so.
    pub fn reported(self) -> Option<(Option<Raised>, Option<String>)> {
        let Report { value, raised } = self.report?;
        let raised = raised.map(|(name, value, traceback)| Raised { name, value, traceback });
        Some((raised, value))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::runs::Language;

    fn cell() -> Cell {
        let code = Code::program(Language::Python, "1".to_owned(), Duration::from_secs(1));
        Cell::new(&code).unwrap()
    }

    #[test]
    fn the_report_is_taken_out_wherever_it_is_cut() {
        let bytes = [b"a\x1eb", cell().mark.as_slice(), br#"{"value": "42"}"#, b"\nbye"].concat();
        for length in 1..=bytes.len() {
            let mut cell = cell();
            let bytes = [b"a\x1eb", cell.mark.as_slice(), br#"{"value": "42"}"#, b"\nbye"].concat();
            let own: Vec<u8> = bytes.chunks(length).flat_map(|piece| cell.own(piece)).collect();
            assert_eq!(own, b"a\x1ebbye", "{length}");
            assert_eq!(cell.reported(), Some((None, Some("42".to_owned()))), "{length}");
        }
    }

    #[test]
    fn a_cell_that_does_not_report_has_died() {
        let mut cell = cell();
        assert_eq!(cell.own(b"text"), b"text");
        assert_eq!(cell.reported(), None);
    }

    #[test]
    fn code_that_fills_the_limit_is_not_wrapped() {
        let text = "#".repeat(CODE_BYTES_MAX);
        assert!(Cell::new(&Code::program(Language::Python, text, Duration::ZERO)).is_none());
    }
}
