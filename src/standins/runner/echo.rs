//! A runner that executes nothing: it understands a few words and is done in no time.

use std::time::Duration;

use async_trait::async_trait;

use super::{Code, End, Finished, Mode, OUTPUT_BYTES_MAX, Outlet, Raised, Runner};
use crate::runs::Stream;

/// How much it writes at once.
const PIECE_BYTES: usize = 64 * 1024;

/// Takes the code as words that are parted by `;`:
///
/// | word | what happens |
/// |---|---|
/// | `out:N`, `err:N` | N bytes `x` are written to standard output or error |
/// | `say:TEXT` | the text is written to standard output, as a line |
/// | `sleep:MS` | time passes |
/// | `exit:N` | it ends with that exit code; a cell raises `SystemExit` |
/// | `raise` | it ends with a `ValueError` |
/// | `value:TEXT` | a cell ends with that value |
/// | `loop` | it goes on until its time is over |
/// | `die` | its process dies |
///
/// Anything else is answered by how many bytes of which language it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Echo;

#[async_trait]
impl Runner for Echo {
    async fn run(&self, code: &Code, output: &Outlet) -> Finished {
        match tokio::time::timeout(code.timeout, follow(code, output)).await {
            Ok(finished) => finished,
            Err(_) => End::TimedOut.into(),
        }
    }
}

async fn follow(code: &Code, output: &Outlet) -> Finished {
    let is_cell = code.mode == Mode::Cell;
    for word in code.text.split(';') {
        let word = word.trim();
        let (name, value) = word.split_once(':').unwrap_or((word, ""));
        let number = value.parse::<u64>().ok();
        match (name, number) {
            ("out", Some(bytes)) => write(output, Stream::Stdout, bytes),
            ("err", Some(bytes)) => write(output, Stream::Stderr, bytes),
            ("say", _) => output.write(Stream::Stdout, format!("{value}\n").as_bytes()),
            ("sleep", Some(ms)) => tokio::time::sleep(Duration::from_millis(ms)).await,
            ("value", _) if is_cell => {
                return Finished { value: Some(value.to_owned()), ..End::Exited(0).into() };
            }
            ("exit", Some(exit_code)) => {
                let ended = End::Exited(i32::try_from(exit_code).unwrap_or(1));
                let raised = is_cell.then(|| raised("SystemExit", value));
                return Finished { raised, ..ended.into() };
            }
            ("raise", None) => {
                let raised = raised("ValueError", "bad value");
                if is_cell {
                    return Finished { raised: Some(raised), ..End::Exited(1).into() };
                }
                output.write(Stream::Stderr, raised.traceback.as_bytes());
                return End::Exited(1).into();
            }
            ("loop", None) => std::future::pending().await,
            ("die", None) => return End::Died.into(),
            _ => {
                let (bytes, language) = (code.text.len(), code.language.label());
                let said = format!("{bytes} bytes of {language}\n");
                output.write(Stream::Stdout, said.as_bytes());
                break;
            }
        }
    }
    End::Exited(0).into()
}

fn raised(name: &str, value: &str) -> Raised {
    let traceback = format!("Traceback (most recent call last):\n{name}: {value}\n");
    Raised { name: name.to_owned(), value: value.to_owned(), traceback }
}

fn write(output: &Outlet, stream: Stream, bytes: u64) {
    let mut left = usize::try_from(bytes).unwrap_or(usize::MAX).min(OUTPUT_BYTES_MAX);
    while left > 0 {
        let piece = left.min(PIECE_BYTES);
        output.write(stream, &vec![b'x'; piece]);
        left -= piece;
    }
}
