//! Exact decimals: money, rates, quantities. No float, and rounding only where a figure is shown.
//!
//! Not here: what is multiplied with what. That is `catalog::shape` and `calculator`.

use std::fmt;

use rust_decimal::{Decimal, RoundingStrategy};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

/// Places after the point to which a figure is rounded where its decimal does not end before.
pub const SHOWN_PLACES: u32 = 12;
/// Significant digits of an amount above a cent whose decimal does not end.
pub const SHOWN_DIGITS: u32 = 8;
/// The longest decimal that is read: more digits than any real price has. A product keeps 28 digits, so that a real
/// price times a real size, time and count is exact; beyond that it is rounded half-even.
pub const DIGITS_MAX: usize = 20;
/// Seconds in an hour.
pub const SECONDS_PER_HOUR: u32 = 3_600;
/// Seconds in a day.
pub const SECONDS_PER_DAY: u32 = 86_400;
/// Seconds of a billing month: 30 days, as the workload calculator says.
pub const SECONDS_PER_MONTH: u32 = 2_592_000;

/// Why a text is not an exact decimal, or why a figure cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MoneyError {
    /// Nothing was written.
    #[error("is empty")]
    Empty,
    /// Something other than digits with at most one point.
    #[error(
        "is not a plain decimal such as 0.0504: digits and at most one point, no exponent, no comma"
    )]
    NotADecimal,
    /// A minus sign.
    #[error("is negative")]
    Negative,
    /// More digits than [`DIGITS_MAX`].
    #[error("has more than {DIGITS_MAX} digits")]
    TooLong,
    /// A unit that is not in [`RateUnit::parse`]'s list.
    #[error(
        "is not a unit: a thing (vcpu, core, gib, gb, sandbox, session, gpu, creation), and for all but the last _second, _minute, _hour or _month"
    )]
    NotAUnit,
    /// The product does not fit the exact range.
    #[error("is too large to compute exactly")]
    TooLarge,
}

/// Reads a non-negative plain decimal. Signs, exponents, commas and blanks inside are refused.
fn parse_decimal(text: &str) -> Result<Decimal, MoneyError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(MoneyError::Empty);
    }
    let (unsigned, negative) = match text.strip_prefix('-') {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let (whole, fraction) = match unsigned.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (unsigned, None),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !fraction.is_none_or(digits) {
        return Err(MoneyError::NotADecimal);
    }
    if negative {
        return Err(MoneyError::Negative);
    }
    if whole.len() + fraction.map_or(0, str::len) > DIGITS_MAX {
        return Err(MoneyError::TooLong);
    }
    Decimal::from_str_exact(text).map_err(|_| MoneyError::NotADecimal)
}

