//! Code is executed by the embedded sandbox.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::cell::Cell;
use super::{Code, End, Finished, Mode, Outlet, Raised, Runner};
use crate::router::embedded::{self, Chunk, Embedded, EndedKind, Worker};
use crate::runs::{CODE_BYTES_MAX, Language, Stream};

/// How long code waits for a place in the sandbox; its own wall clock begins afterwards.
const START_LIMIT: Duration = Duration::from_mins(1);
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
        let worker: Worker = match self.0.start(language, Instant::now() + START_LIMIT).await {
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

/// The code, behind a line that gives it its environment where it has one: the sandbox itself has none.
fn with_environment(code: &Code) -> Cow<'_, str> {
    if code.language != Language::Python || code.environment.is_empty() {
        return Cow::Borrowed(&code.text);
    }
    let environment = serde_json::json!(code.environment);
    Cow::Owned(format!("import os; os.environ.update({environment}); del os\n{}", code.text))
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
        let text = with_environment(code);
        let end = self.program(language, &text, code, take).await;
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::router::embedded::Options;
    use crate::standins::runner::run_whole;

    /// What no run here needs, even if guests must be compiled first and the machine is busy.
    const AMPLE: Duration = Duration::from_mins(5);
    /// The test that makes the test program a worker.
    const WORKER: &str = "router::embedded::tests::the_test_program_is_its_own_worker";

    fn runner() -> Arc<dyn Runner> {
        let program = std::env::current_exe().unwrap();
        let cache = program.ancestors().nth(2).unwrap().join("embedded-cache");
        let arguments = [WORKER, "--exact", "--nocapture", "--test-threads=1"];
        let mut options = Options::new(cache, program, arguments.map(Into::into).to_vec());
        options.guest_dir = std::env::var_os("THUD_TEST_GUESTS").map(Into::into);
        options.idle_workers = 0;
        Arc::new(EmbeddedRunner::new(Embedded::open(options)))
    }

    fn raised(finished: &Finished) -> Option<(&str, &str)> {
        finished.raised.as_ref().map(|raised| (raised.name.as_str(), raised.value.as_str()))
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_cell_tells_its_error_and_its_value_apart_from_its_output() {
        let runner = runner();
        let ran = async |language, text: &str| {
            let mut code = Code::program(language, text.to_owned(), AMPLE);
            code.mode = Mode::Cell;
            code.environment.insert("K".to_owned(), "it's".to_owned());
            let (finished, pieces) = run_whole(&runner, &code).await;
            let bytes = pieces.into_iter().flat_map(|(_, bytes)| bytes).collect();
            (finished, String::from_utf8(bytes).unwrap())
        };
        for (text, output, value, error) in [
            ("print('a'); 6 * 7", "a\n", Some("42"), None),
            ("'a string'", "", Some("a string"), None),
            ("x = 1", "", None, None),
            ("import os; print(os.environ['K'])", "it's\n", None, None),
            (
                "import sys; print('e', file=sys.stderr); 1 / 0",
                "e\n",
                None,
                Some(("ZeroDivisionError", "division by zero")),
            ),
            ("raise ValueError('bad')", "", None, Some(("ValueError", "bad"))),
            ("import sys; sys.exit(3)", "", None, Some(("SystemExit", "3"))),
            ("import sys; sys.exit()", "", None, Some(("SystemExit", "None"))),
        ] {
            let (finished, said) = ran(Language::Python, text).await;
            assert_eq!(said, output, "{text}");
            assert_eq!((finished.value.as_deref(), raised(&finished)), (value, error), "{text}");
        }
        let (syntax, said) = ran(Language::Python, "def f(:").await;
        assert_eq!((raised(&syntax).unwrap().0, said.as_str()), ("SyntaxError", ""));
        let (failed, _) = ran(Language::Python, "def f():\n    1 / 0\nf()").await;
        assert!(failed.raised.unwrap().traceback.contains("line 2, in f\n    1 / 0\n"));
        assert_eq!(ran(Language::Python, "import os; os._exit(7)").await.0.end, End::Died);
        let (thrown, said) = ran(Language::JavaScript, "console.error('e'); null.x").await;
        assert_eq!((raised(&thrown).unwrap().0, said.as_str()), ("TypeError", "e\n"));
        assert_eq!(ran(Language::JavaScript, "console.log(1)").await.1, "1\n");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_program_has_an_exit_code_and_an_environment() {
        let runner = runner();
        let text = "import os, sys; print(os.environ['K']); sys.exit(3)".to_owned();
        let mut code = Code::program(Language::Python, text, AMPLE);
        code.environment.insert("K".to_owned(), "v".to_owned());
        let (finished, pieces) = run_whole(&runner, &code).await;
        assert_eq!(finished, End::Exited(3).into());
        assert_eq!(pieces, [(Stream::Stdout, b"v\n".to_vec())]);
        // The guests are there now, so that only the code takes time.
        let code =
            Code::program(Language::Python, "while True: pass".to_owned(), Duration::from_secs(2));
        assert_eq!(run_whole(&runner, &code).await.0.end, End::TimedOut);
    }
}
