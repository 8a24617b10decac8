//! A body that a task writes while it is read: it ends when nobody reads it any more, and breaks off when its sandbox is gone.

use std::io;

use axum::body::{Body, Bytes};
use futures_util::stream;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How many pieces wait to be sent.
const PIECES_WAITING_MAX: usize = 16;

/// Where the task writes.
#[derive(Debug, Clone)]
pub struct Writer(mpsc::Sender<io::Result<Bytes>>);

impl Writer {
    /// Writes a piece that is sent on its own.
    pub async fn write(&self, piece: impl Into<Bytes>) {
        // If nobody reads, the task is ended already.
        let _ = self.0.send(Ok(piece.into())).await;
    }
}

/// The body that `write` writes. It breaks off when `gone` is cancelled.
pub fn body<F>(gone: CancellationToken, write: impl FnOnce(Writer) -> F) -> Body
where
    F: Future<Output = ()> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(PIECES_WAITING_MAX);
    let unread = CancellationToken::new();
    let reading = unread.clone().drop_guard();
    let work = write(Writer(sender.clone()));
    tokio::spawn(async move {
        tokio::select! {
            biased;
            () = unread.cancelled() => {}
            () = gone.cancelled() => {
                let problem = io::Error::new(io::ErrorKind::ConnectionReset, "the sandbox is gone");
                let _ = sender.send(Err(problem)).await;
            }
            () = work => {}
        }
    });
    Body::from_stream(stream::unfold((receiver, reading), |(mut receiver, reading)| async {
        let piece = receiver.recv().await?;
        Some((piece, (receiver, reading)))
    }))
}