/// Digits with commas between the thousands.
fn grouped(digits: &str) -> String {
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A count as a page shows it, thousands apart.
pub fn count(number: u64) -> String {
    grouped(&number.to_string())
}

/// The decimal without trailing zeros, never in exponent form.
fn plain(value: Decimal) -> String {
    value.normalize().to_string()
}

macro_rules! decimal_type {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Decimal);

        impl $name {
            /// Nothing of it.
            pub const ZERO: Self = Self(Decimal::ZERO);

            /// Reads a plain, non-negative decimal.
            pub fn parse(text: &str) -> Result<Self, MoneyError> {
                parse_decimal(text).map(Self)
            }

            /// Whether it is exactly nothing.
            pub fn is_zero(self) -> bool {
                self.0.is_zero()
            }

            /// The sum, or an error where it leaves the exact range.
            pub fn plus(self, other: Self) -> Result<Self, MoneyError> {
                self.0.checked_add(other.0).map(Self).ok_or(MoneyError::TooLarge)
            }

            /// What is left after taking `other` away; nothing where `other` is larger.
            #[must_use]
            pub fn less(self, other: Self) -> Self {
                Self((self.0 - other.0).max(Decimal::ZERO))
            }

            /// The product with a number without a unit.
            pub fn times(self, factor: Quantity) -> Result<Self, MoneyError> {
                self.0.checked_mul(factor.0).map(Self).ok_or(MoneyError::TooLarge)
            }
        }

        impl From<u64> for $name {
            fn from(value: u64) -> Self {
                Self(Decimal::from(value))
            }
        }

        impl fmt::Display for $name {
            /// The plain decimal, rounded half-even to [`SHOWN_PLACES`] where it does not end before.
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                let shown = self.0.round_dp_with_strategy(SHOWN_PLACES, RoundingStrategy::MidpointNearestEven);
                formatter.write_str(&plain(shown))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

decimal_type! {
    /// An amount in US dollars.
    Usd
}
decimal_type! {
    /// A quantity with a fraction: vCPU, GiB, seconds, per cent.
    Quantity
}

/// Picodollars in a dollar: what is reserved and settled is counted in whole ones.
const PICO: u64 = 1_000_000_000_000;

impl Usd {
    /// A count of picodollars, as the database holds it; nothing where it is negative.
    pub fn of_picodollars(count: i64) -> Self {
        Self(Decimal::from(count.max(0)) / Decimal::from(PICO))
    }

    /// The amount in picodollars, rounded up; the largest count that the database holds where it is beyond.
    pub fn picodollars(self) -> i64 {
        let count = self.0.checked_mul(Decimal::from(PICO)).map(|count| count.ceil());
        count.and_then(|count| i64::try_from(count).ok()).unwrap_or(i64::MAX)
    }

    /// The amount as a page shows it: two places at least, thousands apart, every digit that is needed to
    /// reproduce it from its factors; of a decimal that does not end, [`SHOWN_DIGITS`]. What is not zero is never shown as
    /// zero.
    pub fn shown(self) -> String {
        let half_even = RoundingStrategy::MidpointNearestEven;
        let mut rounded = self.0.round_dp_with_strategy(SHOWN_PLACES, half_even);
        if rounded.is_zero() && !self.0.is_zero() {
            return "less than $0.000000000001".to_owned();
        }
        // What fills every place was cut there. Small rates keep their places: they are multiplied further.
        if rounded.normalize().scale() == SHOWN_PLACES && rounded >= Decimal::new(1, 2) {
            rounded = rounded.round_sf_with_strategy(SHOWN_DIGITS, half_even).unwrap_or(rounded);
        }
        let text = plain(rounded);
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let grouped = grouped(whole);
        format!("${grouped}.{fraction:0<2}")
    }

    /// The amount without its cents where it has none, for sentences: "$150", "$0.50".
    pub fn brief(self) -> String {
        let shown = self.shown();
        shown.strip_suffix(".00").map(str::to_owned).unwrap_or(shown)
    }

    /// The amount to whole cents, half-even, for sentences that say "about".
    pub fn about(self) -> String {
        let cents = self.0.round_dp_with_strategy(2, RoundingStrategy::MidpointNearestEven);
        if cents.is_zero() && !self.0.is_zero() { self.shown() } else { Self(cents).shown() }
    }

    /// Whether its decimal ends within [`SHOWN_PLACES`].
    pub fn is_exactly_shown(self) -> bool {
        self.0.round_dp(SHOWN_PLACES) == self.0
    }

    /// The amount with a percentage added, exact: list price and fee to routed price.
    pub fn plus_percent(self, percent: Quantity) -> Result<Self, MoneyError> {
        let factor = Quantity(Decimal::ONE_HUNDRED + percent.0);
        let product = self.times(factor)?;
        Ok(Self(product.0 / Decimal::ONE_HUNDRED))
    }

    /// The amount rounded half-even to as many places as `other` shows.
    #[must_use]
    pub fn rounded_like(self, other: Self) -> Self {
        let places = other.0.scale();
        Self(self.0.round_dp_with_strategy(places, RoundingStrategy::MidpointNearestEven))
    }

    /// The part of the amount that one quantity is of another: multiplied first, divided last. All of it where the other is
    /// zero.
    pub fn part(self, of: Quantity, whole: Quantity) -> Result<Self, MoneyError> {
        if whole.is_zero() {
            return Ok(self);
        }
        Ok(Self(self.times(of)?.0 / whole.0))
    }

    /// How much of another amount it is, in steps of which the other has `steps`; rounded, and none where the other is zero.
    pub fn share_of(self, whole: Self, steps: u32) -> u32 {
        let share = (self.0 * Decimal::from(steps)).checked_div(whole.0).map(|share| share.round());
        share
            .and_then(|share| u32::try_from(share.mantissa()).ok())
            .map_or(0, |share| share.min(steps))
    }

    /// The amount divided by a whole number that is not zero.
    #[must_use]
    pub fn divided(self, divisor: u32) -> Self {
        Self(self.0 / Decimal::from(divisor.max(1)))
    }
}

impl Quantity {
    /// One of it.
    pub const ONE: Self = Self(Decimal::ONE);

    /// The quantity divided by a whole number that is not zero: MiB to GiB.
    #[must_use]
    pub fn divided_by(self, divisor: u32) -> Self {
        Self(self.0 / Decimal::from(divisor.max(1)))
    }

    /// The smallest multiple of `step` that is not below the quantity; itself where the step is zero or the multiple
    /// too large to be held.
    #[must_use]
    pub fn rounded_up_to(self, step: Self) -> Self {
        let steps = self.0.checked_div(step.0).map(|steps| steps.ceil());
        steps.and_then(|steps| steps.checked_mul(step.0)).map_or(self, Self)
    }

    /// The whole number below or equal, for counts that came as decimals.
    pub fn whole(self) -> u64 {
        u64::try_from(self.0.trunc().mantissa()).unwrap_or(u64::MAX)
    }

    /// How many whole times `size` fits into the quantity; none where `size` is zero.
    pub fn holds(self, size: Self) -> Option<u64> {
        if size.0.is_zero() {
            return None;
        }
        u64::try_from((self.0 / size.0).floor().mantissa()).ok()
    }

    /// Seconds as people say them: "90 s", "5 min", "24 h", "30 days"; the largest unit that divides them.
    pub fn duration(self) -> String {
        for (unit, seconds) in [("days", SECONDS_PER_DAY), ("h", SECONDS_PER_HOUR), ("min", 60)] {
            let count = self.0 / Decimal::from(seconds);
            // A single day reads better as 24 hours.
            let least = if unit == "days" { Decimal::TWO } else { Decimal::ONE };
            if count >= least && count.fract().is_zero() {
                return format!("{} {unit}", plain(count));
            }
        }
        format!("{self} s")
    }

    /// How many units of a size that is, fractions included; `None` where the size is zero.
    pub fn in_units_of(self, size: Self) -> Option<Self> {
        self.0.checked_div(size.0).map(Self)
    }

    /// Digits after the point.
    pub fn places(self) -> u32 {
        self.0.normalize().scale()
    }
}

/// What a rate counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measured {
    /// A virtual CPU (a hardware thread).
    Vcpu,
    /// A physical core, which is two vCPU.
    Core,
    /// 2^30 bytes of memory or disk.
    Gib,
    /// The vendor's own "GB"; taken as it stands, since none of them says whether it means 10^9 or 2^30 bytes.
    Gb,
    /// A sandbox of a fixed size.
    Sandbox,
    /// A session, whatever its size.
    Session,
    /// A graphics processor.
    Gpu,
    /// The creation of one sandbox.
    Creation,
}

impl Measured {
    /// Whether processors are measured, by thread or by core.
    fn is_processor(self) -> bool {
        matches!(self, Self::Vcpu | Self::Core)
    }
}

/// The time that a rate is quoted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Period {
    /// A second.
    Second,
    /// Sixty seconds.
    Minute,
    /// 3,600 seconds.
    Hour,
    /// Thirty days.
    Month,
}

