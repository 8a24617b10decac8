//! The schema of a provider file refuses what the loader refuses, wherever one place of the file is
//! enough to see it, and nothing that the loader takes.

use std::collections::BTreeSet;
use std::path::Path;

use axum::http::{StatusCode, header};
use jsonschema::{Validator, draft7};
use serde_json::{Value, json};

use super::harness::TestApp;
use crate::catalog::load::{CatalogFile, embedded_files, keys, load};
use crate::catalog::schema::{provider_file, provider_file_text};
use crate::moment::today;

/// The schema as it was last accepted.
const ACCEPTED: &str = "catalog/provider.schema.json";
/// How a change is accepted.
const ACCEPT: &str = "THUD_ACCEPT=1 cargo test --lib tests::schema";
/// The line by which an editor finds the schema.
const SCHEMA_LINE: &str = "#:schema ./provider.schema.json\n";
/// Tables of the schema, and the keys that the loader knows there.
const TABLES: &[(&str, &[&str])] = &[
    ("", keys::ROOT),
    ("/properties/sources/additionalProperties", keys::SOURCE),
    ("/properties/variant/items", keys::VARIANT),
    ("/properties/price/items", keys::PRICE),
    ("/properties/price/items/properties/also/items", keys::RATE),
    ("/properties/price/items/properties/included", keys::ALLOWANCE),
    ("/properties/price/items/properties/preset", keys::PRESET),
    ("/properties/price/items/properties/assumes", keys::ASSUMPTION),
    ("/properties/fee/items", keys::FEE),
    ("/properties/plan/items", keys::PLAN),
    ("/properties/score/items", keys::SCORE),
    ("/properties/measurement/items", keys::MEASUREMENT),
    ("/properties/detail/items", keys::DETAIL),
    ("/properties/history/items", keys::CHANGE),
    ("/properties/conflict/items", keys::CONFLICT),
    ("/properties/conflict/items/properties/claim/items", keys::RIVAL),
    ("/properties/egress/properties/allow_list", keys::CLAIM),
];

fn validator() -> Validator {
    draft7::new(&provider_file()).unwrap()
}

fn file(slug: &str) -> CatalogFile {
    embedded_files().into_iter().find(|file| file.slug == slug).unwrap()
}

/// A file as an editor hands it to the schema.
fn as_json(text: &str) -> Value {
    let document: toml::Value =
        toml::from_str(text).unwrap_or_else(|error| panic!("{}", error.message()));
    serde_json::to_value(document).unwrap()
}

/// What the loader says to a file.
fn problems(file: CatalogFile) -> Vec<String> {
    load(&[file], today())
        .map_or_else(|problems| problems.iter().map(ToString::to_string).collect(), |_| Vec::new())
}

fn properties<'a>(schema: &'a Value, table: &str) -> Vec<&'a str> {
    let table = schema.pointer(table).unwrap_or_else(|| panic!("the schema has no {table}"));
    assert_eq!(table["additionalProperties"], false);
    let mut keys: Vec<&str> =
        table["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn sorted<'a>(keys: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut keys: Vec<&str> = keys.into_iter().collect();
    keys.sort_unstable();
    keys
}

#[tokio::test]
async fn the_schema_is_the_accepted_one_and_is_served_as_it_is() {
    let generated = provider_file_text();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(ACCEPTED);
    if std::env::var_os("THUD_ACCEPT").is_some() {
        std::fs::write(&file, &generated).unwrap();
    }
    let accepted = std::fs::read_to_string(&file).unwrap_or_default();
    if accepted != generated {
        let line = accepted.lines().zip(generated.lines()).take_while(|(old, new)| old == new);
        let line = line.count() + 1;
        panic!(
            "\n{ACCEPTED}:{line} is no longer what the types say.\n\
             To accept the change, run this and look at the diff:\n\n    {ACCEPT}\n"
        );
    }
    let answer = TestApp::new().await.get("/api/v1/schema/provider.json").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.header(header::CONTENT_TYPE), "application/schema+json");
    assert_eq!(answer.text(), accepted);
}

#[test]
fn the_schema_is_a_schema() {
    draft7::meta::validate(&provider_file()).unwrap();
}

