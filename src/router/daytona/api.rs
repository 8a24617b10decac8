//! Bodies of the API, as far as they are used.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Number;

use crate::catalog::claim::Tier;
use crate::catalog::shape::Shape;
use crate::money::Quantity;

/// The state of what is no more.
pub const DESTROYED: &str = "destroyed";

/// What an answer says of the wall of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wall {
    /// It is this.
    Said(Tier),
    /// Nothing.
    NotSaid,
    /// A class that was unknown when this was written.
    Unknown,
}

/// A sandbox, from any answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sandbox {
    /// Its id.
    pub id: String,
    /// How far it is.
    pub state: Option<String>,
    labels: Option<BTreeMap<String, String>>,
    /// Whether nothing gets out of it.
    pub network_block_all: Option<bool>,
    #[serde(rename = "sandboxClass")]
    class: Option<String>,
    /// vCPU and GiB.
    cpu: Option<Number>,
    memory: Option<Number>,
    disk: Option<Number>,
    /// Where its toolbox is.
    pub toolbox_proxy_url: Option<String>,
}

/// A page of the list.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// What is on it: sandboxes, each read by itself.
    pub items: Vec<serde_json::Value>,
    /// The way to the next one.
    pub next_cursor: Option<String>,
}

/// What can be hoped for of a sandbox that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It is there.
    Started,
    /// It may still come.
    Coming,
    /// It will not.
    Failed,
}

impl Sandbox {
    /// How far it is.
    pub fn progress(&self) -> Progress {
        match self.state.as_deref() {
            Some("started") => Progress::Started,
            Some(
                "creating" | "restoring" | "pending_build" | "building_snapshot"
                | "pulling_snapshot" | "starting" | "resuming" | "unknown",
            )
            | None => Progress::Coming,
            // Failed, stopped, going, or something that was unknown when this was written.
            Some(_) => Progress::Failed,
        }
    }

    /// Whether it is certainly no more.
    pub fn is_gone(&self) -> bool {
        self.state.as_deref() == Some(DESTROYED)
    }

    /// What a label says.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.as_ref()?.get(name).map(String::as_str)
    }

    /// The wall, as far as its class says it.
    pub fn wall(&self) -> Wall {
        match self.class.as_deref() {
            None => Wall::NotSaid,
            Some(class) if class.contains("container") => Wall::Said(Tier::Container),
            // `linux-vm` and its like.
            Some(class) if class.split(['-', '_']).any(|part| part == "vm") => {
                Wall::Said(Tier::VirtualMachine)
            }
            Some(_) => Wall::Unknown,
        }
    }

    /// Its size, where all of it is said.
    pub fn shape(&self) -> Option<Shape> {
        let read = |number: &Option<Number>| Quantity::parse(&number.as_ref()?.to_string()).ok();
        Some(Shape {
            vcpu: read(&self.cpu)?,
            memory_gib: read(&self.memory)?,
            disk_gib: read(&self.disk)?,
        })
    }
}

/// What a finished command is answered with.
#[derive(Debug, Deserialize)]
pub struct Executed {
    /// Both outputs in one.
    pub result: String,
}
