//! What a workload costs: the worked figures, the ranking, and bills that their shown factors reproduce.

use jiff::civil::Date;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::calculator::explanation::explain;
use crate::calculator::league::{Entry, league};
use crate::calculator::offer::{Offer, Offers};
use crate::calculator::workload::{Part, Workload, fee_bites, monthly_bill};
use crate::catalog::Catalog;
use crate::catalog::load::{embedded_files, load};
use crate::catalog::shape::{Exactness, Shape};
use crate::catalog::word::PriceKind;
use crate::moment::today;
use crate::money::{Quantity, Usd};

/// The day whose prices give the worked figures; later ones may change.
fn founding_day() -> Date {
    Date::new(2026, 11, 30).unwrap()
}

fn catalog() -> Catalog {
    load(&embedded_files(), today()).unwrap()
}

fn offers() -> Vec<Offers> {
    catalog().providers().iter().map(|one| Offers::of(one, founding_day())).collect()
}

fn list(slug: &str) -> Offer {
    Offers::of(catalog().find(slug).unwrap(), founding_day()).list
}

fn quantity(text: &str) -> Quantity {
    Quantity::parse(text).unwrap()
}

#[test]
fn the_worked_figures_come_out_with_plan_fee_and_top_up_told_apart() {
    let at_peak = |slug: &str, peak: u64| {
        monthly_bill(&list(slug), &Workload { peak_concurrency: peak, ..Workload::default() })
            .unwrap()
    };
    let e2b = at_peak("e2b", 20);
    assert_eq!(e2b.usage.usd.unwrap().to_string(), "44.4");
    assert_eq!((e2b.plan.unwrap().id.as_str(), e2b.fee), ("hobby", Some(Usd::ZERO)));
    assert_eq!(e2b.per_thousand_runs.usd.unwrap().to_string(), "0.148");
    let pro = at_peak("e2b", 21);
    assert_eq!(pro.total.usd.unwrap().to_string(), "194.4");
    assert_eq!(pro.fee.unwrap().to_string(), "150");
    let daytona = at_peak("daytona", 20);
    assert_eq!(daytona.total.usd.unwrap().to_string(), "44.4");
    assert!(daytona.remarks.iter().any(|remark| remark.contains("prepaid top-up of $25")));
    assert_eq!(daytona.plan.unwrap().id, "tier_2");
}

#[test]
fn the_router_adds_its_fee_to_use_alone() {
    let entries = league(&offers(), &Workload::default(), None).unwrap();
    for slug in ["e2b", "daytona"] {
        let entry = entries.iter().find(|entry| entry.offer.slug == slug).unwrap();
        assert_eq!(entry.offer.card.kind, PriceKind::Routed);
        assert_eq!(entry.bill.total.usd.unwrap().to_string(), "53.28");
        assert_eq!(entry.router_fee().unwrap().to_string(), "8.88");
    }
}

#[test]
fn a_short_run_is_billed_as_a_whole_step_and_the_loss_is_told() {
    let short = Workload { seconds_per_run: quantity("0.3"), ..Workload::default() };
    let bill = monthly_bill(&list("e2b"), &short).unwrap();
    assert_eq!(bill.billed_seconds, Some(Quantity::ONE));
    let lost = bill.parts.iter().find(|(part, _)| *part == Part::Rounding).unwrap().1;
    // Seven tenths of 300,000 seconds at 0.0000185.
    assert_eq!(lost.to_string(), "3.885");
    assert_eq!(bill.total.usd.unwrap().to_string(), "5.55");
}

#[test]
fn paused_hours_are_free_at_e2b_cost_disk_at_daytona_and_are_unknown_elsewhere() {
    let shape = Shape { disk_gib: quantity("10"), ..Workload::default().shape };
    let kept = Workload { shape, paused_hours: quantity("720"), ..Workload::default() };
    let paused = |slug: &str| monthly_bill(&list(slug), &kept).unwrap().paused.unwrap();
    assert_eq!(paused("e2b").usd, Some(Usd::ZERO));
    // Ten GiB for 720 hours at 0.000108, five of them perhaps free.
    let daytona = paused("daytona");
    assert_eq!(daytona.high.unwrap().to_string(), "0.7776");
    assert_eq!(daytona.low.unwrap().to_string(), "0.3888");
    assert_eq!(paused("modal").exactness, Exactness::Unpriced);
}

