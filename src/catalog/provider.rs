//! A provider: its sections of claims, its variants, plans, scores, measurements and dated history.
//!
//! Not here: what it costs for a shape (`shape`), nor how it is written in files (`load`).

use std::sync::Arc;

use jiff::civil::Date;

use super::claim::{
    Address, Answer, AnyClaim, Claim, Dispute, Evidence, Limit, Names, Paused, Sizing, Source,
    Text, Tier, Value,
};
use super::plan::Plan;
use super::price::{Fee, Price};
use super::score::{Measurement, Score};
use super::word::{Component, Kind, PriceKind, Status};
use crate::money::{Quantity, Usd};

/// The name of a provider in addresses and files: lower-case letters, digits and single hyphens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderSlug(String);

impl ProviderSlug {
    /// The longest slug.
    pub const LENGTH_MAX: usize = 64;

    /// Reads a slug; `-vs-` is refused since it joins two slugs in an address.
    pub fn parse(text: &str) -> Result<Self, String> {
        let letters = text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        let hyphens = text.starts_with('-') || text.ends_with('-') || text.contains("--");
        let joined = format!("-{text}-").contains("-vs-");
        if text.is_empty() || text.len() > Self::LENGTH_MAX || !letters || hyphens || joined {
            return Err(
                "is not a slug: lower-case letters, digits and single hyphens, without -vs-"
                    .to_owned(),
            );
        }
        Ok(Self(text.to_owned()))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ProviderSlug {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// One row of a section, as pages and comparisons see it.
pub struct Row<'a> {
    /// The key in files and JSON.
    pub key: &'static str,
    /// The name on pages, unit included.
    pub label: &'static str,
    /// The claim.
    pub claim: &'a dyn AnyClaim,
}

/// Reads the claims of a section, one after the other. `load` implements it for TOML tables.
pub trait ReadClaims {
    /// The claim of a key; what is wrong with it is kept for the report.
    fn claim<T: Value>(&mut self, key: &'static str) -> Claim<T>;
}

/// Declares every section once, for whoever needs the list: the domain here, the JSON types in `api`.
macro_rules! provider_sections {
    ($callback:ident) => {
        $callback! {
            /// Who the provider is and where it speaks.
            Identity, identity, "Identity" {
                /// The legal entity.
                legal_entity: Text, "Legal entity";
                /// The homepage.
                homepage_url: Address, "Homepage";
                /// The documentation.
                docs_url: Address, "Documentation";
                /// The price page.
                pricing_url: Address, "Price page";
                /// The status page.
                status_page_url: Address, "Status page";
            }
            /// Credits that new customers get.
            Credit, credit, "Credits" {
                /// US dollars once.
                usd_one_time: Usd, "Free credit, once";
                /// US dollars every month.
                usd_per_month: Usd, "Free credit a month";
            }
            /// How many sandboxes may run at once, in the vendor's words. Numbers by plan stand with the plans.
            Concurrency, concurrency, "Concurrency" {
                /// On the plan that costs nothing.
                free_plan: Text, "At once, free plan";
                /// On a plan that costs something.
                paid_plan: Text, "At once, paid plan";
            }
            /// How fast it starts, according to the vendor.
            Start, start, "Start" {
                /// Milliseconds.
                claimed_cold_start_ms: u64, "Claimed cold start, ms";
            }
            /// What the sandbox may reach.
            Egress, egress, "Egress" {
                /// Whether it can be switched off when the sandbox is made.
                can_disable_at_create: Answer, "Can be off from the start";
                /// The parameter that does it.
                parameter_name: Text, "Parameter";
                /// Whether single destinations can be allowed.
                allow_list: Answer, "Allow list";
                /// Whether single destinations can be denied.
                deny_list: Answer, "Deny list";
                /// What holds if nothing is asked for.
                default_internet_access: Text, "If nothing is asked for";
            }
            /// What happens to a sandbox over its life.
            Lifecycle, lifecycle, "Lifecycle" {
                /// Pause and resume.
                pause_resume: Answer, "Pause and resume";
                /// Snapshots.
                snapshot: Answer, "Snapshots";
                /// Forks of a running sandbox.
                fork: Answer, "Forks";
                /// What stops it.
                auto_stop: Text, "Stops by itself";
                /// What deletes it.
                auto_delete: Text, "Deleted by itself";
                /// Whether it can be asked to leave nothing behind.
                ephemeral_flag: Answer, "Ephemeral flag";
            }
            /// What a program can do with it.
            Api, api, "API" {
                /// Files.
                filesystem: Answer, "Files";
                /// Processes.
                process: Answer, "Processes";
                /// Languages of its interpreter.
                interpreter_languages: Names, "Interpreter languages";
                /// Languages of its SDKs.
                sdk_languages: Names, "SDK languages";
            }
            /// Where it can run, and under which licence.
            Deploy, deploy, "Self-hosting and licence" {
                /// On one's own machines.
                self_host: Answer, "Self-hosting";
                /// In one's own cloud account.
                byoc: Answer, "Own cloud account";
                /// Whether the code of the platform itself is open source today.
                open_source: Answer, "Open source";
                /// The licences, by part.
                licence: Text, "Licence";
                /// The repository.
                repository_url: Address, "Repository";
            }
            /// Regions and hardware.
            Placement, placement, "Placement" {
                /// Regions.
                regions: Text, "Regions";
                /// Graphics processors.
                gpu: Answer, "GPU";
            }
            /// Attestations.
            Compliance, compliance, "Compliance" {
                /// SOC 2.
                soc2: Text, "SOC 2";
                /// HIPAA.
                hipaa: Text, "HIPAA";
                /// ISO 27001.
                iso27001: Text, "ISO 27001";
            }
            /// Promised availability.
            Sla, sla, "Availability promise" {
                /// The promise.
                sla: Text, "SLA";
            }
        }
    };
}

/// Declares the sections of a variant, in the same way.
macro_rules! variant_sections {
    ($callback:ident) => {
        $callback! {
            /// The wall around the code.
            Isolation, isolation, "Isolation" {
                /// How strong.
                tier: Tier, "Isolation tier";
                /// Made of what.
                technology: Text, "Technology";
            }
            /// How large a sandbox is by default and can be.
            Size, size, "Size" {
                /// Processors if nothing is asked for.
                default_vcpu: Quantity, "Default vCPU";
                /// Memory if nothing is asked for, MiB.
                default_memory_mib: u64, "Default memory, MiB";
                /// Disk if nothing is asked for, MiB.
                default_disk_mib: u64, "Default disk, MiB";
                /// Processors at least.
                min_vcpu: Quantity, "Smallest vCPU";
                /// Memory at least, MiB.
                min_memory_mib: u64, "Smallest memory, MiB";
                /// Processors at most.
                max_vcpu: Quantity, "Largest vCPU";
                /// Memory at most, MiB.
                max_memory_mib: u64, "Largest memory, MiB";
                /// Disk at most, MiB.
                max_disk_mib: u64, "Largest disk, MiB";
                /// Processors come in multiples of this.
                step_vcpu: Quantity, "Step of vCPU";
                /// Memory comes in multiples of this, MiB.
                step_memory_mib: u64, "Step of memory, MiB";
                /// Memory that comes with each processor, neither more nor less, MiB.
                memory_mib_per_vcpu: u64, "Memory with each vCPU, MiB";
                /// Whether a size is chosen freely or taken from a list.
                sizing: Sizing, "Sizes";
            }
            /// What ends a sandbox.
            Time, time, "Time limits" {
                /// Seconds until the platform ends it if the caller sends nothing.
                default_wall_clock_seconds: Limit, "Ends by itself if nothing is sent, s";
                /// Seconds without outside activity until the platform stops it.
                idle_stop_seconds: Limit, "Idle stop, s";
                /// Seconds that one session can last at most, on the plan that allows most.
                max_session_seconds: Limit, "Longest session, s";
                /// The parameter of the wall-clock limit.
                wall_clock_parameter: Text, "Wall-clock parameter";
                /// Who enforces it.
                enforced_by: Text, "Enforced by";
            }
            /// How time becomes a bill.
            Billing, billing, "Billing" {
                /// In the vendor's words.
                basis: Text, "Billing basis";
                /// Time is rounded up to a multiple of this, seconds.
                step_seconds: Limit, "Billing step, s";
                /// Time is billed as if at least this, seconds.
                minimum_seconds: Limit, "Minimum charge, s";
                /// What is billed while it is paused or stopped.
                paused: Paused, "Billed while paused";
            }
        }
    };
}

macro_rules! declare_sections {
    ($($(#[$meta:meta])* $name:ident, $module:ident, $title:literal {
        $($(#[$field_meta:meta])* $field:ident: $type:ty, $label:literal;)+
    })+) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, PartialEq, Eq)]
            pub struct $name { $($(#[$field_meta])* pub $field: Claim<$type>),+ }

            impl $name {
                /// The key in files and JSON.
                pub const KEY: &'static str = stringify!($module);
                /// The title on pages.
                pub const TITLE: &'static str = $title;
                /// The keys of its claims.
                pub const KEYS: &'static [&'static str] = &[$(stringify!($field)),+];

                /// Reads every claim.
                pub fn read(reader: &mut impl ReadClaims) -> Self {
                    Self { $($field: reader.claim(stringify!($field))),+ }
                }

                /// Every claim in order.
                pub fn rows(&self) -> Vec<Row<'_>> {
                    vec![$(Row { key: stringify!($field), label: $label, claim: &self.$field }),+]
                }

                /// Every claim as it was known on a day.
                #[must_use]
                pub fn known_by(self, day: Date) -> Self {
                    Self { $($field: self.$field.known_by(day)),+ }
                }

                /// Where a dispute about a key is kept; `None` for a key that is not here.
                pub fn dispute_of(&mut self, key: &str) -> Option<&mut Option<Dispute>> {
                    match key {
                        $(stringify!($field) => Some(&mut self.$field.dispute),)+
                        _ => None,
                    }
                }
            }
        )+
    };
}

provider_sections!(declare_sections);
variant_sections!(declare_sections);

/// What one provider sells under different terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Its name within the file.
    pub id: String,
    /// Its name on pages.
    pub name: String,
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

impl Variant {
    /// Titles and rows of its sections.
    pub fn sections(&self) -> [(&'static str, &'static str, Vec<Row<'_>>); 4] {
        [
            (Isolation::KEY, Isolation::TITLE, self.isolation.rows()),
            (Size::KEY, Size::TITLE, self.size.rows()),
            (Time::KEY, Time::TITLE, self.time.rows()),
            (Billing::KEY, Billing::TITLE, self.billing.rows()),
        ]
    }
}

/// A fact that only some providers have, under a key of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// The section that it belongs to.
    pub section: String,
    /// Its key.
    pub key: String,
    /// The fact; its unit is in the key.
    pub claim: Claim<Text>,
}

/// A dated older or newer value of something that is not a price row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What changed.
    pub key: String,
    /// The value that held.
    pub value: String,
    /// The day from which it held, where that is known.
    pub since: Option<Date>,
    /// Where from.
    pub evidence: Evidence,
}

/// Everything the catalog holds about one provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// Its name in addresses.
    pub slug: ProviderSlug,
    /// Its name on pages.
    pub name: String,
    /// Its fixed place in the order of all; decides the canonical address of a comparison.
    pub position: u32,
    /// Routed or listed.
    pub status: Status,
    /// What sort of offer.
    pub kind: Kind,
    /// One sentence.
    pub summary: String,
    /// The day on which the whole file was last checked; `None` on a day before.
    pub checked_on: Option<Date>,
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
    /// At least one; the first is what a plain create call gives.
    pub variants: Vec<Variant>,
    /// Price rows, list and routed, old and new.
    pub prices: Vec<Price>,
    /// The router's fee on top of the list price, old and new.
    pub fees: Vec<Fee>,
    /// Plans, in the vendor's order.
    pub plans: Vec<Plan>,
    /// Scores.
    pub scores: Vec<Score>,
    /// Independent measurements.
    pub measurements: Vec<Measurement>,
    /// Facts under keys of their own.
    pub details: Vec<Detail>,
    /// Dated history of what is not a price row.
    pub history: Vec<Change>,
    /// Disputes about prices, such as what an allowance covers.
    pub price_disputes: Vec<(String, Dispute)>,
    /// Everything that was read.
    pub sources: Vec<Arc<Source>>,
}

