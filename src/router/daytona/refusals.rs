//! What a refusal means, answer by answer: of what kind it is, and whether a sandbox may have been left or code may have
//! run. Kinds that share a status are told apart by how the message begins; an edge in front may speak HTML.

use reqwest::StatusCode;
use serde::Deserialize;

use super::super::adapter::{Ended, Failure, Remains};
use super::super::outbound::Answer;
use crate::runs::Reason;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Body {
    message: serde_json::Value,
}

/// The message of a refusal; several are joined.
fn message(answer: &Answer) -> String {
    let body: Body = serde_json::from_slice(&answer.body).unwrap_or_default();
    match body.message {
        serde_json::Value::String(text) => text,
        serde_json::Value::Array(texts) => {
            let texts: Vec<&str> = texts.iter().filter_map(serde_json::Value::as_str).collect();
            texts.join(", ")
        }
        _ => String::new(),
    }
}

/// Why no sandbox was made.
pub fn create(answer: &Answer) -> Failure {
    let message = message(answer);
    let (reason, remains) = match answer.status.as_u16() {
        403 if message.starts_with("Organization is suspended") => {
            (Reason::Quota, Remains::Nothing)
        }
        401 | 403 => (Reason::Auth, Remains::Nothing),
        400 => bad_request(&message),
        429 => (Reason::RateLimited, Remains::Nothing),
        // Of two orders of one name the first arrived, but its sandbox was not found.
        409 | 500..=599 => (Reason::Outage, Remains::Perhaps),
        status if (400..500).contains(&status) => (Reason::BadRequest, Remains::Nothing),
        _ => (Reason::Protocol, Remains::Perhaps),
    };
    answer.failure(reason, remains)
}

/// What a 400 means: only its text says it.
fn bad_request(message: &str) -> (Reason, Remains) {
    let is_limit = message.starts_with("Total ") && message.contains(" limit exceeded");
    let is_size = message.contains("exceeds maximum allowed per sandbox");
    if message.starts_with("No available runners") {
        (Reason::Capacity, Remains::Nothing)
    } else if message.starts_with("Sandbox failed to start") {
        // It is there, though its id is not told.
        (Reason::Outage, Remains::Perhaps)
    } else if is_limit || is_size {
        (Reason::Quota, Remains::Nothing)
    } else {
        (Reason::BadRequest, Remains::Nothing)
    }
}

/// Why another call of the API was refused.
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

/// What became of code where the toolbox did not answer with a result: not run, or nobody knows. 408 is read elsewhere.
pub fn run(answer: &Answer) -> Ended {
    let failure = |reason| answer.failure(reason, Remains::Perhaps);
    match answer.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Ended::NotRun(failure(Reason::Auth)),
        StatusCode::BAD_REQUEST => {
            let message = message(answer);
            let of_proxy = ["failed to get runner info", "failed to get sandbox public status"];
            let is_away = of_proxy.iter().any(|prefix| message.starts_with(prefix))
                || message.contains("Is the Sandbox started?");
            Ended::NotRun(failure(if is_away { Reason::Outage } else { Reason::BadRequest }))
        }
        StatusCode::NOT_FOUND => Ended::NotRun(failure(Reason::Outage)),
        StatusCode::TOO_MANY_REQUESTS => Ended::NotRun(failure(Reason::RateLimited)),
        status if status.is_server_error() => Ended::Lost(failure(Reason::LostConnection)),
        _ => Ended::Lost(failure(Reason::Protocol)),
    }
}
