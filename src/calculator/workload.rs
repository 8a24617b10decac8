//! What a steady workload costs in a month, with the plan that it takes.

use super::offer::{Offer, PlanOffer};
use crate::catalog::shape::{Ask, Estimate, Shape, price};
use crate::money::{MoneyError, Quantity, Usd};

/// Days of a billing month.
pub const DAYS_PER_MONTH: u64 = 30;

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
        }
    }
}

/// A month's bill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonthlyBill<'a> {
    /// The cheapest plan that holds the peak, where plans are known.
    pub plan: Option<&'a PlanOffer>,
    /// What the sandboxes cost.
    pub usage: Estimate,
    /// Fee and use together, or the plan's smallest bill if that is more. Unpriced where no plan holds the peak.
    pub total: Estimate,
}

/// What a workload costs in a month of [`DAYS_PER_MONTH`] days, on the cheapest plan that holds its peak.
pub fn monthly_bill<'a>(
    offer: &'a Offer,
    workload: &Workload,
) -> Result<MonthlyBill<'a>, MoneyError> {
    let plan = offer.cheapest_for(&workload.shape, workload.peak_concurrency);
    let ask = Ask {
        plan: plan.map(|plan| plan.id.as_str()),
        ..Ask::plain(workload.shape, workload.seconds_per_run)
    };
    let runs = workload.runs_per_day.saturating_mul(DAYS_PER_MONTH);
    let usage = price(&offer.card, &ask).times(runs)?;
    let Some(plan) = plan else {
        let total = if offer.plans.is_empty() {
            usage.clone().resting_on(&["no plan is known, and so no fee".to_owned()])
        } else {
            Estimate::unpriced(format!("no plan holds {} at once", workload.peak_concurrency))
        };
        return Ok(MonthlyBill { plan: None, usage, total });
    };
    let fee = plan.usd_fee_per_month.unwrap_or(Usd::ZERO);
    let minimum = plan.usd_minimum_per_month.unwrap_or(Usd::ZERO);
    let mut total = usage.clone();
    for amount in [&mut total.usd, &mut total.low, &mut total.high].into_iter().flatten() {
        *amount = amount.plus(fee)?.max(minimum);
    }
    let mut because = plan.disputed.clone();
    if plan.usd_fee_per_month.is_none() && plan.usd_minimum_per_month.is_none() {
        because.push(format!("the fee of {} is not known", plan.name));
    }
    Ok(MonthlyBill { plan: Some(plan), usage, total: total.resting_on(&because) })
}
