//! What a refusal means, answer by answer: of what kind it is, and whether a sandbox may have been left or code may have
//! run. An answer need not be JSON: an edge in front may speak HTML.

use reqwest::StatusCode;
use serde::Deserialize;

use super::super::adapter::{Ended, Remains};
use super::super::outbound::Answer;
use crate::runs::Reason;

/// How a 429 of the other kind begins: too many sandboxes at once, not too many calls.
const CONCURRENCY: &str = "you have reached the maximum number of concurrent";
/// What a proxy says of a sandbox that is gone.
const NOT_FOUND: &str = "The sandbox was not found";
/// How the interpreter begins when it can make no context for code.
const NO_CONTEXT: &[u8] = b"Failed to create context";
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

/// Why no sandbox was made: of what kind it is, and what may have been left.
pub fn create(answer: &Answer) -> (Reason, Remains) {
    let body = Body::of(answer);
    let is_repeated = body.error_code.is_some_and(|code| code.starts_with(IDEMPOTENCY));
    match answer.status.as_u16() {
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
    }
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
        // The interpreter itself says so, before any code.
        StatusCode::INTERNAL_SERVER_ERROR
            if service == Service::Interpreter && answer.body.starts_with(NO_CONTEXT) =>
        {
            Ended::NotRun(failure(Reason::Outage))
        }
        // That the port is not open is also said where the connection broke in the middle.
        status if status.is_server_error() => Ended::Lost(failure(Reason::LostConnection)),
        _ => Ended::Lost(failure(Reason::Protocol)),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderMap, HeaderValue};

    use super::*;

    fn answer(status: u16, body: &str) -> Answer {
        let status = StatusCode::from_u16(status).unwrap();
        Answer { status, headers: HeaderMap::new(), body: body.to_owned().into() }
    }

    const HTML: &str = "<html><body>bad gateway</body></html>";

    #[test]
    fn every_refusal_of_a_sandbox_is_of_its_kind() {
        let quota = "you have reached the maximum number of concurrent E2B sandboxes (20)";
        for (status, body, reason, remains) in [
            (401, r#"{"code":401,"message":"Invalid API key"}"#, Reason::Auth, Remains::Nothing),
            (403, r#"{"code":403,"message":"team is blocked"}"#, Reason::Auth, Remains::Nothing),
            (404, r#"{"code":404,"message":"no template"}"#, Reason::BadRequest, Remains::Nothing),
            (
                400,
                r#"{"code":400,"message":"Timeout cannot be greater than 1 hours"}"#,
                Reason::BadRequest,
                Remains::Nothing,
            ),
            (422, r#"{"code":422,"message":"no"}"#, Reason::BadRequest, Remains::Nothing),
            (409, r#"{"code":409,"message":"no"}"#, Reason::BadRequest, Remains::Nothing),
            (
                409,
                r#"{"code":409,"message":"m","error_code":"idempotency_in_progress"}"#,
                Reason::Outage,
                Remains::Perhaps,
            ),
            (
                422,
                r#"{"code":422,"message":"m","error_code":"idempotency_request_mismatch"}"#,
                Reason::Outage,
                Remains::Perhaps,
            ),
            (
                429,
                &format!(r#"{{"code":429,"message":"{quota}"}}"#),
                Reason::Quota,
                Remains::Nothing,
            ),
            (
                503,
                r#"{"code":503,"message":"m","error_code":"sandbox_capacity_unavailable"}"#,
                Reason::Capacity,
                Remains::Perhaps,
            ),
            (
                504,
                r#"{"code":504,"message":"m","error_code":"sandbox_placement_timeout"}"#,
                Reason::StartTimeout,
                Remains::Perhaps,
            ),
            (500, r#"{"code":500,"message":"m"}"#, Reason::Outage, Remains::Perhaps),
            (502, HTML, Reason::Outage, Remains::Perhaps),
            (307, "", Reason::Protocol, Remains::Perhaps),
            (204, "", Reason::Protocol, Remains::Perhaps),
        ] {
            assert_eq!(create(&answer(status, body)), (reason, remains), "{status} {body}");
        }
    }

    #[test]
    fn too_many_calls_and_too_many_sandboxes_are_told_apart() {
        let mut too_often = answer(429, r#"{"code":429,"message":"Rate limit exceeded"}"#);
        assert_eq!(create(&too_often).0, Reason::Quota, "nobody says when to come back");
        too_often.headers.insert("retry-after", HeaderValue::from_static("7"));
        assert_eq!(create(&too_often).0, Reason::RateLimited);
    }

    #[test]
    fn every_refusal_of_code_says_whether_it_may_have_run() {
        use Service::{Interpreter, Processes};
        let gone = r#"{"sandboxId":"i1","message":"The sandbox was not found","code":502}"#;
        let shut = r#"{"sandboxId":"i1","message":"The sandbox is running but port is not open","code":502}"#;
        for (service, status, body, not_run) in [
            (Interpreter, 502, gone, Some(Reason::Outage)),
            (Processes, 502, gone, Some(Reason::Outage)),
            (
                Interpreter,
                403,
                r#"{"message":"missing e2b-traffic-access-token"}"#,
                Some(Reason::Auth),
            ),
            (Interpreter, 404, r#"{"message":"This endpoint is reserved"}"#, Some(Reason::Outage)),
            (Interpreter, 404, "Context x not found", Some(Reason::Outage)),
            (Interpreter, 409, r#"{"message":"still transitioning"}"#, Some(Reason::Outage)),
            (Interpreter, 429, r#"{"message":"too many connections"}"#, Some(Reason::RateLimited)),
            (Interpreter, 400, "Invalid sandbox ID", Some(Reason::BadRequest)),
            (Interpreter, 422, r#"{"detail":[]}"#, Some(Reason::BadRequest)),
            (Interpreter, 500, "Failed to create context: {}", Some(Reason::Outage)),
            (Processes, 401, r#"{"code":401,"message":"no"}"#, Some(Reason::Auth)),
            // The same words where the connection broke in the middle: what ran is not known.
            (Interpreter, 502, shut, None),
            (Processes, 502, shut, None),
            (Processes, 502, "Failed to route request to sandbox", None),
            (Interpreter, 500, HTML, None),
            (Interpreter, 500, "", None),
            (Interpreter, 500, "Internal Server Error", None),
            (Interpreter, 500, r#"{"error":"x"}"#, None),
            (Processes, 500, "Failed to create context: {}", None),
            (Processes, 500, "internal", None),
            (Interpreter, 503, "", None),
            (Processes, 504, HTML, None),
            (Interpreter, 307, "", None),
        ] {
            match (run(&answer(status, body), service), not_run) {
                (Ended::NotRun(failure), Some(reason)) => {
                    assert_eq!(failure.reason, reason, "{status} {body}");
                }
                (Ended::Lost(_), None) => {}
                (ended, _) => panic!("{service:?} {status} {body}: {ended:?}"),
            }
        }
    }
}
