//! `/api/v1/prices` and `/api/v1/exposure`: figures for any shape, from the same functions as everywhere.

use axum::Json;
use axum::extract::{RawQuery, State};

use super::envelope;
use super::problem::{FieldError, Problem};
use super::query::Query;
use super::views::{Envelope, EstimateView, ExposureView, QuoteView, ShapeView};
use crate::calculator::{
    ATTEMPTS_MAX, Exposure, NOTICED_AFTER_SECONDS_MAX, RUNAWAYS_MAX, TIMEOUT_SECONDS_MAX, expose,
};
use crate::catalog::plan::Plan;
use crate::catalog::provider::Provider;
use crate::catalog::shape::{Ask, Shape, price};
use crate::catalog::word::{PriceKind, Status};
use crate::state::{AppState, today};

/// Digits after the point of a size or a time.
const PLACES_MAX: u32 = 3;
/// Processors, least and most.
const VCPU_BOUNDS: (&str, &str) = ("0.001", "1024");
/// Memory in GiB, least and most. None prices the processors alone.
const MEMORY_BOUNDS: (&str, &str) = ("0", "16384");
/// Disk in GiB, least and most.
const DISK_BOUNDS: (&str, &str) = ("0", "65536");
/// Seconds of a price: up to a year.
const SECONDS_BOUNDS: (&str, &str) = ("0.001", "31536000");

fn shape(query: &mut Query) -> Shape {
    Shape {
        vcpu: query.quantity("vcpu", "1", VCPU_BOUNDS, PLACES_MAX),
        memory_gib: query.quantity("memory_gib", "2", MEMORY_BOUNDS, PLACES_MAX),
        disk_gib: query.quantity("disk_gib", "0", DISK_BOUNDS, PLACES_MAX),
    }
}

/// The price that was asked for; routed where there is one if none was.
fn kind_for(asked: Option<PriceKind>, provider: &Provider) -> PriceKind {
    asked.unwrap_or(match provider.status {
        Status::Routed => PriceKind::Routed,
        Status::Listed => PriceKind::List,
    })
}

/// What a sandbox of every variant costs for a shape and a time.
#[utoipa::path(get, path = "/api/v1/prices", params(
    ("providers" = Option<String>, Query, description = "Slugs with commas; all if left out."),
    ("vcpu" = Option<String>, Query, description = "0.001 to 1024; 1 if left out."),
    ("memory_gib" = Option<String>, Query, description = "0 to 16384; 2 if left out."),
    ("disk_gib" = Option<String>, Query, description = "0 to 65536; 0 if left out."),
    ("seconds" = Option<String>, Query, description = "0.001 to 31536000; 3600 if left out."),
    ("utilisation_percent" = Option<String>, Query, description = "1 to 100; 100 if left out."),
    ("price" = Option<String>, Query, description = "list or routed; routed where it exists if left out."),
    ("as_of" = Option<String>, Query, description = "The day whose prices hold; today if left out."),
), responses((status = 200, body = Envelope<Vec<QuoteView>>), (status = 400, body = Problem)))]
pub async fn estimate_prices(
    State(state): State<AppState>,
    RawQuery(raw): RawQuery,
) -> Result<Json<Envelope<Vec<QuoteView>>>, Problem> {
    let mut query = Query::new(
        raw.as_deref(),
        &[
            "providers",
            "vcpu",
            "memory_gib",
            "disk_gib",
            "seconds",
            "utilisation_percent",
            "price",
            "as_of",
        ],
    );
    let providers = query
        .providers(&state.catalog)
        .unwrap_or_else(|| state.catalog.providers().iter().collect());
    let shape = shape(&mut query);
    let seconds = query.quantity("seconds", "3600", SECONDS_BOUNDS, PLACES_MAX);
    let utilisation_percent =
        query.quantity("utilisation_percent", "100", ("1", "100"), PLACES_MAX);
    let asked = query.price_kind();
    let on = query.as_of(today());
    query.finish()?;
    let quote = |provider: &Provider| {
        let kind = kind_for(asked, provider);
        let ask = Ask { shape, seconds, utilisation_percent, kind, on, plan: None };
        provider
            .variants
            .iter()
            .map(|variant| QuoteView {
                slug: provider.slug.to_string(),
                variant: variant.id.clone(),
                price: kind.word(),
                shape: ShapeView::from(&shape),
                seconds: seconds.to_string(),
                estimate: EstimateView::from(&price(provider, variant, &ask)),
            })
            .collect::<Vec<_>>()
    };
    let quotes: Vec<QuoteView> = providers.into_iter().flat_map(quote).collect();
    Ok(envelope(&state.revision, on, quotes.len(), quotes))
}

