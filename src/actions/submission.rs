//! A run from the page: read, submitted or refused, and where the browser goes then.

mod pair;

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
use crate::runs::Request;
use crate::runs::typed::{Secret, Typed};
use crate::state::AppState;

/// Refusals that are written down for one address. Each keeps what was typed, so they are counted as runs are.
static REFUSALS: LazyLock<Rate> =
    LazyLock::new(|| Rate::per_minute(NonZeroU32::new(RUNS_PER_MINUTE).unwrap_or(NonZeroU32::MIN)));

/// Where a run is to be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// At whoever the request allows, one after the other.
    Whoever,
    /// At two, beside each other.
    Two,
}

/// Why nothing was started.
enum Unstarted {
    /// Somebody may not, and why: that gets a receipt.
    Refused(String),
    /// It could not even be written down.
    Broken(StatusCode),
}

impl From<Refusal> for Unstarted {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Store(_) | Refusal::Random(_) => Self::Broken(failed(&refusal)),
            refusal => Self::Refused(refusal.to_string()),
        }
    }
}

/// Sends the browser to the receipt. Where there is none to show it answers with a status, which a page explains.
pub async fn answer(typed: Typed, token: Secret, at: At) {
    let state = expect_context::<AppState>();
    let outcome = submitted(&state, typed.tidied(), &token, address(), at).await;
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
    at: At,
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
        (None, Ok(request)) => {
            let started = match at {
                At::Whoever => at_whoever(state, request, &caller).await,
                At::Two => at_two(state, &request, &caller, address).await,
            };
            match started {
                Ok(receipt) => return Ok(receipt),
                Err(Unstarted::Broken(status)) => return Err(status),
                Err(Unstarted::Refused(why)) => (why, Vec::new()),
            }
        }
        (Some(why), Ok(_)) => (why, Vec::new()),
        (unknown_token, Err(slips)) => {
            let said = slips.iter().map(|(field, words)| format!("{field} {words}"));
            let names = slips.iter().map(|(field, _)| *field).collect();
            (said.chain(unknown_token).collect::<Vec<_>>().join("; "), names)
        }
    };
    let id = refused(state, &typed.nearest(&known), &caller, address, &why).await?;
    // The record holds the nearest request that can be read; what could not be goes along in the address.
    let kept =
        typed.fields().into_iter().filter(|(name, _)| wrong.contains(name) && *name != "code");
    Ok(encoded(&format!("/runs/{id}"), kept))
}

async fn at_whoever(
    state: &AppState,
    request: Request,
    caller: &Caller,
) -> Result<String, Unstarted> {
    Ok(format!("/runs/{}", state.sandboxes.submit(request, caller, None).await?.id))
}

/// Two runs, each at one provider and nowhere else. Where the second is refused, its refusal stands beside the first.
async fn at_two(
    state: &AppState,
    request: &Request,
    caller: &Caller,
    address: Option<IpAddr>,
) -> Result<String, Unstarted> {
    let [one, two] = pair::of(&state.sandboxes, request, caller).map_err(Unstarted::Refused)?;
    let first = state.sandboxes.submit(one, caller, None).await?.id;
    let second = match state.sandboxes.submit(two.clone(), caller, None).await {
        Ok(submitted) => Ok(submitted.id),
        Err(refusal) => refused(state, &two, caller, address, &refusal.to_string()).await,
    };
    // The first is on its way, whatever became of the second.
    Ok(second
        .map_or_else(|_| format!("/runs/{first}"), |second| format!("/runs/{first}/and/{second}")))
}

/// Writes a refusal down. Says its id.
async fn refused(
    state: &AppState,
    request: &Request,
    caller: &Caller,
    address: Option<IpAddr>,
    why: &str,
) -> Result<String, StatusCode> {
    if address.is_some_and(|address| REFUSALS.take(address).is_err()) {
        return Err(StatusCode::TOO_MANY_REQUESTS);
    }
    let id = state.sandboxes.record_refusal(request, caller, sentence(why)).await;
    id.map_err(|error| failed(&error))
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
