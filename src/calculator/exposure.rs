//! What a runaway can cost, and what stops it.

use super::offer::{Offer, Other, PlanOffer, Stop};
use crate::catalog::claim::{Limit, State, Value};
use crate::catalog::shape::{Ask, Estimate, Exactness, Shape, nearest_sold, price};
use crate::catalog::word::Component;
use crate::money::{MoneyError, Quantity, SECONDS_PER_DAY, SECONDS_PER_HOUR, Usd, count};

/// The question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exposure {
    /// The size of each sandbox.
    pub shape: Shape,
    /// How many run away at once.
    pub runaways: u64,
    /// Seconds until somebody notices.
    pub noticed_after_seconds: u64,
    /// Seconds of the caller's wall-clock limit; `None` for none.
    pub timeout_seconds: Option<u64>,
    /// How often a task is tried: retries upstream multiply.
    pub attempts: u64,
}

impl Default for Exposure {
    /// A first look: one vCPU with 2 GiB, one runaway, an hour, a timeout of a minute, one attempt.
    fn default() -> Self {
        Self {
            shape: Shape::default(),
            runaways: 1,
            noticed_after_seconds: 3_600,
            timeout_seconds: Some(60),
            attempts: 1,
        }
    }
}

words! {
    /// Which of the three things stops a sandbox that its caller forgot.
    BackstopKind {
        /// The platform's own limit if the caller sends none.
        NothingSent = "nothing_sent", "if you send nothing";
        /// The stop after a while without outside activity.
        IdleStop = "idle_stop", "idle stop";
        /// The longest session of the plan.
        LongestSession = "longest_session", "longest session of the plan";
    }
}

/// What a platform does by itself, and what has been spent by then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backstop {
    /// Which one.
    pub kind: BackstopKind,
    /// Whether it is known, disputed, or has no meaning here.
    pub state: State,
    /// The limit, where one is held.
    pub limit: Option<Limit>,
    /// Address or title of what says so.
    pub source: Option<String>,
    /// Day, month or `undated` of it.
    pub as_of: Option<String>,
    /// The processors' part by then, all runaways that the plan holds; `None` where it cannot be said.
    pub cpu_usd: Option<Usd>,
    /// The whole bill by then.
    pub whole: Option<Estimate>,
}

impl Backstop {
    /// When it acts, in words.
    pub fn when(&self) -> String {
        let when = match (self.limit, self.state) {
            (Some(Limit::Number(seconds)), _) => format!("after {}", seconds.duration()),
            (Some(Limit::Unlimited), _) if self.kind == BackstopKind::NothingSent => {
                "no wall-clock limit".to_owned()
            }
            (Some(Limit::Unlimited), _) => "never".to_owned(),
            (Some(limit), _) => limit.shown(),
            (None, State::NotApplicable) => "not applicable".to_owned(),
            (None, _) => "not known".to_owned(),
        };
        if self.state == State::Disputed { format!("{when}, disputed") } else { when }
    }

    /// Seconds until it acts; `None` where it never does or is not known.
    pub fn seconds(&self) -> Option<Quantity> {
        self.limit.and_then(Limit::number)
    }
}

/// What a runaway costs at one provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exposed {
    /// How many sandboxes of the shape the plan holds at once, and what caps them; `None` where nothing does that we
    /// know of.
    pub capacity: Option<(u64, &'static str)>,
    /// How many of the runaways those are.
    pub runaways_held: u64,
    /// The plan that was reckoned with, where one is known.
    pub plan: Option<String>,
    /// One sandbox for a second, an hour and a day: processors only.
    pub cpu_rates: [Estimate; 3],
    /// One sandbox for a second, an hour and a day: the whole bill.
    pub whole_rates: [Estimate; 3],
    /// Until noticed, if nothing stops them: processors only, all that were asked about.
    pub cpu_until_noticed: Estimate,
    /// The same, whole bill.
    pub whole_until_noticed: Estimate,
    /// With the timeout, never more than without: processors only. `None` where there is no timeout.
    pub cpu_with_timeout: Option<Estimate>,
    /// The same, whole bill.
    pub whole_with_timeout: Option<Estimate>,
    /// What the timeout saves, processors only.
    pub cpu_saved: Option<Estimate>,
    /// What the timeout saves, whole bill.
    pub whole_saved: Option<Estimate>,
    /// The three backstops.
    pub backstops: [Backstop; 3],
    /// Hours that agents stand still until somebody notices, all together.
    pub agent_hours_blocked: Quantity,
    /// Seconds that they stand still with the timeout, all together; `None` where there is none.
    pub agent_seconds_with_timeout: Option<Quantity>,
    /// Sandboxes that are started for the runaways' tasks, retries included.
    pub runs_with_retries: u64,
    /// The nearest size that is sold, with its whole bill of an hour, where the asked one is not.
    pub nearest_sold: Option<(Shape, Estimate)>,
    /// What the provider sells besides its default.
    pub other_variants: Vec<OtherVariant>,
}

