//! What went wrong outside a handler, said in the form that was asked for: a page, or a problem below `/api`.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::telemetry::REQUEST_ID;
use crate::api::problem::Problem;
use crate::pages;
use crate::state::AppState;

/// What an explanation needs to know of the request.
pub struct Asked {
    path: String,
    is_head: bool,
    id: Option<String>,
}

impl Asked {
    /// Remembers it before the request is gone.
    pub fn of(request: &Request) -> Self {
        let id = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok());
        Self {
            path: request.uri().path().to_owned(),
            is_head: request.method() == Method::HEAD,
            id: id.map(str::to_owned),
        }
    }

    /// A status with a body that explains it.
    pub async fn explained(self, state: &AppState, status: StatusCode) -> Response {
        let mut answer = if self.path.starts_with("/api/") {
            Problem { instance: self.id, ..Problem::of_status(status) }.into_response()
        } else {
            pages::failure(state, &self.path, status).await
        };
        if self.is_head {
            *answer.body_mut() = Body::empty();
        }
        *answer.status_mut() = status;
        answer
    }
}

/// Gives every error a body: a problem below `/api`, a page elsewhere. Answers that explain themselves pass.
pub async fn explain(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let asked = Asked::of(&request);
    let response = next.run(request).await;
    let status = response.status();
    if !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    if let Some(problem) = response.extensions().get::<Problem>() {
        return Problem { instance: asked.id, ..problem.clone() }.into_response();
    }
    if is_explained(response.headers()) {
        return response;
    }
    let kept = [header::ALLOW, header::RETRY_AFTER]
        .map(|name| (name.clone(), response.headers().get(name).cloned()));
    let mut answer = asked.explained(&state, status).await;
    for (name, value) in kept {
        if let Some(value) = value {
            answer.headers_mut().insert(name, value);
        }
    }
    answer
}

/// Whether an answer is a page or a problem already.
fn is_explained(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|value| {
        value.as_bytes().starts_with(b"text/html")
            || value.as_bytes().starts_with(b"application/problem+json")
    })
}
