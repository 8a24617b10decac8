//! Every public JSON type. Within v1 they only grow: nothing is removed or renamed.
//!
//! Decimals are strings, counts are integers, and no field has two types. Fields are always present; a state says
//! why a value is null.

pub mod change;
pub mod comparison;
pub mod runs;
pub mod workload;

use serde::Serialize;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::calculator::exposure::{Backstop, Exposed};
use crate::calculator::offer::Offer;
use crate::catalog::claim::{
    Address, Answer, Claim, Confidence, Dispute, Evidence, Limit, Names, Paused, Sizing, Text, Tier,
};
use crate::catalog::field::{Completeness, unit_of};
use crate::catalog::listing::{Question, Row};
use crate::catalog::plan::Plan;
use crate::catalog::price::Price;
use crate::catalog::provider::{Provider, Variant};
use crate::catalog::shape::{Estimate, Shape};
use crate::catalog::word::{Component, PriceKind};
use crate::money::{Quantity, Usd};
use jiff::civil::Date;

/// The catalog's data licence.
pub const DATA_LICENCE: &str = "CC-BY-4.0";

/// What stands round every answer of the catalog.
#[derive(Debug, Serialize, ToSchema)]
pub struct Envelope<T> {
    /// Of these types; grows by whole numbers.
    pub schema_version: u32,
    /// First 12 hex digits of the catalog's SHA-256.
    pub revision: String,
    /// When this site first saw that revision, RFC 3339, UTC.
    pub published_at: String,
    /// The day whose prices the answer gives.
    pub as_of: String,
    /// `current`; `revision` where the values are those that this site had published by that day; `evidence` where they
    /// are what had been seen by that day of today's catalog, so that what is undated or newer is unknown.
    pub origin: &'static str,
    /// Licence of the data.
    pub licence: &'static str,
    /// How many there are, whatever `limit` asks for.
    pub total: usize,
    /// The answer.
    pub result: T,
}

/// One of several claims that disagree.
#[derive(Debug, Serialize, ToSchema)]
pub struct RivalView {
    /// In the words of its source.
    pub value: String,
    /// Address or title.
    pub source: Option<String>,
    /// Day, month or `undated`.
    pub as_of: String,
    /// How it reached the catalog.
    pub by: &'static str,
    /// `high`, `medium`, `low`; null where nobody judged it.
    pub confidence: Option<&'static str>,
}

/// The schema of a value that may be null: the derive does not see that of an optional type parameter.
fn nullable<T: PartialSchema>() -> Schema {
    let null = ObjectBuilder::new().schema_type(Type::Null);
    Schema::OneOf(OneOfBuilder::new().item(T::schema()).item(null).build())
}

/// A value with where it comes from, or the reason why there is none.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClaimView<T> {
    /// `known`, `unknown`, `not_applicable` or `disputed`.
    pub state: &'static str,
    /// Null unless known, or disputed with a ruling.
    #[schema(schema_with = nullable::<T>, required)]
    pub value: Option<T>,
    /// Unit of the value, where it has one.
    pub unit: Option<&'static str>,
    /// Address or title of the first source.
    pub source: Option<String>,
    /// All of them.
    pub sources: Vec<String>,
    /// Day, month or `undated`.
    pub as_of: Option<String>,
    /// How it reached the catalog.
    pub by: Option<&'static str>,
    /// `high`, `medium`, `low`; null where nobody judged it.
    pub confidence: Option<&'static str>,
    /// The last day on which it is fresh; null where the material has no date.
    pub stale_after: Option<String>,
    /// What a reader should know besides.
    pub note: Option<String>,
    /// Every claim where sources disagree, else empty.
    pub claims: Vec<RivalView>,
    /// What the catalog follows where they disagree, and why.
    pub ruling: Option<String>,
}

/// Yes, partly or no.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnswerView {
    /// `yes`, `partly` or `no`.
    pub answer: &'static str,
    /// The condition or the vendor's words.
    pub detail: Option<String>,
}

/// A limit.
#[derive(Debug, Serialize, ToSchema)]
pub struct LimitView {
    /// `number`, `unlimited`, `custom` or `none_published`.
    pub kind: &'static str,
    /// Decimal, where it is a number.
    pub number: Option<String>,
}

/// A domain value that has a form in JSON.
pub trait Wire {
    /// That form.
    type Json;
    /// The value in that form.
    fn wire(&self) -> Self::Json;
}

/// The form in JSON of a domain type.
pub type WireOf<T> = <T as Wire>::Json;

