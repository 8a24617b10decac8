//! A provider in few words: the row of the catalog's table, for pages and for tables of data.

use super::{Entry, Standing};
use crate::catalog::Provider;
use crate::catalog::claim::{Answer, Claim, Tier};
use crate::catalog::listing::Row;

/// What a summary tells, in order; units included.
pub const LABELS: [&str; 6] = [
    "An hour, USD",
    "Isolation",
    "Egress can be off",
    "Score",
    "Measured start, ms",
    "Open source",
];

/// A value in few words: conditions and reasons stand on the provider's page.
pub struct Brief<'a> {
    /// The value.
    pub entry: Entry<'a>,
    /// A word beside it.
    pub beside: Option<String>,
}

impl Brief<'_> {
    /// How the value stands, where it does not simply hold.
    pub fn flag(&self) -> Option<&'static str> {
        match self.entry.standing {
            Standing::Known => None,
            standing => Some(standing.label()),
        }
    }
}

/// What the table of the catalog says of a provider, in the order of [`LABELS`].
pub fn summary<'a>(row: &Row<'a>) -> [Brief<'a>; 6] {
    let provider = row.provider;
    [
        bill(row),
        isolation(provider),
        plain(verdict(&provider.egress.can_disable_at_create)),
        plain(score(provider)),
        start(provider),
        plain(verdict(&provider.deploy.open_source)),
    ]
}

fn plain(entry: Entry<'_>) -> Brief<'_> {
    Brief { entry, beside: None }
}

fn bill<'a>(row: &Row<'a>) -> Brief<'a> {
    let entry = Entry::bill(&row.bill);
    if row.bill.usd.is_none() {
        // That there is no price at all needs no more words; that a size is not sold does.
        let why = entry.remark.clone().filter(|_| !row.provider.prices.is_empty());
        return Brief { entry, beside: why };
    }
    let kind = Some(row.kind.label().to_owned());
    let why = entry.remark.clone();
    // What depends or has no price says so itself.
    let unranked = row.unranked.as_ref().filter(|_| row.bill.ranked().is_some());
    let seen = row.seen_on.filter(|_| row.stale).map(|day| format!("last seen {day}"));
    let age = unranked.map(|why| format!("not ranked: {why}")).or(seen);
    let beside: Vec<String> = [kind, why, age].into_iter().flatten().collect();
    Brief { entry, beside: Some(beside.join("; ")) }
}

/// The wall of a plain create call, and what else can be had by asking.
fn isolation(provider: &Provider) -> Brief<'_> {
    let default = provider.default_variant();
    let tier = default.isolation.tier.value().copied();
    let mut others: Vec<Tier> = Vec::new();
    for variant in &provider.variants {
        match variant.isolation.tier.value() {
            Some(other) if Some(*other) != tier && !others.contains(other) => others.push(*other),
            _ => {}
        }
    }
    let words: Vec<&str> = others.iter().map(|tier| tier.label()).collect();
    Brief {
        entry: Entry::of(&default.isolation.tier),
        beside: (!words.is_empty()).then(|| format!("on request: {}", words.join(", "))),
    }
}

/// Yes, partly or no.
fn verdict(claim: &Claim<Answer>) -> Entry<'_> {
    let label = claim.value().map(|answer| answer.verdict.label().to_owned());
    Entry { text: label, ..Entry::of(claim) }
}

fn score(provider: &Provider) -> Entry<'_> {
    provider.score().map_or_else(
        || Entry::without(Standing::NotScored),
        |score| Entry::computed(format!("{} of {}", score.value, score.scale)),
    )
}

/// The first measured median, with the class that was measured.
fn start(provider: &Provider) -> Brief<'_> {
    let Some((one, median)) = provider.measured_start() else {
        return plain(Entry::without(Standing::NotMeasured));
    };
    let tier = provider.variant(&one.variant).and_then(|one| one.isolation.tier.value());
    let until = one.window_end.clone().unwrap_or_default();
    let class = tier.map_or_else(String::new, |tier| format!("{}, ", tier.label()));
    Brief { entry: Entry::computed(median.to_owned()), beside: Some(format!("{class}{until}")) }
}
