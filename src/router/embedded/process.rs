//! The server's side of one worker process: started, talked to, killed. The process is held by its handle, never by a
//! number, and dropping the handle kills it.

use std::io;
use std::process::Stdio;
use std::time::{Duration, Instant};

use thiserror::Error;
use tokio::io::BufReader;
use tokio::process::{Child, ChildStderr, ChildStdin, Command};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::frames::{self, End, Frame, FrameError, Message, Request};
use super::outlet::Count;
use super::{CODE_BYTES_MAX, CRASH_EXIT_CODE, Options, Stream};

/// How long after its deadline a worker may take to say so itself.
const KILL_GRACE: Duration = Duration::from_millis(500);
/// No run takes longer, whatever is asked for.
const MAX_WALL: Duration = Duration::from_hours(1);

/// A worker process.
pub struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStderr>,
}

impl Process {
    /// Starts one that knows nothing of this process but the pipes.
    pub fn spawn(options: &Options) -> io::Result<Self> {
        let mut child = Command::new(&options.worker_program)
            .args(&options.worker_arguments)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // Ctrl-C is for the server, which lets runs end.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let missing = || io::Error::other("a pipe is missing");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = BufReader::new(child.stderr.take().ok_or_else(missing)?);
        Ok(Self { child, input, output })
    }

    /// Sends a request and waits for the first message in answer.
    pub async fn ask(&mut self, request: &Request) -> Result<Message, FrameError> {
        frames::send(&mut self.input, request).await?;
        loop {
            if let Frame::Message(message) = frames::receive(&mut self.output).await? {
                return Ok(message);
            }
        }
    }

    /// Whether it has not ended by itself.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Kills it and waits until it is gone.
    async fn end(mut self) {
        // It may be gone already; and nothing can be done about one that survives SIGKILL.
        let _ = self.child.kill().await;
    }

    #[cfg(test)]
    pub fn id(&self) -> u32 {
        self.child.id().unwrap()
    }
}

/// A worker that is ready for one run. Nothing of a user's has reached it. Dropping it kills it.
pub struct Worker {
    pub(super) process: Process,
    pub(super) output_bytes: u64,
    /// What this worker holds back from the others, until it is gone.
    pub(super) place: OwnedSemaphorePermit,
}

/// Some output as it came: not whole lines, and not always whole characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Which of the two outputs.
    pub stream: Stream,
    /// At most 64 KiB.
    pub bytes: Vec<u8>,
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// How it ended.
    pub kind: EndedKind,
    /// Whether any of the code may have been executed.
    pub code_started: bool,
    /// From sending the code to its end, as the server measured it.
    pub duration: Duration,
    /// What of standard output was beyond the limit.
    pub stdout_dropped_bytes: u64,
    /// What of standard error was beyond the limit.
    pub stderr_dropped_bytes: u64,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndedKind {
    /// By itself, with this exit code.
    Exited(i32),
    /// Its time was over.
    TimedOut,
    /// By a trap, such as an exhausted stack; its text comes from Wasmtime.
    Crashed(String),
    /// The worker was gone before it told an end.
    Lost,
}

impl EndedKind {
    /// The code that a shell would show, where there is one.
    pub fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(*code),
            Self::Crashed(_) => Some(CRASH_EXIT_CODE),
            Self::TimedOut | Self::Lost => None,
        }
    }
}

impl From<End> for EndedKind {
    fn from(end: End) -> Self {
        match end {
            End::Exited(code) => Self::Exited(code),
            End::TimedOut => Self::TimedOut,
            End::Crashed(text) => Self::Crashed(text),
        }
    }
}

/// The code is longer than [`CODE_BYTES_MAX`]. Nothing of it was sent.
#[derive(Debug, PartialEq, Eq, Error)]
#[error("the code is {0} bytes long, more than {CODE_BYTES_MAX}")]
pub struct CodeTooLarge(pub usize);

impl Worker {
    /// Runs the code for at most `wall`, hands on its output while it comes, and returns when the worker process is
    /// gone. `output` must not block; it gets no more of each stream than the limit of the options. Dropping the future
    /// kills the process.
    pub async fn run(
        mut self,
        code: &str,
        wall: Duration,
        mut output: impl FnMut(Chunk) + Send,
    ) -> Result<Ended, CodeTooLarge> {
        if code.len() > CODE_BYTES_MAX {
            return Err(CodeTooLarge(code.len()));
        }
        let wall = wall.min(MAX_WALL);
        let request = Request::Run { code: code.to_owned(), wall };
        let mut course = Course::new(self.output_bytes);
        let begun = Instant::now();
        let followed =
            timeout(wall + KILL_GRACE, course.follow(&mut self.process, &request, &mut output));
        let kind = match followed.await {
            Ok(Ok(end)) => end.into(),
            Ok(Err(_)) => EndedKind::Lost,
            Err(_) => EndedKind::TimedOut,
        };
        let duration = begun.elapsed();
        self.process.end().await;
        drop(self.place);
        Ok(Ended {
            kind,
            code_started: course.code_started,
            duration,
            stdout_dropped_bytes: course.counts[Stream::Stdout as usize].dropped,
            stderr_dropped_bytes: course.counts[Stream::Stderr as usize].dropped,
        })
    }

    #[cfg(test)]
    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }
}

/// What is known of a run that is under way, even if it never tells its end.
struct Course {
    limit_bytes: u64,
    code_started: bool,
    counts: [Count; 2],
}

impl Course {
    fn new(limit_bytes: u64) -> Self {
        Self { limit_bytes, code_started: false, counts: [Count::default(); 2] }
    }

    /// Sends the code and takes what comes, up to the end. The worker is not trusted to keep to the limit.
    async fn follow(
        &mut self,
        process: &mut Process,
        request: &Request,
        output: &mut (impl FnMut(Chunk) + Send),
    ) -> Result<End, FrameError> {
        frames::send(&mut process.input, request).await?;
        loop {
            match frames::receive(&mut process.output).await? {
                Frame::Output(stream, mut bytes) => {
                    let kept = self.counts[stream as usize].admit(&bytes, self.limit_bytes).len();
                    bytes.truncate(kept);
                    if kept > 0 {
                        output(Chunk { stream, bytes });
                    }
                }
                // Written before the first instruction, so a worker that is lost without it has run nothing.
                Frame::Message(Message::Started) => self.code_started = true,
                Frame::Message(Message::Ended {
                    end,
                    stdout_dropped_bytes,
                    stderr_dropped_bytes,
                }) => {
                    for (stream, dropped) in [
                        (Stream::Stdout, stdout_dropped_bytes),
                        (Stream::Stderr, stderr_dropped_bytes),
                    ] {
                        let count = &mut self.counts[stream as usize];
                        count.dropped = count.dropped.saturating_add(dropped);
                    }
                    return Ok(end);
                }
                Frame::Message(_) => {}
            }
        }
    }
}
