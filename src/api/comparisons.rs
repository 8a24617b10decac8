//! `/api/v1/compare`: providers side by side, as the pages compare them.

use axum::response::Response;

use super::asked::Asked;
use super::problem::Problem;
use super::tables;
use super::views::Envelope;
use super::views::comparison::ComparisonView;
use crate::comparison::{COMPARED_MAX, Comparison};
use crate::moment::today;
use crate::query::FieldError;

/// Providers side by side: what decides, what each is good for, and every row with its sources.
#[utoipa::path(get, path = "/api/v1/compare", params(
    ("providers" = Option<String>, Query, description = "Two to five slugs with commas; the routed ones if left out."),
    ("only_differences" = Option<String>, Query, description = "1 leaves out rows whose cells say the same."),
    ("only_undisputed" = Option<String>, Query, description = "1 leaves out rows over which sources disagree."),
    ("as_of" = Option<String>, Query, description = "The day that is asked about; today if left out."),
), responses(
    (status = 200, body = Envelope<ComparisonView>),
    (status = 400, body = Problem, content_type = "application/problem+json"),
))]
pub async fn compare_providers(asked: Asked) -> Result<Response, Problem> {
    let mut query = asked.query(&["providers", "only_differences", "only_undisputed", "as_of"]);
    let catalog = &asked.edition.catalog;
    let named = query.providers(catalog);
    let differences = query.switch("only_differences");
    let undisputed = query.switch("only_undisputed");
    let on = query.as_of(today());
    Problem::of(query)?;
    let wrong = |message: String| {
        Problem::bad_request(vec![FieldError { field: "providers".to_owned(), message }])
    };
    let providers = named.unwrap_or_else(|| Comparison::by_default(catalog));
    if !(2..=COMPARED_MAX).contains(&providers.len()) {
        let count = providers.len();
        return Err(wrong(format!("names {count}; two to {COMPARED_MAX} are compared")));
    }
    let comparison = Comparison::of(providers, on)
        .map_err(|error| wrong(format!("cannot be compared: the product {error}")))?
        .only(differences, undisputed);
    let view = ComparisonView::from(&comparison);
    Ok(asked.answer(comparison.providers.len(), view, || tables::comparison(&comparison)))
}
