//! What a steady workload costs in a month: use after billing steps, the plan that it takes, and where the money goes.

use super::offer::{Offer, PlanOffer};
use crate::catalog::card::CardRow;
use crate::catalog::claim::Paused;
use crate::catalog::shape::{Ask, Estimate, Line, Shape, price};
use crate::catalog::word::Component;
use crate::money::{Measured, MoneyError, Quantity, SECONDS_PER_DAY, SECONDS_PER_HOUR, Usd, count};

/// Days of a billing month.
pub const DAYS_PER_MONTH: u64 = 30;
/// Runs of the figure by which workloads are compared.
const THOUSAND: u64 = 1_000;
/// Sandboxes at once for each that is created in a second, where nothing else is said.
const PEAK_PER_CREATE: u32 = 10;

/// The question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workload {
    /// The size of each sandbox.
    pub shape: Shape,
    /// Sandboxes a day.
    pub runs_per_day: u64,
    /// How long each lives, seconds: lifetime, not code time.
    pub seconds_per_run: Quantity,
    /// Sandboxes at once, at most.
    pub peak_concurrency: u64,
    /// Sandboxes created in a second, at most. Where it is left out a tenth of the peak is told, and decides nothing: a
    /// slower plan only takes longer to fill.
    pub creates_per_second: Option<Quantity>,
    /// Processor time used, per cent; matters only where active time is billed.
    pub utilisation_percent: Quantity,
    /// Hours that sandboxes are kept paused or stopped in a month, all together.
    pub paused_hours: Quantity,
}

impl Default for Workload {
    /// The one that comparisons show: 10,000 runs a day of 8 s on 1 vCPU and 1 GiB, 20 at once at most.
    fn default() -> Self {
        Self {
            shape: Shape {
                vcpu: Quantity::ONE,
                memory_gib: Quantity::ONE,
                disk_gib: Quantity::ZERO,
            },
            runs_per_day: 10_000,
            seconds_per_run: Quantity::from(8),
            peak_concurrency: 20,
            creates_per_second: None,
            utilisation_percent: Quantity::from(100),
            paused_hours: Quantity::ZERO,
        }
    }
}

impl Workload {
    /// Sandboxes in a month of [`DAYS_PER_MONTH`] days.
    pub fn runs(&self) -> u64 {
        self.runs_per_day.saturating_mul(DAYS_PER_MONTH)
    }

    /// The workload in a sentence.
    pub fn label(&self) -> String {
        let paused = if self.paused_hours.is_zero() {
            String::new()
        } else {
            format!(", {} sandbox-hours paused a month", self.paused_hours)
        };
        format!(
            "{} runs a day of {} each on {}, {} at once at most, {} % of the processors' time used{paused}; a month is \
             {DAYS_PER_MONTH} days.",
            count(self.runs_per_day),
            self.seconds_per_run.duration(),
            self.shape.label(),
            count(self.peak_concurrency),
            self.utilisation_percent
        )
    }

    /// Sandboxes at once that a plan has to hold: the peak, or what the runs of a day make on average if that is more.
    pub fn at_once(&self) -> u64 {
        let seconds = self.seconds_per_run.times(Quantity::from(self.runs_per_day));
        let average = seconds.map_or(u64::MAX, |seconds| {
            seconds
                .rounded_up_to(Quantity::from(u64::from(SECONDS_PER_DAY)))
                .divided_by(SECONDS_PER_DAY)
                .whole()
        });
        self.peak_concurrency.max(average)
    }

    /// Sandboxes that are created in a second on average.
    fn average_creates(&self) -> Quantity {
        Quantity::from(self.runs_per_day).divided_by(SECONDS_PER_DAY)
    }

    /// Sandboxes created in a second: as named, else a tenth of the peak.
    pub fn creates(&self) -> Quantity {
        let tenth = Quantity::from(self.peak_concurrency).divided_by(PEAK_PER_CREATE);
        self.creates_per_second.unwrap_or(tenth)
    }
}

