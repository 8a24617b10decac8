//! `/api/v1/runs`: start a run, read it, follow it, end it.

use std::convert::Infallible;
use std::net::SocketAddr;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, FromRef, FromRequestParts, Path, RawQuery, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;
use futures_util::stream;

use super::problem::Problem;
use super::views::runs::{AttemptView, PieceView, RunRequest, RunView, RunsView};
use crate::access::{self, Caller};
use crate::query::{FieldError, Query};
use crate::router::Refusal;
use crate::runs::Receipt;
use crate::runs::draft::Draft;
use crate::runs::events::{Cursor, Event};
use crate::runs::store::{self, StoreError};
use crate::state::AppState;

/// Characters of an idempotency key, at most.
const KEY_CHARS_MAX: usize = 200;
/// Runs of a page, if nothing is said.
const LIMIT: u64 = 20;
/// Runs of a page, at most.
const LIMIT_MAX: u64 = 100;
/// The header by which whoever started a run may end it.
const CANCEL_SECRET: &str = "x-cancel-secret";

/// Who asks: the token of the header, or an address without one. A token that is none is refused, never ignored.
pub struct Asking(Caller);

impl<S: Send + Sync> FromRequestParts<S> for Asking
where
    AppState: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Some(value) = parts.headers.get(header::AUTHORIZATION) else {
            let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
            return Ok(Self(Caller::Anonymous(peer.map(|ConnectInfo(peer)| peer.ip()))));
        };
        let words = value.to_str().ok().and_then(|value| value.split_once(' '));
        let token = words.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let (_, text) = token.ok_or_else(unauthorized)?;
        let pool = AppState::from_ref(state).pool;
        let found = access::verify(&pool, text.trim()).await.map_err(StoreError::from)?;
        found.map(|token| Self(Caller::Token(token))).ok_or_else(unauthorized)
    }
}

fn unauthorized() -> Problem {
    Problem::of_status(StatusCode::UNAUTHORIZED)
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        tracing::error!(
            error = &error as &dyn std::error::Error,
            "a run could not be read or written"
        );
        Self::of_status(StatusCode::SERVICE_UNAVAILABLE)
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let (status, retry_after) = match &refusal {
            Refusal::OverBudget { .. } => (StatusCode::PAYMENT_REQUIRED, None),
            Refusal::RateLimited { retry_after_seconds } => {
                (StatusCode::TOO_MANY_REQUESTS, Some(*retry_after_seconds))
            }
            Refusal::Busy { retry_after_seconds } => {
                (StatusCode::SERVICE_UNAVAILABLE, Some(*retry_after_seconds))
            }
            Refusal::Draining => (StatusCode::SERVICE_UNAVAILABLE, Some(DRAINING_RETRY_SECONDS)),
            Refusal::KeyConflict => (StatusCode::CONFLICT, None),
            Refusal::KeyWithoutToken => (StatusCode::UNAUTHORIZED, None),
            Refusal::NotAllowed(_) => (StatusCode::FORBIDDEN, None),
            Refusal::BrokeOff | Refusal::Random(_) | Refusal::Store(_) => {
                tracing::error!(
                    error = &refusal as &dyn std::error::Error,
                    "a run could not be started"
                );
                return Self::of_status(StatusCode::SERVICE_UNAVAILABLE);
            }
        };
        Self { retry_after, ..Self::of_status(status).saying(refusal.to_string()) }
    }
}

/// Seconds after which a restarted site is there again, about.
const DRAINING_RETRY_SECONDS: u32 = 10;

