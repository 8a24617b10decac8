//! Instants and durations as records, answers and pages have them: one form each.

use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;

/// The day in UTC at an instant.
pub fn day_of(instant: Timestamp) -> Date {
    Offset::UTC.to_datetime(instant).date()
}

/// Today in UTC.
pub fn today() -> Date {
    day_of(Timestamp::now())
}

/// RFC 3339 in UTC, to the second.
pub fn second(instant: Timestamp) -> String {
    instant.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// RFC 3339 in UTC, to the millisecond: texts of it stand in the order of time.
pub fn stamp(instant: Timestamp) -> String {
    instant.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Whole milliseconds; the largest count where there are more.
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
