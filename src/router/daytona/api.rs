//! Bodies of the API, as far as they are used.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::catalog::claim::Tier;
use crate::catalog::shape::Shape;
use crate::money::Quantity;

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
    /// Sizes are whole numbers: vCPU and GiB.
    cpu: Option<u32>,
    memory: Option<u32>,
    disk: Option<u32>,
    /// Where its toolbox is.
    pub toolbox_proxy_url: Option<String>,
}

/// A page of the list.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// What is on it.
    pub items: Vec<Sandbox>,
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
        self.state.as_deref() == Some("destroyed")
    }

    /// What a label says.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.as_ref()?.get(name).map(String::as_str)
    }

    /// The wall, where its class says it.
    pub fn tier(&self) -> Option<Tier> {
        match self.class.as_deref()? {
            "container" => Some(Tier::Container),
            "vm" | "linux-vm" => Some(Tier::VirtualMachine),
            // An unknown class says nothing.
            _ => None,
        }
    }

    /// Its size, where all of it is said.
    pub fn shape(&self) -> Option<Shape> {
        let whole = |number: Option<u32>| number.map(|number| Quantity::from(u64::from(number)));
        Some(Shape {
            vcpu: whole(self.cpu)?,
            memory_gib: whole(self.memory)?,
            disk_gib: whole(self.disk)?,
        })
    }
}

/// What a finished command is answered with.
#[derive(Debug, Deserialize)]
pub struct Executed {
    /// Both outputs in one.
    pub result: String,
}
