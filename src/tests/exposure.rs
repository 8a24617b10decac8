//! The worked figures of runaway exposure: routed, processors only, one vCPU.

use jiff::civil::Date;

use crate::calculator::{Backstop, Exposed, Exposure, expose};
use crate::catalog::load::{embedded_files, load};
use crate::catalog::shape::Shape;
use crate::catalog::word::PriceKind;
use crate::money::Quantity;

fn exposed(slug: &str, plan: &str, timeout_seconds: u64, attempts: u64) -> Exposed {
    let today = Date::new(2026, 11, 30).unwrap();
    let catalog = load(&embedded_files(), today).unwrap();
    let provider = catalog.find(slug).unwrap();
    let ask = Exposure {
        shape: Shape { vcpu: Quantity::ONE, memory_gib: Quantity::ZERO, disk_gib: Quantity::ZERO },
        runaways: 20,
        noticed_after_seconds: 8 * 3_600,
        timeout_seconds: Some(timeout_seconds),
        attempts,
        ..Exposure::first_look(PriceKind::Routed, today)
    };
    expose(provider, provider.plan(plan), &ask).unwrap()
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
        assert_eq!(exposed.cpu_with_timeout.unwrap().to_string(), "0.09072");
        assert_eq!(exposed.cpu_saved.unwrap().to_string(), "9.58608");
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
    assert_eq!(exposed.cpu_with_timeout, exposed.cpu_until_noticed.usd);
    assert!(exposed.cpu_saved.unwrap().is_zero());
}