macro_rules! wire {
    ($($type:ty => $json:ty, |$value:ident| $expression:expr;)+) => {
        $(impl Wire for $type {
            type Json = $json;
            fn wire(&self) -> $json {
                let $value = self;
                $expression
            }
        })+
    };
}

wire! {
    Text => String, |text| text.0.clone();
    Address => String, |address| address.0.clone();
    Names => Vec<String>, |names| names.0.clone();
    u64 => u64, |number| *number;
    Usd => String, |usd| usd.to_string();
    Quantity => String, |quantity| quantity.to_string();
    Tier => String, |tier| tier.word().to_owned();
    Paused => String, |paused| paused.word().to_owned();
    Sizing => String, |sizing| sizing.word().to_owned();
    Answer => AnswerView, |answer| AnswerView {
        answer: answer.verdict.word(),
        detail: answer.detail.clone(),
    };
    Limit => LimitView, |limit| LimitView {
        kind: limit.kind(),
        number: limit.number().map(|number| number.to_string()),
    };
}

/// The schema of a domain type is that of its form in JSON: the derive sees the former through [`WireOf`].
macro_rules! schema {
    ($($type:ty),+) => {
        $(
            impl utoipa::PartialSchema for $type {
                fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                    <WireOf<$type> as utoipa::PartialSchema>::schema()
                }
            }

            impl ToSchema for $type {
                fn name() -> std::borrow::Cow<'static, str> {
                    <WireOf<$type> as ToSchema>::name()
                }
            }
        )+
    };
}

schema!(Text, Address, Names, Usd, Quantity, Tier, Paused, Sizing, Answer, Limit);

fn stale_after(evidence: &Evidence) -> Option<String> {
    evidence.stale_after.map(|day| day.to_string())
}

fn references(evidence: &Evidence) -> Vec<String> {
    evidence.sources.iter().map(|source| source.reference().to_owned()).collect()
}

fn rivals(dispute: Option<&Dispute>) -> Vec<RivalView> {
    dispute.map_or_else(Vec::new, |dispute| {
        dispute
            .claims
            .iter()
            .map(|rival| RivalView {
                value: rival.value.clone(),
                source: references(&rival.evidence).into_iter().next(),
                as_of: rival.evidence.as_of.to_string(),
                by: rival.evidence.by.word(),
                confidence: rival.evidence.confidence.map(Confidence::word),
            })
            .collect()
    })
}

fn ruling(dispute: Option<&Dispute>) -> Option<String> {
    let dispute = dispute?;
    let parts: Vec<&str> =
        [dispute.ruling.as_deref(), dispute.note.as_deref()].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(": "))
}

/// A claim under its key, which names the unit.
fn claim<T: Wire>(key: &str, claim: &Claim<T>) -> ClaimView<T::Json> {
    let evidence = claim.evidence.as_ref();
    let sources = evidence.map(references).unwrap_or_default();
    ClaimView {
        state: claim.state().word(),
        value: claim.value().map(Wire::wire),
        unit: unit_of(key),
        source: sources.first().cloned(),
        sources,
        as_of: evidence.map(|evidence| evidence.as_of.to_string()),
        by: evidence.map(|evidence| evidence.by.word()),
        confidence: evidence.and_then(|evidence| evidence.confidence).map(Confidence::word),
        stale_after: evidence.and_then(stale_after),
        note: evidence.and_then(|evidence| evidence.note.clone()),
        claims: rivals(claim.dispute.as_ref()),
        ruling: ruling(claim.dispute.as_ref()),
    }
}

/// The JSON types of all sections, from the same list as the domain's.
mod sections {
    use super::{
        Address, Answer, ClaimView, Limit, Names, Paused, Quantity, Sizing, Text, Tier, Usd,
        WireOf, claim,
    };
    use crate::catalog::provider;
    use serde::Serialize;
    use utoipa::ToSchema;

