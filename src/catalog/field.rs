//! A provider as one list of fields, each under the dotted key by which its file, a conflict and a correction name it.
//!
//! Whatever walks over everything uses it: tables of data, the difference of two revisions, completeness.

use std::borrow::Cow;

use super::claim::{AnyClaim, Dispute, Evidence, State};
use super::price::{Allowance, Fee, Price};
use super::provider::{Provider, Row};
use super::score::{Measurement, Score};
use super::word::{Basis, capitalised};

/// The key of the day on which a file was last checked, which is no value of the provider.
pub const CHECKED_ON: &str = "checked_on";

/// One thing that the catalog says of a provider.
pub struct Field<'a> {
    /// Its dotted key, such as `egress.allow_list` or `variant.vm.isolation.tier`.
    pub key: String,
    /// What it belongs to, in words.
    pub section: String,
    /// Its name on pages.
    pub label: String,
    /// Whether there is a value.
    pub state: State,
    /// The value for a column of data.
    pub value: Option<String>,
    /// Unit of the value, where it has one.
    pub unit: Option<Cow<'static, str>>,
    /// Where from.
    pub evidence: Option<&'a Evidence>,
    /// Those who disagree.
    pub dispute: Option<&'a Dispute>,
}

impl<'a> Field<'a> {
    fn known(key: String, section: &str, label: impl Into<String>, value: String) -> Self {
        Self {
            key,
            section: section.to_owned(),
            label: label.into(),
            state: State::Known,
            value: Some(value),
            unit: None,
            evidence: None,
            dispute: None,
        }
    }

    fn of(prefix: &str, section: &str, row: &Row<'a>) -> Self {
        Self {
            key: format!("{prefix}.{}", row.key),
            section: section.to_owned(),
            label: row.label.to_owned(),
            state: row.claim.state(),
            value: row.claim.plain(),
            unit: unit_of(row.key).map(Cow::Borrowed),
            evidence: row.claim.evidence(),
            dispute: row.claim.dispute(),
        }
    }

    fn from(self, evidence: &'a Evidence) -> Self {
        Self { evidence: Some(evidence), ..self }
    }

    /// The value with its unit, or why there is none.
    pub fn words(&self) -> String {
        match (&self.value, &self.unit) {
            (None, _) => self.state.label().to_owned(),
            (Some(value), None) => value.clone(),
            (Some(value), Some(unit)) => format!("{value} {unit}"),
        }
    }
}

/// The unit that a key names in its own name.
pub fn unit_of(key: &str) -> Option<&'static str> {
    if key.starts_with("usd_") {
        return Some("USD");
    }
    let last = key.rsplit('_').next().unwrap_or(key);
    match last {
        "seconds" => Some("seconds"),
        "mib" => Some("MiB"),
        "gib" => Some("GiB"),
        "ms" => Some("milliseconds"),
        "vcpu" => Some("vCPU"),
        "days" => Some("days"),
        _ => None,
    }
}

/// Everything that the catalog says of a provider, in the order of its page.
pub fn fields(provider: &Provider) -> Vec<Field<'_>> {
    let head = |key: &str, label: &str, value: &str| {
        Field::known(key.to_owned(), "Provider", label, value.to_owned())
    };
    let mut fields = vec![
        head("name", "Name", &provider.name),
        head("status", "Status", provider.status.word()),
        head("kind", "Kind", provider.kind.word()),
        head("summary", "Summary", &provider.summary),
    ];
    fields.extend(
        provider
            .checked_on
            .map(|day| head(CHECKED_ON, "Last checked as a whole", &day.to_string())),
    );
    fields.extend(provider.prices.iter().map(|price| price_field(provider, price)));
    fields.extend(provider.fees.iter().map(fee_field));
    fields.extend(claims(provider));
    for plan in &provider.plans {
        let (prefix, section) = (format!("plan.{}", plan.id), format!("Plan {}", plan.name));
        fields.extend(plan.rows().iter().map(|row| Field::of(&prefix, &section, row)));
    }
    for detail in &provider.details {
        fields.push(Field {
            key: format!("detail.{}.{}", detail.section, detail.key),
            section: "More facts".to_owned(),
            label: format!("{}: {}", capitalised(&detail.section), spoken(&detail.key)),
            state: detail.claim.state(),
            value: AnyClaim::plain(&detail.claim),
            unit: unit_of(&detail.key).map(Cow::Borrowed),
            evidence: detail.claim.evidence.as_ref(),
            dispute: detail.claim.dispute.as_ref(),
        });
    }
    fields.extend(provider.measurements.iter().enumerate().flat_map(measurement_fields));
    fields.extend(provider.score().map(score_field));
    for (place, change) in provider.history.iter().enumerate() {
        let since = change.since.map_or_else(String::new, |day| format!(", since {day}"));
        let key = format!("history.{}", place + 1);
        let label = format!("{}{since}", spoken(&change.key));
        let value = change.value.clone();
        fields.push(Field::known(key, "Other history", label, value).from(&change.evidence));
    }
    fields
}

/// Every claim of the sections, those of each variant included: what a provider can be asked about.
pub fn claims(provider: &Provider) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    for variant in &provider.variants {
        for (key, title, rows) in variant.sections() {
            let prefix = format!("variant.{}.{key}", variant.id);
            let section = format!("{}: {title}", variant.name);
            fields.extend(rows.iter().map(|row| Field::of(&prefix, &section, row)));
        }
    }
    for (key, title, rows) in provider.sections() {
        fields.extend(rows.iter().map(|row| Field::of(key, title, row)));
    }
    fields
}

