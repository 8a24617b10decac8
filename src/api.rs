//! `/api/v1`: the route table and the OpenAPI document, which is generated from the handlers and their types.

pub mod asked;
pub mod changes;
pub mod comparisons;
pub mod estimates;
mod formats;
pub mod health;
pub mod problem;
pub mod providers;
pub mod runs;
mod tables;
pub mod views;

use std::sync::LazyLock;

use axum::Router;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::catalog::schema;
use crate::state::AppState;

/// Everything that the OpenAPI document says besides the paths.
#[derive(OpenApi)]
#[openapi(info(
    title = "Thud",
    description = "The open catalog of code sandboxes for AI agents. Within v1 fields may be added; \
                   none is removed or renamed. Data licence: CC BY 4.0.",
    license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
))]
struct Document;

/// Every route below `/api`, and the document that describes them.
pub fn routes() -> (Router<AppState>, utoipa::openapi::OpenApi) {
    let (router, document) = OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(providers::list_providers))
        .routes(routes!(providers::find_provider))
        .routes(routes!(providers::list_prices))
        .routes(routes!(comparisons::compare_providers))
        .routes(routes!(estimates::estimate_prices))
        .routes(routes!(estimates::estimate_exposure))
        .routes(routes!(estimates::estimate_workload))
        .routes(routes!(changes::list_changes))
        .routes(routes!(find_provider_schema))
        .routes(routes!(health::find_health))
        .routes(routes!(runs::list_runs, runs::start_run))
        .routes(routes!(runs::find_run, runs::cancel_run))
        .routes(routes!(runs::follow_run))
        .split_for_parts();
    // Serialised once: it never changes while the site runs.
    let served = Bytes::from(serde_json::to_vec(&document).unwrap_or_default());
    let served = move || {
        let served = served.clone();
        async move { ([(header::CONTENT_TYPE, "application/json")], served) }
    };
    let router = router
        .route("/api/v1/openapi.json", axum::routing::get(served))
        .route("/api/v1/changes.atom", axum::routing::get(changes::feed))
        .route(
            "/api/v1/providers/{slug}/changes.atom",
            axum::routing::get(changes::feed_of_provider),
        )
        .route("/api/{*path}", axum::routing::any(async || StatusCode::NOT_FOUND));
    (router, document)
}

/// The JSON Schema (draft-07) of a provider file of the catalog, for editors.
#[utoipa::path(get, path = "/api/v1/schema/provider.json", responses(
    (status = 200, body = serde_json::Value, content_type = "application/schema+json"),
))]
async fn find_provider_schema() -> impl IntoResponse {
    // Written once: it never changes while the site runs.
    static SCHEMA: LazyLock<Bytes> = LazyLock::new(|| schema::provider_file_text().into());
    ([(header::CONTENT_TYPE, "application/schema+json")], SCHEMA.clone())
}

/// The OpenAPI document as JSON.
pub fn document() -> serde_json::Value {
    serde_json::to_value(routes().1).unwrap_or_default()
}
