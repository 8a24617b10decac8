//! What went wrong outside a handler, said in the form that was asked for: a page, or a problem below `/api`.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::api::problem::Problem;
use crate::pages;
use crate::state::AppState;

/// Gives every error a body: a problem below `/api`, a page elsewhere. Answers that explain themselves pass.
pub async fn explain(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let is_head = request.method() == Method::HEAD;
    let id =
        request.headers().get("x-request-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    let response = next.run(request).await;
    let status = response.status();
    if !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    if let Some(problem) = response.extensions().get::<Problem>() {
        return Problem { instance: id, ..problem.clone() }.into_response();
    }
    if is_explained(response.headers()) {
        return response;
    }
    let kept = [header::ALLOW, header::RETRY_AFTER]
        .map(|name| (name.clone(), response.headers().get(name).cloned()));
    let mut answer = if path.starts_with("/api/") {
        Problem { instance: id, ..Problem::of_status(status) }.into_response()
    } else {
        pages::failure(&state, &path, status).await
    };
    for (name, value) in kept {
        if let Some(value) = value {
            answer.headers_mut().insert(name, value);
        }
    }
    if is_head {
        *answer.body_mut() = Body::empty();
    }
    *answer.status_mut() = status;
    answer
}

/// Whether an answer is a page or a problem already.
fn is_explained(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|value| {
        value.as_bytes().starts_with(b"text/html")
            || value.as_bytes().starts_with(b"application/problem+json")
    })
}
