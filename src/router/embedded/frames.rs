//! What goes between the server and a worker process: frames of a kind, a length and a body. Neither side trusts a
//! length before it is checked; the server takes a worker for hostile.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::lock::Lock;
use super::{CODE_BYTES_MAX, Language, Stream};

/// Output in one frame; more goes in several.
pub const MAX_OUTPUT_FRAME_BYTES: usize = 64 * 1024;
/// A message of a worker: a text of at most [`MAX_TEXT_BYTES`] and some numbers.
const MAX_MESSAGE_BYTES: usize = 8 * 1024;
/// A text that tells why something failed.
pub const MAX_TEXT_BYTES: usize = 2 * 1024;
/// A request holds the code or some paths.
const MAX_REQUEST_BYTES: usize = CODE_BYTES_MAX + 16 * 1024;

const HEADER_BYTES: usize = 5;
const MESSAGE: u8 = 0;
const STDOUT: u8 = 1;
const STDERR: u8 = 2;

/// What the server asks of a worker; the first decides what the worker is for.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Compile a guest into the cache, unless it is there and loads.
    Prepare { language: Language, cache: PathBuf, guests: Option<PathBuf> },
    /// Load a compiled guest, lock yourself and wait for the code.
    Load { language: Language, compiled: PathBuf, memory_bytes: u64, output_bytes: u64 },
    /// Run this and end.
    Run { code: String, wall: Duration },
    /// Lock yourself and tell what is still possible.
    #[cfg(test)]
    Probe,
}

/// What a worker says.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// The compiled guest is this file.
    Prepared(PathBuf),
    /// The guest is loaded and the process locked so far.
    Loaded(Lock),
    /// It cannot be done, and why.
    Failed(String),
    /// The next thing is the code's first instruction.
    Started,
    /// The run is over.
    Ended { end: End, stdout_dropped_bytes: u64, stderr_dropped_bytes: u64 },
    /// Each thing that was tried, and whether it was refused.
    #[cfg(test)]
    Probed(Lock, Vec<(String, bool)>),
}

/// How the code ended, as the worker saw it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum End {
    /// With this exit code.
    Exited(i32),
    /// By the deadline.
    TimedOut,
    /// By a trap, and its text.
    Crashed(String),
}

/// One thing that came from a worker.
#[derive(Debug, PartialEq)]
pub enum Frame {
    Message(Message),
    Output(Stream, Vec<u8>),
}

