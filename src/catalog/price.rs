//! Price rows: what a component costs per unit since a day, under which basis, with what included.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::claim::Evidence;
use super::word::{Basis, Beginning, Component, PriceKind, Scope};
use crate::money::{MoneyError, Quantity, Rate, Usd};

/// What is not charged although the component has a price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// How much, in the unit of the rate without its period.
    pub quantity: Quantity,
    /// For whom it counts.
    pub scope: Scope,
    /// Whether there is a price beyond it; without one, more is not sold openly.
    pub priced_beyond: bool,
    /// Plans that have a larger allowance, as id and quantity.
    pub by_plan: Vec<(String, Quantity)>,
}

impl Allowance {
    /// What the page says: "up to 10 GiB".
    pub fn label(&self) -> String {
        format!("up to {} GiB", self.quantity)
    }

    /// What a plan includes.
    pub fn of_plan(&self, plan: Option<&str>) -> Quantity {
        let own = plan.and_then(|plan| self.by_plan.iter().find(|(id, _)| id == plan));
        own.map_or(self.quantity, |(_, quantity)| *quantity)
    }

    /// The largest quantity that any plan includes.
    pub fn largest(&self) -> Quantity {
        self.by_plan.iter().map(|(_, quantity)| *quantity).fold(self.quantity, Quantity::max)
    }
}

/// Something that a bill under a price row rests on, beyond what is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assumption {
    /// In words.
    pub why: String,
    /// Whether the bill is then the most that it can be; else it may be more.
    pub at_most: bool,
}

/// A fixed size that is sold as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preset {
    /// Processors.
    pub vcpu: Quantity,
    /// Memory, GiB.
    pub memory_gib: Quantity,
    /// Disk, GiB; `None` where that is not known.
    pub disk_gib: Option<Quantity>,
    /// Whether any multiple of it is sold, fractions included: a unit rather than a size.
    pub scales: bool,
}

/// One price row. It is never edited: a new one with a later `since` replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    /// Its name within the file.
    pub id: String,
    /// List or routed.
    pub kind: PriceKind,
    /// What it is for.
    pub component: Component,
    /// The variants that it holds for; empty for all.
    pub variants: Vec<String>,
    /// What it multiplies.
    pub basis: Basis,
    /// The amount in the vendor's unit.
    pub rate: Rate,
    /// Other units in which the vendor prints the same price; `load` checks that they agree.
    pub also: Vec<Rate>,
    /// What is not charged.
    pub included: Option<Allowance>,
    /// The component that pays for this one, where it is bundled.
    pub bundled_with: Option<Component>,
    /// Of a bundled component: how much of it comes with a GiB of memory at most.
    pub per_gib_max: Option<Quantity>,
    /// What a bill under it rests on besides.
    pub assumes: Option<Assumption>,
    /// The size that it is for, where it is a preset.
    pub preset: Option<Preset>,
    /// A step of its own, seconds, where it differs from the variant's.
    pub step_seconds: Option<Quantity>,
    /// A minimum of its own, seconds, where it differs from the variant's.
    pub minimum_seconds: Option<Quantity>,
    /// From this day on.
    pub since: Date,
    /// What that day means.
    pub beginning: Beginning,
    /// The price row that this one corrects, where it was wrong rather than replaced.
    pub corrects: Option<String>,
    /// Where from.
    pub evidence: Evidence,
}

impl Price {
    /// Whether it is sold with a variant.
    pub fn is_for(&self, variant: &str) -> bool {
        self.variants.is_empty() || self.variants.iter().any(|id| id == variant)
    }

    /// Whether both rows price the same thing, on whatever day.
    pub fn prices_same_as(&self, other: &Self) -> bool {
        let shared = self.variants.is_empty()
            || other.variants.is_empty()
            || self.variants.iter().any(|id| other.is_for(id));
        self.kind == other.kind
            && self.component == other.component
            && self.preset == other.preset
            && shared
    }

    /// Whether it takes the place of an older row, or of one that it corrects.
    pub fn replaces(&self, older: &Self) -> bool {
        self.prices_same_as(older)
            && (self.since > older.since || self.corrects.as_ref() == Some(&older.id))
    }

    /// Whether a list price and a routed price are for the same thing.
    pub fn pairs_with(&self, other: &Self) -> bool {
        self.component == other.component
            && self.variants == other.variants
            && self.preset == other.preset
    }
}

/// What the router takes on top of the list price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fee {
    /// Per cent of the list price.
    pub percent: Quantity,
    /// From this day on.
    pub since: Date,
    /// Where from.
    pub evidence: Evidence,
}

impl Fee {
    /// The routed amount for a list amount: exact.
    pub fn on_top_of(&self, list: Usd) -> Result<Usd, MoneyError> {
        list.plus_percent(self.percent)
    }
}
