//! The worked figures of runaway exposure: routed, processors only, one vCPU.

use jiff::civil::Date;

use crate::calculator::exposure::{Backstop, Exposed, Exposure, expose};
use crate::calculator::offer::{Offer, Offers};
use crate::calculator::packed::Packed;
use crate::calculator::workload::{Workload, monthly_bill};
use crate::catalog::card::PriceCard;
use crate::catalog::load::{embedded_files, load};
use crate::catalog::shape::{Ask, Estimate, Exactness, Shape, price};
use crate::catalog::word::PriceKind;
use crate::moment::today;
use crate::money::{Quantity, Usd};

/// The day whose prices give the worked figures; later ones may change.
fn founding_day() -> Date {
    Date::new(2026, 11, 30).unwrap()
}

fn exposed(slug: &str, plan: &str, timeout_seconds: u64, attempts: u64) -> Exposed {
    let catalog = load(&embedded_files(), today()).unwrap();
    let provider = catalog.find(slug).unwrap();
    let ask = Exposure {
        shape: Shape { vcpu: Quantity::ONE, memory_gib: Quantity::ZERO, disk_gib: Quantity::ZERO },
        runaways: 20,
        noticed_after_seconds: 8 * 3_600,
        timeout_seconds: Some(timeout_seconds),
        attempts,
    };
    let offer = Offer::of(provider, provider.default_variant(), PriceKind::Routed, founding_day());
    expose(&offer, offer.plan(plan), &ask).unwrap()
}

/// What has been spent when each backstop acts; a dash where that cannot be said.
fn backstops(exposed: &Exposed) -> Vec<String> {
    let spent = |backstop: &Backstop| {
        backstop.cpu_usd.map_or_else(|| "-".to_owned(), |usd| usd.to_string())
    };
    exposed.backstops.iter().map(spent).collect()
}

#[test]
fn twenty_runaways_that_nothing_stops() {
    for (slug, plan) in [("e2b", "hobby"), ("daytona", "tier_1")] {
        let exposed = exposed(slug, plan, 90, 3);
        assert_eq!(exposed.cpu_until_noticed.usd.unwrap().to_string(), "9.6768");
        assert_eq!(exposed.cpu_with_timeout.unwrap().usd.unwrap().to_string(), "0.09072");
        assert_eq!(exposed.cpu_saved.unwrap().usd.unwrap().to_string(), "9.58608");
        assert_eq!(exposed.agent_hours_blocked.to_string(), "160");
    }
}

#[test]
fn e2b_stops_them_after_five_minutes_if_nothing_was_sent_and_after_the_longest_session_at_most() {
    let exposed = exposed("e2b", "hobby", 90, 3);
    assert_eq!(exposed.runaways_held, 20);
    assert_eq!(backstops(&exposed), ["0.1008", "-", "1.2096"]);
}

#[test]
fn daytona_holds_ten_of_them_and_stops_only_what_is_idle() {
    let exposed = exposed("daytona", "tier_1", 90, 3);
    assert_eq!(exposed.runaways_held, 10);
    assert_eq!(backstops(&exposed), ["4.8384", "0.1512", "4.8384"]);
}

#[test]
fn a_timeout_never_makes_it_dearer() {
    let exposed = exposed("e2b", "hobby", 2_592_000, 100);
    assert_eq!(exposed.cpu_with_timeout.unwrap().usd, exposed.cpu_until_noticed.usd);
    assert!(exposed.cpu_saved.unwrap().usd.unwrap().is_zero());
}

fn offer(slug: &str, kind: PriceKind) -> Offer {
    let catalog = load(&embedded_files(), today()).unwrap();
    let provider = catalog.find(slug).unwrap();
    Offer::of(provider, provider.default_variant(), kind, founding_day())
}

