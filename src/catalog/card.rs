//! Price cards: everything that the bill of one variant depends on, on one day, and nothing else. Small enough that an
//! island can carry it.
//!
//! Not here: how a card meets a shape. That is `shape`.

use serde::{Deserialize, Serialize};

use super::claim::{Claim, Dispute, Limit, State};
use super::price::{Allowance, Assumption, Preset, Price};
use super::provider::{Provider, Variant};
use super::shape::Shape;
use super::sizes::SizeRules;
use super::word::{Basis, Component, PriceKind};
use crate::money::{Quantity, Rate};
use jiff::civil::Date;

/// MiB in a GiB.
const MIB_PER_GIB: u32 = 1_024;

/// What a variant costs on a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceCard {
    /// Name of the provider.
    pub provider: String,
    /// Name of the variant.
    pub variant: String,
    /// List or routed.
    pub kind: PriceKind,
    /// The day, as text.
    pub on: String,
    /// The rows that hold on that day; empty where no price is known.
    pub rows: Vec<CardRow>,
    /// Time is rounded up to a multiple of this, seconds; `None` where that is not known.
    pub step_seconds: Option<Quantity>,
    /// Time is billed as if at least this, seconds; zero where the vendor publishes none, `None` where not known.
    pub minimum_seconds: Option<Quantity>,
    /// What sources disagree about, in words: every bill rests on it.
    pub disputed: Vec<String>,
    /// Which sizes are sold.
    pub sizes: SizeRules,
}

/// One price of a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardRow {
    /// What it is for.
    pub component: Component,
    /// What it multiplies.
    pub basis: Basis,
    /// The amount in the vendor's unit.
    pub rate: Rate,
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
    /// A step of its own, seconds.
    pub step_seconds: Option<Quantity>,
    /// A minimum of its own, seconds.
    pub minimum_seconds: Option<Quantity>,
    /// Whether sources disagree about it.
    pub disputed: bool,
    /// The sizes that others say it is for, where they disagree about that.
    pub rival_presets: Vec<Preset>,
}

impl PriceCard {
    /// The card of a variant on a day.
    pub fn of(provider: &Provider, variant: &Variant, kind: PriceKind, on: Date) -> Self {
        Self {
            provider: provider.name.clone(),
            variant: variant.name.clone(),
            kind,
            on: on.to_string(),
            rows: provider
                .prices_on(kind, on)
                .filter(|row| row.is_for(&variant.id))
                .map(|row| CardRow::of(row, provider.price_dispute(&row.id)))
                .collect(),
            step_seconds: variant.billing.step_seconds.value().and_then(|limit| limit.number()),
            minimum_seconds: minimum(&variant.billing.minimum_seconds),
            disputed: disputes(variant),
            sizes: SizeRules::of(&variant.size),
        }
    }

    /// The size that one gets who asks for a size: the same where whole sandboxes have prices of their own.
    pub fn sold_shape(&self, asked: Shape) -> Shape {
        match self.row(Component::Sandbox) {
            Some(_) => asked,
            None => self.sizes.smallest_holding(asked),
        }
    }

    /// The row of a component.
    pub fn row(&self, component: Component) -> Option<&CardRow> {
        self.rows.iter().find(|row| row.component == component)
    }
}

impl CardRow {
    fn of(price: &Price, dispute: Option<&Dispute>) -> Self {
        let claims = dispute.map_or(&[][..], |dispute| &dispute.claims);
        let presets = claims.iter().filter_map(|rival| rival.preset);
        Self {
            component: price.component,
            basis: price.basis,
            rate: price.rate,
            included: price.included.clone(),
            bundled_with: price.bundled_with,
            per_gib_max: price.per_gib_max,
            assumes: price.assumes.clone(),
            preset: price.preset,
            step_seconds: price.step_seconds,
            minimum_seconds: price.minimum_seconds,
            disputed: dispute.is_some(),
            rival_presets: presets.filter(|preset| price.preset.as_ref() != Some(preset)).collect(),
        }
    }
}

/// A size that a file gives in MiB.
pub fn gib(claim: &Claim<u64>) -> Option<Quantity> {
    claim.value().map(|mib| Quantity::from(*mib).divided_by(MIB_PER_GIB))
}

/// The number of a minimum; one that is not published is none to reckon with, though no promise either.
fn minimum(claim: &Claim<Limit>) -> Option<Quantity> {
    match claim.value()? {
        Limit::Number(number) => Some(*number),
        Limit::NonePublished | Limit::Unlimited => Some(Quantity::ZERO),
        Limit::Custom => None,
    }
}

/// What every bill of a variant rests on and sources disagree about.
fn disputes(variant: &Variant) -> Vec<String> {
    [
        ("the billing step", &variant.billing.step_seconds),
        ("the minimum charge", &variant.billing.minimum_seconds),
    ]
    .into_iter()
    .filter(|(_, claim)| claim.state() == State::Disputed)
    .map(|(what, _)| format!("sources disagree about {what}"))
    .collect()
}
