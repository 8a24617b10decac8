//! Figures as the shapes of a picture: pure, so that server and browser draw the same. What stands in a picture also
//! stands in words or in a table beside it.

use jiff::civil::Date;

use crate::money::Usd;

/// Width of a picture in its own units; it is stretched to the place that it has.
pub const WIDTH: f64 = 1_000.0;
/// Height of a line of steps.
pub const STEPS_HEIGHT: f64 = 40.0;
/// What stays free above and below a line of steps, so that its stroke is not cut.
const STEPS_EDGE: f64 = 4.0;

/// A part of a bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// Where it begins.
    pub x: f64,
    /// How long it is.
    pub width: f64,
}

/// Parts of a whole, one behind the other, over the width of the picture.
pub fn bar(parts: &[u32]) -> Vec<Segment> {
    let total: f64 = parts.iter().copied().map(f64::from).sum();
    let scale = if total > 0.0 { WIDTH / total } else { 0.0 };
    let mut x = 0.0;
    parts
        .iter()
        .map(|part| {
            let width = f64::from(*part) * scale;
            let segment = Segment { x, width };
            x += width;
            segment
        })
        .collect()
}

/// A price that has held since a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The day.
    pub since: Date,
    /// The amount.
    pub usd: Usd,
}

/// A price over time as the path of an SVG: from its first day to the last of the picture, higher for more. `None` where
/// nothing has begun.
pub fn steps(steps: &[Step], first: Date, last: Date) -> Option<String> {
    let days = |day: Date| f64::from(day.since(first).map_or(0, |span| span.get_days()));
    let whole = days(last).max(1.0);
    let x = |day: Date| (days(day) / whole).clamp(0.0, 1.0) * WIDTH;
    let amount = |step: &Step| step.usd.to_string().parse::<f64>().unwrap_or(0.0);
    let most = steps.iter().map(amount).fold(0.0, f64::max);
    let y = |step: &Step| {
        let share = if most > 0.0 { amount(step) / most } else { 0.0 };
        // A price that halves is seen to halve: the foot of the picture is zero.
        STEPS_HEIGHT - STEPS_EDGE - share * (STEPS_HEIGHT - 2.0 * STEPS_EDGE)
    };
    let begun = || steps.iter().filter(|step| step.since <= last);
    let start = begun().next()?;
    let mut path = format!("M{:.1} {:.1}", x(start.since), y(start));
    for step in begun().skip(1) {
        let (x, y) = (x(step.since), y(step));
        path = format!("{path}H{x:.1}V{y:.1}");
    }
    Some(format!("{path}H{WIDTH:.1}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(day: &str, usd: &str) -> Step {
        Step { since: day.parse().unwrap(), usd: Usd::parse(usd).unwrap() }
    }

    #[test]
    fn a_bar_has_the_length_of_its_parts() {
        let segment = |x, width| Segment { x, width };
        assert_eq!(
            bar(&[1, 0, 3]),
            [segment(0.0, 250.0), segment(250.0, 0.0), segment(250.0, 750.0)]
        );
        assert_eq!(bar(&[0, 0]), [segment(0.0, 0.0), segment(0.0, 0.0)]);
    }

    #[test]
    fn a_price_that_halves_steps_down_on_its_day() {
        let (first, last) = ("2026-01-01".parse().unwrap(), "2026-01-11".parse().unwrap());
        let path = steps(&[step("2026-01-01", "0.2"), step("2026-01-06", "0.1")], first, last);
        assert_eq!(path.as_deref(), Some("M0.0 4.0H500.0V20.0H1000.0"));
        assert_eq!(steps(&[step("2026-02-01", "0.2")], first, last), None);
        assert_eq!(steps(&[], first, last), None);
    }
}