words! {
    /// Where the money goes.
    Part {
        /// Processors.
        Cpu = "cpu", "CPU";
        /// Memory.
        Memory = "memory", "memory";
        /// Disk of running sandboxes.
        Disk = "disk", "disk";
        /// Sandboxes that are sold as one.
        Sandbox = "sandbox", "sandbox";
        /// Creations.
        Creation = "creation", "creation";
        /// Time that is billed but was not asked for: steps and minimum charges.
        Rounding = "rounding", "rounding loss";
        /// Sandboxes while they are paused.
        Paused = "paused", "paused";
        /// The plan's fee, or what is missing to its smallest bill.
        Fee = "fee", "plan fee";
    }
}

/// Every part, in the order of pictures and tables.
pub const PARTS: [Part; 8] = [
    Part::Cpu,
    Part::Memory,
    Part::Disk,
    Part::Sandbox,
    Part::Creation,
    Part::Rounding,
    Part::Paused,
    Part::Fee,
];

/// A month's bill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonthlyBill {
    /// The cheapest plan that allows peak, session and, where it was named, create rate; `None` where none is known to.
    pub plan: Option<PlanOffer>,
    /// One run: what it costs, and by which multiplications.
    pub run: Estimate,
    /// Seconds that a run is billed for, after step and minimum; `None` where nothing is billed by time.
    pub billed_seconds: Option<Quantity>,
    /// What all runs cost.
    pub usage: Estimate,
    /// What paused sandboxes cost; `None` where none are asked about.
    pub paused: Option<Estimate>,
    /// The plan's fee, or what is missing to its smallest bill; `None` where that is not known.
    pub fee: Option<Usd>,
    /// All of it. Unpriced where no plan is enough.
    pub total: Estimate,
    /// The same for a thousand runs.
    pub per_thousand_runs: Estimate,
    /// Where the money goes; the parts add up to the total's figure. Empty where there is none.
    pub parts: Vec<(Part, Usd)>,
    /// What is to be known besides: create rates, credits.
    pub remarks: Vec<String>,
}

/// What a workload costs in a month of [`DAYS_PER_MONTH`] days, on the cheapest plan that is enough for it.
pub fn monthly_bill(offer: &Offer, workload: &Workload) -> Result<MonthlyBill, MoneyError> {
    let plan = offer.cheapest(&workload.shape, |plan| shortfall(offer, plan, workload).is_none());
    let sold = offer.card.sold_shape(workload.shape);
    let plan_id = plan.map(|plan| plan.id.as_str());
    let ask = |shape: Shape, seconds: Quantity| Ask {
        plan: plan_id,
        utilisation_percent: workload.utilisation_percent,
        ..Ask::plain(shape, seconds)
    };
    let run = price(&offer.card, &ask(workload.shape, workload.seconds_per_run));
    let usage = run.clone().times(workload.runs())?;
    let paused = paused(offer, workload, &ask)?;
    let mut total = usage.clone();
    if let Some(paused) = &paused {
        total = total.and(paused)?;
    }
    let mut fee = None;
    match plan {
        None if offer.plans.is_empty() => {
            total = total.resting_on(&["no plan is known, and so no fee".to_owned()]);
        }
        None => total = Estimate::unpriced(none_is_enough(offer, workload)),
        Some(plan) => {
            let before = total.usd;
            let least = plan.usd_minimum_per_month.unwrap_or(Usd::ZERO);
            let own = plan.usd_fee_per_month.unwrap_or(Usd::ZERO);
            for amount in [&mut total.usd, &mut total.low, &mut total.high].into_iter().flatten() {
                *amount = amount.plus(own)?.max(least);
            }
            let mut because = plan.disputed_for(&sold, workload.at_once());
            if plan.usd_fee_per_month.is_none() && plan.usd_minimum_per_month.is_none() {
                because.push(format!("the fee of {} is not known", plan.name));
            } else {
                fee = total.usd.zip(before).map(|(after, before)| after.less(before)).or(Some(own));
            }
            because.extend(unknowns(offer, plan, workload));
            total = total.resting_on(&because);
        }
    }
    let parts = parts(&run, workload, paused.as_ref(), fee.unwrap_or(Usd::ZERO), &total)?;
    Ok(MonthlyBill {
        billed_seconds: run
            .lines
            .iter()
            .filter(|line| is_by_time(line))
            .map(|line| line.billed_seconds)
            .max(),
        per_thousand_runs: total.clone().part(Quantity::from(THOUSAND), workload.runs())?,
        remarks: remarks(offer, plan, workload),
        plan: plan.cloned(),
        run,
        usage,
        paused,
        fee,
        total,
        parts,
    })
}

