//! Files that are served as they are: the stylesheet, the browser half, `public/`. Laid out compressed by the builder.

use std::convert::Infallible;
use std::path::Path;
use std::time::UNIX_EPOCH;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};
use tower::{Service, ServiceExt, service_fn};
use tower_http::services::ServeDir;

use crate::catalog::load::hexadecimal;
use crate::state::{AppState, Site};

/// Hex digits that name a build.
const BUILD_DIGITS: usize = 10;
/// Folders of the site's files that are looked into, one below the other.
const DEPTH_MAX: usize = 4;

/// Serves files; a path with a slash too many is sent to the one without; all else is not found.
pub fn service(
    state: &AppState,
) -> impl Service<Request, Response = Response, Error = Infallible, Future: Send + 'static>
+ Clone
+ Send
+ Sync
+ 'static {
    let files = ServeDir::new(&state.site.root)
        .append_index_html_on_directories(false)
        .precompressed_br()
        .precompressed_gzip();
    service_fn(move |request: Request| {
        let files = files.clone();
        async move {
            if let Some(shorter) = without_last_slash(&request) {
                return Ok(shorter);
            }
            let answered = files.oneshot(request).await;
            let response = answered.unwrap_or_else(|never| match never {});
            Ok(response.map(Body::new))
        }
    })
}

/// A permanent redirect for `/guide/`, query and all.
fn without_last_slash(request: &Request) -> Option<Response> {
    let path = request.uri().path().strip_suffix('/')?.trim_end_matches('/');
    // `//host` would lead elsewhere.
    if path.is_empty() || path.starts_with("//") {
        return None;
    }
    let query = request.uri().query().map_or_else(String::new, |query| format!("?{query}"));
    let location = HeaderValue::from_str(&format!("{path}{query}")).ok()?;
    let mut response = StatusCode::PERMANENT_REDIRECT.into_response();
    response.headers_mut().insert(header::LOCATION, location);
    Some(response)
}

/// Whether a path names a file of the site.
pub fn is_file(site: &Site, path: &str) -> bool {
    let relative = path.trim_start_matches('/');
    let plain = relative.split('/').all(|part| !part.is_empty() && !part.starts_with('.'));
    plain && site.root.join(relative).is_file()
}

/// A name for this build: changes with the program and with every file of the site.
pub fn build_name(root: &Path) -> String {
    let mut hash = Sha256::new();
    hash.update(env!("CARGO_PKG_VERSION"));
    if let Ok(program) = std::env::current_exe() {
        stamp(&program, &mut hash);
    }
    stamp_folder(root, DEPTH_MAX, &mut hash);
    let mut name = hexadecimal(&hash.finalize());
    name.truncate(BUILD_DIGITS);
    name
}

/// Size and time of a file: they change whenever it is built anew.
fn stamp(path: &Path, hash: &mut Sha256) {
    let Ok(data) = path.metadata() else { return };
    let changed = data.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    hash.update(path.to_string_lossy().as_bytes());
    hash.update(data.len().to_le_bytes());
    hash.update(changed.map_or(0, |time| time.as_nanos()).to_le_bytes());
}

fn stamp_folder(folder: &Path, depth: usize, hash: &mut Sha256) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if !path.is_dir() {
            stamp(&path, hash);
        } else if depth > 0 {
            stamp_folder(&path, depth - 1, hash);
        }
    }
}
