//! All routes and all middleware, in order, on one screen.

mod about_runs;
mod caching;
pub mod config;
mod crawlers;
mod editions;
mod export;
mod failures;
mod files;
mod hosts;
mod kept;
mod limits;
mod origin;
mod security;
mod share;
mod telemetry;
mod twins;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state, map_request};
use axum::routing::get;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer};

use crate::state::AppState;
use crate::{api, pages};

use kept::Kept;

pub use export::export;
pub use files::{build_name, files_below};
pub use limits::RUN_BODY_BYTES_MAX;

/// The whole site.
pub fn router(state: AppState) -> Router {
    let edition = from_fn_with_state(state.clone(), editions::choose);
    let (api, _) = api::routes();
    let api = api.layer(edition.clone());
    let twins = from_fn_with_state(api.clone().with_state(state.clone()), twins::answer);
    let routes = Router::new()
        .route("/healthz", get(async || "ok\n"))
        .merge(api)
        .merge(crawlers::routes())
        .route("/share/{file}", get(share::image))
        .merge(pages::routes(&state).layer(edition))
        .fallback_service(files::service(&state))
        .layer(twins);
    behind_middleware(routes, state)
}

/// Routes behind everything that every request passes.
pub fn behind_middleware(routes: Router<AppState>, state: AppState) -> Router {
    // wasm is laid out compressed already; what is not is not worth the time of a request.
    let compressible =
        DefaultPredicate::new().and(NotForContentType::const_new("application/wasm"));
    routes
        // From here down, the last layer sees a request first.
        .layer(CatchPanicLayer::new())
        .layer(from_fn(limits::hold))
        .layer(from_fn_with_state(state.clone(), origin::only_own))
        .layer(from_fn_with_state(state.clone(), failures::explain))
        .layer(from_fn_with_state(state.clone(), caching::answer))
        .layer(CompressionLayer::new().compress_when(compressible))
        .layer(from_fn_with_state(Kept::new(), kept::answer))
        .layer(from_fn_with_state(state.clone(), hosts::only_ours))
        .layer(from_fn(security::headers))
        .layer(PropagateRequestIdLayer::x_request_id())
        .layer(telemetry::layer())
        .layer(SetRequestIdLayer::x_request_id(MakeRequestUuid))
        .layer(map_request(telemetry::without_absurd_id))
        .with_state(state)
}
