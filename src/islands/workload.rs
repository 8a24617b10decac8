//! The calculator of workloads: a form, and every provider's bill for it, anew with every key. Without scripts the form
//! asks the server, which renders this very component.

use leptos::prelude::*;

use super::form::{Besides, Field, Fields, Typed, hidden, inputs, keep_address, price_choice};
use crate::calculator::explanation::explain;
use crate::calculator::input::Input;
use crate::calculator::league::{Entry, league};
use crate::calculator::offer::Offers;
use crate::calculator::workload::Workload;
use crate::money::Usd;
use crate::picture::{WIDTH, bar_of};

/// The fields of the form.
pub const FIELDS: Fields = &[
    Field::new("vcpu", "vCPU", "1", "of each sandbox"),
    Field::new("memory_gib", "Memory, GiB", "2", "of each sandbox"),
    Field::new("disk_gib", "Disk, GiB", "0", "of each sandbox"),
    Field::new("runs_per_day", "Runs a day", "10000", "sandboxes").slid(100, 100_000, 100),
    Field::new("seconds_per_run", "Seconds a run", "8", "life of the sandbox, not code time")
        .slid(1, 600, 1),
    Field::new("peak_concurrency", "At once, at most", "20", "decides the plan").slid(1, 1_000, 1),
    Field::new("creates_per_second", "Creates a second", "", "a tenth of the peak if empty"),
    Field::new("utilisation_percent", "CPU used, %", "100", "where active CPU is billed")
        .slid(1, 100, 1),
    Field::new("paused_hours", "Paused, h a month", "0", "of all sandboxes together"),
];
/// Height of a bar in the picture's own units.
const BAR_HEIGHT: u32 = 40;

/// The question that is typed.
fn question(input: &mut Input<'_>) -> Workload {
    input.workload()
}

/// Form and bills.
#[island]
pub fn WorkloadCalculator(
    /// Who is reckoned with.
    offers: Vec<Offers>,
    /// What the form holds at first.
    typed: Typed,
    /// What the address says besides.
    besides: Besides,
) -> impl IntoView {
    let typed = RwSignal::new(typed);
    let errors = Memo::new(move |_| typed.with(|typed| typed.read(FIELDS, question).1));
    let sent = hidden(&besides);
    keep_address(typed, FIELDS, besides);
    view! {
        <form class="form calculator" method="get" action="/calculator/workload">
            {inputs(FIELDS, typed, errors)}
            {price_choice(typed)}
            {sent}
            <p class="field"><button type="submit">"Calculate"</button></p>
        </form>
        <div class="figures" aria-live="polite">{move || figures(&offers, &typed.get())}</div>
    }
}

/// The bills for what is typed; what is wrong takes its default, which the fields say.
fn figures(offers: &[Offers], typed: &Typed) -> AnyView {
    let (workload, errors) = typed.read(FIELDS, question);
    let assumed = (!errors.is_empty()).then(|| {
        view! { <p class="notice">"Defaults stand in for what cannot be read."</p> }
    });
    let league = match league(offers, &workload, typed.price) {
        Ok(league) => league,
        Err(error) => {
            return view! { <p class="notice">"No bill: a product " {error.to_string()} "."</p> }
                .into_any();
        }
    };
    let rows: Vec<_> = league.iter().map(|entry| row(entry, &workload)).collect();
    view! {
        {assumed}
        <p>{workload.label()}</p>
        <table role="table" class="cards league">
            <caption>"A month, US dollars. Only exact totals have a rank; equal ones share it."</caption>
            <thead role="rowgroup"><tr role="row">
                <th role="columnheader" scope="col" class="number">"Rank"</th><th role="columnheader" scope="col">"Provider"</th>
                <th role="columnheader" scope="col" class="number">"A month"</th><th role="columnheader" scope="col">"Plan"</th>
                <th role="columnheader" scope="col" class="number">"1,000 runs"</th>
                <th role="columnheader" scope="col">"Where the money goes"</th>
            </tr></thead>
            <tbody role="rowgroup">{rows}</tbody>
        </table>
    }
    .into_any()
}