/// One sandbox of another variant for an hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherVariant {
    /// The variant's name within the file.
    pub id: String,
    /// Its name in tables of data.
    pub key: String,
    /// Its name in tables on pages.
    pub label: String,
    /// How one gets it.
    pub asked_by: String,
    /// The whole bill of an hour.
    pub hour: Estimate,
}

/// A figure of an exposure: processors only, and the whole bill.
pub struct Line<'a> {
    /// Its name in tables of data.
    pub key: &'a str,
    /// Its name on pages.
    pub label: &'a str,
    /// Processors only; `None` where there is no such figure.
    pub cpu: Option<&'a Estimate>,
    /// The whole bill.
    pub whole: Option<&'a Estimate>,
}

impl Line<'_> {
    /// What stands where there is no figure.
    pub fn none(&self) -> &'static str {
        if self.whole.is_some() { "–" } else { "no timeout" }
    }
}

impl Exposed {
    /// Hours that agents stand still with the timeout, all together; `None` where there is none.
    pub fn agent_hours_with_timeout(&self) -> Option<Quantity> {
        self.agent_seconds_with_timeout.map(|seconds| seconds.divided_by(SECONDS_PER_HOUR))
    }

    /// What really hurts, which is not money, in a sentence.
    pub fn beside_money(&self, ask: &Exposure) -> String {
        let with = self.agent_seconds_with_timeout.map_or_else(String::new, |seconds| {
            format!(" ({} with the timeout)", seconds.duration())
        });
        let slots = self.capacity.map_or_else(
            || count(ask.runaways),
            |(most, cap)| format!("{} of {} ({cap})", count(self.runaways_held), count(most)),
        );
        format!(
            "Agent-hours blocked: {}{with}. Slots taken: {slots}. Sandboxes started, retries included: {}.",
            self.agent_hours_blocked,
            count(self.runs_with_retries)
        )
    }

    /// The figures in the order of the page, without what the platform does by itself.
    pub fn lines(&self) -> Vec<Line<'_>> {
        fn line<'a>(
            key: &'a str,
            label: &'a str,
            cpu: &'a Estimate,
            whole: &'a Estimate,
        ) -> Line<'a> {
            Line { key, label, cpu: Some(cpu), whole: Some(whole) }
        }
        let [second, hour, day] = &self.cpu_rates;
        let [whole_second, whole_hour, whole_day] = &self.whole_rates;
        let others = self.other_variants.iter().map(|other| Line {
            key: &other.key,
            label: &other.label,
            cpu: None,
            whole: Some(&other.hour),
        });
        let mut lines = vec![
            line("second", "One, a second", second, whole_second),
            line("hour", "One, an hour", hour, whole_hour),
            line("day", "One, a day", day, whole_day),
        ];
        lines.extend(others);
        lines.push(line(
            "until_noticed",
            "Until noticed, if nothing stops them",
            &self.cpu_until_noticed,
            &self.whole_until_noticed,
        ));
        let (cpu, whole) = (self.cpu_with_timeout.as_ref(), self.whole_with_timeout.as_ref());
        lines.push(Line { key: "with_timeout", label: "With the timeout", cpu, whole });
        let (cpu, whole) = (self.cpu_saved.as_ref(), self.whole_saved.as_ref());
        lines.push(Line { key: "saved", label: "Saved by it", cpu, whole });
        lines
    }
}

/// What one sandbox costs for some seconds: all of it, or its processors.
type Bill<'a> = &'a dyn Fn(Quantity) -> Estimate;

