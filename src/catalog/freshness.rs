//! How long a value stays fresh: a named age, after which it wants to be read again.
//!
//! Not here: whether a value that has gone stale is still shown. It is, and says so.

use jiff::ToSpan;
use jiff::civil::Date;

use super::Provider;
use super::claim::{AnyClaim, Evidence};
use super::word::PriceKind;

/// Days after which an amount of money wants to be read again: vendors change prices within a quarter.
pub const MONEY_STALE_AFTER_DAYS: i64 = 90;
/// Days after which anything else wants to be read again.
pub const STALE_AFTER_DAYS: i64 = 180;
/// The largest age that can be asked for, days: ten years.
pub const AGE_DAYS_MAX: u64 = 3_650;

/// The days that a value under a dotted key stays fresh.
pub fn fresh_days(key: &str) -> i64 {
    let is_money = key.split('.').any(|part| {
        matches!(part, "price" | "fee" | "plan" | "credit") || part.starts_with("usd_")
    });
    if is_money { MONEY_STALE_AFTER_DAYS } else { STALE_AFTER_DAYS }
}

/// The last day on which a value under a dotted key is fresh that was last seen on a day; `None` beyond the calendar.
pub fn stale_after(key: &str, last_seen: Date) -> Option<Date> {
    last_seen.checked_add(fresh_days(key).days()).ok()
}

/// Days from one day to a later one; `None` where that comes first.
pub fn age_days(seen: Date, on: Date) -> Option<u64> {
    let days = on.since(seen).ok()?.get_days();
    u64::try_from(days).ok()
}

/// The values that decide for or against a provider, in words, where they are known: prices of its default class, its
/// wall, what ends it, and whether egress can be off.
pub fn decisive(provider: &Provider, on: Date) -> Vec<(String, &Evidence)> {
    let variant = provider.default_variant();
    let mut found: Vec<(String, &Evidence)> = provider
        .prices_on(PriceKind::List, on)
        .filter(|price| price.is_for(&variant.id))
        .map(|price| (format!("list price of {}", price.component.label()), &price.evidence))
        .collect();
    let claims: [(&str, &dyn AnyClaim); 5] = [
        ("isolation tier", &variant.isolation.tier),
        ("wall-clock limit", &variant.time.default_wall_clock_seconds),
        ("idle stop", &variant.time.idle_stop_seconds),
        ("longest session", &variant.time.max_session_seconds),
        ("egress switch", &provider.egress.can_disable_at_create),
    ];
    let known = claims.into_iter().filter(|(_, claim)| claim.shown().is_some());
    found.extend(known.filter_map(|(what, claim)| Some((what.to_owned(), claim.evidence()?))));
    found
}

/// A decisive value with the day on which it was last seen.
pub struct Oldest<'a> {
    /// Whose it is.
    pub provider: &'a Provider,
    /// What it is, in words.
    pub what: String,
    /// The day.
    pub seen_on: Date,
}

/// The decisive value that was last seen longest ago; `None` where none has a date.
pub fn oldest<'a>(
    providers: impl IntoIterator<Item = &'a Provider>,
    on: Date,
) -> Option<Oldest<'a>> {
    let values = providers.into_iter().flat_map(|provider| {
        decisive(provider, on).into_iter().filter_map(move |(what, evidence)| {
            Some(Oldest { provider, what, seen_on: evidence.last_seen_by(on)? })
        })
    });
    values.min_by_key(|oldest| oldest.seen_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_goes_stale_sooner() {
        let seen: Date = "2026-10-02".parse().unwrap();
        let day = |key: &str| stale_after(key, seen).unwrap().to_string();
        assert_eq!(day("price.vcpu"), "2026-12-31");
        assert_eq!(day("plan.pro.usd_fee_per_month"), "2026-12-31");
        assert_eq!(day("egress.allow_list"), "2027-03-31");
        assert_eq!(stale_after("price.vcpu", Date::MAX), None);
    }

    #[test]
    fn an_age_is_counted_in_days() {
        let day = |text: &str| text.parse::<Date>().unwrap();
        assert_eq!(age_days(day("2026-03-16"), day("2026-11-30")), Some(259));
        assert_eq!(age_days(day("2026-11-30"), day("2026-03-16")), None);
    }
}
