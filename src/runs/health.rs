//! How providers have done lately, from the attempts of this instance: pure. Without samples there is no number.

use std::time::Duration;

/// The windows that are told, the shortest first.
pub const WINDOWS: [(&str, Duration); 3] = [
    ("5_min", Duration::from_mins(5)),
    ("30_min", Duration::from_mins(30)),
    ("1_day", Duration::from_hours(24)),
];
/// Parts of a whole in which a ratio is told.
const PARTS: u64 = 10_000;

/// An attempt, as far as health is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Whether the platform did its part: also where the code failed or ran out of time.
    pub worked: bool,
    /// How long its sandbox took to be there, milliseconds.
    pub start_ms: Option<u64>,
}

/// What became of the attempts of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// How many attempts there were that say something of the platform.
    pub samples: u64,
    /// The part of them that worked, in ten thousandths; `None` without samples.
    pub worked_per_10000: Option<u64>,
    /// How many of them had a sandbox.
    pub starts: u64,
    /// Half of the sandboxes were there within this, milliseconds.
    pub start_ms_p50: Option<u64>,
    /// 95 of a hundred were.
    pub start_ms_p95: Option<u64>,
    /// 99 of a hundred were.
    pub start_ms_p99: Option<u64>,
}

/// Whether an attempt says something of the platform, and what: by the words of its outcome and reason. What we asked
/// wrongly, too often or on purpose says nothing, nor what somebody cancelled.
pub fn worked(outcome: &str, reason: Option<&str>) -> Option<bool> {
    match (outcome, reason) {
        ("completed" | "timed_out", _) => Some(true),
        ("cancelled", _) | (_, Some("rate_limited" | "bad_request" | "drill")) => None,
        _ => Some(false),
    }
}

/// The health of a window's samples.
pub fn health(samples: &[Sample]) -> Health {
    let count = samples.len() as u64;
    let worked = samples.iter().filter(|sample| sample.worked).count() as u64;
    let mut starts: Vec<u64> = samples.iter().filter_map(|sample| sample.start_ms).collect();
    starts.sort_unstable();
    Health {
        samples: count,
        worked_per_10000: (worked * PARTS).checked_div(count),
        starts: starts.len() as u64,
        start_ms_p50: percentile(&starts, 50),
        start_ms_p95: percentile(&starts, 95),
        start_ms_p99: percentile(&starts, 99),
    }
}

/// The smallest of some ordered numbers that so many of a hundred do not exceed.
fn percentile(ordered: &[u64], percent: usize) -> Option<u64> {
    let place = (ordered.len() * percent).div_ceil(100).checked_sub(1)?;
    ordered.get(place).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_samples_there_is_no_number() {
        let none = health(&[]);
        assert_eq!((none.samples, none.worked_per_10000, none.start_ms_p50), (0, None, None));
    }

    #[test]
    fn percentiles_are_of_those_that_started() {
        let samples: Vec<Sample> = (1..=100)
            .map(|ms| Sample { worked: ms % 4 != 0, start_ms: (ms % 2 == 0).then_some(ms) })
            .collect();
        let health = health(&samples);
        assert_eq!(
            (health.samples, health.starts, health.worked_per_10000),
            (100, 50, Some(7_500))
        );
        let percentiles = [health.start_ms_p50, health.start_ms_p95, health.start_ms_p99];
        assert_eq!(percentiles, [Some(50), Some(96), Some(100)]);
        assert_eq!(percentile(&[7], 50), Some(7));
    }

    #[test]
    fn what_is_not_the_platforms_says_nothing_of_it() {
        assert_eq!(worked("completed", None), Some(true));
        assert_eq!(worked("timed_out", None), Some(true));
        assert_eq!(worked("unavailable", Some("capacity")), Some(false));
        assert_eq!(worked("interrupted", Some("lost_connection")), Some(false));
        for (outcome, reason) in [
            ("cancelled", None),
            ("unavailable", Some("rate_limited")),
            ("unavailable", Some("drill")),
        ] {
            assert_eq!(worked(outcome, reason), None);
        }
    }
}