/// A frame that is none.
#[derive(Debug, Error)]
pub enum FrameError {
    /// The pipe is closed or broken.
    #[error("the pipe ended")]
    Pipe(#[from] io::Error),
    /// A kind that there is not, or too long for its kind.
    #[error("a frame of kind {kind} and {length} bytes is not allowed")]
    Header { kind: u8, length: usize },
    /// The body is no message.
    #[error("the frame's body cannot be read")]
    Body(#[from] postcard::Error),
}

fn header(kind: u8, body: &[u8]) -> [u8; HEADER_BYTES] {
    // No body is longer than its limit, which is far below 4 GiB.
    let [a, b, c, d] = u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes();
    [kind, a, b, c, d]
}

/// Reads a header; the limit depends on who speaks.
fn read_header(
    [kind, a, b, c, d]: [u8; HEADER_BYTES],
    limit: impl FnOnce(u8) -> usize,
) -> Result<(u8, usize), FrameError> {
    let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX);
    if length > limit(kind) {
        return Err(FrameError::Header { kind, length });
    }
    Ok((kind, length))
}

fn request_limit(kind: u8) -> usize {
    if kind == MESSAGE { MAX_REQUEST_BYTES } else { 0 }
}

fn worker_limit(kind: u8) -> usize {
    match kind {
        MESSAGE => MAX_MESSAGE_BYTES,
        STDOUT | STDERR => MAX_OUTPUT_FRAME_BYTES,
        _ => 0,
    }
}

fn body<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FrameError> {
    Ok(postcard::from_bytes(bytes)?)
}

fn frame(kind: u8, bytes: Vec<u8>) -> Result<Frame, FrameError> {
    match kind {
        MESSAGE => Ok(Frame::Message(body(&bytes)?)),
        STDOUT => Ok(Frame::Output(Stream::Stdout, bytes)),
        STDERR => Ok(Frame::Output(Stream::Stderr, bytes)),
        kind => Err(FrameError::Header { kind, length: bytes.len() }),
    }
}

/// The server's side: sends a request.
pub async fn send(
    pipe: &mut (impl AsyncWrite + Unpin),
    request: &Request,
) -> Result<(), FrameError> {
    let body = postcard::to_allocvec(request)?;
    let bytes = [&header(MESSAGE, &body), body.as_slice()].concat();
    pipe.write_all(&bytes).await?;
    Ok(pipe.flush().await?)
}

/// The server's side: waits for the next frame of a worker. What was read is lost if the future is dropped.
pub async fn receive(pipe: &mut (impl AsyncRead + Unpin)) -> Result<Frame, FrameError> {
    let mut header = [0; HEADER_BYTES];
    pipe.read_exact(&mut header).await?;
    let (kind, length) = read_header(header, worker_limit)?;
    let mut bytes = vec![0; length];
    pipe.read_exact(&mut bytes).await?;
    frame(kind, bytes)
}

/// The worker's side: waits for the next request.
pub fn read_request(pipe: &mut impl Read) -> Result<Request, FrameError> {
    let mut header = [0; HEADER_BYTES];
    pipe.read_exact(&mut header)?;
    let (_, length) = read_header(header, request_limit)?;
    let mut bytes = vec![0; length];
    pipe.read_exact(&mut bytes)?;
    body(&bytes)
}

/// The worker's side: says something.
pub fn write_message(pipe: &mut impl Write, message: &Message) -> Result<(), FrameError> {
    let body = postcard::to_allocvec(message)?;
    // In one call, so that a worker that is killed leaves no half frame if it can be helped.
    Ok(pipe.write_all(&[&header(MESSAGE, &body), body.as_slice()].concat())?)
}

/// The worker's side: hands on what the code printed.
pub fn write_output(pipe: &mut impl Write, stream: Stream, bytes: &[u8]) -> io::Result<()> {
    let kind = match stream {
        Stream::Stdout => STDOUT,
        Stream::Stderr => STDERR,
    };
    for piece in bytes.chunks(MAX_OUTPUT_FRAME_BYTES) {
        pipe.write_all(&[&header(kind, piece), piece].concat())?;
    }
    Ok(())
}

/// A text cut to what a frame may hold.
pub fn cut(text: String) -> String {
    let end = text.floor_char_boundary(MAX_TEXT_BYTES);
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn received(mut bytes: &[u8]) -> Vec<Result<Frame, FrameError>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut frames = Vec::new();
        while !bytes.is_empty() {
            let frame = runtime.block_on(receive(&mut bytes));
            let is_end = frame.is_err();
            frames.push(frame);
            if is_end {
                break;
            }
        }
        frames
    }

    fn ends() -> impl Strategy<Value = End> {
        prop_oneof![
            any::<i32>().prop_map(End::Exited),
            Just(End::TimedOut),
            ".{0,3000}".prop_map(|text| End::Crashed(cut(text)))
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_received(
            stdout in vec(any::<u8>(), 0..200_000),
            end in ends(),
            stdout_dropped_bytes: u64,
            stderr_dropped_bytes: u64,
        ) {
            let ended = Message::Ended { end, stdout_dropped_bytes, stderr_dropped_bytes };
            let mut pipe = Vec::new();
            write_output(&mut pipe, Stream::Stdout, &stdout).unwrap();
            write_message(&mut pipe, &ended).unwrap();
            let mut frames: Vec<_> = received(&pipe).into_iter().map(Result::unwrap).collect();
            prop_assert_eq!(frames.pop(), Some(Frame::Message(ended)));
            let pieces = frames.into_iter().map(|frame| match frame {
                Frame::Output(Stream::Stdout, bytes) => bytes,
                other => panic!("{other:?}"),
            });
            prop_assert_eq!(pieces.collect::<Vec<_>>().concat(), stdout);
        }

        #[test]
        fn a_request_arrives(code in ".{0,2000}", milliseconds: u32) {
            let request = Request::Run { code, wall: Duration::from_millis(milliseconds.into()) };
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let mut pipe = Vec::new();
            runtime.block_on(send(&mut pipe, &request)).unwrap();
            prop_assert_eq!(read_request(&mut pipe.as_slice()).unwrap(), request);
        }

        #[test]
        fn any_bytes_are_frames_or_an_error(kind in 0_u8..4, length in 0_u32..70_000, rest in vec(any::<u8>(), 0..300)) {
            let bytes = [&[kind], length.to_le_bytes().as_slice(), &rest].concat();
            received(&bytes);
            received(&rest);
            let _ = read_request(&mut bytes.as_slice());
        }
    }

    #[test]
    fn a_length_beyond_the_limit_is_refused_before_anything_is_read() {
        for kind in [MESSAGE, STDOUT, STDERR, 9] {
            let frames = received(&[kind, 0xff, 0xff, 0xff, 0xff]);
            assert!(matches!(frames[..], [Err(FrameError::Header { .. })]), "{kind}: {frames:?}");
        }
    }
}
