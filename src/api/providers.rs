//! `/api/v1/providers` and what stands below it.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::response::Response;

use super::asked::Asked;
use super::problem::Problem;
use super::tables;
use super::views::{Envelope, PriceView, ProviderView};
use crate::catalog::listing::{Question, Row, list};
use crate::catalog::word::PriceKind;
use crate::catalog::{Catalog, Provider};
use crate::moment::today;
use crate::query::{LISTING, unknown_slug};

/// The largest `limit`.
const LIMIT_MAX: u64 = 1_000;

/// All providers, each with everything that the catalog holds and the bill of an hour; filtered and ordered as the
/// catalog's page is.
#[utoipa::path(get, path = "/api/v1/providers", params(
    ("limit" = Option<u64>, Query, description = "At most so many, 1 to 1000; all if left out."),
    ("vcpu" = Option<String>, Query, description = "Of the hour that is priced: 0.001 to 1024; 1 if left out."),
    ("memory_gib" = Option<String>, Query, description = "0 to 16384; 2 if left out."),
    ("disk_gib" = Option<String>, Query, description = "0 to 65536; 0 if left out."),
    ("price" = Option<String>, Query, description = "list or routed; routed where it exists if left out."),
    ("isolation" = Option<String>, Query, description = "process, container, virtual_machine or wasm: the tier of any variant."),
    ("status" = Option<String>, Query, description = "routed or listed."),
    ("egress_off" = Option<String>, Query, description = "1 leaves only those whose egress can be off from the start."),
    ("self_host" = Option<String>, Query, description = "1 leaves only those that can be self-hosted."),
    ("open_source" = Option<String>, Query, description = "1 leaves only those whose platform is open source."),
    ("gpu" = Option<String>, Query, description = "1 leaves only those with GPUs."),
    ("sort" = Option<String>, Query, description = "position, name, price, isolation, egress, score, start or open_source; position if left out. What has no rank comes last either way."),
    ("order" = Option<String>, Query, description = "asc or desc; asc if left out."),
    ("max_age_days" = Option<u64>, Query, description = "1 to 3650: prices that were last seen longer ago are not ranked."),
    ("as_of" = Option<String>, Query, description = "The day that is asked about; today if left out."),
), responses((status = 200, body = Envelope<Vec<ProviderView>>), (status = 400, body = Problem, content_type = "application/problem+json")))]
pub async fn list_providers(asked: Asked) -> Result<Response, Problem> {
    let mut query = asked.query(&[&LISTING[..], &["limit", "as_of"]].concat());
    let limit = query.optional_count("limit", 1, LIMIT_MAX);
    let on = query.as_of(today());
    let question = query.listing(on);
    Problem::of(query)?;
    let mut listing = list(&asked.edition.catalog, &question);
    let total = listing.rows.len();
    let shown = limit.and_then(|limit| usize::try_from(limit).ok());
    listing.rows.truncate(shown.unwrap_or(usize::MAX));
    let result: Vec<ProviderView> =
        listing.rows.iter().map(|row| ProviderView::new(row, &question)).collect();
    Ok(asked.answer(total, result, || tables::catalog(&listing, &question)))
}

/// One provider with everything that the catalog holds, and the bill of an hour.
#[utoipa::path(get, path = "/api/v1/providers/{slug}", params(
    ("slug" = String, Path, description = "Such as e2b."),
    ("as_of" = Option<String>, Query, description = "The day that is asked about; today if left out."),
), responses(
    (status = 200, body = Envelope<ProviderView>),
    (status = 400, body = Problem, content_type = "application/problem+json"),
    (status = 404, body = Problem, content_type = "application/problem+json"),
))]
pub async fn find_provider(
    slug: Result<Path<String>, PathRejection>,
    asked: Asked,
) -> Result<Response, Problem> {
    let mut query = asked.query(&["as_of"]);
    let question = Question::plain(query.as_of(today()));
    Problem::of(query)?;
    let provider = found(&asked.edition.catalog, slug)?;
    let row = Row::of(provider, &question);
    let view = ProviderView::new(&row, &question);
    Ok(asked.answer(1, view, || tables::provider(provider, question.on)))
}

/// Every price row of a provider that had begun by the day that is asked about, list and routed, old and new.
#[utoipa::path(get, path = "/api/v1/providers/{slug}/prices", params(
    ("slug" = String, Path, description = "Such as e2b."),
    ("price" = Option<String>, Query, description = "list or routed; both if left out."),
    ("as_of" = Option<String>, Query, description = "The day that is asked about; today if left out."),
), responses(
    (status = 200, body = Envelope<Vec<PriceView>>),
    (status = 400, body = Problem, content_type = "application/problem+json"),
    (status = 404, body = Problem, content_type = "application/problem+json"),
))]
pub async fn list_prices(
    slug: Result<Path<String>, PathRejection>,
    asked: Asked,
) -> Result<Response, Problem> {
    let mut query = asked.query(&["price", "as_of"]);
    let kind: Option<PriceKind> = query.price_kind();
    let on = query.as_of(today());
    Problem::of(query)?;
    let provider = found(&asked.edition.catalog, slug)?;
    let rows: Vec<PriceView> = provider
        .prices
        .iter()
        .filter(|price| price.since <= on && kind.is_none_or(|kind| price.kind == kind))
        .map(|price| PriceView::new(provider, price))
        .collect();
    Ok(asked.json(rows.len(), rows))
}

/// The provider that a path names. A slug that is no text names none, like any other that is not there.
pub(super) fn found(
    catalog: &Catalog,
    slug: Result<Path<String>, PathRejection>,
) -> Result<&Provider, Problem> {
    let Path(slug) =
        slug.map_err(|_| Problem::not_found("the path names a provider that is not UTF-8 text"))?;
    catalog.find(&slug).ok_or_else(|| Problem::not_found(unknown_slug(catalog, &slug)))
}
