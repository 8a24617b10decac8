//! Which sizes a variant is sold in, and which of them holds a size that was asked about.
//!
//! Not here: what a size costs. That is `shape`.

use serde::{Deserialize, Serialize};

use super::card::gib;
use super::provider::Size;
use super::shape::Shape;
use super::word::Sizing;
use crate::money::Quantity;

/// The rules of a variant's sizes; `None` where one is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeRules {
    /// Processors.
    pub vcpu: Span,
    /// Memory, GiB.
    pub memory_gib: Span,
    /// The largest disk, GiB.
    pub disk_gib_max: Option<Quantity>,
    /// Memory that comes with each processor, neither more nor less, GiB.
    pub memory_gib_per_vcpu: Option<Quantity>,
    /// Whether a size is chosen freely.
    pub sizing: Option<Sizing>,
}

/// From where to where a part of a size goes, and in which steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The least.
    pub min: Option<Quantity>,
    /// The most.
    pub max: Option<Quantity>,
    /// It comes in multiples of this.
    pub step: Option<Quantity>,
}

impl Span {
    /// The least that is sold and not less than what was asked; none of it stays none. The most is not looked at.
    fn holding(&self, asked: Quantity) -> Quantity {
        if asked.is_zero() {
            return asked;
        }
        let least = self.min.map_or(asked, |min| asked.max(min));
        self.step.map_or(least, |step| least.rounded_up_to(step))
    }

    fn capped(&self, asked: Quantity) -> Quantity {
        self.max.map_or(asked, |max| asked.min(max))
    }
}

impl SizeRules {
    /// No rules: for a size that is known to be sold, because it was given.
    pub const fn none() -> Self {
        const ANY: Span = Span { min: None, max: None, step: None };
        Self {
            vcpu: ANY,
            memory_gib: ANY,
            disk_gib_max: None,
            memory_gib_per_vcpu: None,
            sizing: None,
        }
    }

    /// The rules of a variant.
    pub fn of(size: &Size) -> Self {
        Self {
            vcpu: Span {
                min: size.min_vcpu.value().copied(),
                max: size.max_vcpu.value().copied(),
                step: size.step_vcpu.value().copied(),
            },
            memory_gib: Span {
                min: gib(&size.min_memory_mib),
                max: gib(&size.max_memory_mib),
                step: gib(&size.step_memory_mib),
            },
            disk_gib_max: gib(&size.max_disk_mib),
            memory_gib_per_vcpu: gib(&size.memory_mib_per_vcpu),
            sizing: size.sizing.value().copied(),
        }
    }

    /// The smallest size that is sold and holds the asked one, as far as the rules are known. It may still be larger
    /// than the largest: [`SizeRules::refusal`] tells.
    pub fn smallest_holding(&self, asked: Shape) -> Shape {
        let memory_gib = self.memory_gib.holding(asked.memory_gib);
        let Some(each) = self.memory_gib_per_vcpu.filter(|_| !memory_gib.is_zero()) else {
            return Shape { vcpu: self.vcpu.holding(asked.vcpu), memory_gib, ..asked };
        };
        let for_memory = memory_gib.in_units_of(each).unwrap_or(asked.vcpu);
        let vcpu = self.vcpu.holding(asked.vcpu.max(for_memory));
        // What cannot be multiplied is beyond every maximum, and refused by it.
        let memory_gib = vcpu.times(each).map_or(memory_gib, |whole| whole.max(memory_gib));
        Shape { vcpu, memory_gib, ..asked }
    }

    /// The asked size cut down to the largest that is sold.
    pub fn capped(&self, asked: Shape) -> Shape {
        Shape {
            vcpu: self.vcpu.capped(asked.vcpu),
            memory_gib: self.memory_gib.capped(asked.memory_gib),
            disk_gib: self.disk_gib_max.map_or(asked.disk_gib, |max| asked.disk_gib.min(max)),
        }
    }

    /// Why a size is not sold: it is larger than the largest known one.
    pub fn refusal(&self, variant: &str, shape: Shape) -> Option<String> {
        let over = |asked: Quantity, max: Option<Quantity>, unit: &str| {
            max.filter(|max| asked > *max)
                .map(|max| format!("{variant} has at most {max} {unit} for each sandbox"))
        };
        over(shape.vcpu, self.vcpu.max, "vCPU")
            .or_else(|| over(shape.memory_gib, self.memory_gib.max, "GiB of memory"))
            .or_else(|| over(shape.disk_gib, self.disk_gib_max, "GiB of disk"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantity(text: &str) -> Quantity {
        Quantity::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn span(min: &str, max: &str, step: &str) -> Span {
        let read = |text: &str| (!text.is_empty()).then(|| quantity(text));
        Span { min: read(min), max: read(max), step: read(step) }
    }

    fn shape(vcpu: &str, memory_gib: &str) -> Shape {
        Shape { vcpu: quantity(vcpu), memory_gib: quantity(memory_gib), disk_gib: Quantity::ZERO }
    }

    fn rules(vcpu: Span, memory_gib: Span, each: &str) -> SizeRules {
        SizeRules {
            vcpu,
            memory_gib,
            disk_gib_max: None,
            memory_gib_per_vcpu: (!each.is_empty()).then(|| quantity(each)),
            sizing: None,
        }
    }

    #[test]
    fn a_size_below_the_least_or_between_steps_is_sold_as_the_next() {
        let whole = rules(span("1", "", "1"), span("0.125", "", ""), "");
        assert_eq!(whole.smallest_holding(shape("0.25", "0.1")), shape("1", "0.125"));
        assert_eq!(whole.smallest_holding(shape("1.5", "3")), shape("2", "3"));
        assert_eq!(whole.smallest_holding(shape("2", "0")), shape("2", "0"));
    }

    #[test]
    fn memory_that_comes_with_each_processor_decides_both() {
        let pairs = rules(span("", "", ""), span("", "", ""), "2");
        assert_eq!(pairs.smallest_holding(shape("1", "1")), shape("1", "2"));
        assert_eq!(pairs.smallest_holding(shape("1", "4")), shape("2", "4"));
        assert_eq!(pairs.smallest_holding(shape("4", "2")), shape("4", "8"));
    }

    #[test]
    fn rules_that_are_not_known_change_nothing() {
        let open = rules(span("", "", ""), span("", "", ""), "");
        assert_eq!(open.smallest_holding(shape("0.3", "7.77")), shape("0.3", "7.77"));
        assert_eq!(open.refusal("it", shape("1000", "1000")), None);
    }

    #[test]
    fn a_size_that_grows_beyond_the_largest_is_refused() {
        let small = rules(span("", "4", ""), span("", "8", ""), "2");
        let grown = small.smallest_holding(shape("5", "1"));
        assert!(small.refusal("it", grown).is_some_and(|why| why.contains("at most 4 vCPU")));
        assert_eq!(small.capped(shape("5", "9")), shape("4", "8"));
    }
}
