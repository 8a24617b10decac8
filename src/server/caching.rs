//! What may be kept, and for how long; 304 before anything is rendered; CORS for the API.

use std::hash::{DefaultHasher, Hash, Hasher};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::about_runs::is_about_runs;
use super::twins;
use crate::catalog::store::Revision;
use crate::moment::today;
use crate::state::AppState;

/// Catalog pages and data: fresh for a minute, usable for an hour while asked for again.
pub const CATALOG: &str = "public, max-age=60, stale-while-revalidate=3600";
/// Files that are asked for by the name of the build.
const ASSET: &str = "public, max-age=31536000, immutable";
/// Files that are not.
const FILE: &str = "public, max-age=3600";
/// A page about this very moment: asked for again whenever it is shown, yet there when one goes back to it.
const MOMENT: &str = "private, no-cache";
/// Whatever went wrong, or is nobody else's business.
const NEVER: &str = "no-store";
/// What the catalog may be asked by.
const METHODS: &str = "GET, HEAD, OPTIONS";

/// How an answer may be kept.
#[derive(Clone, Copy, PartialEq)]
enum Policy {
    /// Depends on the address, the build, the revision and the day, and on nothing else.
    Catalog,
    /// A file of the site, with validators of its own.
    File {
        /// Whether its address names the build.
        versioned: bool,
    },
    /// Until it is looked at again.
    Moment,
    /// Never.
    Never,
}

fn policy(state: &AppState, request: &Request) -> Policy {
    let path = request.uri().path();
    let readable = request.method() == Method::GET || request.method() == Method::HEAD;
    if path == "/try" && readable {
        return Policy::Moment;
    }
    if !readable || path == "/healthz" || is_about_runs(path) {
        return Policy::Never;
    }
    if state.site.files.contains(path) {
        let versioned = request.uri().query() == Some(&format!("v={}", state.site.build));
        return Policy::File { versioned };
    }
    Policy::Catalog
}

/// A weak `ETag` of everything that an answer depends on: build, revision, day and address.
fn entity_tag(state: &AppState, uri: &Uri) -> String {
    let mut hash = DefaultHasher::new();
    uri.path_and_query().hash(&mut hash);
    let address = hash.finish();
    let Revision { number, .. } = *state.revision;
    let (build, name) = (&state.site.build, state.revision.name());
    // A catalog that was put back has an old name again, though not an old number.
    format!("W/\"{build}-{number}-{name}-{}-{address:016x}\"", today())
}

/// Whether the client has what it asks for.
pub fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|known| known == "*" || known.trim_start_matches("W/") == tag.trim_start_matches("W/"))
}

/// Answers 304 and OPTIONS itself, and puts the policy on what others answer.
pub async fn answer(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_api = (path.starts_with("/api/") || twins::is_twin(path)) && !is_about_runs(path);
    let mut response = match policy(&state, &request) {
        _ if is_api && request.method() == Method::OPTIONS => options(),
        Policy::Catalog => catalog(&state, request, next).await,
        Policy::File { versioned } => {
            let mut response = next.run(request).await;
            let kept =
                response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED;
            let value = match (kept, versioned) {
                (true, true) => ASSET,
                (true, false) => FILE,
                (false, _) => NEVER,
            };
            keep(&mut response, value);
            // Laid out in several encodings, of which the client's was chosen.
            response
                .headers_mut()
                .insert(header::VARY, HeaderValue::from_static("accept-encoding"));
            response
        }
        moment @ (Policy::Moment | Policy::Never) => {
            let mut response = next.run(request).await;
            let is_page = moment == Policy::Moment && response.status() == StatusCode::OK;
            keep(&mut response, if is_page { MOMENT } else { NEVER });
            response
        }
    };
    if is_api {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        headers.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("etag, x-request-id"),
        );
    }
    response
}

/// Only good answers carry a tag, so a client that knows it has a good answer from this address.
async fn catalog(state: &AppState, request: Request, next: Next) -> Response {
    let tag = entity_tag(state, request.uri());
    let mut response = if is_known(request.headers(), &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        next.run(request).await
    };
    match response.status() {
        StatusCode::OK | StatusCode::NOT_MODIFIED => {
            if let Ok(tag) = HeaderValue::from_str(&tag) {
                response.headers_mut().insert(header::ETAG, tag);
            }
            keep(&mut response, CATALOG);
        }
        // The canonical order of a comparison is fixed for ever.
        StatusCode::PERMANENT_REDIRECT => keep(&mut response, CATALOG),
        _ => keep(&mut response, NEVER),
    }
    response
}

fn keep(response: &mut Response, value: &'static str) {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(value));
}

fn options() -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    for (name, value) in [
        (header::ALLOW, METHODS),
        (header::ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "if-none-match"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    keep(&mut response, NEVER);
    response
}
