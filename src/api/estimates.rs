//! `/api/v1/prices`, `/api/v1/exposure` and `/api/v1/workload`: figures for any shape, from the same functions as everywhere.

use axum::response::Response;

use super::asked::Asked;
use super::problem::Problem;
use super::tables;
use super::views::workload::WorkloadView;
use super::views::{Envelope, EstimateView, ExposureView, QuoteView, ShapeView};
use crate::calculator::exposure::expose;
use crate::calculator::input;
use crate::calculator::league::league;
use crate::calculator::offer::Offers;
use crate::catalog::card::PriceCard;
use crate::catalog::provider::Provider;
use crate::catalog::shape::{Ask, price};
use crate::moment::today;
use crate::query::FieldError;

/// What a sandbox of every variant costs for a shape and a time.
#[utoipa::path(get, path = "/api/v1/prices", params(
    ("providers" = Option<String>, Query, description = "Slugs with commas; all if left out."),
    ("vcpu" = Option<String>, Query, description = "0.001 to 1024; 1 if left out."),
    ("memory_gib" = Option<String>, Query, description = "0 to 16384; 2 if left out."),
    ("disk_gib" = Option<String>, Query, description = "0 to 65536; 0 if left out."),
    ("seconds" = Option<String>, Query, description = "0.001 to 31536000; 3600 if left out."),
    ("utilisation_percent" = Option<String>, Query, description = "1 to 100; 100 if left out."),
    ("price" = Option<String>, Query, description = "list or routed; routed where it exists if left out."),
    ("plan" = Option<String>, Query, description = "Such as e2b:pro; decides allowances that differ by plan. None if left out."),
    ("as_of" = Option<String>, Query, description = "The day whose prices hold; today if left out."),
), responses((status = 200, body = Envelope<Vec<QuoteView>>), (status = 400, body = Problem, content_type = "application/problem+json")))]
pub async fn estimate_prices(asked: Asked) -> Result<Response, Problem> {
    let mut query = asked.query(&[
        "providers",
        "vcpu",
        "memory_gib",
        "disk_gib",
        "seconds",
        "utilisation_percent",
        "price",
        "plan",
        "as_of",
    ]);
    let catalog = &asked.edition.catalog;
    let providers =
        query.providers(catalog).unwrap_or_else(|| catalog.providers().iter().collect());
    let shape = query.shape();
    let seconds = query.quantity("seconds", input::SECONDS);
    let utilisation_percent = query.quantity("utilisation_percent", input::UTILISATION_PERCENT);
    let kind = query.price_kind();
    let plans = query.plans(&providers);
    let on = query.as_of(today());
    Problem::of(query)?;
    let quote = |provider: &Provider| {
        let kind = kind.unwrap_or_else(|| provider.price_kind_on(on));
        let plan = plans
            .iter()
            .find(|(slug, _)| slug == provider.slug.as_str())
            .map(|(_, plan)| plan.as_str());
        let ask = Ask { utilisation_percent, plan, ..Ask::plain(shape, seconds) };
        provider
            .variants
            .iter()
            .map(|variant| QuoteView {
                slug: provider.slug.to_string(),
                variant: variant.id.clone(),
                price: kind.word(),
                shape: ShapeView::from(&shape),
                seconds: seconds.to_string(),
                estimate: EstimateView::from(&price(
                    &PriceCard::of(provider, variant, kind, on),
                    &ask,
                )),
            })
            .collect::<Vec<_>>()
    };
    let quotes: Vec<QuoteView> = providers.into_iter().flat_map(quote).collect();
    Ok(asked.json(quotes.len(), quotes))
}

