//! Headers that every answer has, errors included.

use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::pages;

/// What a browser may do with an answer that is data: nothing.
const DATA_POLICY: &str =
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
/// With a page: show it with our stylesheet and pictures, send its forms to us, run nothing.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; \
                           frame-ancestors 'none'; base-uri 'none'; form-action 'self'";
/// With a page that has an island: our scripts and our wasm besides.
const ISLAND_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; \
                             connect-src 'self'; style-src 'self'; img-src 'self'; \
                             frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/// With a page that has a script and no island: our scripts, no wasm.
const SCRIPT_POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; \
                             style-src 'self'; img-src 'self'; \
                             frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/// Adds them.
pub async fn headers(request: Request, next: Next) -> Response {
    let script = pages::script(request.uri().path());
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let html = headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"text/html"));
    let policy = match (html, script) {
        (true, Some(pages::ISLANDS)) => ISLAND_POLICY,
        (true, Some(_)) => SCRIPT_POLICY,
        (true, None) => PAGE_POLICY,
        (false, _) => DATA_POLICY,
    };
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