impl Period {
    /// Its length in seconds.
    pub fn seconds(self) -> u32 {
        match self {
            Self::Second => 1,
            Self::Minute => 60,
            Self::Hour => SECONDS_PER_HOUR,
            Self::Month => SECONDS_PER_MONTH,
        }
    }
}

/// The vendor's unit of a rate, such as `vcpu_hour`; without a period for what is counted, not timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RateUnit {
    /// What is counted.
    pub of: Measured,
    /// For how long, or `None` where time plays no part.
    pub over: Option<Period>,
}

impl RateUnit {
    /// Reads `vcpu_second`, `gib_hour`, `session_hour`, `creation` and their like.
    pub fn parse(text: &str) -> Result<Self, MoneyError> {
        let (thing, period) = match text.split_once('_') {
            Some((thing, period)) => (thing, Some(period)),
            None => (text, None),
        };
        let of = match thing {
            "vcpu" => Measured::Vcpu,
            "core" => Measured::Core,
            "gib" => Measured::Gib,
            "gb" => Measured::Gb,
            "sandbox" => Measured::Sandbox,
            "session" => Measured::Session,
            "gpu" => Measured::Gpu,
            "creation" => Measured::Creation,
            _ => return Err(MoneyError::NotAUnit),
        };
        let over = match period {
            Some("second") => Some(Period::Second),
            Some("minute") => Some(Period::Minute),
            Some("hour") => Some(Period::Hour),
            Some("month") => Some(Period::Month),
            None if matches!(of, Measured::Creation | Measured::Gb | Measured::Gib) => None,
            _ => return Err(MoneyError::NotAUnit),
        };
        Ok(Self { of, over })
    }

