//! What a stand-in is told to do wrong: a script of faults, each at a stage, and which of them meets a request.
//!
//! Not here: how a fault is carried out (`serving.rs`) and how an answer is spoilt (`garble.rs`).

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::Method;
use serde::{Deserialize, Serialize};

/// One fault of a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Which requests it meets.
    pub at: Stage,
    /// What happens to them.
    #[serde(rename = "do")]
    pub what: What,
    /// How many requests it happens to; to all if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// How many requests of the stage pass first. Each that is made counts, whatever another fault did to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u32>,
}

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// A sandbox is asked for.
    Create,
    /// One sandbox is looked at; `poll` is the same.
    #[serde(alias = "poll")]
    Detail,
    /// Sandboxes are listed.
    List,
    /// Whether a sandbox lives.
    Health,
    /// Code or a command is executed.
    Run,
    /// A sandbox is destroyed.
    Delete,
    /// Every request, those that are of no other stage too.
    Any,
}

/// What happens to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// This is answered, and nothing done.
    Answer(Answer),
    /// Nothing is done, and there is never an answer.
    Hang {},
    /// It is done, and there is never an answer.
    HangAfter {},
    /// It is done, and the answer comes a byte a second.
    Drip {},
    /// Nothing is done, and the connection is closed without an answer.
    Cut {},
    /// It is done, and the connection is closed without an answer.
    CutAfter {},
    /// It is done, and the connection is closed after some bytes of the answer's body.
    CutWithin {
        /// How many.
        bytes: usize,
    },
    /// Nothing is done, and another address is named with status 307.
    Redirect {
        /// The address.
        to: String,
    },
    /// It is done, and the answer is spoilt.
    Garble {
        /// How.
        kind: Garble,
    },
    /// Some time passes; then the next fault of the script that meets the request, or what is usual.
    DelayMs {
        /// How long, milliseconds.
        ms: u64,
    },
}

/// An answer that stands in a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// HTTP status, 200 to 599.
    pub status: u16,
    /// The body.
    #[serde(default)]
    pub body: String,
    /// Its content type, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// More headers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

/// How an answer is spoilt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Garble {
    /// The last Connect frame, line or JSON value is there by half.
    HalfFrame,
    /// A frame that announces 1 GiB, or a line of many MiB.
    HugeFrame,
    /// Values of other JSON types than are documented; the types of events stay.
    WrongTypes,
    /// Events and fields that nobody documented, in between. A client must not mind.
    UnknownEvents,
    /// Bytes in a text, or in a command's output, that are not UTF-8.
    InvalidUtf8,
    /// A body in gzip that grows to 1 GiB.
    GzipBomb,
    /// Another sandbox's id.
    OtherId,
    /// A host for the sandbox that is not the provider's.
    OtherHost,
    /// HTML that calls itself JSON.
    NotJson,
    /// The last event, line or byte is missing.
    NoEnd,
    /// It says that egress is open.
    EgressOpen,
    /// It says that the sandbox is a container.
    ContainerClass,
    /// It says that the sandbox has 8 vCPU.
    Larger,
}

impl Stage {
    /// What a call about sandboxes is about, by what stands behind the address of all of them.
    pub fn of_sandboxes(method: &Method, path: &str) -> Option<Self> {
        let is_one = path.len() > 1 && !path[1..].contains('/');
        match (method, path) {
            (&Method::POST, "") => Some(Self::Create),
            (&Method::GET, "") => Some(Self::List),
            (&Method::GET, _) if is_one => Some(Self::Detail),
            (&Method::DELETE, _) if is_one => Some(Self::Delete),
            _ => None,
        }
    }
}

impl Garble {
    /// Each there is.
    pub const ALL: [Self; 13] = [
        Self::HalfFrame,
        Self::HugeFrame,
        Self::WrongTypes,
        Self::UnknownEvents,
        Self::InvalidUtf8,
        Self::GzipBomb,
        Self::OtherId,
        Self::OtherHost,
        Self::NotJson,
        Self::NoEnd,
        Self::EgressOpen,
        Self::ContainerClass,
        Self::Larger,
    ];
}

impl Fault {
    /// A fault for every request of a stage.
    pub const fn at(stage: Stage, what: What) -> Self {
        Self { at: stage, what, times: None, after: None }
    }

    /// The same for so many requests.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self { times: Some(times), ..self }
    }

    /// The same after so many requests of the stage.
    #[must_use]
    pub fn after(self, after: u32) -> Self {
        Self { after: Some(after), ..self }
    }
}

impl What {
    /// An answer of a status with a body of JSON.
    pub fn answer(status: u16, body: impl Into<String>) -> Self {
        let content_type = Some("application/json".to_owned());
        Self::Answer(Answer { status, body: body.into(), content_type, headers: BTreeMap::new() })
    }
}

