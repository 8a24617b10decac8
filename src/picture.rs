//! Figures as the shapes of a picture, in whole units: pure, so that server and browser draw the same. What stands in a
//! picture also stands in words or in a table beside it.

use jiff::civil::Date;

use crate::money::Usd;

/// Width of a picture in its own units; it is stretched to the place that it has.
pub const WIDTH: u32 = 1_000;
/// Height of a line of steps.
pub const STEPS_HEIGHT: u32 = 40;
/// Width of a curve: less than that of a bar, so that its words are readable on a small screen.
pub const CURVE_WIDTH: u32 = 600;
/// Height of a curve.
pub const CURVE_HEIGHT: u32 = 200;
/// Height of the scale below a curve.
pub const SCALE_HEIGHT: u32 = 28;
/// Steps in which shares of an amount are counted: finer than a picture shows.
const SHARES: u32 = 1_000_000;
/// What stays free at the edges of a line, so that its stroke is not cut.
const EDGE: u32 = 4;

/// A part of a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Where it begins.
    pub x: u32,
    /// How long it is.
    pub width: u32,
}

/// Parts of a whole, one behind the other, over the width of the picture.
pub fn bar(parts: &[u32]) -> Vec<Segment> {
    let whole: u64 = parts.iter().copied().map(u64::from).sum();
    let mut before = 0;
    let mut x = 0;
    parts
        .iter()
        .map(|part| {
            before += u64::from(*part);
            let end = along(before, whole, WIDTH);
            let segment = Segment { x, width: end - x };
            x = end;
            segment
        })
        .collect()
}

/// The same for amounts.
pub fn bar_of(parts: &[Usd]) -> Vec<Segment> {
    let whole = parts.iter().fold(Usd::ZERO, |sum, part| sum.plus(*part).unwrap_or(sum));
    let shares: Vec<u32> = parts.iter().map(|part| part.share_of(whole, SHARES)).collect();
    bar(&shares)
}

/// A price that has held since a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The day.
    pub since: Date,
    /// The amount.
    pub usd: Usd,
}

/// How far `part` is along `whole`, in steps of which the whole has `steps`.
fn along(part: u64, whole: u64, steps: u32) -> u32 {
    let place = part.min(whole).saturating_mul(u64::from(steps)) / whole.max(1);
    u32::try_from(place).unwrap_or(steps)
}

/// How high an amount stands in a picture whose highest is `most`: the foot of the picture is zero, so that what halves is
/// seen to halve.
fn height(usd: Usd, most: Usd, of: u32) -> u32 {
    of - EDGE - usd.share_of(most, of - 2 * EDGE)
}

/// A price over time as the path of an SVG: from its first day to the last of the picture, higher for more. `None` where
/// nothing has begun.
pub fn steps(steps: &[Step], first: Date, last: Date) -> Option<String> {
    let days =
        |day: Date| day.since(first).map_or(0, |span| u64::try_from(span.get_days()).unwrap_or(0));
    let x = |day: Date| along(days(day), days(last), WIDTH);
    let most = steps.iter().map(|step| step.usd).max()?;
    let y = |step: &Step| height(step.usd, most, STEPS_HEIGHT);
    let begun = || steps.iter().filter(|step| step.since <= last);
    let start = begun().next()?;
    let mut path = format!("M{} {}", x(start.since), y(start));
    for step in begun().skip(1) {
        path = format!("{path}H{}V{}", x(step.since), y(step));
    }
    Some(format!("{path}H{WIDTH}"))
}

/// What a runaway costs over time: the lines, and where something happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Curve {
    /// Without a timeout, from nothing to the cost when somebody notices.
    pub without: String,
    /// With it: rising until the last attempt ends, then level. `None` where there is no timeout.
    pub with: Option<String>,
    /// How far along each mark stands, in units of the picture; those that lie beyond it are left out.
    pub marks: Vec<(String, u32)>,
}

/// A cost that rises to `usd` until `seconds` and then stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rise {
    /// The cost.
    pub usd: Usd,
    /// Seconds until it is reached.
    pub seconds: u64,
}

/// Draws the cost over the seconds until somebody notices. Marks are named instants in seconds.
pub fn curve(without: Rise, with: Option<Rise>, marks: &[(String, u64)]) -> Curve {
    let whole = without.seconds;
    let foot = CURVE_HEIGHT - EDGE;
    let line = |rise: Rise| {
        let x = along(rise.seconds, whole, CURVE_WIDTH);
        let y = height(rise.usd, without.usd, CURVE_HEIGHT);
        format!("M0 {foot}L{x} {y}H{CURVE_WIDTH}")
    };
    let inside = marks.iter().filter(|(_, seconds)| *seconds <= whole);
    Curve {
        without: line(without),
        with: with.map(line),
        marks: inside
            .map(|(name, seconds)| (name.clone(), along(*seconds, whole, CURVE_WIDTH)))
            .collect(),
    }
}

/// What is seen of the shortest part of an attempt.
const SHORTEST: u32 = 12;

