//! Scores and independent measurements. Neither is ever invented: a missing one is "not scored", "not measured".

use super::claim::Evidence;
use super::word::ScoreKind;

/// A figure that somebody judged or measured, on a stated scale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Score {
    /// The figure.
    pub value: u32,
    /// The most that it could be.
    pub scale: u32,
    /// Judged or measured.
    pub kind: ScoreKind,
    /// Where from.
    pub evidence: Evidence,
}

/// One statistic of a measurement, as its publisher names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statistic {
    /// Its name, unit included, such as `median_of_daily_medians_ms`.
    pub name: String,
    /// The figure as published or computed.
    pub value: String,
}

/// A measurement by somebody other than the vendor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measurement {
    /// What was measured, unit included.
    pub metric: String,
    /// One after another, all at once, …
    pub mode: String,
    /// The variant that was measured.
    pub variant: String,
    /// Who measured.
    pub measured_by: String,
    /// How.
    pub method: Option<String>,
    /// First day, as text.
    pub window_start: Option<String>,
    /// Last day, as text.
    pub window_end: Option<String>,
    /// Days with data.
    pub days: Option<String>,
    /// The figures.
    pub statistics: Vec<Statistic>,
    /// Where from.
    pub evidence: Evidence,
}

impl Measurement {
    /// A figure by its name.
    pub fn statistic(&self, name: &str) -> Option<&str> {
        self.statistics
            .iter()
            .find(|statistic| statistic.name == name)
            .map(|statistic| statistic.value.as_str())
    }

    /// The median in milliseconds with what it is a median of.
    pub fn median(&self) -> Option<(&str, &'static str)> {
        self.statistic("median_of_daily_medians_ms")
            .map(|value| (value, "median of daily medians"))
            .or_else(|| self.statistic("median_ms").map(|value| (value, "median")))
    }
}
