//! Where a guest's output goes in the worker: to the server at once, each stream up to its limit. What is beyond is
//! counted and dropped.

use std::io;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

use super::Stream;
use super::frames::{self, MAX_OUTPUT_FRAME_BYTES};

/// The exit code of a worker whose server is gone.
const ORPHANED: i32 = 1;

/// How much of one stream was taken and how much not, each in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    pub kept: u64,
    pub dropped: u64,
}

impl Count {
    /// The part of `bytes` that still fits; the rest counts as dropped.
    pub fn admit<'a>(&mut self, bytes: &'a [u8], limit: u64) -> &'a [u8] {
        let room = usize::try_from(limit.saturating_sub(self.kept)).unwrap_or(usize::MAX);
        let (kept, dropped) = bytes.split_at(bytes.len().min(room));
        self.kept += kept.len() as u64;
        self.dropped += dropped.len() as u64;
        kept
    }
}

/// Both streams of one run.
pub struct Outlet {
    limit_bytes: u64,
    counts: Mutex<[Count; 2]>,
}

impl Outlet {
    /// Takes this much of each stream.
    pub fn new(limit_bytes: u64) -> Self {
        Self { limit_bytes, counts: Mutex::default() }
    }

    /// Hands output on, as far as it fits.
    pub fn take(&self, stream: Stream, bytes: &[u8]) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = counts[stream as usize].admit(bytes, self.limit_bytes);
        if frames::write_output(&mut io::stderr(), stream, kept).is_err() {
            // Nobody is there to run for.
            process::exit(ORPHANED);
        }
    }

    /// How many bytes of the stream were dropped.
    pub fn dropped(&self, stream: Stream) -> u64 {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)[stream as usize].dropped
    }
}

/// One stream as WASI sees it: always ready, never full.
#[derive(Clone)]
pub struct Pipe {
    outlet: Arc<Outlet>,
    stream: Stream,
}

impl Pipe {
    /// The end of this stream that the guest writes into.
    pub fn new(outlet: &Arc<Outlet>, stream: Stream) -> Self {
        Self { outlet: Arc::clone(outlet), stream }
    }
}

impl IsTerminal for Pipe {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Pipe {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        // Only WASI 0.3 asks for this, and it is not linked.
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for Pipe {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.outlet.take(self.stream, &bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(MAX_OUTPUT_FRAME_BYTES)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Pipe {
    async fn ready(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_limit_is_counted() {
        let mut count = Count::default();
        assert_eq!(count.admit(b"abc", 5), b"abc");
        assert_eq!(count.admit(b"def", 5), b"de");
        assert_eq!(count.admit(b"g", 5), b"");
        assert_eq!(count, Count { kept: 5, dropped: 2 });
    }
}