#[test]
fn a_month_of_the_default_workload_costs_the_same_and_takes_other_plans() {
    let check = |slug: &str, kind: PriceKind, peak: u64, total: &str, plan: &str, top_up: &str| {
        let offer = offer(slug, kind);
        let ask = Workload { peak_concurrency: peak, ..Workload::default() };
        let bill = monthly_bill(&offer, &ask).unwrap();
        assert_eq!(bill.total.usd.unwrap().to_string(), total, "{slug} {peak}");
        let chosen = bill.plan.unwrap();
        assert_eq!(chosen.id, plan, "{slug} {peak}");
        // What Tier 1's memory pool holds is disputed; by anybody it holds ten of these.
        assert!(bill.total.ranked().is_some(), "{slug} {peak}");
        let unlocked = chosen.usd_top_up.map(|usd| usd.to_string());
        assert_eq!(unlocked.unwrap_or_default(), top_up, "{slug} {peak}");
    };
    check("e2b", PriceKind::List, 20, "44.4", "hobby", "");
    check("e2b", PriceKind::Routed, 20, "53.28", "hobby", "");
    check("e2b", PriceKind::List, 21, "194.4", "pro", "");
    check("daytona", PriceKind::List, 10, "44.4", "tier_1", "");
    check("daytona", PriceKind::List, 20, "44.4", "tier_2", "25");
    check("daytona", PriceKind::Routed, 20, "53.28", "tier_2", "25");
}

#[test]
fn a_peak_that_no_plan_holds_has_no_total_and_the_largest_plan_caps_runaways() {
    let daytona = offer("daytona", PriceKind::List);
    let ask = Workload { peak_concurrency: 100_000, ..Workload::default() };
    assert_eq!(daytona.cheapest_for(&ask.shape, 100_000), None);
    assert_eq!(daytona.plan_for(&[], &ask.shape, 100_000).unwrap().id, "tier_4");
    let bill = monthly_bill(&daytona, &ask).unwrap();
    assert_eq!(bill.total.exactness, Exactness::Unpriced);
    assert!(bill.total.because[0].contains("no plan is enough"), "{:?}", bill.total.because);
}

#[test]
fn a_fee_that_nobody_knows_makes_the_total_depend() {
    let mut e2b = offer("e2b", PriceKind::List);
    e2b.plans.retain(|plan| plan.id == "hobby");
    e2b.plans[0].usd_fee_per_month = None;
    let bill = monthly_bill(&e2b, &Workload::default()).unwrap();
    assert_eq!(bill.total.exactness, Exactness::Depends);
}

#[test]
fn what_a_disputed_pool_holds_is_not_exact() {
    let daytona = offer("daytona", PriceKind::Routed);
    let ask = Exposure { runaways: 20, ..Exposure::default() };
    let exposed = expose(&daytona, daytona.plan("tier_1"), &ask).unwrap();
    assert_eq!(exposed.capacity, Some((5, "memory pool")), "the ruling is 10 GiB");
    let whole = exposed.backstops[2].whole.clone().unwrap();
    assert_eq!(whole.exactness, Exactness::Depends);
    assert!(whole.because.iter().any(|why| why.contains("memory pool of Tier 1")));
}

#[test]
fn the_largest_question_neither_panics_nor_lies() {
    let mut offer = offer("e2b", PriceKind::Routed);
    (offer.card.sizes.vcpu.max, offer.card.sizes.memory_gib.max) = (None, None);
    let ask = Exposure {
        shape: Shape {
            vcpu: Quantity::from(1_024),
            memory_gib: Quantity::from(16_384),
            disk_gib: Quantity::ZERO,
        },
        runaways: 10_000,
        noticed_after_seconds: 2_592_000,
        timeout_seconds: None,
        attempts: 100,
    };
    let exposed = expose(&offer, None, &ask).unwrap();
    // 1,024 × 0.0000168 × 2,592,000 × 10,000
    assert_eq!(exposed.cpu_until_noticed.usd.unwrap().to_string(), "445906944");
}

#[test]
fn an_offer_survives_the_way_to_the_browser() {
    let catalog = load(&embedded_files(), today()).unwrap();
    let offers = catalog.providers().iter().map(|one| Offers::of(one, founding_day())).collect();
    let packed = Packed(offers);
    let text = serde_json::to_string(&packed).unwrap();
    assert_eq!(serde_json::from_str::<Packed>(&text).unwrap(), packed);
    for broken in ["\"0\"", "\"zz\"", "\"ff\"", "7"] {
        assert!(serde_json::from_str::<Packed>(broken).is_err(), "{broken}");
    }
}

