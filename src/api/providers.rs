//! `/api/v1/providers` and what stands below it.

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};

use super::envelope;
use super::problem::Problem;
use super::views::{Envelope, PriceView, ProviderView};
use crate::catalog::Provider;
use crate::catalog::word::PriceKind;
use crate::query::{Query, unknown_slug};
use crate::state::{AppState, today};

/// The largest `limit`.
const LIMIT_MAX: u64 = 1_000;

/// All providers by position, each with everything that the catalog holds.
#[utoipa::path(get, path = "/api/v1/providers", params(
    ("limit" = Option<u64>, Query, description = "At most so many, 1 to 1000; all if left out."),
), responses((status = 200, body = Envelope<Vec<ProviderView>>), (status = 400, body = Problem, content_type = "application/problem+json")))]
pub async fn list_providers(
    State(state): State<AppState>,
    RawQuery(raw): RawQuery,
) -> Result<Json<Envelope<Vec<ProviderView>>>, Problem> {
    let mut query = Query::new(raw.as_deref(), &["limit"]);
    let limit = query.count("limit", LIMIT_MAX, 1, LIMIT_MAX);
    Problem::of(query)?;
    let today = today();
    let providers = state.catalog.providers();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let result = providers.iter().take(limit).map(|one| ProviderView::new(one, today)).collect();
    Ok(envelope(&state.revision, today, providers.len(), result))
}

/// One provider with everything that the catalog holds.
#[utoipa::path(get, path = "/api/v1/providers/{slug}", params(
    ("slug" = String, Path, description = "Such as e2b."),
), responses(
    (status = 200, body = Envelope<ProviderView>),
    (status = 400, body = Problem, content_type = "application/problem+json"),
    (status = 404, body = Problem, content_type = "application/problem+json"),
))]
pub async fn find_provider(
    State(state): State<AppState>,
    slug: Result<Path<String>, PathRejection>,
    RawQuery(raw): RawQuery,
) -> Result<Json<Envelope<ProviderView>>, Problem> {
    Problem::of(Query::new(raw.as_deref(), &[]))?;
    let today = today();
    let provider = found(&state, slug)?;
    Ok(envelope(&state.revision, today, 1, ProviderView::new(provider, today)))
}

/// Every price row of a provider, list and routed, old and new.
#[utoipa::path(get, path = "/api/v1/providers/{slug}/prices", params(
    ("slug" = String, Path, description = "Such as e2b."),
    ("price" = Option<String>, Query, description = "list or routed; both if left out."),
), responses(
    (status = 200, body = Envelope<Vec<PriceView>>),
    (status = 400, body = Problem, content_type = "application/problem+json"),
    (status = 404, body = Problem, content_type = "application/problem+json"),
))]
pub async fn list_prices(
    State(state): State<AppState>,
    slug: Result<Path<String>, PathRejection>,
    RawQuery(raw): RawQuery,
) -> Result<Json<Envelope<Vec<PriceView>>>, Problem> {
    let mut query = Query::new(raw.as_deref(), &["price"]);
    let kind: Option<PriceKind> = query.price_kind();
    Problem::of(query)?;
    let provider = found(&state, slug)?;
    let rows: Vec<PriceView> = provider
        .prices
        .iter()
        .filter(|price| kind.is_none_or(|kind| price.kind == kind))
        .map(|price| PriceView::new(provider, price))
        .collect();
    Ok(envelope(&state.revision, today(), rows.len(), rows))
}

/// The provider that a path names. A slug that is no text names none, like any other that is not there.
fn found(
    state: &AppState,
    slug: Result<Path<String>, PathRejection>,
) -> Result<&Provider, Problem> {
    let Path(slug) =
        slug.map_err(|_| Problem::not_found("the path names a provider that is not UTF-8 text"))?;
    state.catalog.find(&slug).ok_or_else(|| Problem::not_found(unknown_slug(&state.catalog, &slug)))
}