/// An attempt in time, milliseconds: from when on, and how long each part took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// From the beginning of the run until it began.
    pub at_ms: u64,
    /// Until its sandbox was there, or nobody waited any longer.
    pub start_ms: u64,
    /// Until its code had ended; `None` where none was run.
    pub run_ms: Option<u64>,
    /// Until its sandbox was gone; `None` where there was none, or where it is still there.
    pub teardown_ms: Option<u64>,
}

/// Attempts under one another along one time: start, code and teardown of each. What happened is seen however short it was.
pub fn timeline(spans: &[Span]) -> Vec<[Option<Segment>; 3]> {
    let parts = |span: &Span| [Some(span.start_ms), span.run_ms, span.teardown_ms];
    let length = |span: &Span| parts(span).into_iter().flatten().sum::<u64>();
    let whole = spans.iter().map(|span| span.at_ms + length(span)).max().unwrap_or_default();
    let drawn = |span: &Span| {
        let (mut from, mut x) = (span.at_ms, along(span.at_ms, whole, WIDTH - 3 * SHORTEST));
        let mut left = u32::try_from(parts(span).into_iter().flatten().count()).unwrap_or_default();
        parts(span).map(|part| {
            let part = part?;
            left -= 1;
            // Those that follow are seen too.
            let end = along(from + part, whole, WIDTH).min(WIDTH - left * SHORTEST);
            let segment = Segment { x, width: end.saturating_sub(x).max(SHORTEST) };
            (from, x) = (from + part, segment.x + segment.width);
            Some(segment)
        })
    };
    spans.iter().map(drawn).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd(text: &str) -> Usd {
        Usd::parse(text).unwrap()
    }

    fn step(day: &str, text: &str) -> Step {
        Step { since: day.parse().unwrap(), usd: usd(text) }
    }

    #[test]
    fn a_bar_has_the_length_of_its_parts() {
        let segment = |x, width| Segment { x, width };
        assert_eq!(bar(&[1, 0, 3]), [segment(0, 250), segment(250, 0), segment(250, 750)]);
        assert_eq!(bar(&[0, 0]), [segment(0, 0), segment(0, 0)]);
        let parts = ["0.1", "0", "0.3"].map(usd);
        assert_eq!(bar_of(&parts), bar(&[1, 0, 3]));
        // Thirds leave no gap and never exceed the width.
        let thirds = bar_of(&["1", "1", "1"].map(usd));
        assert_eq!(thirds.iter().map(|one| one.width).sum::<u32>(), WIDTH);
    }

    #[test]
    fn a_price_that_halves_steps_down_on_its_day() {
        let (first, last) = ("2026-01-01".parse().unwrap(), "2026-01-11".parse().unwrap());
        let path = steps(&[step("2026-01-01", "0.2"), step("2026-01-06", "0.1")], first, last);
        assert_eq!(path.as_deref(), Some("M0 4H500V20H1000"));
        assert_eq!(steps(&[step("2026-02-01", "0.2")], first, last), None);
        assert_eq!(steps(&[], first, last), None);
    }

    #[test]
    fn attempts_stand_one_after_the_other_and_the_shortest_is_seen() {
        let segment = |x, width| Some(Segment { x, width });
        let first = Span { start_ms: 500, ..Span::default() };
        let then = Span { at_ms: 500, start_ms: 0, run_ms: Some(400), teardown_ms: Some(100) };
        let drawn = timeline(&[first, then]);
        assert_eq!(drawn[0], [segment(0, 500), None, None]);
        let [start, run, teardown] = drawn[1].map(|part| part.unwrap());
        assert!((SHORTEST..2 * SHORTEST).contains(&start.width), "{start:?}");
        assert_eq!((run.x, run.x + run.width), (start.x + start.width, 900));
        assert_eq!((teardown.x, teardown.width), (900, 100));
        let all_at_once = [Span { run_ms: Some(0), teardown_ms: Some(0), ..Span::default() }];
        for part in timeline(&all_at_once)[0].into_iter().flatten() {
            assert!(part.width >= SHORTEST && part.x + part.width <= WIDTH);
        }
        let late =
            [first, Span { at_ms: 500, run_ms: Some(0), teardown_ms: Some(0), ..Span::default() }];
        let last = timeline(&late)[1][2].unwrap();
        assert!(last.x + last.width <= WIDTH);
    }

    #[test]
    fn a_timeout_ends_the_rise() {
        let without = Rise { usd: usd("0.06"), seconds: 3_600 };
        let with = Some(Rise { usd: usd("0.03"), seconds: 1_800 });
        let marks = [("timeout".to_owned(), 900), ("session".to_owned(), 86_400)];
        let curve = curve(without, with, &marks);
        assert_eq!(curve.without, "M0 196L600 4H600");
        assert_eq!(curve.with.as_deref(), Some("M0 196L300 100H600"));
        assert_eq!(curve.marks, [("timeout".to_owned(), 150)]);
    }
}