#[test]
fn what_a_timeout_saves_is_no_firmer_than_what_it_is_taken_from() {
    let catalog = load(&embedded_files(), today()).unwrap();
    for slug in ["koyeb", "blaxel", "e2b", "daytona"] {
        let provider = catalog.find(slug).unwrap();
        let offer = Offers::of(provider, founding_day()).list;
        let exposed = expose(&offer, None, &Exposure::default()).unwrap();
        let (with, saved) = (exposed.whole_with_timeout.unwrap(), exposed.whole_saved.unwrap());
        assert!(saved.exactness >= with.exactness, "{slug}: {saved:?}");
        if with.exactness == Exactness::Depends {
            assert_eq!(
                saved.low.unwrap(),
                Usd::ZERO,
                "{slug}: nobody knows the most with a timeout"
            );
        }
        assert_eq!(exposed.agent_seconds_with_timeout, Some(Quantity::from(60)));
    }
    // A rate is a rate, whatever the minimum: Azure bills an hour at least.
    let azure = Offers::of(catalog.find("azure-dynamic-sessions").unwrap(), founding_day()).list;
    let exposed = expose(&azure, None, &Exposure::default()).unwrap();
    assert_eq!(exposed.whole_rates[0].usd.unwrap().to_string(), "0.000008333333");
    assert_eq!(exposed.cpu_rates[1].exactness, Exactness::Unpriced);
}

/// The estimate of an hour of a variant of a provider.
fn hour_of(slug: &str, variant: &str, vcpu: &str, memory_gib: &str) -> Estimate {
    let catalog = load(&embedded_files(), today()).unwrap();
    let provider = catalog.find(slug).unwrap();
    let variant = provider.variant(variant).unwrap();
    let card = PriceCard::of(provider, variant, PriceKind::List, founding_day());
    let quantity = |text| Quantity::parse(text).unwrap();
    let shape =
        Shape { vcpu: quantity(vcpu), memory_gib: quantity(memory_gib), disk_gib: Quantity::ZERO };
    price(&card, &Ask::plain(shape, Quantity::from(3_600)))
}

#[test]
fn a_size_that_is_not_sold_costs_what_the_smallest_that_holds_it_does() {
    let check = |slug: &str, variant: &str, asked: (&str, &str), sold: (&str, &str)| {
        let (found, as_sold) =
            (hour_of(slug, variant, asked.0, asked.1), hour_of(slug, variant, sold.0, sold.1));
        let sold_as = found.sold_as.map(|shape| (shape.vcpu, shape.memory_gib));
        let quantity = |text| Quantity::parse(text).unwrap();
        assert_eq!(sold_as, Some((quantity(sold.0), quantity(sold.1))), "{slug} {asked:?}");
        assert_eq!(found.usd, as_sold.usd, "{slug} {asked:?}");
        assert_eq!(as_sold.sold_as, None, "{slug} {sold:?}");
    };
    check("e2b", "base", ("0.5", "0.1"), ("1", "0.125"));
    check("daytona", "container", ("1.5", "1.5"), ("2", "2"));
    check("modal", "gvisor", ("0.1", "1"), ("0.25", "1"));
    check("vercel-sandbox", "sandbox", ("1", "4"), ("2", "4"));
    check("vercel-sandbox", "sandbox", ("4", "1"), ("4", "8"));
}

#[test]
fn fixed_sizes_that_nobody_recorded_have_no_price() {
    let small = hour_of("daytona", "vm", "1", "1");
    assert_eq!(small.usd, None);
    assert!(small.because[0].contains("fixed sizes only"), "{:?}", small.because);
}

#[test]
fn a_disputed_size_gives_both_ends_where_it_matters_and_nothing_where_it_does_not() {
    let pico = "0.0743";
    // By both accounts Pico holds one processor and 1 GiB.
    let small = hour_of("codesandbox-sdk", "vm", "1", "1");
    assert!(!small.because.iter().any(|why| why.contains("disagree")), "{:?}", small.because);
    assert_eq!(small.usd.unwrap().to_string(), pico);
    // By one account two processors are Pico, by the other Nano.
    let wide = hour_of("codesandbox-sdk", "vm", "2", "1");
    let ends = [wide.low, wide.usd, wide.high].map(|end| end.unwrap().to_string());
    assert_eq!(ends, [pico, "0.1486", "0.1486"]);
    assert!(wide.because.iter().any(|why| why.contains("disagree")));
}
