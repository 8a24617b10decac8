//! What people type into the calculators: one reading, with the same bounds and the same words, for pages, API and
//! islands.

use super::exposure::Exposure;
use super::workload::Workload;
use crate::catalog::shape::Shape;
use crate::money::Quantity;

/// Digits after the point of a size or a time.
pub const PLACES_MAX: u32 = 3;
/// Runaways at once, at most.
pub const RUNAWAYS_MAX: u64 = 10_000;
/// Seconds until somebody notices, at most: thirty days.
pub const NOTICED_AFTER_SECONDS_MAX: u64 = 2_592_000;
/// Seconds of a timeout, at most.
pub const TIMEOUT_SECONDS_MAX: u64 = 2_592_000;
/// Attempts of a task, at most.
pub const ATTEMPTS_MAX: u64 = 100;
/// Runs a day, at most.
pub const RUNS_PER_DAY_MAX: u64 = 10_000_000;
/// Sandboxes at once, at most.
pub const PEAK_CONCURRENCY_MAX: u64 = 100_000;
/// The word for no timeout.
pub const NO_TIMEOUT: &str = "none";

/// A decimal that is asked for by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// What holds if nothing is said.
    pub default: &'static str,
    /// The least.
    pub least: &'static str,
    /// The most.
    pub most: &'static str,
}

/// Processors.
pub const VCPU: Bounds = Bounds { default: "1", least: "0.001", most: "1024" };
/// Memory in GiB. None prices the processors alone.
pub const MEMORY_GIB: Bounds = Bounds { default: "2", least: "0", most: "16384" };
/// Disk in GiB.
pub const DISK_GIB: Bounds = Bounds { default: "0", least: "0", most: "65536" };
/// Seconds of a price: up to a year, an hour if nothing is said.
pub const SECONDS: Bounds = Bounds { default: "3600", least: "0.001", most: "31536000" };
/// Processor time used, per cent.
pub const UTILISATION_PERCENT: Bounds = Bounds { default: "100", least: "1", most: "100" };

/// Lifetime of a run, seconds: up to thirty days.
pub const SECONDS_PER_RUN: Bounds = Bounds { default: "8", least: "0.001", most: "2592000" };
/// Creations a second; a tenth of the peak if nothing is said.
pub const CREATES_PER_SECOND: Bounds = Bounds { default: "1", least: "0.001", most: "10000" };
/// Hours of a month that sandboxes are paused, all together: ten thousand sandboxes all month.
pub const PAUSED_HOURS: Bounds = Bounds { default: "0", least: "0", most: "7200000" };

impl Bounds {
    /// What holds if nothing is said.
    pub fn default_value(self) -> Quantity {
        constant(self.default)
    }

    /// Reads a decimal between the bounds with at most [`PLACES_MAX`] digits after the point.
    pub fn read(self, text: &str) -> Result<Quantity, String> {
        let (least, most) = (constant(self.least), constant(self.most));
        match Quantity::parse(text) {
            Ok(value) if value >= least && value <= most && value.places() <= PLACES_MAX => {
                Ok(value)
            }
            Ok(_) => Err(format!(
                "must be {least} to {most} with at most {PLACES_MAX} digits after the point"
            )),
            Err(error) => Err(format!("{error}; {least} to {most} is allowed")),
        }
    }
}

/// A bound as a number; the tests read every one of them.
fn constant(text: &str) -> Quantity {
    Quantity::parse(text).unwrap_or(Quantity::ZERO)
}

/// Reads a whole number between two bounds.
pub fn read_count(text: &str, least: u64, most: u64) -> Result<u64, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse::<u64>()
        .ok()
        .filter(|value| digits && (least..=most).contains(value))
        .ok_or_else(|| format!("must be a whole number from {least} to {most}"))
}

/// Texts by name being read: what is missing takes its default, what is wrong takes it too and is remembered.
pub struct Input<'a> {
    text: &'a dyn Fn(&str) -> Option<String>,
    errors: Vec<(&'static str, String)>,
}

impl<'a> Input<'a> {
    /// Texts by the names of the query.
    pub fn new(text: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { text, errors: Vec::new() }
    }