#[test]
fn every_file_of_the_catalog_names_the_schema_and_is_valid_under_it() {
    let validator = validator();
    for CatalogFile { slug, text } in embedded_files() {
        assert!(text.starts_with(SCHEMA_LINE), "{slug}.toml does not begin with {SCHEMA_LINE}");
        let json = as_json(&text);
        let errors: Vec<String> = validator
            .iter_errors(&json)
            .map(|error| format!("{slug}.toml{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{}", errors.join("\n"));
    }
}

#[test]
fn the_schema_has_the_keys_of_the_loader() {
    let schema = provider_file();
    for (table, keys) in TABLES {
        assert_eq!(properties(&schema, table), sorted(keys.iter().copied()), "{table}");
    }
    let catalog = load(&embedded_files(), today()).unwrap();
    let provider = catalog.find("e2b").unwrap();
    let variant = provider.default_variant().sections();
    for (above, sections) in
        [("", &provider.sections()[..]), ("/properties/variant/items", &variant)]
    {
        for (section, _, rows) in sections {
            let table = format!("{above}/properties/{section}");
            assert_eq!(
                properties(&schema, &table),
                sorted(rows.iter().map(|row| row.key)),
                "{table}"
            );
        }
    }
}

/// Every key of a list of tables is one that the loader reads, and no other is.
#[test]
fn the_loader_reads_every_key_that_it_names() {
    for (row, keys) in [
        ("[[variant]]", keys::VARIANT),
        ("[[price]]", keys::PRICE),
        ("[[price]]\n[[price.also]]", keys::RATE),
        ("[[price]]\n[price.included]", keys::ALLOWANCE),
        ("[[price]]\n[price.preset]", keys::PRESET),
        ("[[price]]\n[price.assumes]", keys::ASSUMPTION),
        ("[[fee]]", keys::FEE),
        ("[[plan]]", keys::PLAN),
        ("[[score]]", keys::SCORE),
        ("[[measurement]]", keys::MEASUREMENT),
        ("[[detail]]", keys::DETAIL),
        ("[[history]]", keys::CHANGE),
        ("[[conflict]]", keys::CONFLICT),
        ("[[conflict]]\n[[conflict.claim]]", keys::RIVAL),
        ("[sources.new]", keys::SOURCE),
    ] {
        let mut e2b = file("e2b");
        let mut lines = format!("\n{row}\n");
        for key in keys.iter().chain(&["flavour"]) {
            lines.push_str(key);
            lines.push_str(" = \"x\"\n");
        }
        e2b.text.push_str(&lines);
        let problems = problems(e2b);
        let unknown: Vec<&String> =
            problems.iter().filter(|line| line.contains("not a key that is known")).collect();
        assert!(unknown.len() == 1 && unknown[0].contains("flavour"), "{row}: {unknown:?}");
    }
}

#[test]
fn every_slip_that_one_place_shows_is_refused() {
    let validator = validator();
    let check = |old: &str, new: &str| {
        let mut e2b = file("e2b");
        assert!(e2b.text.contains(old), "the file has no {old}");
        e2b.text = e2b.text.replacen(old, new, 1);
        assert!(!validator.is_valid(&as_json(&e2b.text)), "the schema takes {new}");
        assert!(!problems(e2b).is_empty(), "the loader takes {new}");
    };
    check("schema_version = 1", "schema_version = 2");
    check("schema_version = 1\n", "");
    check("position = 1", "position = 1\nflavour = \"sweet\"");
    check("position = 1", "position = \"one\"");
    check("position = 1", "position = -1");
    check("slug = \"e2b\"", "slug = \"E2B\"");
    check("slug = \"e2b\"", "slug = \"e2b-vs-daytona\"");
    check("name = \"E2B\"", "name = \" \"");
    check("kind = \"hosted\"", "kind = \"cloudy\"");
    check("status = \"routed\"", "status = [\"routed\"]");
    check("checked_on = \"2026-11-30\"", "checked_on = \"2026-11\"");
    check("checked_on = \"2026-11-30\"", "checked_on = \"2026-13-30\"");
    check("checked_on = \"2026-11-30\"", "checked_on = 2026-11-30");
    check("unknown = [\n", "unknown = [\n\"identity.flavour\",\n");
    check("plan.*.pool_vcpu", "plan.*.pool");
    check("variant.base.time.idle_stop_seconds", "variant.base.idle_stop_seconds");
    check("seen_on = \"2026-11-30\"", "seen_on = \"today\"");
    check("by = \"editorial\"", "by = \"hearsay\"");
    check("title = \"Thud's own editorial decision\"\n", "");
    check("url = \"https://e2b.dev/about\"", "url = \"e2b.dev/about\"");
    check("tier = { value = \"virtual_machine\"", "tier = { value = \"microvm\"");
    check("default_vcpu = { value = \"2\"", "default_vcpu = { value = 2");
    check("default_vcpu = { value = \"2\"", "default_vcpu = { value = 2.0");
    check("default_vcpu = { value = \"2\"", "default_vcpu = { value = \"2\", detail = \"or 4\"");
    check("default_vcpu = { value = \"2\"", "default_vcpu = { value = \"2\", state = \"unknown\"");
    check("default_vcpu = { value = \"2\"", "default_vcpu = { state = \"disputed\"");
    check("default_vcpu = { value = \"2\"", "default_vcpu = { as_of = \"undated\"");
    check("default_memory_mib = { value = 512", "default_memory_mib = { value = \"512\"");
    check(
        "wall_clock_parameter = { value = \"timeout\", source = \"python_sdk_2026_11\"",
        "wall_clock_parameter = { value = \"timeout\"",
    );
    check("wall_clock_parameter = {", "wall_clock_parameter = \"timeout\" #");
    check("\"300\"", "\"five minutes\"");
    check("usd = \"0.000014\"", "usd = 0.000014");
    check("usd = \"0.000014\"", "usd = \"-0.000014\"");
    check("usd = \"0.000014\"", "usd = \"1.4e-5\"");
    check("usd = \"0.000014\"", "usd = \"0.00001400000000000000000\"");
    check("usd = \"0.000014\"\n", "");
    check("per = \"vcpu_second\"", "per = \"vcpu\"");
    check("basis = \"allocated\"", "basis = \"assumed\"");
    check("since = \"2024-01-05\"", "since = \"undated\"");
    check("beginning = \"took_effect\"\n", "");
    check("also = [{ usd = \"0.0504\", per", "also = [{ usd = \"0.0504\", for");
    check("priced_beyond = false", "priced_beyond = \"no\"");
    check("hobby = \"10\"", "hobby = 10");
    check("source = \"thud\"\n", "");
    check("value = 85", "value = \"85\"");
    check("percent = \"20\"", "percent = \"20 %\"");
    check("concurrent_sandboxes = \"20\"", "concurrent_sandboxes = \"some\"");
    check("statistics = { ", "statistics = { mean_ms = 400, ");
    check("key = \"plan.pro.usd_credit_one_time\"", "key = \"plan.pro.credit\"");
    check("[[conflict.claim]]\nvalue = \"0\"", "[[conflict.claim]]\nworth = \"0\"");
}

#[test]
fn what_the_loader_takes_is_not_refused() {
    let validator = validator();
    let check = |old: &str, new: &str| {
        let mut e2b = file("e2b");
        assert!(e2b.text.contains(old), "the file has no {old}");
        e2b.text = e2b.text.replacen(old, new, 1);
        assert!(validator.is_valid(&as_json(&e2b.text)), "the schema refuses {new}");
        let problems = problems(e2b);
        assert!(problems.is_empty(), "{new}: {problems:?}");
    };
    check("concurrent_sandboxes = \"20\"", "concurrent_sandboxes = 20");
    check("concurrent_sandboxes = \"20\"", "concurrent_sandboxes = { value = \"unlimited\" }");
    check("concurrent_sandboxes = \"20\"", "concurrent_sandboxes = { state = \"unknown\" }");
    check("seen_on = \"2026-11-30\"", "seen_on = \"undated\"");
    check("source = \"thud\"", "source = [\"thud\"]");
    check("default_vcpu = { value = \"2\"", "default_vcpu = { state = \"unknown\"");
}

/// What the loader says where more than one place of the file is wrong, or none by itself.
const SEVERAL_PLACES: &[&str] = &[
    "state it, or name it in unknown",
    "is declared unknown",
    "can be disputed",
    "routed price",
    "implausible",
];

/// The places of the tables of a document, its own first.
fn tables(value: &Value, place: &str, found: &mut Vec<String>) {
    if let Some(table) = value.as_object() {
        found.push(place.to_owned());
        for (key, inner) in table {
            tables(inner, &format!("{place}/{key}"), found);
        }
    }
    for (number, inner) in value.as_array().into_iter().flatten().enumerate() {
        tables(inner, &format!("{place}/{number}"), found);
    }
}

#[test]
fn no_key_takes_a_float_or_a_blank_and_no_table_another_key() {
    let validator = validator();
    for slug in ["e2b", "fly-machines"] {
        let mut document = as_json(&file(slug).text);
        let mut places = Vec::new();
        tables(&document, "", &mut places);
        for place in places {
            let table = document.pointer(&place).unwrap().as_object().unwrap().clone();
            for key in table.keys().map(String::as_str).chain(["flavour"]) {
                for wrong in [json!(1.5), json!(" ")] {
                    let mut changed = table.clone();
                    changed.insert(key.to_owned(), wrong);
                    *document.pointer_mut(&place).unwrap() = changed.into();
                    assert!(!validator.is_valid(&document), "{slug}: {place}/{key}");
                }
            }
            *document.pointer_mut(&place).unwrap() = table.into();
        }
        assert!(validator.is_valid(&document));
    }
}

#[test]
fn what_the_loader_misses_the_schema_misses() {
    let validator = validator();
    let mut seen = BTreeSet::new();
    for slug in ["e2b", "fly-machines"] {
        let document = as_json(&file(slug).text);
        let mut places = Vec::new();
        tables(&document, "", &mut places);
        // A source that is left out is missed where it is named.
        places.retain(|place| place != "/sources");
        for place in places {
            let table = document.pointer(&place).unwrap().as_object().unwrap();
            let keys: Vec<&String> = table.keys().collect();
            for key in &keys {
                // One table of each make is enough.
                if !seen.insert(format!("{key} of {keys:?}")) {
                    continue;
                }
                let mut changed = document.clone();
                changed.pointer_mut(&place).unwrap().as_object_mut().unwrap().remove(*key);
                let text = toml::to_string(&changed).unwrap();
                let mut problems = problems(CatalogFile { slug: slug.to_owned(), text });
                let is_alone =
                    |line: &String| !SEVERAL_PLACES.iter().any(|said| line.contains(said));
                problems.retain(is_alone);
                let what = format!("{place}/{key}");
                let is_refused = !problems.is_empty();
                assert_eq!(!validator.is_valid(&changed), is_refused, "{what}: {problems:?}");
            }
        }
    }
    assert!(seen.len() > 100);
}
