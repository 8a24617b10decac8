//! What is E2B's own of a sandbox, and how its answers describe one.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Sandbox;
use super::envd::Processes;
use super::interpreter::Contexts;
use super::templates::{DISK_SIZE_MB, Template};
use crate::moment;
use crate::standins::world::{Details, locked};

/// The version of envd; SDKs refuse those below 0.1.0.
const ENVD_VERSION: &str = "0.6.13";
/// Deprecated, and always the same.
const CLIENT_ID: &str = "6532622b";

/// What is E2B's own.
#[derive(Debug)]
pub struct Own {
    /// What it was made from.
    pub template: &'static Template,
    /// Tags.
    pub metadata: BTreeMap<String, String>,
    /// The environment of everything that runs in it.
    pub environment: BTreeMap<String, String>,
    /// What envd wants, if anything.
    pub envd_token: Option<String>,
    /// What every other port wants, if anything.
    pub traffic_token: Option<String>,
    /// What it may reach.
    pub reach: Mutex<Reach>,
    /// Commands that run.
    pub processes: Processes,
    /// Kernels of the interpreter.
    pub contexts: Contexts,
    /// The number of the last process.
    pub last_pid: AtomicU32,
}

/// What a sandbox may reach.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    /// As it was asked for; allowed if nothing was.
    pub allow_internet_access: Option<bool>,
    /// The rules.
    pub network: Network,
}

/// Rules of what goes in and out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Network {
    /// Addresses and domains that may be reached, whatever else is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_out: Option<Vec<String>>,
    /// Addresses that may not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deny_out: Option<Vec<String>>,
    /// Whether anybody may reach its ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_public_traffic: Option<bool>,
}

impl Details for Own {
    const TAGS: &'static str = "metadata";

    fn tags(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    fn state(&self) -> String {
        "running".to_owned()
    }
}

impl Own {
    /// The number of the next process.
    pub fn next_pid(&self) -> u32 {
        self.last_pid.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// What a create call answers.
pub fn created(sandbox: &Sandbox) -> Value {
    let own = &sandbox.details;
    let mut answer = json!({
        "templateID": own.template.id,
        "sandboxID": sandbox.id,
        "alias": own.template.alias,
        "clientID": CLIENT_ID,
        "envdVersion": ENVD_VERSION,
        "trafficAccessToken": own.traffic_token,
        "domain": null,
    });
    if let Some(token) = &own.envd_token {
        answer["envdAccessToken"] = json!(token);
    }
    answer
}

/// How it stands in a list.
pub fn listed(sandbox: &Sandbox) -> Value {
    let own = &sandbox.details;
    let left =
        sandbox.ends().map(|ends| ends.saturating_duration_since(tokio::time::Instant::now()));
    let ends = left.and_then(|left| Timestamp::now().checked_add(left).ok());
    json!({
        "templateID": own.template.id,
        "alias": own.template.alias,
        "sandboxID": sandbox.id,
        "clientID": CLIENT_ID,
        "startedAt": moment::second(sandbox.created),
        "endAt": ends.map(moment::second),
        "envdVersion": ENVD_VERSION,
        "cpuCount": own.template.cpu_count,
        "memoryMB": own.template.memory_mb,
        "diskSizeMB": DISK_SIZE_MB,
        "metadata": own.metadata,
        "state": own.state(),
    })
}

/// Everything that can be asked about one.
pub fn detail(sandbox: &Sandbox) -> Value {
    let mut answer = listed(sandbox);
    let own = &sandbox.details;
    let reach = locked(&own.reach).clone();
    if let Some(allowed) = reach.allow_internet_access {
        answer["allowInternetAccess"] = json!(allowed);
    }
    if let Some(token) = &own.envd_token {
        answer["envdAccessToken"] = json!(token);
    }
    answer["network"] = json!(reach.network);
    answer["domain"] = Value::Null;
    answer["lifecycle"] = json!({"autoResume": false, "onTimeout": "kill"});
    answer
}
