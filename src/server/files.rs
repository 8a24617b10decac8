//! Files that are served as they are: the stylesheet, the browser half, `public/`. Laid out compressed by the builder.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};
use tower::{Service, ServiceExt, service_fn};
use tower_http::services::ServeDir;

use crate::hash::hexadecimal;
use crate::state::AppState;

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
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return None;
    }
    let path = request.uri().path().strip_suffix('/')?.trim_end_matches('/');
    // `//host` and its like would lead elsewhere.
    if path.is_empty() || path.starts_with("//") || path.contains('\\') {
        return None;
    }
    let query = request.uri().query().map_or_else(String::new, |query| format!("?{query}"));
    let location = HeaderValue::from_str(&format!("{path}{query}")).ok()?;
    let mut response = StatusCode::PERMANENT_REDIRECT.into_response();
    response.headers_mut().insert(header::LOCATION, location);
    Some(response)
}

/// A name for this build: changes with the program and with every file of the site, as [`files_below`] found them.
pub fn build_name(root: &Path, files: &BTreeSet<String>) -> String {
    let mut hash = Sha256::new();
    hash.update(env!("CARGO_PKG_VERSION"));
    if let Ok(program) = std::env::current_exe() {
        stamp(&program, &mut hash);
    }
    for path in files {
        stamp(&root.join(path.trim_start_matches('/')), &mut hash);
    }
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

/// Every file below a folder, in order; none where there is no folder.
fn walk(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path);
        } else if depth > 0 {
            files.extend(walk(&path, depth - 1));
        }
    }
    files
}

/// The addresses of the files below the site's folder.
pub fn files_below(root: &Path) -> BTreeSet<String> {
    walk(root, DEPTH_MAX)
        .iter()
        .filter_map(|path| path.strip_prefix(root).ok()?.to_str())
        .map(|path| format!("/{path}"))
        .collect()
}