fn row(entry: &Entry, workload: &Workload) -> AnyView {
    let bill = &entry.bill;
    let rank = entry.rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string());
    let href = format!("/sandboxes/{}", entry.offer.slug);
    let plan = bill.plan.as_ref().map_or("–", |plan| plan.name.as_str()).to_owned();
    view! {
        <tr role="row">
            <td role="cell" class="number" data-label="Rank">{rank}</td>
            <th role="rowheader" scope="row"><a class="named" href=href>{entry.offer.name.clone()}</a> " " <small class="muted">{entry.offer.card.kind.label()}</small></th>
            <td role="cell" class="number" data-label="A month"><b>{bill.total.shown()}</b></td>
            <td role="cell" data-label="Plan"><span>{plan}</span></td>
            <td role="cell" class="number" data-label="1,000 runs"><span>{bill.per_thousand_runs.shown()}</span></td>
            <td role="cell" data-label="Where it goes"><div>{money(&bill.parts)}{why(entry, workload)}</div></td>
        </tr>
    }
    .into_any()
}

/// Where the money goes, as a bar and in words.
fn money(parts: &[(crate::calculator::workload::Part, Usd)]) -> Option<AnyView> {
    if parts.is_empty() {
        return None;
    }
    let amounts: Vec<Usd> = parts.iter().map(|(_, usd)| *usd).collect();
    let segments: Vec<_> = bar_of(&amounts)
        .into_iter()
        .zip(parts)
        .map(|(segment, (part, _))| {
            view! { <rect x=segment.x y="0" width=segment.width height=BAR_HEIGHT data-part=part.word()></rect> }
        })
        .collect();
    let words: Vec<String> =
        parts.iter().map(|(part, usd)| format!("{} {}", part.label(), usd.shown())).collect();
    let view = view! {
        <svg class="bar" viewBox=format!("0 0 {WIDTH} {BAR_HEIGHT}") preserveAspectRatio="none" aria-hidden="true">{segments}</svg>
        <p class="remark">{words.join(", ")}</p>
    };
    Some(view.into_any())
}

/// How the total came about, what it depends on, and what the router adds.
fn why(entry: &Entry, workload: &Workload) -> AnyView {
    let bill = &entry.bill;
    let steps: Vec<_> = explain(bill, workload)
        .into_iter()
        .map(|step| {
            let factors = step.factors.map(|factors| format!("{factors} = "));
            view! { <li>{step.label} ": " {factors} <b>{step.product}</b></li> }
        })
        .collect();
    let because = &bill.total.because;
    let because = (!because.is_empty()).then(|| {
        let verb = if bill.total.usd.is_some() { "Depends" } else { "No total" };
        view! { <p class="remark">{verb} ": " {because.join("; ")} "."</p> }
    });
    let sold = bill
        .run
        .sold_as
        .map(|shape| view! { <p class="remark">"Sold as " {shape.label()} "."</p> });
    let seconds = bill.billed_seconds.filter(|seconds| *seconds > workload.seconds_per_run);
    let rounded = seconds.map(|seconds| {
        view! { <p class="remark">"A run is billed as " {seconds.duration()} "."</p> }
    });
    let router = entry.routed.as_ref().map(|routed| {
        let more = entry.router_fee().map_or_else(|| "nobody knows what".to_owned(), Usd::shown);
        let words = format!(
            "Direct {}, through the router {}: {more} a month more for one key, failover between providers, a hard limit \
             on every run and a teardown that is checked.",
            entry.list.shown(),
            routed.shown()
        );
        view! { <p class="remark">{words}</p> }
    });
    let remarks = (!bill.remarks.is_empty())
        .then(|| view! { <p class="remark">{bill.remarks.join("; ")} "."</p> });
    view! {
        {because}
        <details class="note"><summary>"Why is mine different?"</summary>
            <ol class="steps-of-bill">{steps}</ol>{rounded}{sold}{router}{remarks}
        </details>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Quantity;

    #[test]
    fn the_form_begins_with_the_default_workload_on_the_default_shape() {
        let typed = Typed::of(FIELDS, |_| None);
        let (ask, errors) = typed.read(FIELDS, question);
        assert!(errors.is_empty());
        let first = Workload::default();
        assert_eq!(ask.shape.memory_gib, Quantity::from(2));
        assert_eq!(Workload { shape: first.shape, ..ask }, first);
    }
}
