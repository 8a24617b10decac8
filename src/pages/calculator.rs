//! `/calculator` and `/calculator/workload`: what a runaway costs, what a workload costs. The forms work without scripts;
//! the islands answer while one types.

use leptos::prelude::*;

use crate::calculator::offer::Offers;
use crate::calculator::packed::Packed;
use crate::catalog::{Catalog, Provider};
use crate::islands::calculator::{self, Calculator};
use crate::islands::form::{Besides, Typed};
use crate::islands::workload::{self, WorkloadCalculator};
use crate::moment::today;
use crate::parts::day::{edition, is_current};
use crate::parts::layout::{head, query};
use crate::parts::notice::notice;
use crate::parts::twins::twins;
use crate::query::Query;

/// The calculator of runaways.
#[component]
pub fn CalculatorPage() -> impl IntoView {
    let catalog = edition().catalog;
    let mut query = Query::of_page(query().as_deref());
    let typed = Typed::of(calculator::FIELDS, |name| query.text(name));
    let named = query.providers(&catalog);
    let providers = named.clone().unwrap_or_else(|| catalog.routed().collect());
    let plans = query.plans(&providers);
    let _ = (query.exposure(), query.price_kind());
    let on = query.as_of(today());
    let mut besides = besides(named.as_deref());
    if !plans.is_empty() {
        let plans: Vec<String> = plans.iter().map(|(slug, id)| format!("{slug}:{id}")).collect();
        besides.push(("plan".to_owned(), plans.join(",")));
    }
    let errors = query.errors();
    let is_read = errors.is_empty();
    let offers = Packed(providers.iter().map(|one| Offers::of(one, on)).collect());
    let choice = choice(&catalog, &providers);
    view! {
        {head(
            "What a runaway costs",
            "An agent's loop that nobody stops: what it costs by the hour and the day, what stops it, and what a timeout saves.",
        )}
        <h1>"What a runaway costs"</h1>
        <p class="lead">"Agents do not get bored: an endless loop waits for ever with the meter running. The money is \
        small. What a timeout protects is everything else: agents that stand still, slots of the plan that are taken, \
        retries that multiply. A timeout is a signal to rethink the code, not to run it again with more."</p>
        {notice(&errors)}
        <Calculator offers=offers typed=typed plans=plans besides=besides choice=choice/>
        <section class="block">
            <h2>"What these figures hold"</h2>
            <p>"Use of the provider's default class, with an hour of its other classes beside it, at the prices of " {on.to_string()} ": no plan fee, no credit. “CPU only” leaves \
            memory and disk out, as the often quoted figure does; the whole bill has them. What the platform does by \
            itself is capped by the moment somebody notices and by the plan's concurrency or pool, on the cheapest plan \
            that holds all runaways where no other is named. "
            <a href="/calculator/workload">"What a steady workload costs"</a>"."</p>
        </section>
        {is_read.then(|| twins("/calculator"))}
    }
}

/// The calculator of workloads.
#[component]
pub fn WorkloadPage() -> impl IntoView {
    let catalog = edition().catalog;
    let mut query = Query::of_page(query().as_deref());
    let typed = Typed::of(workload::FIELDS, |name| query.text(name));
    let named = query.providers(&catalog);
    let _ = (query.workload(), query.price_kind());
    let on = query.as_of(today());
    let besides = besides(named.as_deref());
    let errors = query.errors();
    let is_read = errors.is_empty();
    let providers = named.unwrap_or_else(|| catalog.providers().iter().collect());
    let offers = Packed(providers.iter().map(|one| Offers::of(one, on)).collect());
    view! {
        {head(
            "What a workload costs",
            "The month's bill of a steady workload at every code sandbox under its own rules: steps, plans, fees, and where the money goes.",
        )}
        <h1>"What a workload costs"</h1>
        <p class="lead">"Every provider bills by its own rules: by the second or the minute, what was asked for or what was \
        used, with a plan that has to hold the peak. Here each one bills the same workload for a month."</p>
        {notice(&errors)}
        <WorkloadCalculator offers=offers typed=typed besides=besides/>
        <section class="block">
            <h2>"What these figures hold"</h2>
            <p>"The default class of each provider at the prices of " {on.to_string()} ", on the cheapest plan that allows the peak, the \
            length of a run and, where you name it, the creates a second. Credits and top-ups are told and not taken off. Totals \
            that depend on something, or that nobody can give, have no rank. A size above the largest that is sold has no price; \
            one below the least or between two steps costs what the next that is sold does. "
            <a href="/methodology">"How all of this is made"</a>"; "
            <a href="/calculator">"what a runaway costs"</a>"."</p>
        </section>
        {is_read.then(|| twins("/calculator/workload"))}
    }
}

/// What the address says besides the fields: providers that are named, and a past day.
fn besides(named: Option<&[&Provider]>) -> Besides {
    let providers = named.map(|list| {
        let slugs: Vec<&str> = list.iter().map(|one| one.slug.as_str()).collect();
        ("providers".to_owned(), slugs.join(","))
    });
    let day = (!is_current()).then(|| ("as_of".to_owned(), edition().day.to_string()));
    providers.into_iter().chain(day).collect()
}

/// Everybody, and who is chosen.
fn choice(catalog: &Catalog, chosen: &[&Provider]) -> Vec<(String, String, bool)> {
    let is_chosen = |one: &Provider| chosen.iter().any(|other| other.slug == one.slug);
    let all = catalog.providers().iter();
    all.map(|one| (one.slug.to_string(), one.name.clone(), is_chosen(one))).collect()
}
