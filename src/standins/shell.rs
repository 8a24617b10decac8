//! A little shell, so that no real one is ever started: a few commands, joined by `;`, `&&`, `||` and line ends.
//!
//! Commands: `echo`, `printf`, `exit`, `true`, `false`, `:`, `pwd`, `env`, `sleep`, `cat` of nothing, `kill -9 $$`,
//! `python3 -c` and `node -e`, the last two by the runner. Both outputs can be led into each other and into `/dev/null`. Not here:
//! variables, pipes, loops, files. What is unknown ends with 127, as in any shell.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::runner::{Code, End, Outlet, RUN_MAX, Runner};
use crate::runs::{Language, Stream};

mod words;

use self::words::{Command, Glue, Target};

/// The longest `sleep`.
const SLEEP_MAX: Duration = RUN_MAX;
/// The exit code of an unknown command.
const NOT_FOUND: i32 = 127;
/// The exit code of a script that cannot be read, or of a wrong use of a command.
const MISUSE: i32 = 2;
/// What a shell says of a process that was killed: 128 and the signal's number.
const KILLED: i32 = 137;

/// Runs a script to its end.
pub async fn run(runner: &Arc<dyn Runner>, script: &Code, output: &Outlet) -> End {
    let commands = match words::read(&script.text) {
        Ok(commands) => commands,
        Err(problem) => {
            output.write(Stream::Stderr, format!("/bin/bash: -c: {problem}\n").as_bytes());
            return End::Exited(MISUSE);
        }
    };
    let shell = Shell { runner, environment: &script.environment, output };
    let mut status = 0;
    for command in commands {
        let is_skipped = match command.glue {
            Glue::Always => false,
            Glue::And => status != 0,
            Glue::Or => status == 0,
        };
        if is_skipped {
            continue;
        }
        match shell.execute(&command, status).await {
            Next::Goes(exit_code) => status = exit_code,
            Next::Ends(end) => return end,
        }
    }
    End::Exited(status)
}

/// What a command leads to.
enum Next {
    /// The next one, after this exit code.
    Goes(i32),
    /// The end of the shell.
    Ends(End),
}

/// What every command of a script shares.
struct Shell<'a> {
    runner: &'a Arc<dyn Runner>,
    environment: &'a BTreeMap<String, String>,
    output: &'a Outlet,
}

