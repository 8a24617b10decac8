//! The script that carries the code into a sandbox, and what it prints at the end.
//!
//! Daytona runs a command and answers once, with both outputs in one. The script makes three things of that: the outputs
//! stay apart, each up to a limit; a wall clock that ends the code leaves what was written so far; and a command that
//! arrives twice is recognised, since only the first makes the attempt's folder. It wants a POSIX shell with coreutils.
//!
//! The code can tamper with all of this, as it can with its own output: what is printed is hostile like any output.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::runs::Language;

/// The exit code of a script that arrived a second time.
pub const REPLAY_EXIT_CODE: i32 = 97;
/// What it prints before the attempt's name.
const REPLAY: &str = "thud-replay";
/// The exit code of a script that cannot write anything.
const NO_FOLDER_EXIT_CODE: i32 = 98;
/// What it prints before the attempt's name.
const NO_FOLDER: &str = "thud-no-folder";
/// What a result begins with: the name and version of this format.
const RESULT: &str = "thud-result 1";
/// Characters of base64 on a line of the script.
const LINE_CHARS: usize = 76;

/// The script for one attempt. `attempt` is a name of letters and digits; the outputs are kept up to `output_bytes_max` each.
pub fn script(
    attempt: &str,
    language: Language,
    code: &str,
    limit: Duration,
    output_bytes_max: usize,
) -> String {
    let (program, file) = match language {
        Language::Python => ("python3 -u", "main.py"),
        Language::JavaScript => ("node", "main.js"),
        Language::Bash => ("bash", "main.sh"),
    };
    let encoded = STANDARD.encode(code);
    // Base64 is ASCII: every place is a boundary.
    let lines: Vec<&str> = (0..encoded.len())
        .step_by(LINE_CHARS)
        .filter_map(|from| encoded.get(from..(from + LINE_CHARS).min(encoded.len())))
        .collect();
    let (word, limit_ms) = (language.word(), limit.as_millis());
    let seconds = format!("{}.{:03}", limit.as_secs(), limit.subsec_millis());
    format!(
        "# thud 1 {attempt} {word} {limit_ms} {output_bytes_max}\n\
         d=\"${{TMPDIR:-/tmp}}/thud-{attempt}\"\n\
         mkdir \"$d\" 2>/dev/null || {{ [ -d \"$d\" ] && echo '{REPLAY} {attempt}' && exit {REPLAY_EXIT_CODE}; \
         echo '{NO_FOLDER} {attempt}'; exit {NO_FOLDER_EXIT_CODE}; }}\n\
         base64 -d >\"$d/{file}\" <<'THUD_CODE'\n{}\nTHUD_CODE\n\
         cat >\"$d/run\" <<'THUD_RUN'\n{}\nTHUD_RUN\n\
         exec sh \"$d/run\" \"$d\" {output_bytes_max} {seconds} {attempt} {program} \"$d/{file}\" </dev/null\n",
        lines.join("\n"),
        RUN,
    )
}

/// What runs in there: folder, limit of each output, limit of time, name, and the command. The pipes are read to their end
/// by two readers, which keep the beginning, written as it comes, and count the rest. `timeout` makes a group of the command
/// and kills all of it; what is left of the group after the command has ended is killed too. A reader that still waits then,
/// because something has left the group with the pipe in hand, is given up after a moment.
const RUN: &str = r#"d=$1 most=$2 limit=$3 name=$4
shift 4
at_once=$(command -v stdbuf >/dev/null && echo 'stdbuf -o0')
# Whoever is given up below must not hold what the platform reads.
read_to() { exec 2>/dev/null; $at_once head -c "$most" >"$d/$1"; wc -c >"$d/$1.dropped"; }
now() { n=$(date +%s%N); echo $((n / 1000000)); }
mkfifo "$d/1" "$d/2"
read_to out <"$d/1" & r1=$!
read_to err <"$d/2" & r2=$!
from=$(now)
timeout -s KILL "$limit" "$@" >"$d/1" 2>"$d/2" & code=$!
wait "$code" 2>/dev/null
status=$?
took=$(($(now) - from))
[ "$took" -lt 0 ] && took=0
kill -9 -"$code" 2>/dev/null
i=0
while kill -0 "$r1" 2>/dev/null || kill -0 "$r2" 2>/dev/null; do
  i=$((i + 1))
  [ "$i" -gt 50 ] && break
  sleep 0.02
