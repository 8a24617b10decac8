//! The address by which a stand-in is told what to do wrong and asked what there is. No provider has it, and it wants no
//! key.

use axum::body::Body;
use axum::http::{Method, Request, Response, StatusCode};
use serde_json::json;

use super::faults::{Fault, What};
use super::serving::{empty, json as answer_json};
use super::world::Control;

/// What its paths begin with.
pub const PREFIX: &str = "/_standin/";
/// How many faults a script has at most.
const FAULTS_MAX: usize = 100;

/// Answers one request.
pub fn answer(control: &dyn Control, request: &Request<Body>, body: &[u8]) -> Response<Body> {
    let asked = request.uri().path().trim_start_matches(PREFIX);
    match (request.method(), asked) {
        (&Method::GET, "faults") => answer_json(StatusCode::OK, &control.script().faults()),
        (&Method::PUT, "faults") => match read(body) {
            Ok(faults) => {
                control.script().set(faults);
                empty(StatusCode::NO_CONTENT)
            }
            Err(problem) => refusal(StatusCode::BAD_REQUEST, &problem),
        },
        (&Method::GET, "sandboxes") => answer_json(StatusCode::OK, &control.listed()),
        (&Method::DELETE, "sandboxes") => {
            control.destroy_all();
            empty(StatusCode::NO_CONTENT)
        }
        (&Method::GET, "executions") => answer_json(StatusCode::OK, &control.executions()),
        _ => refusal(
            StatusCode::NOT_FOUND,
            "there are GET and PUT faults, GET and DELETE sandboxes, GET executions",
        ),
    }
}

fn refusal(status: StatusCode, problem: &str) -> Response<Body> {
    answer_json(status, &json!({ "error": problem }))
}

fn read(body: &[u8]) -> Result<Vec<Fault>, String> {
    let faults: Vec<Fault> = serde_json::from_slice(body)
        .map_err(|error| format!("the body is not a list of faults: {error}"))?;
    if faults.len() > FAULTS_MAX {
        return Err(format!("there are {} faults, more than {FAULTS_MAX}", faults.len()));
    }
    for fault in &faults {
        if let What::Answer(answer) = &fault.what
            && !(200..600).contains(&answer.status)
        {
            return Err(format!("the status {} is not one of 200 to 599", answer.status));
        }
    }
    Ok(faults)
}