/// What the runaways cost under an offer and a plan of it.
pub fn expose(
    offer: &Offer,
    plan: Option<&PlanOffer>,
    ask: &Exposure,
) -> Result<Exposed, MoneyError> {
    let of = |shape: Shape, seconds: Quantity| {
        let plan = plan.map(|plan| plan.id.as_str());
        price(&offer.card, &Ask { plan, ..Ask::plain(shape, seconds) })
    };
    let whole = |seconds: Quantity| of(ask.shape, seconds);
    // Where a sandbox is sold as one, its processors have no price of their own.
    let as_one = offer.card.row(Component::Sandbox).is_some();
    // Memory can bring processors with it.
    let sold = offer.card.sold_shape(ask.shape);
    let cpu_only = Shape { memory_gib: Quantity::ZERO, disk_gib: Quantity::ZERO, ..sold };
    let cpu = |seconds: Quantity| {
        if as_one {
            Estimate::unpriced("processors are sold together with memory")
        } else {
            of(cpu_only, seconds)
        }
    };
    let capacity = plan.and_then(|plan| plan.cap(&sold));
    let held = capacity.map_or(ask.runaways, |(most, _)| most.min(ask.runaways));
    // Where sources disagree about what the plan holds, so does what all of them cost.
    let disputed = plan.map_or_else(Vec::new, |plan| plan.disputed_for(&sold, ask.runaways));
    let ends = plan.map_or((held, held), |plan| plan.held_of(&sold, ask.runaways));
    let noticed = Quantity::from(ask.noticed_after_seconds);
    let [hour, day] =
        [SECONDS_PER_HOUR, SECONDS_PER_DAY].map(|seconds| Quantity::from(u64::from(seconds)));
    let nearest = match whole(hour).exactness {
        Exactness::Unpriced => nearest_sold(&offer.card, ask.shape),
        Exactness::Exact | Exactness::Depends => None,
    };
    let nearest = nearest.map(|shape| (shape, of(shape, hour)));
    // A rate is that of an hour: a second alone would be the bill of a run that short, with its step and minimum.
    let rates = |bill: Bill<'_>| -> Result<[Estimate; 3], MoneyError> {
        let of_hour = bill(hour);
        Ok([of_hour.clone().part(Quantity::ONE, SECONDS_PER_HOUR.into())?, of_hour, bill(day)])
    };
    let cpu_until_noticed = cpu(noticed).times(ask.runaways)?;
    let whole_until_noticed = whole(noticed).times(ask.runaways)?;
    // A plan that does not say lets a session last at most as long as the most generous one: nothing to reckon with.
    let session = match plan {
        Some(plan)
            if offer.plans.iter().any(|plan| plan.longest_session_seconds.limit.is_some()) =>
        {
            &plan.longest_session_seconds
        }
        _ => &offer.longest_session_seconds,
    };
    let with_timeout =
        |bill: Bill<'_>, without: &Estimate| -> Result<Option<Estimate>, MoneyError> {
            let Some(timeout) = ask.timeout_seconds else { return Ok(None) };
            let seconds = Quantity::from(timeout);
            let seconds = session.seconds().map_or(seconds, |longest| seconds.min(longest));
            let limited = bill(seconds).times(ask.runaways * ask.attempts)?;
            Ok(Some(limited.at_most(without)))
        };
    let cpu_with_timeout = with_timeout(&cpu, &cpu_until_noticed)?;
    let whole_with_timeout = with_timeout(&whole, &whole_until_noticed)?;
    let saved = |with: Option<&Estimate>, without: &Estimate| with.map(|with| without.less(with));
    let backstop = |kind: BackstopKind, stop: &Stop| -> Result<Backstop, MoneyError> {
        let seconds = stop.seconds();
        // What never acts costs until somebody notices; what has no meaning or is not known costs nothing sayable.
        let until = match seconds {
            Some(seconds) => Some(seconds.min(noticed)),
            None => stop.never().then_some(noticed),
        };
        let spent = |bill: Bill<'_>| until.map(|until| bill(until).times(held)).transpose();
        Ok(Backstop {
            kind,
            state: stop.state,
            limit: stop.limit,
            source: stop.source.clone(),
            as_of: stop.as_of.clone(),
            cpu_usd: spent(&cpu)?.and_then(|sum| sum.usd),
            whole: until
                .map(|until| whole(until).times_between(held, ends, &disputed))
                .transpose()?,
        })
    };
    Ok(Exposed {
        capacity,
        runaways_held: held,
        plan: plan.map(|plan| plan.id.clone()),
        cpu_rates: rates(&cpu)?,
        whole_rates: rates(&whole)?,
        cpu_saved: saved(cpu_with_timeout.as_ref(), &cpu_until_noticed),
        whole_saved: saved(whole_with_timeout.as_ref(), &whole_until_noticed),
        cpu_until_noticed,
        whole_until_noticed,
        cpu_with_timeout,
        whole_with_timeout,
        backstops: [
            backstop(BackstopKind::NothingSent, &offer.wall_clock_seconds)?,
            backstop(BackstopKind::IdleStop, &offer.idle_stop_seconds)?,
            backstop(BackstopKind::LongestSession, session)?,
        ],
        agent_seconds_with_timeout: ask
            .timeout_seconds
            .map(|timeout| {
                let until = timeout.saturating_mul(ask.attempts).min(ask.noticed_after_seconds);
                Quantity::from(until).times(Quantity::from(ask.runaways))
            })
            .transpose()?,
        runs_with_retries: ask.runaways * ask.attempts,
        nearest_sold: nearest,
        other_variants: offer.others.iter().map(|other| variant(other, ask.shape, hour)).collect(),
        agent_hours_blocked: noticed
            .times(Quantity::from(ask.runaways))?
            .divided_by(SECONDS_PER_HOUR),
    })
}

fn variant(other: &Other, shape: Shape, hour: Quantity) -> OtherVariant {
    OtherVariant {
        id: other.id.clone(),
        key: format!("variant.{}.hour", other.id),
        label: format!("One of {}, an hour", other.card.variant),
        asked_by: other.asked_by.clone(),
        hour: price(&other.card, &Ask::plain(shape, hour)),
    }
}
