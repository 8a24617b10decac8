//! Errors in Daytona's two forms: the API's and the toolbox's. A handler names one; on its way out the body is written,
//! which tells the address too.

use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde_json::json;

use super::TOOLBOX;
use crate::moment::stamp;
use crate::standins::serving::{empty, json as answer_json};

/// Why a request is refused.
#[derive(Debug, Clone)]
pub struct Problem {
    status: StatusCode,
    message: String,
    /// Who says so, where it is the toolbox.
    origin: Origin,
}

/// Who refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Api,
    /// The proxy before all sandboxes.
    Proxy,
    /// The machine that the sandboxes are on.
    Runner,
    /// The daemon in the sandbox, with its code.
    Daemon(&'static str),
}

impl Problem {
    /// The API refuses.
    pub fn api(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), origin: Origin::Api }
    }

    /// The proxy before the toolboxes refuses.
    pub fn proxy(status: StatusCode, message: impl Into<String>) -> Self {
        Self { origin: Origin::Proxy, ..Self::api(status, message) }
    }

    /// The machine that the sandboxes are on refuses.
    pub fn runner(status: StatusCode, message: impl Into<String>) -> Self {
        Self { origin: Origin::Runner, ..Self::api(status, message) }
    }

    /// The daemon in the sandbox refuses.
    pub fn daemon(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { origin: Origin::Daemon(code), ..Self::api(status, message) }
    }

    /// The daemon does not understand what it was sent.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::daemon(StatusCode::BAD_REQUEST, "BAD_REQUEST", message)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = empty(self.status);
        response.extensions_mut().insert(self);
        response
    }
}

/// Nothing is at this address.
pub async fn no_such_address(request: Request) -> Problem {
    let message = format!("Cannot {} {}", request.method(), request.uri().path());
    Problem::api(StatusCode::NOT_FOUND, message)
}

/// Writes the body of an answer that is a problem.
pub async fn write_out(request: Request, next: Next) -> Response {
    let (path, method) = (request.uri().path().to_owned(), request.method().to_string());
    let mut response = next.run(request).await;
    match response.extensions_mut().remove::<Problem>() {
        Some(problem) => problem.written(&path, &method),
        None => response,
    }
}

impl Problem {
    fn written(self, path: &str, method: &str) -> Response<Body> {
        let Self { status, message, origin } = self;
        let timestamp = stamp(Timestamp::now());
        let reason = status.canonical_reason().unwrap_or_default();
        let code = reason.to_uppercase().replace(' ', "_");
        // `/toolbox/{id}/process/…` is `/process/…` to the daemon.
        let below = path.strip_prefix(TOOLBOX).and_then(|path| path.strip_prefix('/'));
        let (id, inner) = below.and_then(|path| path.split_once('/')).unwrap_or(("", path));
        let body = match origin {
            Origin::Api => json!({
                "path": path, "timestamp": timestamp, "statusCode": status.as_u16(),
                "error": reason, "message": message,
            }),
            Origin::Proxy => json!({
                "statusCode": status.as_u16(), "message": message, "code": code,
                "timestamp": timestamp, "path": path, "method": method,
            }),
            Origin::Runner => json!({
                "statusCode": status.as_u16(), "message": message, "code": code,
                "timestamp": timestamp, "path": format!("/sandboxes/{id}/toolbox/{inner}"),
                "method": method,
            }),
            Origin::Daemon(code) => json!({
                "statusCode": status.as_u16(), "message": message, "code": code,
                "timestamp": timestamp, "path": format!("/{inner}"), "method": method,
                "source": "DAYTONA_DAEMON",
            }),
        };
        answer_json(status, &body)
    }
}