/// A key as people read it: `usd_per_gib_hour` is "USD per GiB hour".
pub fn spoken(key: &str) -> String {
    let words = key.split(['_', '.']).map(|word| match word {
        "usd" => "USD",
        "gib" => "GiB",
        "mib" => "MiB",
        "vcpu" => "vCPU",
        "ram" => "RAM",
        "cpu" => "CPU",
        "gpu" => "GPU",
        "url" => "address",
        "sdk" => "SDK",
        "api" => "API",
        "ttl" => "TTL",
        "max" => "at most",
        other => other,
    });
    capitalised(&words.collect::<Vec<_>>().join(" "))
}

/// What a price row is for, in words.
pub fn price_label(provider: &Provider, price: &Price) -> String {
    let mut parts = vec![
        format!("{} {}", capitalised(price.kind.label()), price.component.label()),
        price.basis.label().to_owned(),
    ];
    let variants = price.variants.iter().filter_map(|id| provider.variant(id));
    let variants: Vec<&str> = variants.map(|variant| variant.name.as_str()).collect();
    // With one variant there is nothing to tell apart.
    let tells = !variants.is_empty() && provider.variants.len() > 1;
    parts.extend(tells.then(|| format!("for {}", variants.join(" and "))));
    parts.extend(
        price
            .preset
            .map(|preset| format!("size of {} vCPU and {} GiB", preset.vcpu, preset.memory_gib)),
    );
    parts
        .extend(price.included.as_ref().map(Allowance::label).map(|label| format!("{label} free")));
    parts.join(", ")
}

/// The amount of a price row in the vendor's unit; "included" where another component pays for it.
pub fn price_amount(price: &Price) -> String {
    match price.basis {
        Basis::Bundled => "included".to_owned(),
        _ => format!("{} USD per {}", price.rate.usd, price.rate.per.label()),
    }
}

fn price_field<'a>(provider: &'a Provider, price: &'a Price) -> Field<'a> {
    let dispute = provider.price_dispute(&price.id);
    let bundled = price.basis == Basis::Bundled;
    let since = format!("since {} ({})", price.since, price.beginning.label());
    let label = format!("{}, {since}", price_label(provider, price));
    let value = if bundled { "included".to_owned() } else { price.rate.usd.to_string() };
    Field {
        state: if dispute.is_some() { State::Disputed } else { State::Known },
        unit: (!bundled).then(|| format!("USD per {}", price.rate.per.label()).into()),
        dispute,
        ..Field::known(format!("price.{}", price.id), "Prices", label, value).from(&price.evidence)
    }
}

fn fee_field(fee: &Fee) -> Field<'_> {
    let label = format!("The router's fee, since {}", fee.since);
    Field {
        unit: Some("% of list".into()),
        ..Field::known(format!("fee.{}", fee.since), "Prices", label, fee.percent.to_string())
            .from(&fee.evidence)
    }
}

fn measurement_fields((place, one): (usize, &Measurement)) -> Vec<Field<'_>> {
    let days = [one.window_start.as_deref(), one.window_end.as_deref()];
    let days: Vec<&str> = days.into_iter().flatten().collect();
    let section = format!("{}, {}, {}", spoken(&one.metric), one.mode, days.join(" to "));
    one.statistics
        .iter()
        .map(|statistic| {
            let key = format!("measurement.{}.{}", place + 1, statistic.name);
            let label = spoken(&statistic.name);
            Field {
                unit: unit_of(&statistic.name).map(Cow::Borrowed),
                ..Field::known(key, &section, label, statistic.value.clone()).from(&one.evidence)
            }
        })
        .collect()
}

fn score_field(score: &Score) -> Field<'_> {
    let label = format!("Quality score, {}", score.kind.label());
    Field {
        unit: Some(format!("of {}", score.scale).into()),
        ..Field::known("score".to_owned(), "Score", label, score.value.to_string())
            .from(&score.evidence)
    }
}

/// How much of what can be asked is answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Completeness {
    /// Values nobody disagrees about.
    pub known: u32,
    /// Values that sources disagree about.
    pub disputed: u32,
    /// Questions without an answer.
    pub unknown: u32,
    /// Questions without a meaning.
    pub not_applicable: u32,
}

impl Completeness {
    /// Counts the claims of a provider's sections and variants. Plans are left out: what a plan does not say is no gap.
    pub fn of(provider: &Provider) -> Self {
        let mut counted = Self::default();
        for field in claims(provider) {
            *match field.state {
                State::Known => &mut counted.known,
                State::Disputed => &mut counted.disputed,
                State::Unknown => &mut counted.unknown,
                State::NotApplicable => &mut counted.not_applicable,
            } += 1;
        }
        counted
    }

    /// Each state with its count, in a fixed order.
    pub fn parts(self) -> [(State, u32); 4] {
        [
            (State::Known, self.known),
            (State::Disputed, self.disputed),
            (State::Unknown, self.unknown),
            (State::NotApplicable, self.not_applicable),
        ]
    }

    /// All of them.
    pub fn total(self) -> u32 {
        self.parts().iter().map(|(_, count)| count).sum()
    }
}
