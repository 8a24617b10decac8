//! The calculator of workloads: a form, and every provider's bill for it, anew with every key. Without scripts the form
//! asks the server, which renders this very component.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use maud::{Markup, html};
use web_sys::Element;

use super::form::{Besides, Field, Fields, Typed, hidden, inputs, keep_address, price_choice};
use crate::calculator::explanation::explain;
use crate::calculator::input::workload;
use crate::calculator::league::{Entry, league};
use crate::calculator::packed::Packed;
use crate::calculator::workload::{Part, Workload};
use crate::catalog::shape::Estimate;
use crate::catalog::word::capitalised;
use crate::money::{MoneyError, Usd};
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

/// Form and bills.
#[island]
pub fn WorkloadCalculator(
    /// Who is reckoned with.
    offers: Packed,
    /// What the form holds at first.
    typed: Typed,
    /// What the address says besides.
    besides: Besides,
) -> impl IntoView {
    let typed = RwSignal::new(typed);
    let errors = Memo::new(move |_| typed.with(|typed| typed.read(FIELDS, workload).1));
    let sent = hidden(&besides);
    let opened = RwSignal::new(Vec::new());
    let ranking = Memo::new(move |_| {
        typed.with(|typed| league(&offers.0, &typed.read(FIELDS, workload).0, typed.price))
    });
    keep_address(typed, errors, FIELDS, besides);
    view! {
        <form class="form calculator" method="get" action="/calculator/workload">
            {inputs(FIELDS, typed, errors)}
            {price_choice(typed)}
            {sent}
            <p class="field"><button type="submit">"Calculate"</button></p>
        </form>
        <p class="visually-hidden" aria-live="polite">{move || ranking.with(leader)}</p>
        // Figures come anew with every key: what was opened is remembered, so that it stays open.
        <div class="figures" on:click=move |event| remember(&event, opened)
            inner_html=move || {
                ranking.with(|ranking| figures(ranking, &typed.get(), &opened.get_untracked()))
            }></div>
    }
}

/// Notes down whose bill was opened or closed.
fn remember(event: &leptos::ev::MouseEvent, opened: RwSignal<Vec<String>>) {
    let clicked = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let summary = clicked.and_then(|element| element.closest("summary").ok().flatten());
    let Some(slug) = summary.and_then(|summary| summary.get_attribute("data-slug")) else { return };
    opened.update(|list| match list.iter().position(|known| *known == slug) {
        Some(place) => drop(list.remove(place)),
        None => list.push(slug),
    });
}

/// A ranking, or the product that left the exact range.
type Ranking = Result<Vec<Entry>, MoneyError>;

/// What a screen reader is told when the figures change: who leads, and with what.
fn leader(ranking: &Ranking) -> String {
    let entries = ranking.as_deref().unwrap_or_default();
    let first = entries.iter().find(|entry| entry.rank == Some(1));
    first.map_or_else(
        || "No total is exact.".to_owned(),
        |entry| format!("Least: {}, {} a month.", entry.offer.name, entry.list.shown()),
    )
}

/// The bills for what is typed; what is wrong takes its default, which the fields say.
fn figures(ranking: &Ranking, typed: &Typed, opened: &[String]) -> String {
    let (ask, errors) = typed.read(FIELDS, workload);
    let markup = html! {
        @if !errors.is_empty() { p.notice { "Defaults stand in for what cannot be read." } }
        p { (ask.label()) }
        @match ranking {
            Ok(league) => (table(league, &ask, opened)),
            Err(error) => { p.notice { "No bill: a product " (error.to_string()) "." } }
        }
    };
    markup.into_string()
}

fn table(league: &[Entry], workload: &Workload, opened: &[String]) -> Markup {
    html! {
        table.cards.league role="table" {
            caption {
                "A month, US dollars. Only exact totals have a rank, list totals among themselves; equal ones share it."
            }
            thead role="rowgroup" { tr role="row" {
                th.number role="columnheader" scope="col" { "Rank" }
                th role="columnheader" scope="col" { "Provider" }
                th.number role="columnheader" scope="col" { "Direct" }
                th.number role="columnheader" scope="col" { "Through the router" }
                th role="columnheader" scope="col" { "Plan" }
                th.number role="columnheader" scope="col" { "1,000 runs" }
                th role="columnheader" scope="col" { "Where the money goes" }
            } }
            tbody role="rowgroup" { @for entry in league { (row(entry, workload, opened)) } }
        }
    }
}

