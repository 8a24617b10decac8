//! What a refusal means, answer by answer: of what kind it is, and whether a sandbox may have been left or code may have
//! run. An answer need not be JSON: an edge in front may speak HTML.

use reqwest::StatusCode;
use serde::Deserialize;

use super::super::adapter::{Ended, Failure, Remains};
use super::super::outbound::Answer;
use crate::runs::Reason;

/// How a 429 of the other kind begins: too many sandboxes at once, not too many calls.
const CONCURRENCY: &str = "you have reached the maximum number of concurrent";
/// What a proxy says of a sandbox that is gone.
const NOT_FOUND: &str = "The sandbox was not found";
/// What an `error_code` of a repeated order begins with.
const IDEMPOTENCY: &str = "idempotency_";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Body {
    message: String,
    error_code: Option<String>,
}

impl Body {
    fn of(answer: &Answer) -> Self {
        serde_json::from_slice(&answer.body).unwrap_or_default()
    }
}

/// Why no sandbox was made.
pub fn create(answer: &Answer) -> Failure {
    let body = Body::of(answer);
    let is_repeated = body.error_code.is_some_and(|code| code.starts_with(IDEMPOTENCY));
    let (reason, remains) = match answer.status.as_u16() {
        // Somebody in between sent it twice: one of the two may have made it.
        409 | 422 if is_repeated => (Reason::Outage, Remains::Perhaps),
        401 | 403 => (Reason::Auth, Remains::Nothing),
        400 | 404 | 405 | 409 | 422 => (Reason::BadRequest, Remains::Nothing),
        429 if body.message.starts_with(CONCURRENCY) => (Reason::Quota, Remains::Nothing),
        429 if !answer.headers.contains_key("retry-after") => (Reason::Quota, Remains::Nothing),
        429 => (Reason::RateLimited, Remains::Nothing),
        503 => (Reason::Capacity, Remains::Perhaps),
        504 => (Reason::StartTimeout, Remains::Perhaps),
        500..=599 => (Reason::Outage, Remains::Perhaps),
        _ => (Reason::Protocol, Remains::Perhaps),
    };
    answer.failure(reason, remains)
}

/// Why another call of the control plane was refused.
pub fn control(answer: &Answer) -> Failure {
    let reason = match answer.status.as_u16() {
        401 | 403 => Reason::Auth,
        429 => Reason::RateLimited,
        500..=599 => Reason::Outage,
        status if (400..500).contains(&status) => Reason::BadRequest,
        _ => Reason::Protocol,
    };
    answer.failure(reason, Remains::Perhaps)
}

/// Which service in a sandbox answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// The interpreter: it answers before any code runs.
    Interpreter,
    /// The process service.
    Processes,
}

/// What became of code where the answer to it is no 200: not run, or nobody knows.
pub fn run(answer: &Answer, service: Service) -> Ended {
    let failure = |reason| answer.failure(reason, Remains::Perhaps);
    let is_text =
        Body::of(answer).message.is_empty() && !answer.body.trim_ascii().starts_with(b"<");
    match answer.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Ended::NotRun(failure(Reason::Auth)),
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => {
            Ended::NotRun(failure(Reason::BadRequest))
        }
        StatusCode::NOT_FOUND | StatusCode::CONFLICT => Ended::NotRun(failure(Reason::Outage)),
        StatusCode::TOO_MANY_REQUESTS => Ended::NotRun(failure(Reason::RateLimited)),
        StatusCode::BAD_GATEWAY if Body::of(answer).message == NOT_FOUND => {
            Ended::NotRun(failure(Reason::Outage))
        }
        // The interpreter itself says so in plain text, when it can make no context; that is before any code.
        StatusCode::INTERNAL_SERVER_ERROR if service == Service::Interpreter && is_text => {
            Ended::NotRun(failure(Reason::Outage))
        }
        // That the port is not open is also said where the connection broke in the middle.
        status if status.is_server_error() => Ended::Lost(failure(Reason::LostConnection)),
        _ => Ended::Lost(failure(Reason::Protocol)),
    }
}
