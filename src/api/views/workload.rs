//! A month's bills as JSON.

use serde::Serialize;
use utoipa::ToSchema;

use super::EstimateView;
use crate::calculator::explanation::explain;
use crate::calculator::league::Entry;
use crate::calculator::workload::Workload;

/// What a workload costs in a month at one provider.
#[derive(Debug, Serialize, ToSchema)]
pub struct WorkloadView {
    /// The provider.
    pub slug: String,
    /// Its name on pages.
    pub name: String,
    /// The variant that a plain create call gives.
    pub variant: String,
    /// `list` or `routed`: which of them the figures are.
    pub price: &'static str,
    /// Its place among exact list totals (`direct`), or routed ones where those are asked for, from 1; null where it is not
    /// ranked.
    pub rank: Option<usize>,
    /// The cheapest plan that is enough; null where none is known to be.
    pub plan: Option<String>,
    /// Runs of a month of 30 days.
    pub runs: u64,
    /// Seconds that a run is billed for, after step and minimum, decimal; null where nothing is billed by time.
    pub billed_seconds: Option<String>,
    /// One run, with the multiplications that make it.
    pub run: EstimateView,
    /// All runs.
    pub usage: EstimateView,
    /// Paused sandboxes; null where none are asked about.
    pub paused: Option<EstimateView>,
    /// The plan's fee, or what is missing to its smallest bill, decimal; null where that is not known.
    pub plan_fee_usd: Option<String>,
    /// Credit for a new customer, once, decimal; not taken off.
    pub credit_one_time_usd: Option<String>,
    /// Credit of every month, decimal; not taken off.
    pub credit_per_month_usd: Option<String>,
    /// Prepaid use that unlocks the plan, decimal: cash, not cost.
    pub top_up_usd: Option<String>,
    /// All of it.
    pub total: EstimateView,
    /// The same for a thousand runs.
    pub per_thousand_runs: EstimateView,
    /// Where the money goes; the parts add up to the total.
    pub parts: Vec<PartView>,
    /// The total at list price.
    pub direct: EstimateView,
    /// The total through the router; null where it does not reach the provider.
    pub routed: Option<EstimateView>,
    /// What the router adds, decimal.
    pub router_fee_usd: Option<String>,
    /// How the total came about: the shown factors give the shown products.
    pub steps: Vec<StepView>,
    /// What is to be known besides.
    pub remarks: Vec<String>,
}

/// A part of a bill.
#[derive(Debug, Serialize, ToSchema)]
pub struct PartView {
    /// `cpu`, `memory`, `disk`, `sandbox`, `creation`, `rounding`, `paused` or `fee`.
    pub part: &'static str,
    /// Decimal.
    pub usd: String,
}

/// A line of a bill as a multiplication.
#[derive(Debug, Serialize, ToSchema)]
pub struct StepView {
    /// What is paid for.
    pub label: String,
    /// The factors in order; null for a fixed amount.
    pub factors: Option<String>,
    /// The product.
    pub product: String,
}

impl WorkloadView {
    /// The bills of a provider.
    pub fn new(entry: &Entry, workload: &Workload) -> Self {
        let bill = &entry.bill;
        Self {
            slug: entry.offer.slug.clone(),
            name: entry.offer.name.clone(),
            variant: entry.offer.card.variant.clone(),
            price: entry.offer.card.kind.word(),
            rank: entry.rank,
            plan: bill.plan.as_ref().map(|plan| plan.id.clone()),
            runs: workload.runs(),
            billed_seconds: bill.billed_seconds.map(|seconds| seconds.to_string()),
            run: (&bill.run).into(),
            usage: (&bill.usage).into(),
            paused: bill.paused.as_ref().map(EstimateView::from),
            plan_fee_usd: bill.fee.map(|usd| usd.to_string()),
            credit_one_time_usd: bill
                .plan
                .as_ref()
                .and_then(|plan| plan.usd_credit_one_time)
                .or(entry.offer.usd_credit_one_time)
                .map(|usd| usd.to_string()),
            credit_per_month_usd: entry.offer.usd_credit_per_month.map(|usd| usd.to_string()),
            top_up_usd: bill
                .plan
                .as_ref()
                .and_then(|plan| plan.usd_top_up)
                .map(|usd| usd.to_string()),
            total: (&bill.total).into(),
            per_thousand_runs: (&bill.per_thousand_runs).into(),
            parts: bill
                .parts
                .iter()
                .map(|(part, usd)| PartView { part: part.word(), usd: usd.to_string() })
                .collect(),
            direct: (&entry.list).into(),
            routed: entry.routed.as_ref().map(EstimateView::from),
            router_fee_usd: entry.router_fee().map(|usd| usd.to_string()),
            steps: explain(bill, workload)
                .into_iter()
                .map(|step| StepView {
                    label: step.label,
                    factors: step.factors,
                    product: step.product,
                })
                .collect(),
            remarks: bill.remarks.clone(),
        }
    }
}
