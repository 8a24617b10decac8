//! Answers of the catalog as they were sent, compressed: the same question on the same day has the same answer, so it
//! is rendered and compressed once. Bounded in bytes; what is asked for least goes first.

use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use jiff::civil::Date;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::caching::CATALOG;
use crate::state::today;

/// What all answers together may take, bytes.
const KEPT_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// About how many of them there will be.
const ANSWERS: usize = 4_096;
/// The largest answer.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The longest question that is kept: address and encodings.
const QUESTION_BYTES_MAX: usize = 512;
/// What an answer takes besides its body and its question, about.
const OVERHEAD_BYTES: usize = 1_024;

/// Everything that an answer depends on besides the program and the catalog, which do not change while it runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Question {
    day: Date,
    address: String,
    encodings: String,
}

#[derive(Debug, Clone)]
struct Answer {
    headers: HeaderMap,
    body: Bytes,
}

#[derive(Debug, Clone)]
struct Bytewise;

impl Weighter<Question, Answer> for Bytewise {
    fn weight(&self, question: &Question, answer: &Answer) -> u64 {
        let bytes = answer.body.len() + question.address.len() + question.encodings.len();
        u64::try_from(bytes + OVERHEAD_BYTES).unwrap_or(u64::MAX)
    }
}

/// The answers that are kept; cheap to clone.
#[derive(Debug, Clone)]
pub struct Kept(Arc<Cache<Question, Answer, Bytewise>>);

impl Kept {
    /// Nothing yet.
    pub fn new() -> Self {
        Self(Arc::new(Cache::with_weighter(ANSWERS, KEPT_BYTES_MAX, Bytewise)))
    }
}

/// The question of a request, unless its answer depends on more than that.
fn question(request: &Request) -> Option<Question> {
    let headers = request.headers();
    if request.method() != Method::GET || headers.contains_key(header::IF_NONE_MATCH) {
        return None;
    }
    let address = request.uri().path_and_query()?.as_str();
    let encodings = match headers.get(header::ACCEPT_ENCODING) {
        Some(value) => value.to_str().ok()?,
        None => "",
    };
    (address.len() + encodings.len() <= QUESTION_BYTES_MAX).then(|| Question {
        day: today(),
        address: address.to_owned(),
        encodings: encodings.to_owned(),
    })
}

/// Answers from what is kept, and keeps what is good.
pub async fn answer(State(kept): State<Kept>, request: Request, next: Next) -> Response {
    let Some(question) = question(&request) else { return next.run(request).await };
    if let Some(answer) = kept.0.get(&question) {
        return (answer.headers, answer.body).into_response();
    }
    let response = next.run(request).await;
    let keepable = response.status() == StatusCode::OK
        && response.headers().get(header::CACHE_CONTROL).is_some_and(|value| value == CATALOG);
    if !keepable {
        return response;
    }
    let (parts, body) = response.into_parts();
    let Ok(body) = to_bytes(body, ANSWER_BYTES_MAX).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    kept.0.insert(question, Answer { headers: parts.headers.clone(), body: body.clone() });
    Response::from_parts(parts, Body::from(body))
}
