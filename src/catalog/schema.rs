//! The JSON Schema of a provider file, by which an editor completes and checks `catalog/*.toml`.
//!
//! It is made of the declarations that the loader reads by. Not here: what takes several places of
//! a file to see (ids that are named, prices that agree, keys that are left out and not declared).
//! That is for `thud catalog check`.

use serde_json::{Map, Value as Json, json};

mod values;

use super::claim::{Address, Answer, Limit, Names, Paused, Sizing, Text, Tier};
use super::plan::Plan;
use super::provider::ProviderSlug;
use super::word::{
    Basis, Beginning, By, Component, Confidence, Kind, PriceKind, Scope, ScoreKind, Status,
};
use crate::money::{Measured, Period, Quantity, RateUnit, Usd};
use values::{Written, day, decimal, one_or_several, seen, switch, text, whole, words};

/// The schema as the file that is checked in and served: pretty, sorted, with a newline at its end.
pub fn provider_file_text() -> String {
    let mut schema = provider_file();
    // Whether a map keeps its order depends on what else is built.
    schema.sort_all_objects();
    format!("{schema:#}\n")
}

/// The JSON Schema (draft-07, the newest that TOML editors read) of a provider file.
pub fn provider_file() -> Json {
    let sections = provider_sections();
    let declared = declared(&sections);
    let mut schema = table(
        "A provider of the Thud catalog. What each key means is in catalog/README.md.",
        &[
            "schema_version",
            "slug",
            "name",
            "position",
            "status",
            "kind",
            "summary",
            "checked_on",
            "sources",
            "variant",
        ],
        json!({
            "schema_version": { "const": 1, "description": "The version of the file format." },
            "slug": {
                "description": "Its name in addresses: the file name without its ending.",
                "type": "string",
                "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$",
                "maxLength": ProviderSlug::LENGTH_MAX,
                "not": { "pattern": "(^|-)vs(-|$)" },
            },
            "name": text("Its name on pages."),
            "position": whole("Its fixed place in the order of all; each provider has its own."),
            "status": words("Whether the router reaches it.", Status::WORDS),
            "kind": words("What sort of offer it is.", Kind::WORDS),
            "summary": text("One sentence."),
            "checked_on": day("The day on which the whole file was last checked."),
            "unknown": one_or_several("Keys whose value nobody is known to say.", &declared),
            "not_applicable": one_or_several("Keys that have no meaning here.", &declared),
            "sources": map("What was read, by the id that claims name.", source()),
            "variant": variants(),
            "price": prices(),
            "fee": fees(),
            "plan": plans(),
            "score": scores(),
            "measurement": measurements(),
            "detail": details(),
            "history": history(),
            "conflict": conflicts(&sections),
        }),
    );
    for section in sections {
        schema["properties"][section.key] = section.schema();
    }
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!("Provider file of the Thud catalog");
    let mut source = one_or_several("Where from.", &text("The id of an entry of [sources]."));
    source["anyOf"][1]["minItems"] = json!(1);
    schema["definitions"] = json!({
        "source": source,
        "as_of": seen("When it was so: a day, a month or undated. Left out: as the first source."),
        "by": words("How it reached the catalog. Left out: as the first source.", By::WORDS),
        "confidence": words("How far it can be trusted.", Confidence::WORDS),
        "note": text("What a reader should know besides."),
        "state": words("Why there is no value.", &["unknown", "not_applicable"]),
    });
    schema
}

/// A section with its claims.
struct Section {
    key: &'static str,
    about: &'static str,
    claims: Vec<(&'static str, Json)>,
}

impl Section {
    fn schema(&self) -> Json {
        let claims: Map<String, Json> =
            self.claims.iter().map(|(key, claim)| ((*key).to_owned(), claim.clone())).collect();
        table(self.about.trim(), &[], claims.into())
    }

