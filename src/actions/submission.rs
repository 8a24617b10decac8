//! A run from the page: read, submitted or refused, and where the browser goes then.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::LazyLock;

use axum::extract::ConnectInfo;
use axum::http::StatusCode;
use axum::http::request::Parts;
use leptos::prelude::{expect_context, use_context};
use leptos_axum::{ResponseOptions, redirect};

use crate::access::{Caller, RUNS_PER_MINUTE, Rate, verify};
use crate::query::encoded;
use crate::router::Refusal;
use crate::runs::typed::{Secret, Typed};
use crate::state::AppState;

/// Refusals that are written down for one address. Each keeps what was typed, so they are counted as runs are.
static REFUSALS: LazyLock<Rate> =
    LazyLock::new(|| Rate::per_minute(NonZeroU32::new(RUNS_PER_MINUTE).unwrap_or(NonZeroU32::MIN)));

/// Sends the browser to the receipt. Where there is none to show it answers with a status, which a page explains.
pub async fn answer(typed: Typed, token: Secret) {
    let state = expect_context::<AppState>();
    let outcome = submitted(&state, typed.tidied(), &token, address()).await;
    let options = expect_context::<ResponseOptions>();
    match outcome {
        Ok(receipt) => {
            redirect(&receipt);
            options.set_status(StatusCode::SEE_OTHER);
        }
        Err(status) => options.set_status(status),
    }
}

/// Who sent the request, where the server knows.
fn address() -> Option<IpAddr> {
    let parts = use_context::<Parts>()?;
    parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|from| from.0.ip())
}

/// The address of the receipt.
async fn submitted(
    state: &AppState,
    typed: Typed,
    token: &Secret,
    address: Option<IpAddr>,
) -> Result<String, StatusCode> {
    if typed.is_too_long() {
        return Err(StatusCode::PAYLOAD_TOO_LARGE);
    }
    let (anonymous, known) = (Caller::Anonymous(address), state.sandboxes.providers());
    let (caller, unknown_token) = match token.0.trim() {
        "" => (anonymous, None),
        text => match verify(&state.pool, text).await.map_err(|error| failed(&error))? {
            Some(token) => (Caller::Token(token), None),
            None => (anonymous, Some("this token is not known here, or was revoked".to_owned())),
        },
    };
    let (why, wrong) = match (unknown_token, typed.read(&known)) {
        (None, Ok(request)) => match state.sandboxes.submit(request, &caller, None).await {
            Ok(submitted) => return Ok(format!("/runs/{}", submitted.id)),
            Err(error @ (Refusal::Store(_) | Refusal::Random(_))) => return Err(failed(&error)),
            Err(refusal) => (refusal.to_string(), Vec::new()),
        },
        (Some(why), Ok(_)) => (why, Vec::new()),
        (unknown_token, Err(slips)) => {
            let said = slips.iter().map(|(field, words)| format!("{field} {words}"));
            let names = slips.iter().map(|(field, _)| *field).collect();
            (said.chain(unknown_token).collect::<Vec<_>>().join("; "), names)
        }
    };
    if address.is_some_and(|address| REFUSALS.take(address).is_err()) {
        return Err(StatusCode::TOO_MANY_REQUESTS);
    }
    let nearest = typed.nearest(&known);
    let id = state.sandboxes.record_refusal(&nearest, &caller, sentence(&why)).await;
    let id = id.map_err(|error| failed(&error))?;
    // The record holds the nearest request that can be read; what could not be goes along in the address.
    let kept =
        typed.fields().into_iter().filter(|(name, _)| wrong.contains(name) && *name != "code");
    Ok(encoded(&format!("/runs/{id}"), kept))
}

/// With a capital and a full stop.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let stop = if words.ends_with('.') { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

fn failed(error: &(dyn std::error::Error + 'static)) -> StatusCode {
    tracing::error!(error, "a run from the page could not be recorded");
    StatusCode::INTERNAL_SERVER_ERROR
}