impl Provider {
    /// The variant that a plain create call gives.
    pub fn default_variant(&self) -> &Variant {
        // `load` refuses a file without a variant.
        &self.variants[0]
    }

    /// A variant by its id.
    pub fn variant(&self, id: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.id == id)
    }

    /// A plan by its id.
    pub fn plan(&self, id: &str) -> Option<&Plan> {
        self.plans.iter().find(|plan| plan.id == id)
    }

    /// The editorial score, where there is one.
    pub fn score(&self) -> Option<&Score> {
        self.scores.last()
    }

    /// The first measurement that has a median, and that median in milliseconds.
    pub fn measured_start(&self) -> Option<(&Measurement, &str)> {
        self.measurements.iter().find_map(|one| one.median().map(|(median, _)| (one, median)))
    }

    /// The price row of a component that holds for the default variant on a day.
    pub fn price_of(&self, component: Component, kind: PriceKind, day: Date) -> Option<&Price> {
        let variant = &self.default_variant().id;
        self.prices_on(kind, day).find(|row| row.component == component && row.is_for(variant))
    }

    /// Routed where there is a routed price on a day, else list.
    pub fn price_kind_on(&self, day: Date) -> PriceKind {
        match self.prices_on(PriceKind::Routed, day).next() {
            Some(_) => PriceKind::Routed,
            None => PriceKind::List,
        }
    }

    /// The router's fee on a day.
    pub fn fee_on(&self, day: Date) -> Option<&Fee> {
        self.fees.iter().rev().find(|fee| fee.since <= day)
    }

    /// What sources disagree about a price row, by its id.
    pub fn price_dispute(&self, id: &str) -> Option<&Dispute> {
        self.price_disputes.iter().find(|(key, _)| key == id).map(|(_, dispute)| dispute)
    }

    /// Price rows of a kind that hold on a day.
    pub fn prices_on(&self, kind: PriceKind, day: Date) -> impl Iterator<Item = &Price> {
        self.prices.iter().filter(move |price| {
            price.kind == kind
                && price.since <= day
                && !self.prices.iter().any(|newer| newer.replaces(price) && newer.since <= day)
        })
    }

    /// Keys, titles and rows of the sections that do not differ by variant.
    pub fn sections(&self) -> [(&'static str, &'static str, Vec<Row<'_>>); 11] {
        [
            (Identity::KEY, Identity::TITLE, self.identity.rows()),
            (Credit::KEY, Credit::TITLE, self.credit.rows()),
            (Concurrency::KEY, Concurrency::TITLE, self.concurrency.rows()),
            (Start::KEY, Start::TITLE, self.start.rows()),
            (Egress::KEY, Egress::TITLE, self.egress.rows()),
            (Lifecycle::KEY, Lifecycle::TITLE, self.lifecycle.rows()),
            (Api::KEY, Api::TITLE, self.api.rows()),
            (Deploy::KEY, Deploy::TITLE, self.deploy.rows()),
            (Placement::KEY, Placement::TITLE, self.placement.rows()),
            (Compliance::KEY, Compliance::TITLE, self.compliance.rows()),
            (Sla::KEY, Sla::TITLE, self.sla.rows()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_cannot_be_mistaken_for_a_comparison() {
        for text in ["e2b", "fly-machines", "daytona"] {
            assert!(ProviderSlug::parse(text).is_ok(), "{text}");
        }
        for text in ["", "E2B", "a--b", "-a", "a-", "a-vs-b", "vs-", "ä", "a b", "vs", "x/y"] {
            assert!(ProviderSlug::parse(text).is_err(), "{text}");
        }
    }
}