    /// Seconds of its period; one where time plays no part.
    pub fn seconds(self) -> u32 {
        self.over.map_or(1, Period::seconds)
    }

    /// How a page says it: "vCPU-hour".
    pub fn label(self) -> String {
        let thing = match self.of {
            Measured::Vcpu => "vCPU",
            Measured::Core => "physical core",
            Measured::Gib => "GiB",
            Measured::Gb => "GB",
            Measured::Sandbox => "sandbox",
            Measured::Session => "session",
            Measured::Gpu => "GPU",
            Measured::Creation => "creation",
        };
        match self.over {
            Some(Period::Second) => format!("{thing}-second"),
            Some(Period::Minute) => format!("{thing}-minute"),
            Some(Period::Hour) => format!("{thing}-hour"),
            Some(Period::Month) => format!("{thing}-month"),
            None => thing.to_owned(),
        }
    }
}

impl fmt::Display for RateUnit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let thing = match self.of {
            Measured::Vcpu => "vcpu",
            Measured::Core => "core",
            Measured::Gib => "gib",
            Measured::Gb => "gb",
            Measured::Sandbox => "sandbox",
            Measured::Session => "session",
            Measured::Gpu => "gpu",
            Measured::Creation => "creation",
        };
        formatter.write_str(thing)?;
        match self.over {
            Some(Period::Second) => formatter.write_str("_second"),
            Some(Period::Minute) => formatter.write_str("_minute"),
            Some(Period::Hour) => formatter.write_str("_hour"),
            Some(Period::Month) => formatter.write_str("_month"),
            None => Ok(()),
        }
    }
}

impl Serialize for RateUnit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RateUnit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// An amount for a unit, kept exactly as the vendor writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// US dollars for one unit.
    pub usd: Usd,
    /// The vendor's unit.
    pub per: RateUnit,
}

impl Rate {
    /// What `quantity` of the measured thing costs for `seconds`: multiplied first, divided last. A core is two vCPU.
    pub fn amount(self, quantity: Quantity, seconds: Quantity) -> Result<Usd, MoneyError> {
        let seconds = if self.per.over.is_some() { seconds } else { Quantity::ONE };
        let product = self.usd.times(quantity)?.times(seconds)?;
        Ok(Usd(product.0 / Decimal::from(self.divisor())))
    }

    /// Whether both say the same price, in whatever units: cross-multiplied, so that no division rounds.
    pub fn equals(self, other: Self) -> bool {
        let factor = |rate: Self| Quantity::from(u64::from(rate.divisor()));
        let left = self.usd.times(factor(other));
        self.per.of.is_processor() == other.per.of.is_processor()
            && left.is_ok()
            && left == other.usd.times(factor(self))
    }

    /// Units of one second in the rate's own unit. A core is two vCPU.
    fn divisor(self) -> u32 {
        self.per.seconds() * if self.per.of == Measured::Core { 2 } else { 1 }
    }

