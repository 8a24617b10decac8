//! The catalog's own files, and files that are wrong on purpose.

use jiff::civil::Date;

use crate::catalog::card::PriceCard;
use crate::catalog::load::{CatalogFile, embedded_files, load};
use crate::catalog::shape::{Ask, Exactness, Shape, price};
use crate::catalog::word::{PriceKind, State};
use crate::catalog::{Catalog, Provider};
use crate::money::Quantity;

fn today() -> Date {
    jiff::tz::Offset::UTC.to_datetime(jiff::Timestamp::now()).date()
}

fn catalog() -> Catalog {
    match load(&embedded_files(), today()) {
        Ok(catalog) => catalog,
        Err(problems) => {
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            panic!("the catalog has problems:\n{}", lines.join("\n"));
        }
    }
}

fn quantity(text: &str) -> Quantity {
    Quantity::parse(text).unwrap()
}

fn shape(vcpu: &str, memory_gib: &str, disk_gib: &str) -> Shape {
    Shape { vcpu: quantity(vcpu), memory_gib: quantity(memory_gib), disk_gib: quantity(disk_gib) }
}

fn card(provider: &Provider, kind: PriceKind) -> PriceCard {
    PriceCard::of(provider, provider.default_variant(), kind, today())
}

fn ask(shape: Shape, seconds: &str) -> Ask<'static> {
    Ask::plain(shape, quantity(seconds))
}

#[test]
fn every_file_of_the_catalog_loads() {
    let catalog = catalog();
    assert!(catalog.find("e2b").is_some());
    assert!(catalog.find("daytona").is_some());
}

#[test]
fn the_founding_figures_come_out_at_both() {
    for provider in catalog().routed() {
        let figure = |vcpu, memory, seconds, kind| {
            let estimate = price(&card(provider, kind), &ask(shape(vcpu, memory, "0"), seconds));
            assert_eq!(estimate.exactness, Exactness::Exact, "{}", provider.slug);
            estimate.usd.unwrap().to_string()
        };
        assert_eq!(figure("1", "0", "3600", PriceKind::Routed), "0.06048");
        assert_eq!(figure("1", "0", "86400", PriceKind::Routed), "1.45152");
        assert_eq!(figure("1", "2", "3600", PriceKind::List), "0.0828");
        assert_eq!(figure("1", "2", "3600", PriceKind::Routed), "0.09936");
        assert_eq!(figure("4", "8", "3600", PriceKind::List), "0.3312");
        assert_eq!(figure("1", "1", "0.3", PriceKind::List), "0.0000185");
    }
}

fn default_second(provider: &Provider, variant: &str) -> crate::catalog::shape::Estimate {
    let variant = provider.variant(variant).unwrap();
    let shape = Shape::default_of(variant).unwrap();
    price(&PriceCard::of(provider, variant, PriceKind::List, today()), &ask(shape, "1"))
}

#[test]
fn a_second_of_what_a_plain_create_call_gives() {
    let catalog = catalog();
    let e2b = catalog.find("e2b").unwrap();
    assert_eq!(default_second(e2b, "base").usd.unwrap().to_string(), "0.00003025");
    assert_eq!(default_second(e2b, "code_interpreter").usd.unwrap().to_string(), "0.000037");
    let daytona = default_second(catalog.find("daytona").unwrap(), "container");
    assert_eq!(daytona.exactness, Exactness::Depends);
    assert_eq!(daytona.low.unwrap().to_string(), "0.0000185");
    assert_eq!(daytona.high.unwrap().to_string(), "0.00001859");
}

#[test]
fn a_size_that_is_not_sold_has_no_price() {
    let catalog = catalog();
    let daytona = catalog.find("daytona").unwrap();
    let estimate = price(&card(daytona, PriceKind::List), &ask(shape("8", "8", "0"), "1"));
    assert_eq!(estimate.exactness, Exactness::Unpriced);
    assert!(estimate.because[0].contains("at most 4 vCPU"), "{:?}", estimate.because);
}

#[test]
fn a_day_before_the_first_known_price_has_none() {
    let catalog = catalog();
    let e2b = catalog.find("e2b").unwrap();
    let day = Date::new(2023, 1, 1).unwrap();
    let early = PriceCard::of(e2b, e2b.default_variant(), PriceKind::List, day);
    let estimate = price(&early, &ask(shape("1", "1", "0"), "1"));
    assert_eq!(estimate.exactness, Exactness::Unpriced);
}