fn is_by_time(line: &Line) -> bool {
    line.rate.is_some_and(|rate| rate.per.over.is_some())
}

/// Why a plan is not enough for a workload; `None` where it is, or where nothing says that it is not.
fn shortfall(offer: &Offer, plan: &PlanOffer, workload: &Workload) -> Option<String> {
    if plan.ends_with_allowance {
        return Some(format!("{} ends when its allowance is used", plan.name));
    }
    let sold = offer.card.sold_shape(workload.shape);
    if let Some(most) = plan.max_vcpu.filter(|most| sold.vcpu > *most) {
        return Some(format!("{} has {most} vCPU a sandbox at most", plan.name));
    }
    let capped = plan.cap(&sold).filter(|(most, _)| *most < workload.at_once());
    if let Some((most, cap)) = capped {
        return Some(format!("{} holds {} at once ({cap})", plan.name, count(most)));
    }
    if let Some(longest) = longest(offer, plan).filter(|most| workload.seconds_per_run > *most) {
        return Some(format!("{} ends a session after {}", plan.name, longest.duration()));
    }
    // A burst above the rate only waits; what is more than it all day never catches up.
    let asked = workload.creates_per_second.unwrap_or_else(|| workload.average_creates());
    let most = plan.creates_per_second?;
    (asked > most).then(|| format!("{} creates {most} a second at most", plan.name))
}

/// The longest session of a plan, seconds, where it is a known number.
fn longest(offer: &Offer, plan: &PlanOffer) -> Option<Quantity> {
    plan.longest_session_seconds.seconds().or_else(|| offer.longest_session_seconds.seconds())
}

/// What nobody is known to say of a plan although the workload rests on it.
fn unknowns(offer: &Offer, plan: &PlanOffer, workload: &Workload) -> Vec<String> {
    let cap = plan.unknown_cap(&offer.card.sold_shape(workload.shape)).map(|why| {
        let at_once = count(workload.at_once());
        format!("how many {} holds at once is {why}; {at_once} are assumed to fit", plan.name)
    });
    let never = plan.longest_session_seconds.never() || offer.longest_session_seconds.never();
    let is_long = workload.seconds_per_run > Quantity::from(u64::from(SECONDS_PER_HOUR));
    let session = (is_long && !never && longest(offer, plan).is_none())
        .then(|| format!("how long a session of {} lasts at most is not known", plan.name));
    cap.into_iter().chain(session).collect()
}

fn none_is_enough(offer: &Offer, workload: &Workload) -> String {
    let why: Vec<String> =
        offer.plans.iter().filter_map(|plan| shortfall(offer, plan, workload)).collect();
    if why.is_empty() {
        "no plan sells a disk of that size".to_owned()
    } else {
        format!("no plan is enough: {}", why.join("; "))
    }
}

/// What the paused sandboxes cost.
fn paused<'a>(
    offer: &Offer,
    workload: &Workload,
    ask: &impl Fn(Shape, Quantity) -> Ask<'a>,
) -> Result<Option<Estimate>, MoneyError> {
    if workload.paused_hours.is_zero() {
        return Ok(None);
    }
    let seconds = workload.paused_hours.times(Quantity::from(u64::from(SECONDS_PER_HOUR)))?;
    let disk = Shape { vcpu: Quantity::ZERO, memory_gib: Quantity::ZERO, ..workload.shape };
    Ok(Some(match offer.paused {
        Some(Paused::Nothing) => Estimate::nothing(),
        Some(Paused::Disk) => price(&offer.card, &ask(disk, seconds)),
        Some(Paused::All) => price(&offer.card, &ask(workload.shape, seconds)),
        None => Estimate::unpriced("what a paused sandbox costs is not known"),
    }))
}

