//! How a stand-in is served: connections, the control address, and faults, which need to hold the connection itself. A
//! WebSocket is met by a fault when it is opened, not later.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderName, HeaderValue, Request, Response, StatusCode, header};
use futures_util::StreamExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::dripping::Dripping;
use super::faults::{Answer, Fate, Garble, Stage, What};
use super::world::Control;
use super::{control, garble};

/// The largest body of a request.
const REQUEST_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The largest answer that is gathered before it is spoilt or withheld.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// How long the bytes of an answer that is cut have to leave.
const CUT_GRACE: Duration = Duration::from_millis(30);

/// What is served.
pub struct Site {
    /// The provider's own addresses.
    pub routes: Router,
    /// What a request is about.
    pub stage_of: fn(&Request<Body>) -> Option<Stage>,
    /// What is remembered.
    pub control: Arc<dyn Control>,
    /// Ends it.
    pub stop: CancellationToken,
}

/// The connection is closed, because a fault wants it.
#[derive(Debug, Error)]
#[error("the connection is cut")]
pub struct Cut;

/// Listens at an address of this machine's own.
pub async fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    if !address.ip().is_loopback() {
        let problem = format!("{address} is not loopback: a stand-in executes what anybody sends");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    TcpListener::bind(address).await
}

/// Serves connections until it is told to stop. Each connection is a task of its own.
pub async fn serve(listener: TcpListener, site: Site) {
    let site = Arc::new(site);
    let accept = async {
        loop {
            // One that went away before it was accepted is no reason to stop.
            if let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(connection(stream, Arc::clone(&site)));
            }
        }
    };
    site.stop.run_until_cancelled(accept).await;
}

async fn connection(stream: TcpStream, site: Arc<Site>) {
    // An answer that waits for an acknowledgement would only be slow.
    let _ = stream.set_nodelay(true);
    let is_slow = Arc::new(AtomicBool::new(false));
    let io = TokioIo::new(Dripping::new(stream, Arc::clone(&is_slow)));
    let answered = Arc::clone(&site);
    let service = service_fn(move |request: Request<Incoming>| {
        let (site, is_slow) = (Arc::clone(&answered), Arc::clone(&is_slow));
        async move { site.answer(request.map(Body::new), &is_slow).await }
    });
    let connection = http1::Builder::new().serve_connection(io, service).with_upgrades();
    // That a client is gone or a fault has cut it is nobody's concern.
    let _ = site.stop.run_until_cancelled(connection).await;
}

impl Site {
    async fn answer(
        &self,
        request: Request<Body>,
        is_slow: &AtomicBool,
    ) -> Result<Response<Body>, Cut> {
        is_slow.store(false, Ordering::Relaxed);
        let (head, body) = request.into_parts();
        let Ok(body) = to_bytes(body, REQUEST_BYTES_MAX).await else {
            return Ok(plain(StatusCode::PAYLOAD_TOO_LARGE, "the body is larger than 8 MiB"));
        };
        let request = Request::from_parts(head, Body::from(body.clone()));
        if request.uri().path().starts_with(control::PREFIX) {
            return Ok(control::answer(self.control.as_ref(), &request, &body));
        }
        let Fate { delay, what } = self.control.script().fate((self.stage_of)(&request));
        let work = Work { routes: self.routes.clone(), request, delay };
        match what {
            None => Ok(self.done(work.done()).await?),
            Some(What::DelayMs { .. }) => Err(Cut),
            Some(What::Answer(answer)) => {
                tokio::time::sleep(delay).await;
                Ok(scripted(answer))
            }
            Some(What::Redirect { to }) => {
                tokio::time::sleep(delay).await;
                let to = HeaderValue::from_str(&to).map_err(|_| Cut)?;
                let mut redirect = plain(StatusCode::TEMPORARY_REDIRECT, "");
                redirect.headers_mut().insert(header::LOCATION, to);
                Ok(redirect)
            }
            Some(What::Cut {}) => {
                tokio::time::sleep(delay).await;
                Err(Cut)
            }
            Some(What::Hang {}) => std::future::pending().await,
            Some(What::HangAfter {}) => {
                self.done(work.gathered()).await?;
                std::future::pending().await
            }
            Some(What::CutAfter {}) => {
                self.done(work.gathered()).await?;
                Err(Cut)
            }
            Some(What::CutWithin { bytes }) => {
                let response = self.done(work.done()).await?;
                Ok(response.map(|body| cut_within(body, bytes)))
            }
            Some(What::Drip {}) => {
                let response = self.done(work.done()).await?;
                is_slow.store(true, Ordering::Relaxed);
                Ok(response)
            }
            Some(What::Garble { kind }) => self.garbled(work, kind).await,
        }
    }

    async fn garbled(&self, work: Work, kind: Garble) -> Result<Response<Body>, Cut> {
        let (response, body) = self.done(work.gathered()).await?;
        Ok(garble::spoil(response, &body, kind))
    }

    /// Does some work to its end, even if the client goes away meanwhile, unless the stand-in stops.
    async fn done<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Cut>> + Send + 'static,
    ) -> Result<T, Cut> {
        let stop = self.stop.clone();
        let task = tokio::spawn(async move { stop.run_until_cancelled(work).await });
        task.await.ok().flatten().ok_or(Cut)?
    }
}

/// A request that is about to be answered as usual.
struct Work {
    routes: Router,
    request: Request<Body>,
    delay: Duration,
}

impl Work {
    async fn done(self) -> Result<Response<Body>, Cut> {
        tokio::time::sleep(self.delay).await;
        let answered: Result<_, Infallible> = self.routes.oneshot(self.request).await;
        answered.map_err(|never| match never {})
    }

    /// The same with the whole body, so that everything is certainly done.
    async fn gathered(self) -> Result<(Response<Body>, Bytes), Cut> {
        let (head, body) = self.done().await?.into_parts();
        let body = to_bytes(body, ANSWER_BYTES_MAX).await.map_err(|_| Cut)?;
        Ok((Response::from_parts(head, Body::empty()), body))
    }
}

/// A body that breaks off after some bytes. One that is shorter breaks off at its end.
fn cut_within(body: Body, bytes: usize) -> Body {
    let mut left = bytes;
    let pieces = body.into_data_stream().map(move |piece| {
        let mut piece = piece.map_err(|_| Cut)?;
        let kept = piece.split_to(piece.len().min(left));
        left -= kept.len();
        if kept.is_empty() { Err(Cut) } else { Ok(kept) }
    });
    let end = futures_util::stream::once(async { Err(Cut) });
    let pieces = pieces.chain(end).then(|piece| async {
        if piece.is_err() {
            tokio::time::sleep(CUT_GRACE).await;
        }
        piece
    });
    Body::from_stream(pieces)
}

fn scripted(answer: Answer) -> Response<Body> {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = Response::new(Body::from(answer.body));
    *response.status_mut() = status;
    let content_type = answer.content_type.map(|value| ("content-type".to_owned(), value));
    for (name, value) in answer.headers.into_iter().chain(content_type) {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}

/// A short answer in text.
pub fn plain(status: StatusCode, text: impl Into<String>) -> Response<Body> {
    let mut response = Response::new(Body::from(text.into()));
    *response.status_mut() = status;
    let content_type = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

/// An answer in JSON.
pub fn json(status: StatusCode, value: &impl serde::Serialize) -> Response<Body> {
    // What is answered here are maps with texts for keys, which can always be written.
    let mut response = Response::new(Body::from(serde_json::to_vec(value).unwrap_or_default()));
    *response.status_mut() = status;
    let content_type = HeaderValue::from_static("application/json; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

/// An answer without a body.
pub fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests;