#[test]
fn disputes_keep_every_claim() {
    let catalog = catalog();
    let daytona = catalog.find("daytona").unwrap();
    let technology = &daytona.default_variant().isolation.technology;
    assert_eq!(technology.state(), State::Disputed);
    assert!(technology.dispute.as_ref().unwrap().claims.len() >= 5);
}

/// The E2B file with one text put in place of another, and what the loader says to that.
fn problems_after(old: &str, new: &str) -> Vec<String> {
    let file = embedded_files().into_iter().find(|file| file.slug == "e2b").unwrap();
    let text = file.text.replacen(old, new, 1);
    assert_ne!(text, file.text, "the file has no {old}");
    let problems = load(&[CatalogFile { slug: file.slug, text }], today()).unwrap_err();
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn every_kind_of_slip_is_refused_with_file_and_key() {
    let check = |old: &str, new: &str, said: &str| {
        let problems = problems_after(old, new);
        assert!(
            problems
                .iter()
                .any(|problem| problem.starts_with("e2b.toml") && problem.contains(said)),
            "{new}: {problems:#?}"
        );
    };
    check("position = 1", "position = 1\nflavour = \"sweet\"", "flavour is not a key");
    check("position = 1", "position = \"one\"", "whole number");
    check("slug = \"e2b\"", "slug = \"e3b\"", "the file is named e2b.toml");
    check("checked_on = \"2026-11-30\"", "checked_on = \"2999-01-01\"", "lies in the future");
    check("checked_on = \"2026-11-30\"", "checked_on = \"2026-02-30\"", "is not a day");
    check("usd = \"0.000014\"", "usd = \"-0.000014\"", "is negative");
    check("usd = \"0.000014\"", "usd = \"NaN\"", "plain decimal");
    check("usd = \"0.000014\"", "usd = 0.000014", "text between quotes");
    check("usd = \"0.000014\"", "usd = \"14\"", "implausible");
    check("usd = \"0.000014\"", "usd = \"0.000015\"", "disagrees");
    check(
        "kind = \"hosted\"",
        "kind = \"cloudy\"",
        "is not one of hosted, hyperscaler, self_hosted",
    );
    check("source = \"thud\"", "", "is missing");
    check("source = \"thud\"", "source = \"nowhere\"", "not in [sources]");
    check("value = 85", "value = 185", "0 to the scale");
    check("percent = \"20\"", "percent = \"21\"", "is not the list price and");
    check(
        "basis = \"allocated\"\nusd = \"0.0000168\"",
        "basis = \"allocated\"\nstep_seconds = \"90000\"\nusd = \"0.0000168\"",
        "is above 86400 seconds",
    );
    check("schema_version = 1", "schema_version = 2", "schema_version is not 1");
    check("schema_version = 1", "schema_version = = 1", "is not TOML");
}

#[test]
fn every_problem_of_every_file_is_reported_at_once() {
    let broken =
        |slug: &str| CatalogFile { slug: slug.to_owned(), text: "schema_version = 1\n".to_owned() };
    let problems = load(&[broken("one"), broken("two")], today()).unwrap_err();
    for file in ["one.toml", "two.toml"] {
        for key in ["name", "position", "summary", "sources", "variant"] {
            assert!(
                problems.iter().any(|problem| problem.file == file && problem.key == key),
                "{file} {key}"
            );
        }
    }
}

#[test]
fn an_empty_catalog_is_refused() {
    let problems = load(&[], today()).unwrap_err();
    assert!(problems[0].to_string().contains("is empty"));
}

#[test]
fn two_providers_cannot_have_one_position() {
    let mut files = embedded_files();
    for file in &mut files {
        file.text = file.text.replacen("position = 2", "position = 1", 1);
    }
    let problems = load(&files, today()).unwrap_err();
    assert!(problems.iter().any(|problem| problem.key == "position"), "{problems:?}");
}

#[test]
fn a_list_price_cannot_change_without_its_routed_price() {
    let list = price_row("vcpu_2", "list", "0.000015", "");
    let routed = |usd| price_row("routed_vcpu_2", "routed", usd, "");
    assert_eq!(problems_with(&format!("{}{list}", routed("0.000018"))), Vec::<String>::new());
    for more in [list.clone(), format!("{}{list}", routed("0.0000168"))] {
        let problems = problems_with(&more);
        assert!(
            problems.iter().any(|line| line.contains("is not the list price and the fee of")),
            "{problems:?}"
        );
    }
}

/// The E2B file with something at its end, as it would load on 2 December 2026.
fn problems_with(more: &str) -> Vec<String> {
    let file = embedded_files().into_iter().find(|file| file.slug == "e2b").unwrap();
    let text = format!("{}{more}", file.text);
    let december = Date::new(2026, 12, 2).unwrap().max(today());
    load(&[CatalogFile { slug: file.slug, text }], december)
        .map_or_else(|problems| problems.iter().map(ToString::to_string).collect(), |_| Vec::new())
}

fn price_row(id: &str, kind: &str, usd: &str, variants: &str) -> String {
    format!(
        "\n[[price]]\nid = \"{id}\"\nkind = \"{kind}\"\ncomponent = \"vcpu\"\nbasis = \"allocated\"\n{variants}\
         usd = \"{usd}\"\nper = \"vcpu_second\"\nsince = \"2026-12-01\"\nbeginning = \"took_effect\"\n\
         source = \"thud\"\n"
    )
}

#[test]
fn a_newer_price_of_one_variant_cannot_take_the_price_of_the_others() {
    let problems =
        problems_with(&price_row("vcpu_2", "list", "0.000014", "variants = [\"base\"]\n"));
    assert!(
        problems.iter().any(|line| line.contains("overlaps with vcpu: name the same variants")),
        "{problems:?}"
    );
}

#[test]
fn the_fee_can_change_with_the_routed_price_and_the_old_one_stays_right() {
    let fee = "\n[[fee]]\npercent = \"10\"\nsince = \"2026-12-01\"\nsource = \"thud\"\n";
    let alone = problems_with(fee);
    assert!(alone.iter().any(|line| line.contains("routed_vcpu")), "{alone:?}");
    let vcpu = price_row("routed_vcpu_2", "routed", "0.0000154", "");
    let memory = price_row("routed_memory_2", "routed", "0.00000495", "")
        .replace("component = \"vcpu\"", "component = \"memory\"")
        .replace("vcpu_second", "gib_second");
    assert_eq!(problems_with(&format!("{fee}{vcpu}{memory}")), Vec::<String>::new());
}

/// The list bill of an hour of a shape on a provider's default variant.
fn hour(
    slug: &str,
    vcpu: &str,
    memory_gib: &str,
    disk_gib: &str,
) -> crate::catalog::shape::Estimate {
    let catalog = catalog();
    let provider = catalog.find(slug).unwrap();
    price(&card(provider, PriceKind::List), &ask(shape(vcpu, memory_gib, disk_gib), "3600"))
}

#[test]
fn every_way_of_billing_comes_out_as_it_is() {
    let check = |slug: &str, exactness: Exactness, shown: &str| {
        let estimate = hour(slug, "1", "2", "0");
        assert_eq!(estimate.exactness, exactness, "{slug}: {:?}", estimate.because);
        assert_eq!(estimate.shown(), shown, "{slug}: {:?}", estimate.because);
    };
    // A session of whatever size.
    check("azure-dynamic-sessions", Exactness::Depends, "$0.03 or more");
    // Memory alone, CPU included.
    check("blaxel", Exactness::Exact, "$0.0828");
    // Physical cores, and nobody says whether request or use.
    check("beam", Exactness::Depends, "$0.00 to $0.11358");
    // Sizes.
    check("koyeb", Exactness::Exact, "$0.0288");
    // Units: the largest of vCPU, memory / 4 and disk / 16.
    check("morph-cloud", Exactness::Exact, "$0.05");
    check("modal", Exactness::Depends, "$0.11898 or more");
    check("northflank", Exactness::Exact, "$0.03333");
    check("piston", Exactness::Unpriced, "no price");
}

#[test]
fn a_unit_is_paid_by_its_largest_part() {
    assert_eq!(hour("morph-cloud", "2", "16", "16").usd.unwrap().to_string(), "0.2");
    assert_eq!(hour("morph-cloud", "1", "2", "64").usd.unwrap().to_string(), "0.2");
}

#[test]
fn more_processors_than_the_memory_brings_are_not_sold() {
    let estimate = hour("blaxel", "4", "2", "0");
    assert_eq!(estimate.exactness, Exactness::Unpriced);
    assert!(estimate.because[0].contains("0.5 vCPU for each GiB"), "{:?}", estimate.because);
}

#[test]
fn nobody_but_the_routed_has_a_routed_price_or_a_score() {
    for provider in catalog().providers() {
        let routed = provider.status == crate::catalog::word::Status::Routed;
        let has_price = provider.prices.iter().any(|price| price.kind == PriceKind::Routed);
        assert_eq!(has_price, routed, "{}", provider.slug);
        assert_eq!(provider.score().is_some(), routed, "{}", provider.slug);
    }
}
