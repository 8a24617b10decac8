//! Code is executed by the embedded sandbox.

use std::time::Instant;

use async_trait::async_trait;

use super::cell::Cell;
use super::{Code, End, Finished, Mode, Outlet, Raised, Runner};
use crate::router::embedded::{self, Chunk, Embedded, EndedKind, Worker};
use crate::runs::{CODE_BYTES_MAX, Language, Stream};

/// The exit code of a process that could not be started.
const NOT_STARTED: i32 = 126;

/// The embedded sandbox as a runner.
#[derive(Debug, Clone)]
pub struct EmbeddedRunner(Embedded);

impl EmbeddedRunner {
    /// The runner over a sandbox.
    pub const fn new(embedded: Embedded) -> Self {
        Self(embedded)
    }

    async fn program(
        &self,
        language: embedded::Language,
        text: &str,
        code: &Code,
        mut take: impl FnMut(Stream, &[u8]) + Send,
    ) -> End {
        let worker: Worker = match self.0.start(language, Instant::now() + code.timeout).await {
            Ok(worker) => worker,
            Err(error) => {
                take(Stream::Stderr, format!("{error}\n").as_bytes());
                return End::Exited(NOT_STARTED);
            }
        };
        let forward = |Chunk { stream, bytes }: Chunk| take(stream, &bytes);
        match worker.run(text, code.timeout, forward).await {
            Ok(ended) => match ended.kind {
                EndedKind::Exited(exit_code) => End::Exited(exit_code),
                EndedKind::TimedOut => End::TimedOut,
                EndedKind::Crashed(_) | EndedKind::Lost => End::Died,
            },
            Err(error) => {
                take(Stream::Stderr, format!("{error}\n").as_bytes());
                End::Exited(NOT_STARTED)
            }
        }
    }

    async fn python_cell(&self, mut cell: Cell, code: &Code, output: &Outlet) -> Finished {
        let text = cell.text.clone();
        let take = |stream: Stream, bytes: &[u8]| match stream {
            Stream::Stdout => output.write(stream, bytes),
            Stream::Stderr => output.write(stream, &cell.own(bytes)),
        };
        let end = self.program(embedded::Language::Python, &text, code, take).await;
        match (end, cell.reported()) {
            (End::Exited(_), Some((raised, value))) => Finished { end, raised, value },
            // `os._exit`: the kernel is gone.
            (End::Exited(_), None) => End::Died.into(),
            (end, _) => end.into(),
        }
    }

    async fn javascript_cell(&self, code: &Code, output: &Outlet) -> Finished {
        let mut errors = Vec::new();
        let take = |stream: Stream, bytes: &[u8]| match stream {
            Stream::Stdout => output.write(stream, bytes),
            Stream::Stderr => errors.extend_from_slice(bytes),
        };
        let end = self.program(embedded::Language::JavaScript, &code.text, code, take).await;
        let errors = String::from_utf8_lossy(&errors).into_owned();
        if !matches!(end, End::Exited(exit_code) if exit_code != 0) {
            output.write(Stream::Stderr, errors.as_bytes());
            return end.into();
        }
        let Some((before, raised)) = thrown(&errors) else {
            output.write(Stream::Stderr, errors.as_bytes());
            return End::Died.into();
        };
        output.write(Stream::Stderr, before.as_bytes());
        Finished { raised: Some(raised), ..end.into() }
    }
}

/// The error that JavaScript ended with, and what was written before it.
fn thrown(errors: &str) -> Option<(&str, Raised)> {
    let mut at = 0;
    let mut found = None;
    for line in errors.split_inclusive('\n') {
        let (name, value) = line.trim_end().split_once(": ").unwrap_or((line.trim_end(), ""));
        if name.ends_with("Error") && name.chars().all(char::is_alphanumeric) {
            found = Some((at, name, value));
        }
        at += line.len();
    }
    let (at, name, value) = found?;
    let traceback = errors[at..].to_owned();
    Some((&errors[..at], Raised { name: name.to_owned(), value: value.to_owned(), traceback }))
}

#[async_trait]
impl Runner for EmbeddedRunner {
    async fn run(&self, code: &Code, output: &Outlet) -> Finished {
        let language = match code.language {
            Language::Python => embedded::Language::Python,
            Language::JavaScript => embedded::Language::JavaScript,
            // The little shell never asks for itself.
            Language::Bash => return End::Exited(NOT_STARTED).into(),
        };
        match code.mode {
            Mode::Cell if language == embedded::Language::JavaScript => {
                return self.javascript_cell(code, output).await;
            }
            Mode::Cell => {
                if let Some(cell) = Cell::new(code) {
                    return self.python_cell(cell, code, output).await;
                }
            }
            Mode::Program => {}
        }
        let take = |stream: Stream, bytes: &[u8]| output.write(stream, bytes);
        let end = self.program(language, &code.text, code, take).await;
        let raised = match (code.mode, end) {
            (Mode::Cell, End::Exited(exit_code)) if exit_code != 0 => {
                let value = format!("{exit_code}");
                let traceback = format!("code of {CODE_BYTES_MAX} bytes is not looked into");
                Some(Raised { name: "SystemExit".to_owned(), value, traceback })
            }
            _ => None,
        };
        Finished { raised, ..end.into() }
    }
}