fn row(entry: &Entry, workload: &Workload, opened: &[String]) -> Markup {
    let bill = &entry.bill;
    let rank = entry.rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string());
    let href = format!("/sandboxes/{}", entry.offer.slug);
    html! {
        tr role="row" {
            td.number role="cell" data-label="Rank" { span { (rank) } }
            th role="rowheader" scope="row" {
                a.named href=(href) { (entry.offer.name) } " " small.muted { (entry.offer.card.kind.label()) }
            }
            td.number role="cell" data-label="Direct" { b { (entry.list.shown()) } }
            td.number role="cell" data-label="Through the router" {
                b { (entry.routed.as_ref().map_or_else(|| "–".to_owned(), Estimate::shown)) }
            }
            td role="cell" data-label="Plan" {
                span { (bill.plan.as_ref().map_or("–", |plan| plan.name.as_str())) }
                @if let Some(usd) = bill.plan.as_ref().and_then(|plan| plan.usd_top_up) {
                    @if !usd.is_zero() { " " small.muted { "top-up of " (usd.brief()) ": cash, not cost" } }
                }
            }
            td.number role="cell" data-label="1,000 runs" { span { (bill.per_thousand_runs.shown()) } }
            td role="cell" data-label="Where it goes" { div { (money(&bill.parts)) (why(entry, workload, opened)) } }
        }
    }
}

/// Where the money goes, as a bar and in words.
fn money(parts: &[(Part, Usd)]) -> Markup {
    let amounts: Vec<Usd> = parts.iter().map(|(_, usd)| *usd).collect();
    html! {
        @if !parts.is_empty() {
            svg.bar viewBox=(format!("0 0 {WIDTH} {BAR_HEIGHT}")) preserveAspectRatio="none" aria-hidden="true" {
                @for (segment, (part, _)) in bar_of(&amounts).into_iter().zip(parts) {
                    rect x=(segment.x) y="0" width=(segment.width) height=(BAR_HEIGHT) data-part=(part.word()) {}
                }
            }
            p.remark {
                @for (part, usd) in parts {
                    i.swatch data-part=(part.word()) {} (part.label()) " " (usd.shown()) " "
                }
            }
        }
    }
}

/// How the total came about, what it depends on, and what the router adds.
fn why(entry: &Entry, workload: &Workload, opened: &[String]) -> Markup {
    let slug = &entry.offer.slug;
    let bill = &entry.bill;
    let because = bill.total.because.join("; ");
    let verb = if bill.total.usd.is_some() { "Depends" } else { "No total" };
    let rounded = bill.billed_seconds.filter(|seconds| *seconds > workload.seconds_per_run);
    let steps = explain(bill, workload);
    let more = entry.router_fee().map_or_else(|| "nobody knows what".to_owned(), Usd::shown);
    html! {
        @if !because.is_empty() { p.remark { (verb) ": " (because) "." } }
        @if !steps.is_empty() { details.note open[opened.contains(slug)] {
            summary data-slug=(slug) { "Why is mine different?" }
            ol {
                @for step in &steps {
                    li {
                        (step.label) ": "
                        @if let Some(factors) = &step.factors { (factors) " = " }
                        b { (step.product) }
                    }
                }
            }
            @if let Some(seconds) = rounded { p { "A run is billed as " (seconds.duration()) "." } }
            @if let Some(shape) = bill.run.sold_as { p { "Sold as " (shape.label()) "." } }
            @if let Some(routed) = &entry.routed {
                p {
                    "Direct " (entry.list.shown()) ", through the router " (routed.shown()) ": " (more)
                    " a month more for one key, failover between providers, a hard limit on every run and a teardown \
                    that is checked."
                }
            }
            @if !bill.remarks.is_empty() { p { (capitalised(&bill.remarks.join("; "))) "." } }
        } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Quantity;

    #[test]
    fn the_form_begins_with_the_default_workload_on_the_default_shape() {
        let typed = Typed::of(FIELDS, |_| None);
        let (ask, errors) = typed.read(FIELDS, workload);
        assert!(errors.is_empty());
        let first = Workload::default();
        assert_eq!(ask.shape.memory_gib, Quantity::from(2));
        assert_eq!(Workload { shape: first.shape, ..ask }, first);
    }
}
