//! One line a request, and errors with the request that they belong to. Never a query, a body or an address.

use std::time::Duration;

use axum::extract::{MatchedPath, Request};
use axum::http::HeaderValue;
use axum::response::Response;
use tower_http::classify::{ServerErrorsAsFailures, SharedClassifier};
use tower_http::trace::{DefaultOnBodyChunk, DefaultOnEos, DefaultOnRequest, TraceLayer};
use tracing::Span;

use crate::moment::millis;

/// The header that names a request.
pub const REQUEST_ID: &str = "x-request-id";
/// The longest name of a request that is taken from its client.
const REQUEST_ID_LENGTH_MAX: usize = 64;

type Layer = TraceLayer<
    SharedClassifier<ServerErrorsAsFailures>,
    fn(&Request) -> Span,
    DefaultOnRequest,
    fn(&Response, Duration, &Span),
    DefaultOnBodyChunk,
    DefaultOnEos,
>;

/// A span a request, so that whatever is said while it is answered names it; one line when it is answered.
pub fn layer() -> Layer {
    TraceLayer::new_for_http()
        .make_span_with(span as fn(&Request) -> Span)
        .on_response(answered as fn(&Response, Duration, &Span))
}

fn span(request: &Request) -> Span {
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let id = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or("");
    // At the level of errors: those are what it is for.
    tracing::error_span!("request", method = %request.method(), route, id)
}

fn answered(response: &Response, latency: Duration, _: &Span) {
    let duration_ms = millis(latency);
    tracing::info!(status = response.status().as_u16(), duration_ms, "answered");
}

/// Drops a client's name for its request that is too long or too odd to be repeated.
pub async fn without_absurd_id(mut request: Request) -> Request {
    let plain = |id: &HeaderValue| {
        let bytes = id.as_bytes();
        bytes.len() <= REQUEST_ID_LENGTH_MAX
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
    };
    if request.headers().get(REQUEST_ID).is_some_and(|id| !plain(id)) {
        request.headers_mut().remove(REQUEST_ID);
    }
    request
}
