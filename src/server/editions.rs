//! `as_of`: every page and every answer of the API is given the catalog of the day that its query names.
//!
//! Not here: what a day that cannot be read is answered with. Whoever answers reads the query too, and says so.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::about_runs::is_about_runs;
use crate::moment::today;
use crate::query::Query;
use crate::state::AppState;

/// Addresses that are about today whatever their query names: what changed, and texts.
const OF_TODAY: [&str; 5] = ["/api", "/api/v1/changes", "/changes", "/guide", "/methodology"];

/// Whether what stands at a path is about a day.
fn is_dated(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or_default();
    // Runs are about their own moment.
    !is_about_runs(path)
        && !OF_TODAY.contains(&path)
        && !["changes.atom", "correct"].contains(&last)
}

/// Puts the catalog of the day that is asked about beside the request.
pub async fn choose(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    if !is_dated(request.uri().path()) {
        return next.run(request).await;
    }
    let day = Query::of_page(request.uri().query()).as_of(today());
    match state.edition(day).await {
        Ok(edition) => {
            request.extensions_mut().insert(edition);
            next.run(request).await
        }
        Err(error) => {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            tracing::error!(%error, cause, %day, "no catalog of a past day");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
