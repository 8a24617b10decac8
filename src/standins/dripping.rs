//! A connection that can be made to send a byte a second.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How long a byte takes.
const STEP: Duration = Duration::from_secs(1);

/// A connection that drips while a flag is up.
pub struct Dripping<S> {
    inner: S,
    is_slow: Arc<AtomicBool>,
    /// Until when the next byte waits.
    pause: Option<Pin<Box<Sleep>>>,
}

impl<S> Dripping<S> {
    /// Wraps a connection.
    pub const fn new(inner: S, is_slow: Arc<AtomicBool>) -> Self {
        Self { inner, is_slow, pause: None }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Dripping<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Dripping<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if !self.is_slow.load(Ordering::Relaxed) {
            return Pin::new(&mut self.inner).poll_write(context, bytes);
        }
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(context));
            self.pause = None;
        }
        let piece = &bytes[..bytes.len().min(1)];
        let written = ready!(Pin::new(&mut self.inner).poll_write(context, piece));
        self.pause = Some(Box::pin(sleep(STEP)));
        Poll::Ready(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