    /// The amount for one vCPU (or GiB, sandbox …) and one second.
    pub fn per_second(self) -> Usd {
        // One times one cannot leave the exact range.
        self.amount(Quantity::ONE, Quantity::ONE).unwrap_or(Usd::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(usd: &str, per: &str) -> Rate {
        Rate { usd: Usd::parse(usd).unwrap(), per: RateUnit::parse(per).unwrap() }
    }

    #[test]
    fn an_hour_of_an_hourly_rate_is_the_rate_to_the_digit() {
        let vercel = rate("0.128", "vcpu_hour");
        assert_eq!(
            vercel.amount(Quantity::ONE, Quantity::from(3_600)).unwrap().to_string(),
            "0.128"
        );
        assert_eq!(vercel.per_second().to_string(), "0.000035555556");
        assert!(!vercel.per_second().is_exactly_shown());
    }

    #[test]
    fn a_physical_core_is_two_vcpu() {
        assert_eq!(rate("0.00003942", "core_second").per_second().to_string(), "0.00001971");
    }

    #[test]
    fn equal_prices_are_equal_in_any_unit() {
        assert!(rate("0.12", "vcpu_hour").equals(rate("0.002", "vcpu_minute")));
        assert!(rate("0.1", "core_hour").equals(rate("0.05", "vcpu_hour")));
        // A third of a cent a second cannot be written; the rate of an hour can.
        assert!(rate("0.12", "gib_hour").equals(rate("86.4", "gib_month")));
        assert!(!rate("0.12", "vcpu_hour").equals(rate("0.12", "gib_hour")));
        assert!(!rate("0.12", "vcpu_hour").equals(rate("0.0000333333", "vcpu_second")));
    }

    #[test]
    fn absurd_decimals_are_refused() {
        let check =
            |text: &str, error: MoneyError| assert_eq!(Usd::parse(text), Err(error), "{text}");
        check("", MoneyError::Empty);
        check("-1", MoneyError::Negative);
        for text in ["NaN", "1e3", "1,5", "+1", "1.", ".5", "1.2.3", "0x1", "inf", "1 2", "٣"] {
            check(text, MoneyError::NotADecimal);
        }
        check(&"9".repeat(1_000), MoneyError::TooLong);
    }

    #[test]
    fn a_decimal_that_does_not_end_is_shown_to_eight_digits() {
        let third = |text: &str| Usd::parse(text).unwrap().divided(3).shown();
        assert_eq!(third("100"), "$33.333333");
        assert_eq!(third("0.1"), "$0.033333333");
        assert_eq!(third("0.00001"), "$0.000003333333");
        assert_eq!(third("30000000"), "$10,000,000.00");
    }

    #[test]
    fn what_is_not_zero_is_never_shown_as_zero() {
        let check = |text: &str, shown: &str| assert_eq!(Usd::parse(text).unwrap().shown(), shown);
        check("0", "$0.00");
        check("0.06048", "$0.06048");
        check("44.4", "$44.40");
        check("1234567.5", "$1,234,567.50");
        assert_eq!([count(0), count(999), count(10_000)], ["0", "999", "10,000"]);
        check("0.0000000000001", "less than $0.000000000001");
        assert_eq!(Usd::parse("1150").unwrap().brief(), "$1,150");
        assert_eq!(Usd::parse("0.06048").unwrap().about(), "$0.06");
        assert_eq!(Usd::parse("0.0000168").unwrap().about(), "$0.0000168");
    }

    #[test]
    fn durations_read_as_people_say_them() {
        for (seconds, said) in [
            ("0.3", "0.3 s"),
            ("90", "90 s"),
            ("300", "5 min"),
            ("3600", "1 h"),
            ("5400", "90 min"),
            ("86400", "24 h"),
            ("2592000", "30 days"),
        ] {
            assert_eq!(Quantity::parse(seconds).unwrap().duration(), said);
        }
    }

    #[test]
    fn units_read_and_print_the_same() {
        for unit in
            ["vcpu_second", "core_hour", "gib_month", "gb_minute", "session_hour", "creation", "gb"]
        {
            assert_eq!(RateUnit::parse(unit).unwrap().to_string(), unit);
        }
        assert!(RateUnit::parse("vcpu").is_err());
        assert!(RateUnit::parse("furlong_hour").is_err());
    }
}