/// What runaways can cost, and what stops them.
#[utoipa::path(get, path = "/api/v1/exposure", params(
    ("providers" = Option<String>, Query, description = "Slugs with commas; the routed ones if left out."),
    ("plan" = Option<String>, Query, description = "Such as e2b:pro,daytona:tier_2; the cheapest that fits if left out."),
    ("vcpu" = Option<String>, Query, description = "0.001 to 1024; 1 if left out."),
    ("memory_gib" = Option<String>, Query, description = "0 to 16384; 2 if left out."),
    ("disk_gib" = Option<String>, Query, description = "0 to 65536; 0 if left out."),
    ("runaways" = Option<u64>, Query, description = "1 to 10000; 1 if left out."),
    ("noticed_after_seconds" = Option<u64>, Query, description = "1 to 2592000; 3600 if left out."),
    ("timeout_seconds" = Option<String>, Query, description = "1 to 2592000, or none; 60 if left out."),
    ("attempts" = Option<u64>, Query, description = "1 to 100; 1 if left out."),
    ("price" = Option<String>, Query, description = "list or routed; routed where it exists if left out."),
    ("as_of" = Option<String>, Query, description = "The day whose prices hold; today if left out."),
), responses((status = 200, body = Envelope<Vec<ExposureView>>), (status = 400, body = Problem, content_type = "application/problem+json")))]
pub async fn estimate_exposure(asked: Asked) -> Result<Response, Problem> {
    let mut query = asked.query(&[
        "providers",
        "plan",
        "vcpu",
        "memory_gib",
        "disk_gib",
        "runaways",
        "noticed_after_seconds",
        "timeout_seconds",
        "attempts",
        "price",
        "as_of",
    ]);
    let catalog = &asked.edition.catalog;
    let providers = query.providers(catalog).unwrap_or_else(|| catalog.routed().collect());
    let ask = query.exposure();
    let kind = query.price_kind();
    let on = query.as_of(today());
    let plans = query.plans(&providers);
    Problem::of(query)?;
    let mut exposures = Vec::new();
    for provider in providers {
        let offer = Offers::of(provider, on).at(kind);
        let plan = offer.plan_for(&plans, &ask.shape, ask.runaways);
        let exposed = expose(&offer, plan, &ask).map_err(|error| {
            Problem::bad_request(vec![FieldError {
                field: offer.slug.clone(),
                message: format!("cannot be computed: the product {error}"),
            }])
        })?;
        exposures.push((offer, exposed));
    }
    let result: Vec<ExposureView> =
        exposures.iter().map(|(offer, exposed)| ExposureView::new(offer, exposed)).collect();
    Ok(asked.answer(result.len(), result, || tables::exposures(&exposures, &ask)))
}

/// What a steady workload costs in a month at every provider, under its own rules; exact totals first, by their size.
#[utoipa::path(get, path = "/api/v1/workload", params(
    ("providers" = Option<String>, Query, description = "Slugs with commas; all if left out."),
    ("vcpu" = Option<String>, Query, description = "0.001 to 1024; 1 if left out."),
    ("memory_gib" = Option<String>, Query, description = "0 to 16384; 2 if left out."),
    ("disk_gib" = Option<String>, Query, description = "0 to 65536; 0 if left out."),
    ("runs_per_day" = Option<u64>, Query, description = "1 to 10000000; 10000 if left out."),
    ("seconds_per_run" = Option<String>, Query, description = "Lifetime of a sandbox, not code time: 0.001 to 2592000; 8 if left out."),
    ("peak_concurrency" = Option<u64>, Query, description = "Sandboxes at once, 1 to 100000; 20 if left out."),
    ("creates_per_second" = Option<String>, Query, description = "0.001 to 10000; a tenth of the peak if left out, which then chooses no plan."),
    ("utilisation_percent" = Option<String>, Query, description = "1 to 100; 100 if left out. Matters where active CPU is billed."),
    ("paused_hours" = Option<String>, Query, description = "Hours that sandboxes are paused in a month, all together: 0 to 7200000; 0 if left out."),
    ("price" = Option<String>, Query, description = "list or routed; routed where it exists if left out."),
    ("as_of" = Option<String>, Query, description = "The day that is asked about; today if left out."),
), responses((status = 200, body = Envelope<Vec<WorkloadView>>), (status = 400, body = Problem, content_type = "application/problem+json")))]
pub async fn estimate_workload(asked: Asked) -> Result<Response, Problem> {
    let mut query = asked.query(&[
        "providers",
        "vcpu",
        "memory_gib",
        "disk_gib",
        "runs_per_day",
        "seconds_per_run",
        "peak_concurrency",
        "creates_per_second",
        "utilisation_percent",
        "paused_hours",
        "price",
        "as_of",
    ]);
    let catalog = &asked.edition.catalog;
    let providers =
        query.providers(catalog).unwrap_or_else(|| catalog.providers().iter().collect());
    let workload = query.workload();
    let kind = query.price_kind();
    let on = query.as_of(today());
    Problem::of(query)?;
    let offers: Vec<Offers> = providers.iter().map(|one| Offers::of(one, on)).collect();
    let league = league(&offers, &workload, kind).map_err(|error| {
        Problem::bad_request(vec![FieldError {
            field: "the workload".to_owned(),
            message: format!("cannot be computed: the product {error}"),
        }])
    })?;
    let result: Vec<WorkloadView> =
        league.iter().map(|entry| WorkloadView::new(entry, &workload)).collect();
    Ok(asked.answer(result.len(), result, || tables::workload(&league, &workload)))
}
