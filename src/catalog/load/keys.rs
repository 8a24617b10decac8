//! The keys that each table of a provider file may have: what the loader names where it refuses
//! one, and what the properties of the schema are held to.
//!
//! Not here: the keys of a section, which are declared with its claims (`provider`).

use super::super::provider::{
    Api, Billing, Compliance, Concurrency, Credit, Deploy, Egress, Identity, Isolation, Lifecycle,
    Placement, Size, Sla, Start, Time,
};

/// Keys of a table that names its sources itself.
macro_rules! with_evidence {
    ($($key:expr),+) => { &[$($key),+, "source", "as_of", "by", "confidence", "note"] };
}

macro_rules! with_plan_claims {
    ($($(#[$meta:meta])* $field:ident: $type:ty, $label:literal;)+) => {
        with_evidence!["id", "name", $(stringify!($field)),+]
    };
}

/// Of the file as a whole.
pub const ROOT: &[&str] = &[
    "schema_version",
    "slug",
    "name",
    "position",
    "status",
    "kind",
    "summary",
    "checked_on",
    "unknown",
    "not_applicable",
    "sources",
    Identity::KEY,
    Credit::KEY,
    Concurrency::KEY,
    Start::KEY,
    Egress::KEY,
    Lifecycle::KEY,
    Api::KEY,
    Deploy::KEY,
    Placement::KEY,
    Compliance::KEY,
    Sla::KEY,
    "variant",
    "price",
    "fee",
    "plan",
    "score",
    "measurement",
    "detail",
    "history",
    "conflict",
];
/// Of an entry of `[sources]`.
pub const SOURCE: &[&str] = &["url", "title", "seen_on", "by", "note"];
/// Of a claim.
pub const CLAIM: &[&str] = with_evidence!["value", "detail", "state"];
/// Of a variant.
pub const VARIANT: &[&str] =
    &["id", "name", "asked_by", "like", Isolation::KEY, Size::KEY, Time::KEY, Billing::KEY];
/// Of a price row.
pub const PRICE: &[&str] = with_evidence![
    "id",
    "kind",
    "component",
    "basis",
    "variants",
    "usd",
    "per",
    "also",
    "included",
    "bundled_with",
    "per_gib_max",
    "preset",
    "assumes",
    "step_seconds",
    "minimum_seconds",
    "since",
    "beginning",
    "corrects"
];
/// Of another printing of the same price.
pub const RATE: &[&str] = &["usd", "per"];
/// Of what a price includes.
pub const ALLOWANCE: &[&str] = &["quantity", "scope", "priced_beyond", "by_plan"];
/// Of a size that is sold as one.
pub const PRESET: &[&str] = &["vcpu", "memory_gib", "disk_gib", "scales"];
/// Of what a bill rests on.
pub const ASSUMPTION: &[&str] = &["why", "at_most"];
/// Of the router's fee.
pub const FEE: &[&str] = with_evidence!["percent", "since"];
/// Of a plan.
pub const PLAN: &[&str] = plan_claims!(with_plan_claims);
/// Of a score.
pub const SCORE: &[&str] = with_evidence!["value", "scale", "kind"];
/// Of a measurement.
pub const MEASUREMENT: &[&str] = with_evidence![
    "metric",
    "mode",
    "variant",
    "measured_by",
    "method",
    "window_start",
    "window_end",
    "days",
    "statistics"
];
/// Of a fact under a key of its own.
pub const DETAIL: &[&str] = with_evidence!["section", "key", "value"];
/// Of an entry of the history.
pub const CHANGE: &[&str] = with_evidence!["key", "value", "since"];
/// Of a conflict.
pub const CONFLICT: &[&str] = &["key", "ruling", "note", "claim"];
/// Of one side of a conflict.
pub const RIVAL: &[&str] = with_evidence!["value", "preset"];
