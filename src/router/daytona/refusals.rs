//! What a refusal means, answer by answer: of what kind it is, and whether a sandbox may have been left or code may have
//! run. Kinds that share a status are told apart by how the message begins; an edge in front may speak HTML.

use reqwest::StatusCode;
use serde::Deserialize;

use super::super::adapter::{Ended, Remains};
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

/// Why no sandbox was made: of what kind it is, and what may have been left.
pub fn create(answer: &Answer) -> (Reason, Remains) {
    let message = message(answer);
    match answer.status.as_u16() {
        403 if message.starts_with("Organization is suspended") => {
            (Reason::Quota, Remains::Nothing)
        }
        401 | 403 => (Reason::Auth, Remains::Nothing),
        404 | 422 => (Reason::BadRequest, Remains::Nothing),
        400 => bad_request(&message),
        429 => (Reason::RateLimited, Remains::Nothing),
        // Of two orders of one name the first arrived, but its sandbox was not found.
        409 | 500..=599 => (Reason::Outage, Remains::Perhaps),
        // Of edges in front, which cannot know.
        status if (400..500).contains(&status) => (Reason::BadRequest, Remains::Perhaps),
        _ => (Reason::Protocol, Remains::Perhaps),
    }
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
    } else if message.starts_with("Snapshot ") {
        (Reason::BadRequest, Remains::Nothing)
    } else {
        // A text that was unknown when this was written.
        (Reason::BadRequest, Remains::Perhaps)
    }
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

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderMap;

    use super::*;

    fn answer(status: u16, message: &str) -> Answer {
        let status = StatusCode::from_u16(status).unwrap();
        let body = serde_json::json!({ "statusCode": status.as_u16(), "message": message });
        Answer { status, headers: HeaderMap::new(), body: body.to_string().into() }
    }

    #[test]
    fn every_refusal_of_a_sandbox_is_of_its_kind() {
        let nothing = Remains::Nothing;
        for (status, message, reason, remains) in [
            (401, "Invalid credentials", Reason::Auth, nothing),
            (401, "This API key has expired", Reason::Auth, nothing),
            (403, "Organization is suspended: payment", Reason::Quota, nothing),
            (403, "Forbidden resource", Reason::Auth, nothing),
            (404, "Region not found", Reason::BadRequest, nothing),
            (400, "No available runners", Reason::Capacity, nothing),
            (400, "Total CPU limit exceeded. Maximum allowed: 10.", Reason::Quota, nothing),
            (400, "CPU request 8 exceeds maximum allowed per sandbox (4)", Reason::Quota, nothing),
            (400, "Sandbox failed to start: boom", Reason::Outage, Remains::Perhaps),
            (400, "Snapshot x not found. Did you add it?", Reason::BadRequest, nothing),
            (400, "name must be a string", Reason::BadRequest, Remains::Perhaps),
            (408, "", Reason::BadRequest, Remains::Perhaps),
            (409, "Sandbox with name x already exists", Reason::Outage, Remains::Perhaps),
            (429, "ThrottlerException: Too Many Requests", Reason::RateLimited, nothing),
            (422, "no", Reason::BadRequest, nothing),
            (500, "An unexpected error occurred.", Reason::Outage, Remains::Perhaps),
            (502, "", Reason::Outage, Remains::Perhaps),
            (503, "Service is currently under maintenance.", Reason::Outage, Remains::Perhaps),
            (504, "", Reason::Outage, Remains::Perhaps),
            (307, "", Reason::Protocol, Remains::Perhaps),
        ] {
            assert_eq!(create(&answer(status, message)), (reason, remains), "{status} {message}");
        }
        let mut validation = answer(400, "");
        validation.body = r#"{"message":["No available runners","b"]}"#.into();
        assert_eq!(create(&validation).0, Reason::Capacity, "several messages are one");
        let mut edge = answer(502, "");
        edge.body = "<html>".into();
        assert_eq!(create(&edge).0, Reason::Outage);
    }

    #[test]
    fn every_refusal_of_code_says_whether_it_may_have_run() {
        for (status, message, not_run) in [
            (
                401,
                "unauthorized: authentication failed: Bearer token is invalid",
                Some(Reason::Auth),
            ),
            (400, "failed to get runner info", Some(Reason::Outage)),
            (400, "failed to get sandbox public status", Some(Reason::Outage)),
            (400, "no IP address found. Is the Sandbox started?", Some(Reason::Outage)),
            (400, "command is required", Some(Reason::BadRequest)),
            (404, "sandbox container not found", Some(Reason::Outage)),
            (429, "slow down", Some(Reason::RateLimited)),
            (500, "internal", None),
            (502, "", None),
            (503, "", None),
            (504, "", None),
            (307, "", None),
        ] {
            match (run(&answer(status, message)), not_run) {
                (Ended::NotRun(failure), Some(reason)) => {
                    assert_eq!(failure.reason, reason, "{status} {message}");
                }
                (Ended::Lost(_), None) => {}
                (ended, _) => panic!("{status} {message}: {ended:?}"),
            }
        }
    }
}