/// Reads a body of JSON, whatever is wrong with it.
fn read(headers: &HeaderMap, body: &Bytes) -> Result<RunRequest, Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(Problem::of_status(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
    serde_json::from_slice(body).map_err(|error| {
        Problem::of_status(StatusCode::BAD_REQUEST)
            .saying(format!("the body cannot be read: {error}"))
    })
}

/// Runs code in a fresh sandbox and answers when the run is over; with `Prefer: respond-async` at once, with 202. Without a token
/// only the embedded sandbox is used, for at most 10,000 ms. Whatever became of it, the answer is 200 with the whole chain.
#[utoipa::path(post, path = "/api/v1/runs", request_body(content = RunRequest, content_type = "application/json"), params(
    ("Prefer" = Option<String>, Header, description = "respond-async to be answered at once."),
    ("Authorization" = Option<String>, Header, description = "Bearer and a token; without one only the embedded sandbox is used."),
), responses(
    (status = 200, body = RunView),
    (status = 202, body = RunView, description = "Accepted; Location says where it is."),
    (status = 400, body = Problem, content_type = "application/problem+json"),
    (status = 401, body = Problem, content_type = "application/problem+json"),
    (status = 402, body = Problem, content_type = "application/problem+json"),
    (status = 403, body = Problem, content_type = "application/problem+json"),
    (status = 409, body = Problem, content_type = "application/problem+json"),
    (status = 413, body = Problem, content_type = "application/problem+json"),
    (status = 415, body = Problem, content_type = "application/problem+json"),
    (status = 429, body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json"),
))]
pub async fn start_run(
    State(state): State<AppState>,
    Asking(caller): Asking,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let asked = read(&headers, &body)?;
    let key = asked.idempotency_key.as_deref();
    let known = state.sandboxes.providers();
    let request = Draft::from(&asked).read(&known).map_err(|slips| {
        let error =
            |(field, message): (&str, String)| FieldError { field: field.to_owned(), message };
        Problem::bad_request(slips.into_iter().map(error).collect())
    })?;
    let is_key = |key: &str| {
        (1..=KEY_CHARS_MAX).contains(&key.chars().count()) && !key.contains(char::is_control)
    };
    if key.is_some_and(|key| !is_key(key)) {
        let message = format!("must have 1 to {KEY_CHARS_MAX} characters, none of them a control");
        let field = "idempotency_key".to_owned();
        return Err(Problem::bad_request(vec![FieldError { field, message }]));
    }
    let started = state.sandboxes.submit(request, &caller, key).await?;
    let is_async = headers.get_all("prefer").iter().any(|value| {
        value
            .to_str()
            .is_ok_and(|value| value.split(',').any(|wish| wish.trim() == "respond-async"))
    });
    if !is_async {
        state.sandboxes.wait(&started.id).await;
    }
    let receipt = found(&state, &started.id).await?;
    let view = RunView::new(&receipt, started.cancel_secret);
    let location = [(header::LOCATION, format!("/api/v1/runs/{}", started.id))];
    let is_over = receipt.run.is_final();
    let status = if is_over { StatusCode::OK } else { StatusCode::ACCEPTED };
    Ok((status, location, Json(view)).into_response())
}

async fn found(state: &AppState, id: &str) -> Result<Receipt, Problem> {
    let receipt = state.sandboxes.receipt(id).await?;
    receipt.ok_or_else(|| Problem::not_found("there is no run of this id"))
}

/// A run, whether it is over or not. Its id is all that is needed.
#[utoipa::path(get, path = "/api/v1/runs/{id}", params(("id" = String, Path, description = "As the run was answered with.")), responses(
    (status = 200, body = RunView),
    (status = 404, body = Problem, content_type = "application/problem+json"),
))]
pub async fn find_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<RunView>, Problem> {
    Ok(Json(RunView::new(&found(&state, &id).await?, None)))
}

/// The runs of a token, the newest first, without their output.
#[utoipa::path(get, path = "/api/v1/runs", params(
    ("limit" = Option<u64>, Query, description = "1 to 100; 20 if left out."),
    ("cursor" = Option<String>, Query, description = "The next_cursor of the page before."),
    ("Authorization" = String, Header, description = "Bearer and a token."),
), responses(
    (status = 200, body = RunsView),
    (status = 400, body = Problem, content_type = "application/problem+json"),
    (status = 401, body = Problem, content_type = "application/problem+json"),
))]
pub async fn list_runs(
    State(state): State<AppState>,
    Asking(caller): Asking,
    RawQuery(query): RawQuery,
) -> Result<Json<RunsView>, Problem> {
    let token = caller.token().ok_or_else(unauthorized)?;
    let mut query = Query::new(query.as_deref(), &["limit", "cursor"]);
    let limit = query.optional_count("limit", 1, LIMIT_MAX).unwrap_or(LIMIT);
    let before = query.word("cursor", cursor);
    Problem::of(query)?;
    // One more than is shown tells whether there are more.
    let asked = u32::try_from(limit + 1).unwrap_or(u32::MAX);
    let before = before.as_ref().map(|(at, id)| (at.as_str(), id.as_str()));
    let mut ids = store::list_of_token(&state.pool, &token.id, before, asked)
        .await
        .map_err(StoreError::from)?;
    let shown = usize::try_from(limit).unwrap_or(usize::MAX);
    let is_more = ids.len() > shown;
    ids.truncate(shown);
    let next_cursor = ids.last().filter(|_| is_more).map(|(at, id)| format!("{at}_{id}"));
    let mut result = Vec::new();
    for (_, id) in &ids {
        let outline = state.sandboxes.outline(id).await?;
        result.extend(outline.map(|outline| RunView::new(&outline, None)));
    }
    Ok(Json(RunsView { result, next_cursor }))
}