/// Where the money goes. What was billed beyond the seconds that were asked for is told apart.
fn parts(
    run: &Estimate,
    workload: &Workload,
    paused: Option<&Estimate>,
    fee: Usd,
    total: &Estimate,
) -> Result<Vec<(Part, Usd)>, MoneyError> {
    if total.usd.is_none() {
        return Ok(Vec::new());
    }
    let runs = Quantity::from(workload.runs());
    let mut sums: Vec<(Part, Usd)> = PARTS.map(|part| (part, Usd::ZERO)).to_vec();
    let mut add = |part: Part, usd: Usd| -> Result<(), MoneyError> {
        for (_, sum) in sums.iter_mut().filter(|(known, _)| *known == part) {
            *sum = sum.plus(usd)?;
        }
        Ok(())
    };
    for line in &run.lines {
        let whole = line.usd.times(runs)?;
        let beyond = line.billed_seconds.less(workload.seconds_per_run);
        let lost =
            if is_by_time(line) { whole.part(beyond, line.billed_seconds)? } else { Usd::ZERO };
        add(Part::from(line.component), whole.less(lost))?;
        add(Part::Rounding, lost)?;
    }
    add(Part::Paused, paused.and_then(|paused| paused.usd).unwrap_or(Usd::ZERO))?;
    add(Part::Fee, fee)?;
    sums.retain(|(_, usd)| !usd.is_zero());
    Ok(sums)
}

impl From<Component> for Part {
    fn from(component: Component) -> Self {
        match component {
            Component::Vcpu => Self::Cpu,
            Component::Memory => Self::Memory,
            Component::Disk => Self::Disk,
            Component::Sandbox => Self::Sandbox,
            Component::Creation => Self::Creation,
        }
    }
}

fn remarks(offer: &Offer, plan: Option<&PlanOffer>, workload: &Workload) -> Vec<String> {
    let mut remarks = Vec::new();
    if workload.at_once() > workload.peak_concurrency {
        remarks.push(format!(
            "so many runs of that length are {} at once on average: the plan is chosen for those",
            count(workload.at_once())
        ));
    }
    let in_gb = |row: &CardRow| row.rate.per.of == Measured::Gb;
    if offer.card.rows.iter().any(in_gb) {
        remarks.push(
            "the vendor's GB is taken for a GiB, since it does not say which it means".to_owned(),
        );
    }
    if let Some(plan) = plan {
        let creates = workload.creates();
        match plan.creates_per_second {
            None => remarks.push(format!("how many {} creates a second is not known", plan.name)),
            Some(most) if most < creates => remarks.push(format!(
                "{} creates {most} a second: it fills more slowly than {creates} a second",
                plan.name
            )),
            Some(_) => {}
        }
        remarks.extend(plan.usd_top_up.filter(|usd| !usd.is_zero()).map(|usd| {
            format!(
                "{} is unlocked by a prepaid top-up of {} (cash, not cost)",
                plan.name,
                usd.brief()
            )
        }));
    }
    let once = plan.and_then(|plan| plan.usd_credit_one_time).or(offer.usd_credit_one_time);
    let credits = [(once, "once"), (offer.usd_credit_per_month, "a month")];
    for (usd, when) in credits {
        let usd = usd.filter(|usd| !usd.is_zero());
        remarks
            .extend(usd.map(|usd| format!("a credit of {} {when} is not taken off", usd.brief())));
    }
    remarks
}

/// The smallest peak at which no plan without a fee is enough any more, and the plan that it takes then.
pub fn fee_bites<'a>(offer: &'a Offer, shape: &Shape) -> Option<(u64, &'a PlanOffer)> {
    let free = offer.plans.iter().filter(|plan| plan.is_free());
    let mut most = 0;
    for plan in free {
        // A plan without a known cap never runs out.
        most = most.max(plan.holds(&offer.card.sold_shape(*shape))?);
    }
    let peak = most.saturating_add(1);
    offer.cheapest_for(shape, peak).filter(|plan| !plan.is_free()).map(|plan| (peak, plan))
}