    macro_rules! declare_views {
        ($($(#[$meta:meta])* $name:ident, $module:ident, $title:literal {
            $($(#[$field_meta:meta])* $field:ident: $type:ty, $label:literal;)+
        })+) => {
            $(
                $(#[$meta])*
                #[derive(Debug, Serialize, ToSchema)]
                pub struct $name {
                    $($(#[$field_meta])* pub $field: ClaimView<WireOf<$type>>),+
                }

                impl From<&provider::$name> for $name {
                    fn from(section: &provider::$name) -> Self {
                        Self { $($field: claim(stringify!($field), &section.$field)),+ }
                    }
                }
            )+
        };
    }

    provider_sections!(declare_views);
    variant_sections!(declare_views);
}

pub use sections::{
    Api, Billing, Compliance, Concurrency, Credit, Deploy, Egress, Identity, Isolation, Lifecycle,
    Placement, Size, Sla, Start, Time,
};

/// A size.
#[derive(Debug, Serialize, ToSchema)]
pub struct ShapeView {
    /// Processors.
    pub vcpu: String,
    /// Memory.
    pub memory_gib: String,
    /// Disk.
    pub disk_gib: String,
}

impl From<&Shape> for ShapeView {
    fn from(shape: &Shape) -> Self {
        Self {
            vcpu: shape.vcpu.to_string(),
            memory_gib: shape.memory_gib.to_string(),
            disk_gib: shape.disk_gib.to_string(),
        }
    }
}

/// What one provider sells under different terms.
#[derive(Debug, Serialize, ToSchema)]
pub struct VariantView {
    /// Its name in queries.
    pub id: String,
    /// Its name on pages.
    pub name: String,
    /// Whether a plain create call gives it.
    pub default: bool,
    /// How one gets it.
    pub asked_by: String,
    /// Its wall.
    pub isolation: Isolation,
    /// Its sizes.
    pub size: Size,
    /// What ends it.
    pub time: Time,
    /// How it is billed.
    pub billing: Billing,
}

impl VariantView {
    fn new(variant: &Variant, default: bool) -> Self {
        Self {
            id: variant.id.clone(),
            name: variant.name.clone(),
            default,
            asked_by: variant.asked_by.clone(),
            isolation: (&variant.isolation).into(),
            size: (&variant.size).into(),
            time: (&variant.time).into(),
            billing: (&variant.billing).into(),
        }
    }
}

/// A rate in the vendor's own unit.
#[derive(Debug, Serialize, ToSchema)]
pub struct RateView {
    /// Decimal.
    pub usd: String,
    /// Such as `vcpu_hour`.
    pub per: String,
}

/// A size that is sold as one.
#[derive(Debug, Serialize, ToSchema)]
pub struct PresetView {
    /// Processors, decimal.
    pub vcpu: String,
    /// Memory, decimal.
    pub memory_gib: String,
    /// Disk, decimal; null where it is not known.
    pub disk_gib: Option<String>,
    /// Whether any multiple of it is sold, fractions included.
    pub scales: bool,
}

/// A price row: of one component, since a day.
#[derive(Debug, Serialize, ToSchema)]
pub struct PriceView {
    /// Its name within the file.
    pub id: String,
    /// `list` or `routed`.
    pub price: &'static str,
    /// `vcpu`, `memory`, `disk`, `sandbox` or `creation`.
    pub component: &'static str,
    /// The variants that it holds for; empty for all.
    pub variants: Vec<String>,
    /// `allocated`, `active_cpu`, `max_of_request_and_use`, `session` or `bundled`.
    pub billing_basis: &'static str,
    /// In the vendor's unit, exact.
    pub rate: RateView,
    /// For one unit and one second.
    pub usd_per_second: String,
    /// Whether that decimal was rounded to 12 places.
    pub rounded: bool,
    /// What is not charged: "up to 10 GiB".
    pub included: Option<String>,
    /// The size that it is for, where it is sold as one.
    pub preset: Option<PresetView>,
    /// What a bill under it rests on besides.
    pub assumes: Option<String>,
    /// The first day.
    pub since: String,
    /// `took_effect`, or `first_seen` where the price may be older.
    pub beginning: &'static str,
    /// Address or title of the first source.
    pub source: Option<String>,
    /// Day, month or `undated`.
    pub as_of: String,
    /// `high`, `medium`, `low`; null where nobody judged it.
    pub confidence: Option<&'static str>,
    /// The last day on which it is fresh; null where the material has no date.
    pub stale_after: Option<String>,
    /// What a reader should know besides.
    pub note: Option<String>,
    /// `known` or `disputed`.
    pub state: &'static str,
    /// Every claim where sources disagree, else empty.
    pub claims: Vec<RivalView>,
}

impl PriceView {
    /// A row with the disputes about it.
    pub fn new(provider: &Provider, price: &Price) -> Self {
        let second = price.rate.per_second();
        let dispute = provider.price_dispute(&price.id);
        Self {
            id: price.id.clone(),
            price: price.kind.word(),
            component: price.component.word(),
            variants: price.variants.clone(),
            billing_basis: price.basis.word(),
            rate: RateView { usd: price.rate.usd.to_string(), per: price.rate.per.to_string() },
            usd_per_second: second.to_string(),
            rounded: !second.is_exactly_shown(),
            included: price.included.as_ref().map(crate::catalog::price::Allowance::label),
            preset: price.preset.map(|preset| PresetView {
                vcpu: preset.vcpu.to_string(),
                memory_gib: preset.memory_gib.to_string(),
                disk_gib: preset.disk_gib.map(|disk| disk.to_string()),
                scales: preset.scales,
            }),
            assumes: price.assumes.as_ref().map(|assumption| assumption.why.clone()),
            since: price.since.to_string(),
            beginning: price.beginning.word(),
            source: references(&price.evidence).into_iter().next(),
            as_of: price.evidence.as_of.to_string(),
            confidence: price.evidence.confidence.map(Confidence::word),
            stale_after: stale_after(&price.evidence),
            note: price.evidence.note.clone(),
            state: if dispute.is_some() { "disputed" } else { "known" },
            claims: rivals(dispute),
        }
    }
}

/// The rate of disk.
#[derive(Debug, Serialize, ToSchema)]
pub struct DiskRateView {
    /// `known` or `unknown`.
    pub state: &'static str,
    /// US dollars for a GiB and a second, decimal.
    pub value: Option<String>,
    /// What is not charged: "up to 10 GiB".
    pub included: Option<String>,
}

/// The rates of the default variant, per second.
#[derive(Debug, Serialize, ToSchema)]
pub struct RatesView {
    /// `known`, `unknown` or `not_routed`.
    pub state: &'static str,
    /// Decimal, rounded half-even to 12 places where it does not end before.
    pub usd_per_vcpu_second: Option<String>,
    /// The same for memory.
    pub usd_per_gib_memory_second: Option<String>,
    /// The same for disk; 0 with `included` means part of the price up to an allowance.
    pub usd_per_gib_disk_second: Option<String>,
    /// What is not charged of the disk.
    pub disk_included: Option<String>,
    /// The same for disk in the form of a value: what is part of another price has the value 0 and `included`.
    pub disk: DiskRateView,
    /// Whether one of them was rounded.
    pub rounded: bool,
    /// The first day of the price of processors, or else the newest first day among the others.
    pub since: Option<String>,
}

impl RatesView {
    fn new(provider: &Provider, kind: PriceKind, on: Date) -> Self {
        let variant = &provider.default_variant().id;
        let rows: Vec<&Price> =
            provider.prices_on(kind, on).filter(|price| price.is_for(variant)).collect();
        let row = |component: Component| rows.iter().find(|price| price.component == component);
        let second = |component: Component| row(component).map(|price| price.rate.per_second());
        let (vcpu, memory, disk) =
            (second(Component::Vcpu), second(Component::Memory), second(Component::Disk));
        let state = match (rows.is_empty(), kind) {
            (false, _) => "known",
            (true, PriceKind::List) => "unknown",
            (true, PriceKind::Routed) => "not_routed",
        };
        Self {
            state,
            usd_per_vcpu_second: vcpu.map(|usd| usd.to_string()),
            usd_per_gib_memory_second: memory.map(|usd| usd.to_string()),
            usd_per_gib_disk_second: disk.map(|usd| usd.to_string()),
            disk_included: row(Component::Disk)
                .and_then(|price| price.included.as_ref())
                .map(crate::catalog::price::Allowance::label),
            disk: DiskRateView {
                state: if disk.is_some() { "known" } else { "unknown" },
                value: disk.map(|usd| usd.to_string()),
                included: row(Component::Disk)
                    .and_then(|price| price.included.as_ref())
                    .map(crate::catalog::price::Allowance::label),
            },
            rounded: [vcpu, memory, disk].into_iter().flatten().any(|usd| !usd.is_exactly_shown()),
            since: row(Component::Vcpu)
                .map(|price| price.since)
                .or_else(|| rows.iter().map(|price| price.since).max())
                .map(|day| day.to_string()),
        }
    }
}

/// The fee of the router.
#[derive(Debug, Serialize, ToSchema)]
pub struct FeeView {
    /// Per cent of the list price, decimal.
    pub percent: String,
    /// The first day.
    pub since: String,
}

/// The quality score.
#[derive(Debug, Serialize, ToSchema)]
pub struct ScoreView {
    /// `known` or `not_scored`.
    pub state: &'static str,
    /// The figure.
    pub value: Option<u32>,
    /// The most that it could be.
    pub scale: Option<u32>,
    /// `editorial` or `measured`.
    pub kind: Option<&'static str>,
    /// Day, month or `undated`.
    pub as_of: Option<String>,
    /// What a reader should know besides.
    pub note: Option<String>,
}

macro_rules! plan_view {
    ($($(#[$meta:meta])* $field:ident: $type:ty, $label:literal;)+) => {
        /// A plan. What it does not say is unknown, not zero.
        #[derive(Debug, Serialize, ToSchema)]
        pub struct PlanView {
            /// Its name in queries.
            pub id: String,
            /// Its name on pages.
            pub name: String,
            $($(#[$meta])* pub $field: ClaimView<WireOf<$type>>),+
        }

        impl From<&Plan> for PlanView {
            fn from(plan: &Plan) -> Self {
                Self {
                    id: plan.id.clone(),
                    name: plan.name.clone(),
                    $($field: claim(stringify!($field), &plan.$field)),+
                }
            }
        }
    };
}
plan_claims!(plan_view);

/// A figure of a measurement.
#[derive(Debug, Serialize, ToSchema)]
pub struct StatisticView {
    /// Its name, unit included.
    pub name: String,
    /// Decimal.
    pub value: String,
}

/// An independent measurement.
#[derive(Debug, Serialize, ToSchema)]
pub struct MeasurementView {
    /// What was measured, unit included.
    pub metric: String,
    /// One after another, all at once, …
    pub mode: String,
    /// The variant that was measured.
    pub variant: String,
    /// Who measured.
    pub measured_by: String,
    /// How.
    pub method: Option<String>,
    /// First day.
    pub window_start: Option<String>,
    /// Last day.
    pub window_end: Option<String>,
    /// Days with data.
    pub days: Option<String>,
    /// The figures.
    pub statistics: Vec<StatisticView>,
    /// Address or title of the source.
    pub source: Option<String>,
    /// What a reader should know besides.
    pub note: Option<String>,
}

/// A fact under a key of its own.
#[derive(Debug, Serialize, ToSchema)]
pub struct DetailView {
    /// The section that it belongs to.
    pub section: String,
    /// Its key, unit included.
    pub key: String,
    /// The fact.
    pub claim: ClaimView<String>,
}

/// A dated value of something that is not a price row.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangeView {
    /// What changed.
    pub key: String,
    /// The value that held.
    pub value: String,
    /// The first day, where known.
    pub since: Option<String>,
    /// Address or title of the source.
    pub source: Option<String>,
    /// Day, month or `undated`.
    pub as_of: String,
    /// What a reader should know besides.
    pub note: Option<String>,
}

/// How much of what can be asked of a provider is answered: sections and variants, plans left out.
#[derive(Debug, Serialize, ToSchema)]
pub struct CompletenessView {
    /// Values nobody disagrees about.
    pub known: u32,
    /// Values that sources disagree about.
    pub disputed: u32,
    /// Questions without an answer.
    pub unknown: u32,
    /// Questions without a meaning.
    pub not_applicable: u32,
}

/// The bill of an hour on the default variant.
#[derive(Debug, Serialize, ToSchema)]
pub struct HourView {
    /// `list` or `routed`: which of them the figure is.
    pub price: &'static str,
    /// The size that was asked about.
    pub shape: ShapeView,
    /// The figure.
    pub estimate: EstimateView,
    /// The day on which the oldest of its prices was last seen.
    pub seen_on: Option<String>,
    /// Whether it takes part in a ranking by price.
    pub ranked: bool,
    /// Why it does not.
    pub unranked_because: Option<String>,
}

/// Everything about one provider.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProviderView {
    /// Its name in addresses.
    pub slug: String,
    /// Its name on pages.
    pub name: String,
    /// Its fixed place.
    pub position: u32,
    /// `routed` or `listed`.
    pub status: &'static str,
    /// `hosted`, `hyperscaler` or `self_hosted`.
    pub kind: &'static str,
    /// One sentence.
    pub summary: String,
    /// The day on which it was last checked as a whole; null on a day before.
    pub checked_on: Option<String>,
    /// How much of what can be asked is answered.
    pub completeness: CompletenessView,
    /// The bill of an hour for the shape that was asked about.
    pub hour: HourView,
    /// List rates of the default variant.
    pub list: RatesView,
    /// Per cent on top of list, decimal; null where it is not routed.
    pub fee_percent: Option<String>,
    /// The fee with its first day.
    pub fee: Option<FeeView>,
    /// Routed rates of the default variant.
    pub routed: RatesView,
    /// The quality score.
    pub quality_score: ScoreView,
    /// The wall of the default variant.
    pub isolation: Isolation,
    /// Sizes of the default variant.
    pub size: Size,
    /// What ends the default variant.
    pub time: Time,
    /// How the default variant is billed.
    pub billing: Billing,
    /// Who it is.
    pub identity: Identity,
    /// Credits.
    pub credit: Credit,
    /// Concurrency in words.
    pub concurrency: Concurrency,
    /// Claimed start.
    pub start: Start,
    /// What it may reach.
    pub egress: Egress,
    /// Its life.
    pub lifecycle: Lifecycle,
    /// What programs can do.
    pub api: Api,
    /// Where it can run.
    pub deploy: Deploy,
    /// Regions and hardware.
    pub placement: Placement,
    /// Attestations.
    pub compliance: Compliance,
    /// Availability.
    pub sla: Sla,
    /// What it sells under different terms; the default first.
    pub variants: Vec<VariantView>,
    /// Its plans.
    pub plans: Vec<PlanView>,
    /// Independent measurements.
    pub measurements: Vec<MeasurementView>,
    /// Facts under keys of their own.
    pub details: Vec<DetailView>,
    /// Dated history of what is not a price row.
    pub history: Vec<ChangeView>,
}

impl ProviderView {
    /// A provider of a listing.
    pub fn new(row: &Row<'_>, question: &Question) -> Self {
        let (provider, on) = (row.provider, question.on);
        let Completeness { known, disputed, unknown, not_applicable } = Completeness::of(provider);
        let variant = provider.default_variant();
        let score = provider.score();
        let fee = provider.fee_on(on);
        Self {
            slug: provider.slug.to_string(),
            name: provider.name.clone(),
            position: provider.position,
            status: provider.status.word(),
            kind: provider.kind.word(),
            summary: provider.summary.clone(),
            checked_on: provider.checked_on.map(|day| day.to_string()),
            completeness: CompletenessView { known, disputed, unknown, not_applicable },
            hour: HourView {
                price: row.kind.word(),
                shape: ShapeView::from(&question.shape),
                estimate: EstimateView::from(&row.bill),
                seen_on: row.seen_on.map(|day| day.to_string()),
                ranked: row.unranked.is_none(),
                unranked_because: row.unranked.clone(),
            },
            list: RatesView::new(provider, PriceKind::List, on),
            fee_percent: fee.map(|fee| fee.percent.to_string()),
            fee: fee.map(|fee| FeeView {
                percent: fee.percent.to_string(),
                since: fee.since.to_string(),
            }),
            routed: RatesView::new(provider, PriceKind::Routed, on),
            quality_score: ScoreView {
                state: if score.is_some() { "known" } else { "not_scored" },
                value: score.map(|score| score.value),
                scale: score.map(|score| score.scale),
                kind: score.map(|score| score.kind.word()),
                as_of: score.map(|score| score.evidence.as_of.to_string()),
                note: score.and_then(|score| score.evidence.note.clone()),
            },
            isolation: (&variant.isolation).into(),
            size: (&variant.size).into(),
            time: (&variant.time).into(),
            billing: (&variant.billing).into(),
            identity: (&provider.identity).into(),
            credit: (&provider.credit).into(),
            concurrency: (&provider.concurrency).into(),
            start: (&provider.start).into(),
            egress: (&provider.egress).into(),
            lifecycle: (&provider.lifecycle).into(),
            api: (&provider.api).into(),
            deploy: (&provider.deploy).into(),
            placement: (&provider.placement).into(),
            compliance: (&provider.compliance).into(),
            sla: (&provider.sla).into(),
            variants: provider
                .variants
                .iter()
                .enumerate()
                .map(|(place, variant)| VariantView::new(variant, place == 0))
                .collect(),
            plans: provider.plans.iter().map(PlanView::from).collect(),
            measurements: provider
                .measurements
                .iter()
                .map(|measurement| MeasurementView {
                    metric: measurement.metric.clone(),
                    mode: measurement.mode.clone(),
                    variant: measurement.variant.clone(),
                    measured_by: measurement.measured_by.clone(),
                    method: measurement.method.clone(),
                    window_start: measurement.window_start.clone(),
                    window_end: measurement.window_end.clone(),
                    days: measurement.days.clone(),
                    statistics: measurement
                        .statistics
                        .iter()
                        .map(|statistic| StatisticView {
                            name: statistic.name.clone(),
                            value: statistic.value.clone(),
                        })
                        .collect(),
                    source: references(&measurement.evidence).into_iter().next(),
                    note: measurement.evidence.note.clone(),
                })
                .collect(),
            details: provider
                .details
                .iter()
                .map(|detail| DetailView {
                    section: detail.section.clone(),
                    key: detail.key.clone(),
                    claim: claim(&detail.key, &detail.claim),
                })
                .collect(),
            history: provider
                .history
                .iter()
                .map(|change| ChangeView {
                    key: change.key.clone(),
                    value: change.value.clone(),
                    since: change.since.map(|day| day.to_string()),
                    source: references(&change.evidence).into_iter().next(),
                    as_of: change.evidence.as_of.to_string(),
                    note: change.evidence.note.clone(),
                })
                .collect(),
        }
    }
}

/// One multiplication of an estimate: quantity × rate × billed seconds.
#[derive(Debug, Serialize, ToSchema)]
pub struct LineView {
    /// What is paid for.
    pub component: &'static str,
    /// How much of it is charged, decimal.
    pub quantity: String,
    /// At which rate; null where it is included.
    pub rate: Option<RateView>,
    /// Seconds after step and minimum, decimal.
    pub billed_seconds: String,
    /// Per cent of that time that is billed, decimal, where only active time is; else null.
    pub utilisation_percent: Option<String>,
    /// The product.
    pub usd: String,
    /// What is not charged: "up to 10 GiB".
    pub included: Option<String>,
}

/// A figure, how firm it is, and what it is made of.
#[derive(Debug, Serialize, ToSchema)]
pub struct EstimateView {
    /// `exact`, `depends` or `unpriced`.
    pub exactness: &'static str,
    /// Decimal; null where it is unpriced.
    pub usd: Option<String>,
    /// The least, where it depends.
    pub low: Option<String>,
    /// The most, where it depends and that is known.
    pub high: Option<String>,
    /// What it depends on, or why there is none.
    pub because: Vec<String>,
    /// The size that is sold instead, the smallest that holds the asked one; null where that one is sold.
    pub sold_as: Option<ShapeView>,
    /// What it is made of.
    pub lines: Vec<LineView>,
}

impl From<&Estimate> for EstimateView {
    fn from(estimate: &Estimate) -> Self {
        let text = |usd: Option<Usd>| usd.map(|usd| usd.to_string());
        Self {
            exactness: estimate.exactness.word(),
            usd: text(estimate.usd),
            low: text(estimate.low),
            high: text(estimate.high),
            because: estimate.because.clone(),
            sold_as: estimate.sold_as.as_ref().map(ShapeView::from),
            lines: estimate
                .lines
                .iter()
                .map(|line| LineView {
                    component: line.component.word(),
                    quantity: line.quantity.to_string(),
                    rate: line.rate.map(|rate| RateView {
                        usd: rate.usd.to_string(),
                        per: rate.per.to_string(),
                    }),
                    billed_seconds: line.billed_seconds.to_string(),
                    utilisation_percent: line.utilisation_percent.map(|part| part.to_string()),
                    usd: line.usd.to_string(),
                    included: line.included.clone(),
                })
                .collect(),
        }
    }
}

/// What a sandbox of a variant costs for a shape and a time.
#[derive(Debug, Serialize, ToSchema)]
pub struct QuoteView {
    /// The provider.
    pub slug: String,
    /// The variant.
    pub variant: String,
    /// `list` or `routed`: which of them the figure is.
    pub price: &'static str,
    /// The size that was asked about.
    pub shape: ShapeView,
    /// How long it lives, decimal.
    pub seconds: String,
    /// The figure.
    pub estimate: EstimateView,
}

/// What a platform does by itself.
#[derive(Debug, Serialize, ToSchema)]
pub struct BackstopView {
    /// `nothing_sent`, `idle_stop` or `longest_session`.
    pub kind: &'static str,
    /// `known`, `unknown`, `not_applicable` or `disputed`.
    pub state: &'static str,
    /// Seconds until it acts; null where it never does or is not known.
    pub seconds: Option<String>,
    /// Address or title of what says so.
    pub source: Option<String>,
    /// Day, month or `undated` of it.
    pub as_of: Option<String>,
    /// Processors only, by then, all runaways that the plan holds.
    pub cpu_usd: Option<String>,
    /// The whole bill by then.
    pub whole: Option<EstimateView>,
}

impl From<&Backstop> for BackstopView {
    fn from(backstop: &Backstop) -> Self {
        Self {
            kind: backstop.kind.word(),
            state: backstop.state.word(),
            seconds: backstop.seconds().map(|seconds| seconds.to_string()),
            source: backstop.source.clone(),
            as_of: backstop.as_of.clone(),
            cpu_usd: backstop.cpu_usd.map(|usd| usd.to_string()),
            whole: backstop.whole.as_ref().map(EstimateView::from),
        }
    }
}

/// Rates for a second, an hour and a day.
#[derive(Debug, Serialize, ToSchema)]
pub struct RunningView {
    /// One sandbox for a second.
    pub usd_per_second: EstimateView,
    /// For an hour.
    pub usd_per_hour: EstimateView,
    /// For a day.
    pub usd_per_day: EstimateView,
    /// All runaways until somebody notices, if nothing stops them.
    pub until_noticed: EstimateView,
    /// With the timeout, never more than without; null where there is no timeout.
    pub with_timeout: Option<EstimateView>,
    /// What the timeout saves; null where there is no timeout.
    pub saved: Option<EstimateView>,
}

/// What runaways cost at one provider.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExposureView {
    /// The provider.
    pub slug: String,
    /// `list` or `routed`: which of them the figures are.
    pub price: &'static str,
    /// The plan that was reckoned with.
    pub plan: Option<String>,
    /// How many sandboxes of the shape that plan holds at once; null where nothing caps them that we know of.
    pub capacity: Option<u64>,
    /// What caps them; null where nothing does that we know of.
    pub capped_by: Option<&'static str>,
    /// How many of the runaways those are.
    pub runaways_held: u64,
    /// Processors only.
    pub cpu: RunningView,
    /// The whole bill.
    pub whole: RunningView,
    /// What the platform does by itself.
    pub backstops: Vec<BackstopView>,
    /// Hours that agents stand still until somebody notices, all together, decimal.
    pub agent_hours_blocked: String,
    /// The same with the timeout; null where there is none.
    pub agent_hours_with_timeout: Option<String>,
    /// Sandboxes that are started for the runaways' tasks, retries included.
    pub runs_with_retries: u64,
    /// The nearest size that is sold, where the asked one is not; else null.
    pub nearest_sold: Option<SoldView>,
    /// What the provider sells besides the default class that the figures are of.
    pub other_variants: Vec<OtherVariantView>,
}

/// One sandbox of another variant.
#[derive(Debug, Serialize, ToSchema)]
pub struct OtherVariantView {
    /// Its name in the catalog.
    pub variant: String,
    /// How one gets it.
    pub asked_by: String,
    /// The whole bill of an hour.
    pub usd_per_hour: EstimateView,
}

/// A size that is sold, with its price.
#[derive(Debug, Serialize, ToSchema)]
pub struct SoldView {
    /// The size.
    pub shape: ShapeView,
    /// The whole bill of an hour.
    pub usd_per_hour: EstimateView,
}

impl ExposureView {
    /// The figures at a provider.
    pub fn new(offer: &Offer, exposed: &Exposed) -> Self {
        let running = |rates: &[Estimate; 3],
                       until: &Estimate,
                       with: Option<&Estimate>,
                       saved: Option<&Estimate>| {
            let [second, hour, day] = rates;
            RunningView {
                usd_per_second: second.into(),
                usd_per_hour: hour.into(),
                usd_per_day: day.into(),
                until_noticed: until.into(),
                with_timeout: with.map(EstimateView::from),
                saved: saved.map(EstimateView::from),
            }
        };
        Self {
            slug: offer.slug.clone(),
            price: offer.card.kind.word(),
            plan: exposed.plan.clone(),
            capacity: exposed.capacity.map(|(most, _)| most),
            capped_by: exposed.capacity.map(|(_, name)| name),
            runaways_held: exposed.runaways_held,
            cpu: running(
                &exposed.cpu_rates,
                &exposed.cpu_until_noticed,
                exposed.cpu_with_timeout.as_ref(),
                exposed.cpu_saved.as_ref(),
            ),
            whole: running(
                &exposed.whole_rates,
                &exposed.whole_until_noticed,
                exposed.whole_with_timeout.as_ref(),
                exposed.whole_saved.as_ref(),
            ),
            backstops: exposed.backstops.iter().map(BackstopView::from).collect(),
            agent_hours_blocked: exposed.agent_hours_blocked.to_string(),
            agent_hours_with_timeout: exposed
                .agent_hours_with_timeout()
                .map(|hours| hours.to_string()),
            runs_with_retries: exposed.runs_with_retries,
            nearest_sold: exposed.nearest_sold.as_ref().map(|(shape, hour)| SoldView {
                shape: ShapeView::from(shape),
                usd_per_hour: hour.into(),
            }),
            other_variants: exposed
                .other_variants
                .iter()
                .map(|other| OtherVariantView {
                    variant: other.id.clone(),
                    asked_by: other.asked_by.clone(),
                    usd_per_hour: (&other.hour).into(),
                })
                .collect(),
        }
    }
}