done
kill "$r1" "$r2" 2>/dev/null
late=0
[ "$status" -eq 137 ] && [ "$took" -ge "$(echo "$limit" | awk '{ print int($1 * 1000) }')" ] && late=1
count() { n=$(cat "$d/$1.dropped" 2>/dev/null); echo $((${n:-0} + 0)); }
echo "thud-result 1 $name $status $took $late $(count out) $(count err)"
base64 <"$d/out" | tr -d '\n'
echo
base64 <"$d/err" | tr -d '\n'
echo"#;

/// What the script printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Printed {
    /// The code ended, or the limit ended it.
    Result(Result),
    /// The script could write nothing, and so ran nothing.
    NoFolder,
    /// The script had arrived before: what the first one does is not known.
    Replay,
    /// Something else: the code has broken the script that ran it.
    Other,
}

/// How the code ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Result {
    /// The exit code, as shells have it.
    pub exit_code: i32,
    /// How long it ran.
    pub duration: Duration,
    /// Whether it was the limit that ended it.
    pub is_late: bool,
    /// Its standard output, and how many bytes more it wrote.
    pub stdout: (Vec<u8>, u64),
    /// Its standard error, and how many bytes more it wrote.
    pub stderr: (Vec<u8>, u64),
}

/// Reads what the script of an attempt printed.
pub fn read(attempt: &str, printed: &str) -> Printed {
    let result = format!("{RESULT} {attempt} ");
    let (replay, no_folder) = (format!("{REPLAY} {attempt}"), format!("{NO_FOLDER} {attempt}"));
    // The shell itself may have complained before.
    let is_ours = |line: &&str| line.starts_with(&result) || *line == replay || *line == no_folder;
    let mut lines = printed.lines().skip_while(|line| !is_ours(line));
    let first = lines.next().unwrap_or_default();
    if first == replay {
        return Printed::Replay;
    }
    if first == no_folder {
        return Printed::NoFolder;
    }
    let mut read = || -> Option<Result> {
        let figures = first.strip_prefix(&result)?;
        let figures: Vec<u64> = figures
            .split_whitespace()
            .map(str::parse)
            .collect::<std::result::Result<_, _>>()
            .ok()?;
        let [status, took, late, stdout_dropped, stderr_dropped] = figures.try_into().ok()?;
        let mut output = || STANDARD.decode(lines.next()?).ok();
        Some(Result {
            exit_code: i32::try_from(status).ok()?,
            duration: Duration::from_millis(took),
            is_late: late == 1,
            stdout: (output()?, stdout_dropped),
            stderr: (output()?, stderr_dropped),
        })
    };
    read().map_or(Printed::Other, Printed::Result)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};
    use std::time::Instant;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);
    const MOST: usize = 1024;

    /// Runs the script as Daytona does: on the standard input of a shell, both outputs in one. The code is ours.
    fn run_by(shell: &str, folder: &std::path::Path, script: &str) -> (i32, String) {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut command = Command::new(shell);
        command.env("TMPDIR", folder).stdin(Stdio::piped());
        command.stdout(writer.try_clone().unwrap()).stderr(writer);
        let mut child = command.spawn().unwrap();
        drop(command);
        child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        // The platform waits for the end of the pipe, whoever holds it.
        let mut printed = String::new();
        reader.read_to_string(&mut printed).unwrap();
        (child.wait().unwrap().code().unwrap(), printed)
    }

    fn run(language: Language, code: &str, limit: Duration) -> Result {
        let folder = tempfile::tempdir().unwrap();
        let script = script("a1", language, code, limit, MOST);
        let (exit_code, printed) = run_by("bash", folder.path(), &script);
        assert_eq!(exit_code, 0, "{printed}");
        match read("a1", &printed) {
            Printed::Result(result) => result,
            other => panic!("{other:?}: {printed}"),
        }
    }

    #[test]
    fn outputs_stay_apart_and_the_exit_code_is_that_of_the_code() {
        let code = "echo out; echo err >&2; cat; echo \"'\u{e4}\" ; exit 3";
        for shell in ["bash", "sh"] {
            let folder = tempfile::tempdir().unwrap();
            let script = script("a1", Language::Bash, code, LIMIT, MOST);
            let (_, printed) = run_by(shell, folder.path(), &script);
            let Printed::Result(result) = read("a1", &printed) else { panic!("{printed}") };
            assert_eq!(result.exit_code, 3);
            assert!(!result.is_late);
            assert_eq!(result.stdout, ("out\n'\u{e4}\n".as_bytes().to_vec(), 0), "{shell}");
            assert_eq!(result.stderr, (b"err\n".to_vec(), 0));
        }
        let result = run(Language::Python, "import sys\nprint(sys.argv[1:], end='')", LIMIT);
        assert_eq!((result.exit_code, result.stdout.0), (0, b"[]".to_vec()));
    }

    #[test]
    fn of_long_output_the_beginning_is_kept_and_the_rest_counted() {
        let code = "head -c 5000000 /dev/zero; head -c 2000 /dev/zero >&2; echo $? >&2";
        let result = run(Language::Bash, code, LIMIT);
        assert_eq!(result.exit_code, 0, "nobody is killed for writing much");
        assert_eq!((result.stdout.0.len(), result.stdout.1), (MOST, 5_000_000 - MOST as u64));
        assert_eq!((result.stderr.0.len(), result.stderr.1), (MOST, 2_002 - MOST as u64));
    }

    #[test]
    fn the_limit_ends_the_code_and_its_children_and_leaves_what_was_written() {
        let begun = Instant::now();
        let code = "echo before; sleep 77 & sleep 77; echo after";
        let result = run(Language::Bash, code, Duration::from_millis(500));
        assert!(result.is_late);
        assert_eq!(result.stdout, (b"before\n".to_vec(), 0));
        assert!(begun.elapsed() < Duration::from_secs(10));
        assert!(result.duration >= Duration::from_millis(500));
    }

    #[test]
    fn what_the_code_leaves_running_does_not_hold_its_end_up() {
        let begun = Instant::now();
        for code in
            ["echo first; sleep 78 & exit 4", "echo first; setsid sleep 30 & sleep 0.2; exit 4"]
        {
            let result = run(Language::Bash, code, LIMIT);
            assert_eq!((result.exit_code, result.stdout.0), (4, b"first\n".to_vec()), "{code}");
        }
        assert!(begun.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn what_the_shell_itself_complains_of_does_not_hide_the_result() {
        let printed = "bash: warning: setlocale\nthud-result 1 a1 3 7 0 0 0\naGk=\n\n";
        let Printed::Result(result) = read("a1", printed) else { panic!() };
        assert_eq!((result.exit_code, result.stdout.0), (3, b"hi".to_vec()));
    }

    #[test]
    fn a_script_that_can_write_nothing_runs_nothing() {
        let script = script("a1", Language::Bash, "echo no", LIMIT, MOST);
        let nowhere = std::path::Path::new("/nowhere/at/all");
        let (_, printed) = run_by("bash", nowhere, &script);
        assert_eq!(read("a1", &printed), Printed::NoFolder);
    }

    #[test]
    fn a_kill_of_its_own_is_no_limit() {
        let result = run(Language::Bash, "kill -9 $$", LIMIT);
        assert_eq!((result.exit_code, result.is_late), (137, false));
    }

    #[test]
    fn a_script_that_arrives_twice_runs_once() {
        let folder = tempfile::tempdir().unwrap();
        let marks = folder.path().join("marks");
        let code = format!("echo x >>'{}'", marks.display());
        let script = script("a1", Language::Bash, &code, LIMIT, MOST);
        run_by("bash", folder.path(), &script);
        let (exit_code, printed) = run_by("bash", folder.path(), &script);
        assert_eq!((exit_code, read("a1", &printed)), (REPLAY_EXIT_CODE, Printed::Replay));
        assert_eq!(std::fs::read_to_string(marks).unwrap(), "x\n");
    }

    #[test]
    fn what_is_no_result_of_the_attempt_is_told_apart() {
        for printed in [
            "",
            "Killed\n",
            "thud-result 1 a2 0 1 0 0 0\n\n\n",
            "thud-result 1 a1 0 1 0 0\n\n\n",
            "thud-result 1 a1 -1 1 0 0 0\n\n\n",
            "thud-result 1 a1 0 1 0 0 0\n?\n\n",
            "thud-result 1 a1 0 1 0 0 0\n",
            "thud-replay a2\n",
        ] {
            assert_eq!(read("a1", printed), Printed::Other, "{printed}");
        }
    }
}
