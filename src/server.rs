//! All routes and all middleware, in order, on one screen.

pub mod config;
mod headers;

use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware;
use axum::routing::get;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::TraceLayer;

use crate::api;
use crate::state::AppState;

/// The largest request body: the catalog only answers questions.
const BODY_BYTES_MAX: usize = 16 * 1024;
/// How long a request may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The whole site.
pub fn router(state: AppState) -> Router {
    let (api, _) = api::routes();
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .merge(api)
        // From here down, the last layer sees a request first.
        .layer(middleware::from_fn_with_state(state.clone(), headers::caching))
        .layer(CompressionLayer::new())
        .layer(middleware::from_fn(headers::security))
        .layer(CatchPanicLayer::new())
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, REQUEST_TIMEOUT))
        .layer(RequestBodyLimitLayer::new(BODY_BYTES_MAX))
        .layer(TraceLayer::new_for_http())
        .with_state(state)
}