/// Reads a cursor: when a run was asked for, and its id.
fn cursor(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('_').map(|(at, id)| (at.to_owned(), id.to_owned()));
    parts.ok_or_else(|| "is not a next_cursor that an answer gave".to_owned())
}

/// Ends a run that is on its way, for whoever holds its token or its `cancel_secret`; one that is over stays as it is.
#[utoipa::path(delete, path = "/api/v1/runs/{id}", params(
    ("id" = String, Path, description = "As the run was answered with."),
    ("X-Cancel-Secret" = Option<String>, Header, description = "The cancel_secret of the answer that started it."),
    ("Authorization" = Option<String>, Header, description = "Bearer and the token that started it."),
), responses(
    (status = 200, body = RunView),
    (status = 401, body = Problem, content_type = "application/problem+json"),
    (status = 403, body = Problem, content_type = "application/problem+json"),
    (status = 404, body = Problem, content_type = "application/problem+json"),
))]
pub async fn cancel_run(
    State(state): State<AppState>,
    Asking(caller): Asking,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<RunView>, Problem> {
    let secret = headers.get(CANCEL_SECRET).and_then(|secret| secret.to_str().ok());
    match state.sandboxes.cancel_by(&id, &caller, secret).await? {
        None => Err(Problem::not_found("there is no run of this id")),
        Some(true) => Ok(Json(RunView::new(&found(&state, &id).await?, None))),
        Some(false) if caller.token().is_none() && secret.is_none() => Err(unauthorized()),
        Some(false) => Err(Problem::of_status(StatusCode::FORBIDDEN)
            .saying("the token or the cancel_secret that started the run is needed")),
    }
}

/// What happens to a run, as server-sent events: `attempt_started`, `output`, `attempt_ended`, `teardown`, and at the end `final`
/// with the whole run. A stream that broke off goes on after the `Last-Event-ID`.
#[utoipa::path(get, path = "/api/v1/runs/{id}/events", params(
    ("id" = String, Path, description = "As the run was answered with."),
    ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that arrived."),
), responses(
    (status = 200, body = String, content_type = "text/event-stream"),
    (status = 404, body = Problem, content_type = "application/problem+json"),
))]
pub async fn follow_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<sse::Event, Infallible>>>, Problem> {
    found(&state, &id).await?;
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let at = last.and_then(Cursor::parse).unwrap_or_default();
    let events = stream::unfold((Some(at), None), move |(at, mut kept)| {
        let (state, id) = (state.clone(), id.clone());
        async move {
            let (event, next) = told(&state, &id, at?, &mut kept).await?;
            Some((Ok(event), (next, kept)))
        }
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

/// The next event, and from where to go on; nothing to go on from after the last.
async fn told(
    state: &AppState,
    id: &str,
    at: Cursor,
    kept: &mut Option<Receipt>,
) -> Option<(sse::Event, Option<Cursor>)> {
    let named = |name: &str, next: Cursor| sse::Event::default().event(name).id(next.to_string());
    let next = state.sandboxes.next_event(id, at, kept).await.ok()?;
    let Some((event, next)) = next else {
        let receipt = match kept.take() {
            Some(receipt) => receipt,
            None => state.sandboxes.receipt(id).await.ok()??,
        };
        // A run that a former process left is not over before the reaper has ended it.
        if !receipt.run.is_final() {
            return None;
        }
        let event = named("final", at).json_data(RunView::new(&receipt, None)).ok()?;
        return Some((event, None));
    };
    let event = match &event {
        Event::AttemptStarted(attempt) => {
            named("attempt_started", next).json_data(AttemptView::from(attempt))
        }
        Event::AttemptEnded(attempt) => {
            named("attempt_ended", next).json_data(AttemptView::from(attempt))
        }
        Event::Teardown(attempt) => named("teardown", next).json_data(AttemptView::from(attempt)),
        Event::Output { stream, text } => {
            named("output", next).json_data(PieceView { stream: stream.word(), text: text.clone() })
        }
    };
    Some((event.ok()?, Some(next)))
}
