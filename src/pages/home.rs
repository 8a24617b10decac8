//! `/`: the catalog as a table, for a shape that the visitor chooses.

use leptos::prelude::*;

use crate::catalog::Provider;
use crate::catalog::card::PriceCard;
use crate::catalog::claim::Tier;
use crate::catalog::shape::{Ask, Shape, price};
use crate::catalog::word::PriceKind;
use crate::comparison::{COMPARED_MAX, Comparison, Entry, Standing};
use crate::money::Quantity;
use crate::parts::entry::{Detail, entry};
use crate::parts::layout::{head, query};
use crate::parts::mark::named;
use crate::parts::notice::notice;
use crate::query::{Query, kind_for};
use crate::state::today;

/// Seconds that the table prices.
const HOUR: u64 = 3_600;

/// The catalog.
#[component]
pub fn Home() -> impl IntoView {
    let state = super::state();
    let mut query = Query::of_page(query().as_deref());
    let shape = query.shape();
    let asked = query.price_kind();
    let errors = query.errors();
    let today = today();
    let rows: Vec<_> = state
        .catalog
        .providers()
        .iter()
        .map(|provider| {
            let kind = kind_for(asked, provider, today);
            let card = PriceCard::of(provider, provider.default_variant(), kind, today);
            let bill = price(&card, &Ask::plain(shape, Quantity::from(HOUR)));
            let price = Entry::bill(&bill).labelled(kind.label());
            view! {
                <tr role="row">
                    <th role="rowheader" scope="row">
                        {named(provider)} <p class="remark">{provider.status.label()}</p>
                    </th>
                    <td role="cell" class="number" data-label="Price of an hour">{entry(&price, Detail::Short)}</td>
                    <td role="cell" data-label="Isolation">{isolation(provider)}</td>
                    <td role="cell" data-label="Egress can be off">
                        {entry(&Entry::of(&provider.egress.can_disable_at_create), Detail::Short)}
                    </td>
                    <td role="cell" class="number" data-label="Score">{score(provider)}</td>
                    <td role="cell" data-label="Measured start">{start(provider)}</td>
                    <td role="cell" data-label="Open source">
                        {entry(&Entry::of(&provider.deploy.open_source), Detail::Short)}
                    </td>
                </tr>
            }
        })
        .collect();
    let routed: Vec<&Provider> = state.catalog.routed().take(COMPARED_MAX).collect();
    let pair = (routed.len() > 1).then(|| {
        let names: Vec<&str> = routed.iter().map(|one| one.name.as_str()).collect();
        let href = Comparison::address(&routed);
        view! { <a class="button" href=href>{names.join(" vs ")}</a> }
    });
    view! {
        {head(
            "Code sandboxes for AI agents, compared",
            "What code sandboxes for AI agents cost, how they isolate and what stops a runaway, each value with its source and date.",
        )}
        <h1>"What a code sandbox costs, how it isolates, and what stops a runaway"</h1>
        <p class="lead">"The open catalog of code sandboxes for AI agents. Every value has a source and a date; where \
        sources disagree, all of them are shown; what nobody knows is called unknown."</p>
        <p class="actions">{pair} <a class="button quiet" href="/calculator">"What a runaway costs"</a></p>
        {notice(&errors)}
        {form(&shape, asked)}
        <section class="table-region">
            <table role="table" class="catalog-table cards">
                <caption>"One hour of " {shape.label()} ", in US dollars, use only. Default class of each provider."</caption>
                <thead role="rowgroup"><tr role="row">
                    <th role="columnheader" scope="col">"Provider"</th>
                    <th role="columnheader" scope="col" class="number">"Price of an hour, USD"</th>
                    <th role="columnheader" scope="col">"Isolation"</th>
                    <th role="columnheader" scope="col">"Egress can be off"</th>
                    <th role="columnheader" scope="col" class="number">"Score"</th>
                    <th role="columnheader" scope="col">"Measured start, ms"</th>
                    <th role="columnheader" scope="col">"Open source"</th>
                </tr></thead>
                <tbody role="rowgroup">{rows}</tbody>
            </table>
        </section>
        <p class="muted">"Routed prices are list prices and the router's fee. The score is an editorial figure without a \
        published error: two points decide nothing. " <a href="/methodology">"How all of this is made"</a>"."</p>
    }
}

fn form(shape: &Shape, asked: Option<PriceKind>) -> AnyView {
    let kinds: Vec<_> = [None, Some(PriceKind::List), Some(PriceKind::Routed)]
        .into_iter()
        .map(|kind| {
            let label = kind.map_or("routed where there is one", PriceKind::label);
            let word = kind.map_or("", PriceKind::word);
            view! { <option value=word selected=asked == kind>{label}</option> }
        })
        .collect();
    view! {
        <form class="form" method="get" action="/">
            <p class="field"><label for="vcpu">"vCPU"</label>
            <input id="vcpu" name="vcpu" inputmode="decimal" value=shape.vcpu.to_string()/></p>
            <p class="field"><label for="memory_gib">"Memory, GiB"</label>
            <input id="memory_gib" name="memory_gib" inputmode="decimal" value=shape.memory_gib.to_string()/></p>
            <p class="field"><label for="disk_gib">"Disk, GiB"</label>
            <input id="disk_gib" name="disk_gib" inputmode="decimal" value=shape.disk_gib.to_string()/></p>
            <p class="field"><label for="price">"Price"</label>
            <select id="price" name="price">{kinds}</select></p>
            <p class="field"><button type="submit">"Show prices"</button></p>
        </form>
    }
    .into_any()
}

/// The wall of a plain create call, and what else can be had by asking.
fn isolation(provider: &Provider) -> AnyView {
    let default = provider.default_variant();
    let tier = default.isolation.tier.value().copied();
    let mut others: Vec<Tier> = Vec::new();
    for variant in &provider.variants {
        match variant.isolation.tier.value() {
            Some(other) if Some(*other) != tier && !others.contains(other) => others.push(*other),
            _ => {}
        }
    }
    let words: Vec<&str> = others.iter().map(|tier| tier.label()).collect();
    let asked = (!words.is_empty())
        .then(|| view! { <p class="remark">"on request: " {words.join(", ")}</p> });
    view! { {entry(&Entry::of(&default.isolation.tier), Detail::Short)} {asked} }.into_any()
}

fn score(provider: &Provider) -> AnyView {
    let shown = provider.score().map_or_else(
        || Entry::without(Standing::NotScored),
        |score| {
            Entry::computed(format!("{} of {}", score.value, score.scale))
                .remarked(score.kind.label())
        },
    );
    entry(&shown, Detail::Short)
}

/// The first measured median, one creation after another.
fn start(provider: &Provider) -> AnyView {
    let measured =
        provider.measurements.iter().find_map(|one| one.median().map(|median| (one, median)));
    let shown = measured.map_or_else(
        || Entry::without(Standing::NotMeasured),
        |(one, (median, kind))| {
            let until = one.window_end.clone().unwrap_or_default();
            let tier = provider.variant(&one.variant).and_then(|one| one.isolation.tier.value());
            let class = tier.map_or_else(String::new, |tier| format!("{}; ", tier.label()));
            let entry = Entry::computed(median.to_owned());
            entry
                .from_source(&one.evidence)
                .remarked(format!("{class}{kind}, {}, to {until}", one.mode))
        },
    );
    entry(&shown, Detail::Short)
}
