//! Thud's own script, which its adapter sends as a command: code that is executed at most once for an attempt, with both
//! outputs apart. No shell is there to follow it, so it is recognised by its first line, and done here.

use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::{Sandbox, SharedCloud};
use crate::moment::millis;
use crate::runs::{Language, Stream};
use crate::standins::runner::{self, Code, End, RUN_MAX};
use crate::standins::world::locked;

/// What its first line begins with.
const FIRST_WORDS: &str = "# thud 1 ";
/// How the line before the code ends.
const CODE_BEGINS: &str = "<<'THUD_CODE'";
/// The line behind the code.
const CODE_ENDS: &str = "THUD_CODE";
/// The exit code for an attempt that was made before.
const REPLAY: i32 = 97;
/// The status of code whose time is over, as `timeout` has it.
const TIMED_OUT: i32 = 124;
/// The status of code whose process died.
const DIED: i32 = 137;

/// What a script asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct Script {
    attempt: String,
    language: Language,
    limit: Duration,
    output_bytes_max: usize,
    code: String,
}

impl Script {
    /// Reads a command; `None` if it is something else.
    pub fn read(command: &str) -> Option<Self> {
        let mut lines = command.lines();
        let first: Vec<&str> = lines.next()?.strip_prefix(FIRST_WORDS)?.split(' ').collect();
        let [attempt, language, limit_ms, output_bytes_max] = first[..] else { return None };
        let encoded: String = lines
            .skip_while(|line| !line.ends_with(CODE_BEGINS))
            .skip(1)
            .take_while(|line| *line != CODE_ENDS)
            .flat_map(|line| line.chars().filter(|c| !c.is_whitespace()))
            .collect();
        let code = BASE64_STANDARD.decode(encoded).ok()?;
        Some(Self {
            attempt: attempt.to_owned(),
            language: Language::parse(language).ok()?,
            limit: Duration::from_millis(limit_ms.parse().ok()?).min(RUN_MAX),
            output_bytes_max: output_bytes_max.parse().ok()?,
            code: String::from_utf8_lossy(&code).into_owned(),
        })
    }

    /// Does what the script would do in a sandbox, and gives its exit code and output.
    pub async fn run(self, cloud: &SharedCloud, sandbox: &Sandbox) -> (i32, String) {
        let Self { attempt, language, limit, output_bytes_max, code } = self;
        if !locked(&sandbox.details.attempts).insert(attempt.clone()) {
            return (REPLAY, format!("thud-replay {attempt}\n"));
        }
        cloud.world.count(sandbox);
        let code = Code::program(language, code, limit);
        let begun = Instant::now();
        let (finished, pieces) = runner::run_whole(&cloud.world.runner, &code).await;
        let elapsed_ms = millis(begun.elapsed());
        let (status, timed_out) = match finished.end {
            End::Exited(exit_code) => (exit_code, 0),
            End::TimedOut => (TIMED_OUT, 1),
            End::Died => (DIED, 0),
        };
        let of = |wanted: Stream| {
            let own = pieces.iter().filter(|(stream, _)| *stream == wanted);
            let mut bytes: Vec<u8> = own.flat_map(|(_, bytes)| bytes.iter().copied()).collect();
            let dropped = bytes.len().saturating_sub(output_bytes_max);
            bytes.truncate(output_bytes_max);
            (BASE64_STANDARD.encode(bytes), dropped)
        };
        let (stdout, stdout_dropped) = of(Stream::Stdout);
        let (stderr, stderr_dropped) = of(Stream::Stderr);
        let result = format!(
            "thud-result 1 {attempt} {status} {elapsed_ms} {timed_out} {stdout_dropped} \
             {stderr_dropped}\n{stdout}\n{stderr}\n"
        );
        (0, result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_of_ours_is_recognised() {
        let command = "# thud 1 a1 python 1500 100\nset -u\ncat >code <<'THUD_CODE'\ncHJp\nbnQoMSk=\nTHUD_CODE\nend\n";
        let expected = Script {
            attempt: "a1".to_owned(),
            language: Language::Python,
            limit: Duration::from_millis(1500),
            output_bytes_max: 100,
            code: "print(1)".to_owned(),
        };
        assert_eq!(Script::read(command), Some(expected));
        for other in ["echo", "# thud 1 a1 python 1500", "# thud 2 a1 python 1 1\n", ""] {
            assert_eq!(Script::read(other), None, "{other}");
        }
    }
}
