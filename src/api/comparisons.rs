//! `/api/v1/compare`: providers side by side, as the pages compare them.

use axum::Json;
use axum::extract::{RawQuery, State};

use super::envelope;
use super::problem::Problem;
use super::views::Envelope;
use super::views::comparison::ComparisonView;
use crate::catalog::Provider;
use crate::comparison::{COMPARED_MAX, Comparison};
use crate::query::{FieldError, Query};
use crate::state::{AppState, today};

/// Providers side by side: what decides, what each is good for, and every row with its sources.
#[utoipa::path(get, path = "/api/v1/compare", params(
    ("providers" = Option<String>, Query, description = "Two to five slugs with commas; the routed ones if left out."),
    ("only_differences" = Option<String>, Query, description = "1 leaves out rows whose cells say the same."),
    ("only_undisputed" = Option<String>, Query, description = "1 leaves out rows over which sources disagree."),
), responses(
    (status = 200, body = Envelope<ComparisonView>),
    (status = 400, body = Problem, content_type = "application/problem+json"),
))]
pub async fn compare_providers(
    State(state): State<AppState>,
    RawQuery(raw): RawQuery,
) -> Result<Json<Envelope<ComparisonView>>, Problem> {
    let mut query =
        Query::new(raw.as_deref(), &["providers", "only_differences", "only_undisputed"]);
    let named = query.providers(&state.catalog);
    let differences = query.switch("only_differences");
    let undisputed = query.switch("only_undisputed");
    Problem::of(query)?;
    let wrong = |message: String| {
        Problem::bad_request(vec![FieldError { field: "providers".to_owned(), message }])
    };
    let providers: Vec<&Provider> =
        named.unwrap_or_else(|| state.catalog.routed().take(COMPARED_MAX).collect());
    if !(2..=COMPARED_MAX).contains(&providers.len()) {
        let count = providers.len();
        return Err(wrong(format!("names {count}; two to {COMPARED_MAX} are compared")));
    }
    let on = today();
    let comparison = Comparison::of(providers, on)
        .map_err(|error| wrong(format!("cannot be compared: the product {error}")))?
        .only(differences, undisputed);
    let count = comparison.providers.len();
    Ok(envelope(&state.revision, on, count, ComparisonView::from(&comparison)))
}
