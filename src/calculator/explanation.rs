//! How a bill came about: each line as the multiplication that made it, whose shown factors give the shown product.

use super::workload::{MonthlyBill, Workload};
use crate::catalog::shape::Line;
use crate::money::{Measured, count};

/// One line of a month's bill: its name, its factors, its product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What is paid for.
    pub label: String,
    /// The factors in order, such as `1 × $0.0504 per vCPU-hour × 8 s ÷ 3,600 × 300,000 runs`; `None` for a fixed amount.
    pub factors: Option<String>,
    /// The product.
    pub product: String,
}

/// Every line of a bill. Nothing where the run has no price.
pub fn explain(bill: &MonthlyBill, workload: &Workload) -> Vec<Step> {
    let runs = workload.runs();
    let mut steps: Vec<Step> = bill.run.lines.iter().map(|line| step(line, Some(runs))).collect();
    if let Some(paused) = &bill.paused {
        steps.extend(paused.lines.iter().map(|line| {
            let step = step(line, None);
            Step { label: format!("{}, paused", step.label), ..step }
        }));
    }
    if let (Some(plan), Some(fee)) = (&bill.plan, bill.fee.filter(|fee| !fee.is_zero())) {
        let label = format!("fee of {}", plan.name);
        steps.push(Step { label, factors: None, product: fee.shown() });
    }
    if let (Some(total), true) = (bill.total.usd, steps.len() > 1) {
        steps.push(Step { label: "together".to_owned(), factors: None, product: total.shown() });
    }
    steps
}

fn step(line: &Line, runs: Option<u64>) -> Step {
    let label = line.component.label().to_owned();
    let Some(rate) = line.rate.filter(|_| !line.quantity.is_zero()) else {
        let included = line.included.clone().unwrap_or_default();
        let product = format!("included {included}");
        return Step { label, factors: None, product: product.trim_end().to_owned() };
    };
    let mut factors =
        vec![line.quantity.to_string(), format!("× {} per {}", rate.usd.shown(), rate.per.label())];
    if rate.per.over.is_some() {
        factors.push(format!("× {} s", line.billed_seconds));
        let seconds = rate.per.seconds();
        factors.extend((seconds > 1).then(|| format!("÷ {}", count(u64::from(seconds)))));
    }
    factors.extend((rate.per.of == Measured::Core).then(|| "÷ 2".to_owned()));
    factors.extend(line.utilisation_percent.map(|part| format!("× {part} ÷ 100")));
    factors.extend(runs.map(|runs| format!("× {} runs", count(runs))));
    let usd = runs.map_or(Ok(line.usd), |runs| line.usd.times(runs.into()));
    let product = usd.map_or_else(|error| error.to_string(), crate::money::Usd::shown);
    Step { label, factors: Some(factors.join(" ")), product }
}
