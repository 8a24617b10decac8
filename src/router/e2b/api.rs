//! Bodies of the control plane, as far as they are used.

use std::collections::BTreeMap;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use super::{count, gibibytes};
use crate::catalog::shape::Shape;

/// What a sandbox is asked for with.
#[derive(Debug, Clone, Serialize)]
pub struct Create<'a> {
    /// What it is made from.
    #[serde(rename = "templateID")]
    pub template_id: &'a str,
    /// How long it lives, seconds from when it has started.
    pub timeout: u128,
    /// Whether it is kept, paused, after that.
    #[serde(rename = "autoPause")]
    pub auto_pause: bool,
    /// Whether it reaches the internet. Unlike its neighbours it is written so.
    pub allow_internet_access: bool,
    /// How it is reached.
    pub network: Network,
    /// Our tags.
    pub metadata: BTreeMap<&'a str, &'a str>,
    /// Whether it has tokens of its own: in the first version of the call only, later ones always do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secure: Option<bool>,
}

/// How a sandbox is reached.
#[derive(Debug, Clone, Serialize)]
pub struct Network {
    /// Whether everybody who knows its id may call it.
    #[serde(rename = "allowPublicTraffic")]
    pub allow_public_traffic: bool,
}

/// A sandbox that was made.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Made {
    /// Its id.
    #[serde(rename = "sandboxID")]
    pub sandbox_id: String,
    /// For its process service.
    pub envd_access_token: Option<SecretString>,
    /// For everything else in it.
    pub traffic_access_token: Option<SecretString>,
    /// Below which domain it is, where not below the configured one.
    pub domain: Option<String>,
}

/// What is said of one sandbox.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Detail {
    cpu_count: Option<u32>,
    #[serde(rename = "memoryMB")]
    memory_mb: Option<u32>,
    #[serde(rename = "diskSizeMB")]
    disk_size_mb: Option<u32>,
    metadata: Option<BTreeMap<String, String>>,
    /// Whether it reaches the internet.
    pub allow_internet_access: Option<bool>,
}

impl Detail {
    /// What a tag says.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.metadata.as_ref()?.get(name).map(String::as_str)
    }

    /// Its size, where all of it is said.
    pub fn shape(&self) -> Option<Shape> {
        Some(Shape {
            vcpu: count(self.cpu_count?),
            memory_gib: gibibytes(self.memory_mb?),
            disk_gib: gibibytes(self.disk_size_mb?),
        })
    }
}

/// A sandbox in the list.
#[derive(Debug, Deserialize)]
pub struct Listed {
    /// Its id.
    #[serde(rename = "sandboxID")]
    pub sandbox_id: String,
    metadata: Option<BTreeMap<String, String>>,
}

impl Listed {
    /// What a tag says.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.metadata.as_ref()?.get(name).map(String::as_str)
    }
}

/// The call that runs code.
#[derive(Debug, Serialize)]
pub struct Execute<'a> {
    /// The code.
    pub code: &'a str,
    /// Another language than Python.
    pub language: Option<&'static str>,
}

/// The call that runs a command.
#[derive(Debug, Serialize)]
pub struct Start<'a> {
    /// What is started.
    pub process: Process<'a>,
    /// Whether it can be written to.
    pub stdin: bool,
}

/// A process that is to be started.
#[derive(Debug, Serialize)]
pub struct Process<'a> {
    /// The program.
    pub cmd: &'static str,
    /// Its arguments.
    pub args: Vec<&'a str>,
}