    fn read<T>(
        &mut self,
        name: &'static str,
        default: T,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> T {
        let Some(text) = (self.text)(name) else { return default };
        read(text.trim()).unwrap_or_else(|message| {
            self.errors.push((name, message));
            default
        })
    }

    /// A decimal.
    pub fn quantity(&mut self, name: &'static str, bounds: Bounds) -> Quantity {
        self.read(name, bounds.default_value(), |text| bounds.read(text))
    }

    /// A whole number.
    pub fn count(&mut self, name: &'static str, default: u64, least: u64, most: u64) -> u64 {
        self.read(name, default, |text| read_count(text, least, most))
    }

    /// Everything that was wrong: the name, and what is allowed.
    pub fn errors(self) -> Vec<(&'static str, String)> {
        self.errors
    }
}

/// A size.
pub fn shape(input: &mut Input<'_>) -> Shape {
    Shape {
        vcpu: input.quantity("vcpu", VCPU),
        memory_gib: input.quantity("memory_gib", MEMORY_GIB),
        disk_gib: input.quantity("disk_gib", DISK_GIB),
    }
}

/// A question about runaways.
pub fn exposure(input: &mut Input<'_>) -> Exposure {
    let first = Exposure::default();
    let noticed = "noticed_after_seconds";
    Exposure {
        shape: shape(input),
        runaways: input.count("runaways", first.runaways, 1, RUNAWAYS_MAX),
        noticed_after_seconds: input.count(
            noticed,
            first.noticed_after_seconds,
            1,
            NOTICED_AFTER_SECONDS_MAX,
        ),
        timeout_seconds: input.read("timeout_seconds", first.timeout_seconds, |text| {
            if text == NO_TIMEOUT {
                return Ok(None);
            }
            read_count(text, 1, TIMEOUT_SECONDS_MAX)
                .map(Some)
                .map_err(|message| format!("{message}, or {NO_TIMEOUT}"))
        }),
        attempts: input.count("attempts", first.attempts, 1, ATTEMPTS_MAX),
    }
}

/// A question about a workload.
pub fn workload(input: &mut Input<'_>) -> Workload {
    let first = Workload::default();
    Workload {
        shape: shape(input),
        runs_per_day: input.count("runs_per_day", first.runs_per_day, 1, RUNS_PER_DAY_MAX),
        seconds_per_run: input.quantity("seconds_per_run", SECONDS_PER_RUN),
        peak_concurrency: input.count(
            "peak_concurrency",
            first.peak_concurrency,
            1,
            PEAK_CONCURRENCY_MAX,
        ),
        // An empty field of a form is none.
        creates_per_second: input.read("creates_per_second", None, |text| {
            if text.is_empty() { Ok(None) } else { CREATES_PER_SECOND.read(text).map(Some) }
        }),
        utilisation_percent: input.quantity("utilisation_percent", UTILISATION_PERCENT),
        paused_hours: input.quantity("paused_hours", PAUSED_HOURS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bound_is_a_decimal_and_in_order() {
        for bounds in [
            VCPU,
            MEMORY_GIB,
            DISK_GIB,
            SECONDS,
            UTILISATION_PERCENT,
            SECONDS_PER_RUN,
            CREATES_PER_SECOND,
            PAUSED_HOURS,
        ] {
            assert!(Quantity::parse(bounds.least).unwrap() < Quantity::parse(bounds.most).unwrap());
            assert_eq!(bounds.read(bounds.default), Ok(bounds.default_value()));
        }
    }

    #[test]
    fn what_is_wrong_takes_the_default_and_is_remembered() {
        let mut input = Input::new(&|name| (name == "runaways").then(|| "many".to_owned()));
        let ask = exposure(&mut input);
        assert_eq!(ask, Exposure::default());
        assert_eq!(
            input.errors(),
            [("runaways", "must be a whole number from 1 to 10000".to_owned())]
        );
    }

    #[test]
    fn no_timeout_is_a_word() {
        let mut input = Input::new(&|name| (name == "timeout_seconds").then(|| "none".to_owned()));
        assert_eq!(exposure(&mut input).timeout_seconds, None);
    }
}