    /// Its keys as a part of a pattern.
    fn keys(&self) -> String {
        self.claims.iter().map(|(key, _)| *key).collect::<Vec<_>>().join("|")
    }
}

macro_rules! sections {
    ($($(#[doc = $doc:literal])+ $name:ident, $module:ident, $title:literal {
        $($(#[doc = $field_doc:literal])+ $field:ident: $type:ty, $label:literal;)+
    })+) => {
        vec![$(Section {
            key: stringify!($module),
            about: concat!($($doc),+),
            claims: vec![
                $({
                    let about = concat!($label, "." $(, $field_doc)+);
                    (stringify!($field), claim::<$type>(about, &["source"]))
                }),+
            ],
        }),+]
    };
}

fn provider_sections() -> Vec<Section> {
    provider_sections!(sections)
}

fn variant_sections() -> Vec<Section> {
    variant_sections!(sections)
}

/// A claim, and what must stand beside its value.
fn claim<T: Written>(about: &str, required: &[&str]) -> Json {
    let mut properties = json!({ "value": T::schema(), "state": refer("state") });
    if T::HAS_DETAIL {
        properties["detail"] = text("The condition, the limits, the vendor's words.");
    }
    let mut claim = table(about, &[], with_evidence(properties));
    // Not oneOf: its refusal would not say which key is missing.
    claim["if"] = json!({ "required": ["value"] });
    claim["then"] = json!({ "required": required, "properties": { "state": false } });
    claim["else"] = json!({ "required": ["state"], "properties": { "detail": false } });
    claim
}

/// A claim that may leave its source to the plan, and may then be nothing but its value.
fn plan_claim<T: Written>(about: &str) -> Json {
    json!({ "description": about, "anyOf": [T::schema(), claim::<T>(about, &[])] })
}

macro_rules! plan_claims_of {
    ($($(#[doc = $doc:literal])+ $field:ident: $type:ty, $label:literal;)+) => {
        [$((stringify!($field), plan_claim::<$type>(concat!($label, "." $(, $doc)+)))),+]
    };
}

fn plans() -> Json {
    let mut properties = with_evidence(json!({
        "id": text("Its name within the file."),
        "name": text("Its name on pages."),
    }));
    for (key, claim) in plan_claims!(plan_claims_of) {
        properties[key] = claim;
    }
    let about = "A plan. A bare value takes the plan's source; what is left out is unknown.";
    list(about, &["id", "name", "source"], properties)
}

fn source() -> Json {
    let mut source = table(
        "Something that was read: an address, or at least a title.",
        &["seen_on", "by"],
        json!({
            "url": Address::schema(),
            "title": text("What it is, where the address does not tell."),
            "seen_on": seen("When it was seen: a day, a month or undated."),
            "by": words("How it reached the catalog.", By::WORDS),
            "note": refer("note"),
        }),
    );
    source["anyOf"] = json!([{ "required": ["url"] }, { "required": ["title"] }]);
    source
}

fn variants() -> Json {
    let mut properties = json!({
        "id": text("Its name within the file."),
        "name": text("Its name on pages."),
        "asked_by": text("How one gets it."),
        "like": text("A variant above, from which it takes what is left out."),
    });
    for section in variant_sections() {
        properties[section.key] = section.schema();
    }
    let about = "What is sold under different terms; the first is what a plain create call gives.";
    let mut variants = list(about, &["id", "name", "asked_by"], properties);
    variants["minItems"] = json!(1);
    variants
}

fn prices() -> Json {
    let rate = json!({
        "usd": Usd::schema(),
        "per": words("The vendor's own unit.", &units()),
    });
    let included = table(
        "What is not charged.",
        &["quantity", "scope", "priced_beyond"],
        json!({
            "quantity": decimal("How much, in the unit of the price without its period."),
            "scope": words("For whom it counts.", Scope::WORDS),
            "priced_beyond": switch("Whether there is a price beyond it."),
            "by_plan": map("How much a plan includes, by its id.", Quantity::schema()),
        }),
    );
    let assumes = table(
        "What a bill under it rests on besides.",
        &["why", "at_most"],
        json!({
            "why": text("In words."),
            "at_most": switch("Whether the bill is then at most so much; else it may be more."),
        }),
    );
    let mut properties = with_evidence(json!({
        "id": text("Its name within the file."),
        "kind": words("list (if left out), or routed: with the fee.", PriceKind::WORDS),
        "component": words("What it is for.", Component::WORDS),
        "basis": words("What it multiplies.", Basis::WORDS),
        "variants": one_or_several("For what it holds. Left out: all.", &text("A variant's id.")),
        "also": list("The same price in another unit.", &["usd", "per"], rate.clone()),
        "included": included,
        "bundled_with": words("The component that pays for this one.", Component::WORDS),
        "per_gib_max": decimal("How much of what is bundled comes with a GiB of memory at most."),
        "preset": preset("A size that is sold as one."),
        "assumes": assumes,
        "step_seconds": decimal("A billing step of its own, seconds."),
        "minimum_seconds": decimal("A minimum charge of its own, seconds."),
        "since": day("From this day on."),
        "beginning": words("What that day means.", Beginning::WORDS),
        "corrects": text("The price row above that this one corrects."),
    }));
    for (key, part) in rate.as_object().into_iter().flatten() {
        properties[key] = part.clone();
    }
    list(
        "What a component costs. A row is never edited: add a new one below it.",
        &["id", "component", "basis", "usd", "per", "since", "beginning", "source"],
        properties,
    )
}

fn preset(about: &str) -> Json {
    table(
        about,
        &["vcpu", "memory_gib"],
        json!({
            "vcpu": decimal("Processors."),
            "memory_gib": decimal("Memory, GiB."),
            "disk_gib": decimal("Disk, GiB, where that is known."),
            "scales": switch("Whether any multiple of it is sold."),
        }),
    )
}

fn fees() -> Json {
    list(
        "The router's fee on top of the list price.",
        &["percent", "since", "source"],
        with_evidence(json!({
            "percent": decimal("Per cent of the list price."),
            "since": day("From this day on."),
        })),
    )
}

fn scores() -> Json {
    list(
        "A figure on a stated scale.",
        &["value", "scale", "kind", "source"],
        with_evidence(json!({
            "value": whole("The figure."),
            "scale": whole("The most that it could be."),
            "kind": words("Judged or measured.", ScoreKind::WORDS),
        })),
    )
}

fn measurements() -> Json {
    list(
        "A measurement by somebody other than the vendor.",
        &["metric", "mode", "variant", "measured_by", "statistics", "source"],
        with_evidence(json!({
            "metric": text("What was measured, unit included."),
            "mode": text("One after another, all at once, …"),
            "variant": text("The variant that was measured."),
            "measured_by": text("Who measured."),
            "method": text("How."),
            "window_start": text("The first day."),
            "window_end": text("The last day."),
            "days": text("Days with data, between quotes."),
            "statistics": map("Each figure as its publisher names it.", Quantity::schema()),
        })),
    )
}

fn details() -> Json {
    list(
        "A fact that only this provider has.",
        &["section", "key", "value", "source"],
        with_evidence(json!({
            "section": text("The section that it belongs to."),
            "key": text("Its key, unit included."),
            "value": one_or_several("The fact.", &Text::schema()),
        })),
    )
}

fn history() -> Json {
    list(
        "An older or newer value of what is not a price row.",
        &["key", "value", "source"],
        with_evidence(json!({
            "key": text("What changed."),
            "value": text("The value that held."),
            "since": day("The day from which it held, where that is known."),
        })),
    )
}

fn conflicts(sections: &[Section]) -> Json {
    let rival = with_evidence(json!({
        "value": text("What it says."),
        "preset": preset("The size that it means, where they disagree about that of a price."),
    }));
    let mut claims = list("One of those that disagree.", &["value", "source"], rival);
    claims["minItems"] = json!(2);
    let plan = Plan::KEYS.join("|");
    let mut key = json!({
        "description": "The key that they disagree about.",
        "anyOf": [
            { "enum": keys_of(sections) },
            variant_key(),
            { "type": "string", "pattern": format!(r"^plan\.[^.]+\.({plan})$") },
            { "type": "string", "pattern": r"^detail\.[^.]+\.[^.]+$" },
            { "type": "string", "pattern": r"^price\.[^.]+$" },
        ],
    });
    key["type"] = json!("string");
    list(
        "Sources that disagree.",
        &["key", "claim"],
        json!({
            "key": key,
            "ruling": text("What the catalog follows, in words."),
            "note": text("Why."),
            "claim": claims,
        }),
    )
}

/// A key that can be declared to have no value.
fn declared(sections: &[Section]) -> Json {
    let plan = Plan::KEYS.iter().map(|key| format!("plan.*.{key}"));
    let keys: Vec<String> = keys_of(sections).into_iter().chain(plan).collect();
    json!({ "anyOf": [{ "enum": keys }, variant_key()] })
}

fn keys_of(sections: &[Section]) -> Vec<String> {
    let keys = |section: &Section| {
        let key = section.key;
        section.claims.iter().map(move |(claim, _)| format!("{key}.{claim}")).collect::<Vec<_>>()
    };
    sections.iter().flat_map(keys).collect()
}

fn variant_key() -> Json {
    let sections: Vec<String> = variant_sections()
        .iter()
        .map(|section| format!(r"{}\.({})", section.key, section.keys()))
        .collect();
    json!({ "type": "string", "pattern": format!(r"^variant\.[^.]+\.({})$", sections.join("|")) })
}

/// Every unit that a rate can have.
fn units() -> Vec<String> {
    use Measured::{Core, Creation, Gb, Gib, Gpu, Sandbox, Session, Vcpu};
    let periods =
        [Some(Period::Second), Some(Period::Minute), Some(Period::Hour), Some(Period::Month), None];
    [Vcpu, Core, Gib, Gb, Sandbox, Session, Gpu, Creation]
        .into_iter()
        .flat_map(|of| periods.map(|over| RateUnit { of, over }.to_string()))
        .filter(|unit| RateUnit::parse(unit).is_ok())
        .collect()
}

/// A table that has no other keys.
fn table(about: &str, required: &[&str], properties: Json) -> Json {
    json!({
        "description": about,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// A list of such tables: `[[…]]`.
fn list(about: &str, required: &[&str], properties: Json) -> Json {
    let table = table(about, required, properties);
    json!({ "description": about, "type": "array", "items": table })
}

/// A table whose keys are names that the file gives.
fn map(about: &str, value: Json) -> Json {
    json!({ "description": about, "type": "object", "additionalProperties": value })
}

/// Keys of a table that names its sources itself.
fn with_evidence(mut properties: Json) -> Json {
    for key in ["source", "as_of", "by", "confidence", "note"] {
        properties[key] = refer(key);
    }
    properties
}

/// What is the same everywhere. Nothing stands beside a `$ref`: draft-07 would not read it.
fn refer(name: &str) -> Json {
    json!({ "$ref": format!("#/definitions/{name}") })
}