impl Shell<'_> {
    async fn execute(&self, command: &Command, status: i32) -> Next {
        let say = |stream: Stream, bytes: &[u8]| match command.target(stream) {
            Target::Nowhere => {}
            Target::To(stream) => self.output.write(stream, bytes),
        };
        let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
        let complain = |problem: String| {
            let line = command.line;
            say(Stream::Stderr, format!("/bin/bash: line {line}: {problem}\n").as_bytes());
        };
        match words[..] {
            // There is no input, so `cat` has nothing to write.
            [] | ["true" | ":", ..] | ["cat"] | ["cat", "-" | "/dev/null"] => {}
            ["false", ..] => return Next::Goes(1),
            ["echo", "-n", ref rest @ ..] => say(Stream::Stdout, rest.join(" ").as_bytes()),
            ["echo", ref rest @ ..] => {
                say(Stream::Stdout, format!("{}\n", rest.join(" ")).as_bytes());
            }
            ["printf", format, ref rest @ ..] => {
                say(Stream::Stdout, words::printf(format, rest).as_bytes());
            }
            ["env"] => {
                for (name, value) in self.environment {
                    say(Stream::Stdout, format!("{name}={value}\n").as_bytes());
                }
            }
            ["pwd"] => say(Stream::Stdout, b"/home/user\n"),
            ["cat", file, ..] => {
                say(Stream::Stderr, format!("cat: {file}: No such file or directory\n").as_bytes());
                return Next::Goes(1);
            }
            ["sleep", seconds] => {
                let seconds = seconds.parse::<f64>().ok();
                let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                let Some(time) = time else {
                    complain("sleep: invalid time interval".to_owned());
                    return Next::Goes(1);
                };
                tokio::time::sleep(time.min(SLEEP_MAX)).await;
            }
            ["exit"] => return Next::Ends(End::Exited(status)),
            ["exit", exit_code] => {
                let Ok(exit_code) = exit_code.parse::<i32>() else {
                    complain(format!("exit: {exit_code}: numeric argument required"));
                    return Next::Ends(End::Exited(MISUSE));
                };
                return Next::Ends(End::Exited(exit_code & 0xff));
            }
            ["kill", "-9" | "-KILL", "$$"] => return Next::Ends(End::Died),
            ["python3" | "python", "-c", code] => {
                return Next::Goes(self.program(Language::Python, code, command).await);
            }
            ["node", "-e", code] => {
                return Next::Goes(self.program(Language::JavaScript, code, command).await);
            }
            [name, ..] => {
                complain(format!("{name}: command not found"));
                return Next::Goes(NOT_FOUND);
            }
        }
        Next::Goes(0)
    }

    /// Runs a program by the runner, with its outputs led where the command says, and gives its exit code.
    async fn program(&self, language: Language, text: &str, command: &Command) -> i32 {
        let mut code = Code::program(language, text.to_owned(), RUN_MAX);
        code.environment.clone_from(self.environment);
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        let own = Outlet::new(sender);
        let work = async {
            let finished = self.runner.run(&code, &own).await;
            // The loop below ends once nobody can write any more.
            drop(own);
            finished
        };
        let forward = async {
            while let Some((stream, bytes)) = receiver.recv().await {
                if let Target::To(stream) = command.target(stream) {
                    self.output.write(stream, &bytes);
                }
            }
        };
        let (finished, ()) = tokio::join!(work, forward);
        match finished.end {
            End::Exited(exit_code) => exit_code,
            End::TimedOut | End::Died => KILLED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standins::runner::{Echo, run_whole};

    async fn ran(script: &str) -> (End, String, String) {
        let mut code = Code::program(Language::Bash, script.to_owned(), Duration::from_secs(5));
        code.environment.insert("K".to_owned(), "v".to_owned());
        let runner: Arc<dyn Runner> = Arc::new(Echo);
        let (finished, pieces) = run_whole(&runner, &code).await;
        let text = |wanted: Stream| {
            let own = pieces.iter().filter(|(stream, _)| *stream == wanted);
            String::from_utf8(own.flat_map(|(_, bytes)| bytes.clone()).collect()).unwrap()
        };
        (finished.end, text(Stream::Stdout), text(Stream::Stderr))
    }

    #[tokio::test]
    async fn a_script_does_what_a_shell_would() {
        for (script, exit_code, stdout, stderr) in [
            ("echo hello; echo oops >&2", 0, "hello\n", "oops\n"),
            ("echo bad >&2; exit 3", 3, "", "bad\n"),
            ("true && echo yes || echo no", 0, "yes\n", ""),
            ("false && echo yes || echo no", 0, "no\n", ""),
            ("false", 1, "", ""),
            ("false\nexit", 1, "", ""),
            ("echo 'a  b' \"c;d\" e\\ f # not this", 0, "a  b c;d e f\n", ""),
            ("printf '%s-%d\\n' x 7; printf done", 0, "x-7\ndone", ""),
            ("echo -n x; pwd", 0, "x/home/user\n", ""),
            ("cat </dev/null; echo gone > /dev/null; echo gone 2>/dev/null >&2", 0, "", ""),
            ("python3 -c 'out:3;exit:4'", 4, "xxx", ""),
            ("node -e 'err:2' 2>&1", 0, "xx", ""),
            ("python3 -c 'err:2;exit:4' && echo not; exit 7", 7, "", "xx"),
            ("nope -x", 127, "", "/bin/bash: line 1: nope: command not found\n"),
            ("\n\nnope", 127, "", "/bin/bash: line 3: nope: command not found\n"),
            ("env; python3 -c 'out:1'", 0, "K=v\nx", ""),
            ("exit 300", 44, "", ""),
            ("", 0, "", ""),
            ("sleep 0.001", 0, "", ""),
        ] {
            let expected = (End::Exited(exit_code), stdout.to_owned(), stderr.to_owned());
            assert_eq!(ran(script).await, expected, "{script}");
        }
        assert_eq!(ran("echo x; kill -9 $$; echo y").await.0, End::Died);
    }

    #[tokio::test]
    async fn an_open_quote_is_an_error_and_nothing_runs() {
        let (end, stdout, stderr) = ran("echo a; echo 'b").await;
        assert_eq!((end, stdout.as_str()), (End::Exited(2), ""));
        assert!(stderr.contains("unexpected EOF"), "{stderr}");
    }

    #[tokio::test]
    async fn the_wall_clock_ends_a_shell() {
        let code = Code::program(Language::Bash, "sleep 60".to_owned(), Duration::from_millis(5));
        let runner: Arc<dyn Runner> = Arc::new(Echo);
        assert_eq!(run_whole(&runner, &code).await.0.end, End::TimedOut);
    }
}