/// What becomes of one request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// How long it waits before anything else.
    pub delay: Duration,
    /// What happens then, if not the usual.
    pub what: Option<What>,
}

/// The faults that are in force, in order.
#[derive(Debug, Default)]
pub struct Script(Mutex<Vec<Live>>);

#[derive(Debug)]
struct Live {
    fault: Fault,
    /// Requests of its stage that were made.
    seen: u32,
    /// Requests that it happened to.
    done: u32,
}

impl Script {
    /// Replaces the faults; all counts begin anew.
    pub fn set(&self, faults: Vec<Fault>) {
        let live = faults.into_iter().map(|fault| Live { fault, seen: 0, done: 0 }).collect();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = live;
    }

    /// The faults as they were set.
    pub fn faults(&self) -> Vec<Fault> {
        let live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        live.iter().map(|live| live.fault.clone()).collect()
    }

    /// What happens to a request of a stage: delays add up, and the first other fault decides.
    pub fn fate(&self, stage: Option<Stage>) -> Fate {
        let mut fate = Fate::default();
        for live in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            if live.fault.at != Stage::Any && Some(live.fault.at) != stage {
                continue;
            }
            live.seen = live.seen.saturating_add(1);
            let is_early = live.seen <= live.fault.after.unwrap_or(0);
            let is_over = live.fault.times.is_some_and(|times| live.done >= times);
            if is_early || is_over || fate.what.is_some() {
                continue;
            }
            live.done = live.done.saturating_add(1);
            match &live.fault.what {
                What::DelayMs { ms } => fate.delay += Duration::from_millis(*ms),
                what => fate.what = Some(what.clone()),
            }
        }
        fate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_written_as_it_is_agreed() {
        let text = r#"[
            {"at": "create", "do": {"answer": {"status": 503, "body": "no", "content_type": "text/html", "headers": {"Retry-After": "7"}}}},
            {"at": "poll", "do": {"hang": {}}, "times": 2},
            {"at": "run", "do": {"cut_within": {"bytes": 3}}, "after": 1},
            {"at": "delete", "do": {"redirect": {"to": "http://other/"}}},
            {"at": "any", "do": {"garble": {"kind": "gzip_bomb"}}},
            {"at": "list", "do": {"delay_ms": {"ms": 50}}}
        ]"#;
        let faults: Vec<Fault> = serde_json::from_str(text).unwrap();
        assert_eq!(faults[1], Fault::at(Stage::Detail, What::Hang {}).times(2));
        assert_eq!(faults[2], Fault::at(Stage::Run, What::CutWithin { bytes: 3 }).after(1));
        let again: Vec<Fault> =
            serde_json::from_str(&serde_json::to_string(&faults).unwrap()).unwrap();
        assert_eq!(again, faults);
        for name in ["hang_after", "drip", "cut", "cut_after"] {
            let text = format!(r#"{{"at": "run", "do": {{"{name}": {{}}}}}}"#);
            assert!(serde_json::from_str::<Fault>(&text).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_wrong_fault_is_told_what_is_allowed() {
        let error = serde_json::from_str::<Fault>(r#"{"at": "birth", "do": {"cut": {}}}"#);
        assert!(error.unwrap_err().to_string().contains("`create`"));
        let error = serde_json::from_str::<Fault>(r#"{"at": "run", "do": {"explode": {}}}"#);
        assert!(error.unwrap_err().to_string().contains("`cut_within`"));
    }

    #[test]
    fn a_fault_happens_as_often_as_it_says_and_as_late() {
        let script = Script::default();
        script.set(vec![
            Fault::at(Stage::Create, What::Cut {}).times(1),
            Fault::at(Stage::Create, What::Hang {}).times(2).after(2),
            Fault::at(Stage::Any, What::DelayMs { ms: 5 }).times(1).after(1),
        ]);
        let mut seen = Vec::new();
        for _ in 0..5 {
            seen.push(script.fate(Some(Stage::Create)).what);
        }
        assert_eq!(
            seen,
            [Some(What::Cut {}), None, Some(What::Hang {}), Some(What::Hang {}), None]
        );
        assert_eq!(script.fate(None), Fate::default());
        script.set(Vec::new());
        assert_eq!(script.fate(Some(Stage::Create)), Fate::default());
    }

    #[test]
    fn a_delay_goes_before_what_follows_it() {
        let script = Script::default();
        script.set(vec![
            Fault::at(Stage::Run, What::DelayMs { ms: 5 }),
            Fault::at(Stage::Any, What::DelayMs { ms: 7 }),
            Fault::at(Stage::Run, What::Cut {}),
            Fault::at(Stage::Run, What::Hang {}),
        ]);
        let fate = Fate { delay: Duration::from_millis(12), what: Some(What::Cut {}) };
        assert_eq!(script.fate(Some(Stage::Run)), fate);
    }
}
