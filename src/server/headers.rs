//! Response headers: security for all, caching and CORS for the API.

use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::state::{AppState, today};

/// What a browser may do with an answer that is data: nothing.
const POLICY: &str =
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
/// Fresh for a minute, usable for an hour while it is asked for again.
const CATALOG_CACHE: &str = "public, max-age=60, stale-while-revalidate=3600";

/// Headers that every answer has, errors included.
pub async fn security(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A weak `ETag` from build, revision and day: whatever else an answer depends on is in its address.
fn entity_tag(state: &AppState) -> String {
    format!("W/\"{}-{}-{}\"", env!("CARGO_PKG_VERSION"), state.revision.name(), today())
}

/// CORS, `ETag`, 304 and `Cache-Control` for the API.
pub async fn caching(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let below_api = request.uri().path().starts_with("/api/");
    if !below_api {
        return next.run(request).await;
    }
    let method = request.method().clone();
    if method == Method::OPTIONS {
        let mut response = StatusCode::NO_CONTENT.into_response();
        let headers = response.headers_mut();
        headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD, OPTIONS"));
        headers.insert(
            header::ACCESS_CONTROL_ALLOW_METHODS,
            HeaderValue::from_static("GET, HEAD, OPTIONS"),
        );
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        return response;
    }
    let readable = method == Method::GET || method == Method::HEAD;
    let tag = entity_tag(&state);
    let known = request
        .headers()
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|known| known.trim().trim_start_matches("W/") == tag.trim_start_matches("W/"));
    let mut response = next.run(request).await;
    if readable && known && response.status() == StatusCode::OK {
        response = StatusCode::NOT_MODIFIED.into_response();
    }
    let cached = readable
        && (response.status() == StatusCode::OK || response.status() == StatusCode::NOT_MODIFIED);
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    if cached {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(CATALOG_CACHE));
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("etag"));
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            headers.insert(header::ETAG, tag);
        }
    } else {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}