#[test]
fn a_plan_is_chosen_by_session_and_by_a_named_create_rate_too() {
    let plan = |workload: Workload| {
        monthly_bill(&list("e2b"), &workload).unwrap().plan.map(|plan| plan.id).unwrap_or_default()
    };
    let first = Workload { runs_per_day: 10, ..Workload::default() };
    assert_eq!(plan(first), "hobby");
    assert_eq!(plan(Workload { seconds_per_run: quantity("3601"), ..first }), "pro");
    assert_eq!(plan(Workload { creates_per_second: Some(quantity("1")), ..first }), "hobby");
    assert_eq!(plan(Workload { creates_per_second: Some(quantity("2")), ..first }), "pro");
    let long = Workload { seconds_per_run: quantity("86401"), ..first };
    let bill = monthly_bill(&list("e2b"), &long).unwrap();
    assert_eq!(bill.total.exactness, Exactness::Unpriced);
    assert!(bill.total.because[0].contains("ends a session after"), "{:?}", bill.total.because);
}

#[test]
fn the_peak_from_which_a_fee_bites_is_one_above_what_is_free() {
    let shape = Workload::default().shape;
    let e2b = list("e2b");
    let (peak, plan) = fee_bites(&e2b, &shape).unwrap();
    assert_eq!((peak, plan.id.as_str()), (21, "pro"));
    assert_eq!(fee_bites(&list("daytona"), &shape), None);
}

#[test]
fn only_exact_totals_are_ranked_and_equal_ones_share_a_rank() {
    let entries = league(&offers(), &Workload::default(), Some(PriceKind::List)).unwrap();
    assert_eq!(entries.len(), 27);
    let mut last: Option<(usize, Usd)> = None;
    let mut unranked = false;
    for entry in &entries {
        let total = &entry.bill.total;
        let Some(rank) = entry.rank else {
            unranked = true;
            assert_ne!(total.exactness, Exactness::Exact, "{}", entry.offer.slug);
            continue;
        };
        assert!(!unranked && total.exactness == Exactness::Exact, "{}", entry.offer.slug);
        let usd = total.usd.unwrap();
        if let Some((before, less)) = last {
            assert!(less <= usd);
            assert_eq!(rank == before, less == usd, "{}", entry.offer.slug);
        }
        last = Some((rank, usd));
    }
    assert!(unranked && last.is_some());
}

/// What the factors of a step give: a product and quotients of plain decimals.
fn computed(factors: &str) -> Option<(Quantity, Quantity)> {
    let (mut product, mut divisor) = (Quantity::ONE, Quantity::ONE);
    let mut divides = false;
    for word in factors.split_whitespace() {
        match word {
            "×" => divides = false,
            "÷" => divides = true,
            number => {
                let plain = number.trim_start_matches('$').replace(',', "");
                let Ok(number) = Quantity::parse(&plain) else { continue };
                let side = if divides { &mut divisor } else { &mut product };
                *side = side.times(number).ok()?;
            }
        }
    }
    Some((product, divisor))
}

fn check_steps(entry: &Entry, workload: &Workload) -> usize {
    let mut checked = 0;
    for step in explain(&entry.bill, workload) {
        let Some(factors) = &step.factors else { continue };
        let (product, divisor) = computed(factors).unwrap();
        let shown = Usd::parse(&step.product.trim_start_matches('$').replace(',', "")).unwrap();
        let expected = Usd::from(1).times(product).unwrap().part(Quantity::ONE, divisor).unwrap();
        assert_eq!(shown.shown(), expected.shown(), "{}: {factors}", entry.offer.slug);
        checked += 1;
    }
    checked
}