/// What runaways can cost, and what stops them.
#[utoipa::path(get, path = "/api/v1/exposure", params(
    ("providers" = Option<String>, Query, description = "Slugs with commas; the routed ones if left out."),
    ("plan" = Option<String>, Query, description = "Such as e2b:pro,daytona:tier_2; the first of each if left out."),
    ("vcpu" = Option<String>, Query, description = "0.001 to 1024; 1 if left out."),
    ("memory_gib" = Option<String>, Query, description = "0 to 16384; 2 if left out."),
    ("disk_gib" = Option<String>, Query, description = "0 to 65536; 0 if left out."),
    ("runaways" = Option<u64>, Query, description = "1 to 10000; 1 if left out."),
    ("noticed_after_seconds" = Option<u64>, Query, description = "1 to 2592000; 3600 if left out."),
    ("timeout_seconds" = Option<String>, Query, description = "1 to 2592000, or none; 60 if left out."),
    ("attempts" = Option<u64>, Query, description = "1 to 100; 1 if left out."),
    ("price" = Option<String>, Query, description = "list or routed; routed where it exists if left out."),
    ("as_of" = Option<String>, Query, description = "The day whose prices hold; today if left out."),
), responses((status = 200, body = Envelope<Vec<ExposureView>>), (status = 400, body = Problem)))]
pub async fn estimate_exposure(
    State(state): State<AppState>,
    RawQuery(raw): RawQuery,
) -> Result<Json<Envelope<Vec<ExposureView>>>, Problem> {
    let mut query = Query::new(
        raw.as_deref(),
        &[
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
        ],
    );
    let providers =
        query.providers(&state.catalog).unwrap_or_else(|| state.catalog.routed().collect());
    let shape = shape(&mut query);
    let runaways = query.count("runaways", 1, 1, RUNAWAYS_MAX);
    let noticed_after_seconds =
        query.count("noticed_after_seconds", 3_600, 1, NOTICED_AFTER_SECONDS_MAX);
    let timeout_seconds = if query.text("timeout_seconds").as_deref() == Some("none") {
        None
    } else {
        Some(query.count("timeout_seconds", 60, 1, TIMEOUT_SECONDS_MAX))
    };
    let attempts = query.count("attempts", 1, 1, ATTEMPTS_MAX);
    let asked = query.price_kind();
    let on = query.as_of(today());
    let plans = query.text("plan").unwrap_or_default();
    query.finish()?;
    let plans = named_plans(&plans, &providers)?;
    let mut result = Vec::new();
    for provider in providers {
        let kind = kind_for(asked, provider);
        let plan = plans
            .iter()
            .find(|(slug, _)| *slug == provider.slug.as_str())
            .map(|(_, plan)| *plan)
            .or_else(|| provider.plans.first());
        let ask = Exposure {
            shape,
            runaways,
            noticed_after_seconds,
            timeout_seconds,
            attempts,
            kind,
            on,
        };
        let exposed = expose(provider, plan, &ask).map_err(|error| {
            Problem::bad_request(vec![FieldError {
                field: provider.slug.to_string(),
                message: format!("cannot be computed: the product {error}"),
            }])
        })?;
        result.push(ExposureView::new(provider, kind, &exposed));
    }
    Ok(envelope(&state.revision, on, result.len(), result))
}

/// Reads `e2b:pro,daytona:tier_2`.
fn named_plans<'a>(
    text: &'a str,
    providers: &[&'a Provider],
) -> Result<Vec<(&'a str, &'a Plan)>, Problem> {
    let wrong = |message: String| {
        Problem::bad_request(vec![FieldError { field: "plan".to_owned(), message }])
    };
    let mut plans: Vec<(&str, &Plan)> = Vec::new();
    for pair in text.split(',').filter(|pair| !pair.is_empty()) {
        let (slug, id) = pair
            .split_once(':')
            .ok_or_else(|| wrong("is not a list such as e2b:pro,daytona:tier_2".to_owned()))?;
        let provider =
            providers.iter().find(|provider| provider.slug.as_str() == slug).ok_or_else(|| {
                wrong(format!("names {}, which was not asked about", super::query::shortened(slug)))
            })?;
        let plan = provider.plan(id).ok_or_else(|| {
            let ids: Vec<&str> = provider.plans.iter().map(|plan| plan.id.as_str()).collect();
            wrong(format!("names no plan of {slug}; allowed: {}", ids.join(", ")))
        })?;
        if plans.iter().any(|(named, _)| *named == slug) {
            return Err(wrong(format!("names two plans of {slug}; one is allowed")));
        }
        plans.push((slug, plan));
    }
    Ok(plans)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Quantity;

    #[test]
    fn the_bounds_are_decimals() {
        for (least, most) in [VCPU_BOUNDS, MEMORY_BOUNDS, DISK_BOUNDS, SECONDS_BOUNDS] {
            assert!(Quantity::parse(least).unwrap() < Quantity::parse(most).unwrap());
        }
    }
}
