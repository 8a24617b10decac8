//! `/share/{name}.png`: the picture that chats and feeds show beside a link; one for the site, for
//! each provider and for each pair that the router reaches.
//!
//! Not here: which picture a page names (`parts::preview`), and how long it is kept (`caching`,
//! `kept`).

mod drawing;
mod facts;
mod raster;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use tokio::task::spawn_blocking;

use crate::moment::today;
use crate::state::AppState;
use facts::Card;
use raster::Fault;

/// Draws the picture of a name; there are no others.
pub async fn image(
    State(state): State<AppState>,
    file: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
    uri: Uri,
) -> Response {
    if query.is_some() {
        // A picture has one address: under others it would be drawn again and again.
        return Redirect::permanent(uri.path()).into_response();
    }
    let card = file
        .ok()
        .and_then(|Path(file)| Card::named(&state.catalog, file.strip_suffix(".png")?, today()));
    let Some(card) = card else { return StatusCode::NOT_FOUND.into_response() };
    let drawn = spawn_blocking(move || raster::png(&drawing::draw(&card))).await;
    match drawn.map_err(Fault::from).flatten() {
        Ok(png) => ([(header::CONTENT_TYPE, "image/png")], png).into_response(),
        Err(error) => {
            tracing::error!(%error, "a share image could not be drawn");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
