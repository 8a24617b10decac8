//! How large a request may be and how long it may take. Most only ask; those that run code bring it along, and take as long
//! as their own deadline says.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tower::{Layer, ServiceExt, service_fn};
use tower_http::limit::RequestBodyLimitLayer;

use super::about_runs::{brings_code, has_deadline};

/// The largest body of a request that only asks.
const BODY_BYTES_MAX: usize = 16 * 1024;
/// The largest body of a request that brings code: three bytes for each of 256 KiB in a form, and more as JSON escapes.
pub const RUN_BODY_BYTES_MAX: usize = 2 * 1024 * 1024;
/// How long a request may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Answers 413 to what is too large, and 503 where an answer takes too long.
pub async fn hold(request: Request, next: Next) -> Response {
    let (method, path) = (request.method(), request.uri().path());
    let most = if brings_code(method, path) { RUN_BODY_BYTES_MAX } else { BODY_BYTES_MAX };
    let is_timed = !has_deadline(method, path);
    let inner = service_fn(move |request: axum::http::Request<_>| {
        let next = next.clone();
        async move { Ok::<_, Infallible>(next.run(request.map(Body::new)).await) }
    });
    let answer = RequestBodyLimitLayer::new(most).layer(inner).oneshot(request);
    let answer = if is_timed {
        tokio::time::timeout(REQUEST_TIMEOUT, answer).await
    } else {
        Ok(answer.await)
    };
    match answer {
        Ok(Ok(answer)) => answer.map(Body::new),
        Ok(Err(never)) => match never {},
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}