#[test]
fn the_shown_factors_reproduce_the_shown_products_and_the_parts_add_up() {
    let offers = offers();
    let mut checked = 0;
    let workloads = (1_u64..200_000, 1_u64..100_000, 1_u64..300, 1_u64..=100, 0_u64..4, 0_u64..40);
    let mut runner =
        TestRunner::new(Config { cases: 40, failure_persistence: None, ..Config::default() });
    let counted = std::cell::Cell::new(0);
    runner
        .run(&workloads, |(runs, thousandths, peak, used, disk, paused)| {
            let workload = Workload {
                shape: Shape { disk_gib: Quantity::from(disk), ..Workload::default().shape },
                runs_per_day: runs,
                seconds_per_run: Quantity::from(thousandths).divided_by(1_000),
                peak_concurrency: peak,
                utilisation_percent: Quantity::from(used),
                paused_hours: Quantity::from(paused),
                ..Workload::default()
            };
            for entry in league(&offers, &workload, None).unwrap() {
                counted.set(counted.get() + check_steps(&entry, &workload));
                if let Some(total) = entry.bill.total.usd {
                    let steps = explain(&entry.bill, &workload);
                    let last = steps.last().unwrap();
                    prop_assert!(
                        last.product == total.shown() || last.product.starts_with("included")
                    );
                    let sum = entry
                        .bill
                        .parts
                        .iter()
                        .fold(Usd::ZERO, |sum, (_, usd)| sum.plus(*usd).unwrap());
                    prop_assert_eq!(sum.to_string(), total.to_string(), "{}", entry.offer.slug);
                }
            }
            Ok(())
        })
        .unwrap();
    checked += counted.get();
    assert!(checked > 500, "only {checked} products were checked");
}

#[test]
fn the_largest_workload_neither_panics_nor_lies() {
    let largest = Workload {
        shape: Shape { vcpu: quantity("4"), memory_gib: quantity("8"), disk_gib: quantity("5") },
        runs_per_day: 10_000_000,
        seconds_per_run: quantity("2592000"),
        peak_concurrency: 100_000,
        creates_per_second: Some(quantity("10000")),
        utilisation_percent: quantity("1"),
        paused_hours: quantity("7200000"),
    };
    let mut with_use = 0;
    for entry in league(&offers(), &largest, None).unwrap() {
        if let Some(usd) = entry.bill.usage.usd {
            // At a ten-thousandth of a dollar an hour, 300 million runs of 30 days would be over a million dollars.
            assert!(usd > Usd::from(1_000_000), "{}: {usd}", entry.offer.slug);
            with_use += 1;
        }
    }
    assert!(with_use > 5, "{with_use}");
}

#[test]
fn more_runs_than_the_peak_holds_on_average_take_the_plan_that_holds_them() {
    let long = Workload { seconds_per_run: quantity("600"), ..Workload::default() };
    assert_eq!(long.at_once(), 70);
    let bill = monthly_bill(&list("e2b"), &long).unwrap();
    assert_eq!(bill.plan.unwrap().id, "pro");
    assert!(bill.remarks.iter().any(|remark| remark.contains("70 at once on average")));
    // A million runs a day are 11.6 in a second: neither Hobby's one nor Pro's five.
    let many =
        Workload { runs_per_day: 1_000_000, seconds_per_run: Quantity::ONE, ..Workload::default() };
    assert!(
        !["hobby", "pro"]
            .contains(&monthly_bill(&list("e2b"), &many).unwrap().plan.unwrap().id.as_str())
    );
}

#[test]
fn what_nobody_states_is_never_exact() {
    let offers = offers();
    let total = |slug: &str, workload: Workload| {
        let entries = league(&offers, &workload, Some(PriceKind::List)).unwrap();
        let entry = entries.iter().find(|entry| entry.offer.slug == slug).unwrap();
        (entry.bill.total.clone(), entry.rank)
    };
    let first = Workload::default();
    // How many these hold at once is not stated; E2B's largest plan says "by agreement".
    let huge = Workload { peak_concurrency: 100_000, ..first };
    for (slug, workload) in [("northflank", first), ("runloop", huge), ("e2b", huge)] {
        let (total, rank) = total(slug, workload);
        assert_eq!((total.exactness, rank), (Exactness::Depends, None), "{slug}");
        assert!(total.low.is_some() && total.high.is_none(), "{slug}");
        assert!(total.because.iter().any(|why| why.contains("at once is")), "{:?}", total.because);
    }
    // A plan that ends with its allowance is no plan for a steady workload, nor one whose sandboxes are too small.
    let small = Workload { peak_concurrency: 5, ..first };
    let vercel = |workload: Workload| {
        let entries = league(&offers, &workload, None).unwrap();
        let entry = entries.into_iter().find(|entry| entry.offer.slug == "vercel-sandbox").unwrap();
        entry.bill.plan.map(|plan| plan.id).unwrap_or_default()
    };
    assert_eq!(vercel(small), "pro");
    let shape = Shape { vcpu: quantity("16"), memory_gib: quantity("32"), ..first.shape };
    assert_eq!(vercel(Workload { shape, ..small }), "");
}
