//! `/calculator`: what a runaway costs. The form works without scripts; the island answers while one types.

use leptos::prelude::*;

use crate::calculator::offer::Offer;
use crate::catalog::word::PriceKind;
use crate::islands::calculator::{Calculator, Typed};
use crate::parts::day::edition;
use crate::parts::layout::{head, query};
use crate::parts::notice::notice;
use crate::parts::twins::twins;
use crate::query::Query;
use crate::state::today;

/// The calculator of runaways.
#[component]
pub fn CalculatorPage() -> impl IntoView {
    let catalog = edition().catalog;
    let mut query = Query::of_page(query().as_deref());
    let typed = Typed::of(|name| query.text(name));
    let plans = query.plans(&catalog.routed().collect::<Vec<_>>());
    let _ = (query.exposure(), query.price_kind());
    let on = query.as_of(today());
    let errors = query.errors();
    let is_read = errors.is_empty();
    let offers: Vec<Offer> = [PriceKind::Routed, PriceKind::List]
        .into_iter()
        .flat_map(|kind| {
            catalog
                .routed()
                .map(move |provider| Offer::of(provider, provider.default_variant(), kind, on))
        })
        .collect();
    view! {
        {head(
            "What a runaway costs",
            "An agent's loop that nobody stops: what it costs by the hour and the day, what stops it, and what a timeout saves.",
        )}
        <h1>"What a runaway costs"</h1>
        <p class="lead">"Agents do not get bored: an endless loop waits for ever with the meter running. The money is \
        small. What a timeout protects is the rest: agents that stand still, slots of the plan that are taken, retries \
        that multiply. A timeout says that the code wants rethinking, not the same run with more time."</p>
        {notice(&errors)}
        <Calculator offers=offers typed=typed plans=plans/>
        <section class="block">
            <h2>"What these figures hold"</h2>
            <p>"Use of the provider's default class only, at the prices of today: no plan fee, no credit. “CPU only” leaves \
            memory and disk out, as the often quoted figure does; the whole bill has them. What the platform does by \
            itself is capped by the moment somebody notices and by the plan's concurrency or pool, on the cheapest plan \
            that holds all runaways where no other is named. The same figures as JSON: "
            <a href="/api/v1/exposure"><code>"/api/v1/exposure"</code></a>"."</p>
        </section>
        {is_read.then(|| twins("/calculator"))}
    }
}
