//! `as_of`: every page and every answer of the API is given the catalog of the day that its query names.
//!
//! Not here: what a day that cannot be read is answered with. Whoever answers reads the query too, and says so.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::query::Query;
use crate::state::{AppState, today};

/// Puts the catalog of the day that is asked about beside the request.
pub async fn choose(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
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
