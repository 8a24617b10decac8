//! `/sandboxes/{slug}`: everything that the catalog holds about one provider, by section.

use std::cmp::Reverse;

use axum::http::StatusCode;
use jiff::civil::Date;
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use super::problem::{NotFound, redirect, set_status, ways_on};
use crate::catalog::claim::{AnyClaim, State};
use crate::catalog::field::{price_label, spoken};
use crate::catalog::plan::Plan;
use crate::catalog::price::{Allowance, Price};
use crate::catalog::provider::{Detail as Fact, Row, Variant};
use crate::catalog::shape::{Shape, price_default};
use crate::catalog::word::{Basis, PriceKind, capitalised};
use crate::catalog::{Provider, ProviderSlug};
use crate::comparison::{Comparison, Entry, Standing};
use crate::moment::today;
use crate::money::Quantity;
use crate::parts::day::{dated, edition, is_current, oldest};
use crate::parts::drawing::{completeness, steps};
use crate::parts::entry::{Detail, entry, link};
use crate::parts::layout::{head, query};
use crate::parts::mark::mark;
use crate::parts::notice::notice;
use crate::parts::structured::{service, structured};
use crate::parts::twins::{feed, twins};
use crate::query::{Query, nearest, shortened};
use crate::state::Site;

/// One provider.
#[component]
pub fn ProviderPage() -> impl IntoView {
    let site = super::state().site;
    let catalog = edition().catalog;
    let Some(slug) = use_params_map().read_untracked().get("slug") else {
        return view! { <NotFound/> }.into_any();
    };
    if let Some(provider) = catalog.find(&slug) {
        let others: Vec<&Provider> =
            catalog.routed().filter(|other| other.slug != provider.slug).collect();
        return shown(provider, &others, &site);
    }
    if let Some(provider) = catalog.find(&slug.to_lowercase()) {
        return redirect(&format!("/sandboxes/{}", provider.slug));
    }
    set_status(StatusCode::NOT_FOUND);
    let near = nearest(&catalog, &slug)
        .map(|near| (dated(&format!("/sandboxes/{}", near.slug)), near.name.clone()));
    view! {
        {head("No such provider", "The catalog has no provider of this name.")}
        <h1>"No such provider"</h1>
        <p class="lead">"The catalog has no " <code>{shortened(&slug)}</code>"."</p>
        {near.map(|(href, name)| view! { <p>"Did you mean " <a href=href>{name}</a>"?"</p> })}
        {ways_on()}
    }
    .into_any()
}

fn shown(provider: &Provider, others: &[&Provider], site: &Site) -> AnyView {
    let mut query = Query::of_page(query().as_deref());
    let on = query.as_of(today());
    let errors = query.errors();
    let comparisons: Vec<_> = others
        .iter()
        .map(|other| {
            let href = dated(&Comparison::address(&[provider, other]));
            view! { <li><a href=href>{provider.name.clone()} " vs " {other.name.clone()}</a></li> }
        })
        .collect();
    let calculators: Vec<_> = [
        ("/calculator", "What a runaway costs here"),
        ("/calculator/workload", "What a workload costs here"),
    ]
    .into_iter()
    .map(|(page, words)| {
        let shape =
            Shape::default_of(provider.default_variant()).map_or_else(String::new, |shape| {
                let Shape { vcpu, memory_gib, disk_gib } = shape;
                format!("&vcpu={vcpu}&memory_gib={memory_gib}&disk_gib={disk_gib}")
            });
        let href = dated(&format!("{page}?providers={}{shape}", provider.slug));
        view! { <li><a href=href>{words}</a></li> }
    })
    .collect();
    let contents: Vec<_> = contents(provider)
        .into_iter()
        .map(|(id, title)| view! { <li><a href=format!("#{id}")>{title}</a></li> })
        .collect();
    let sections: Vec<_> = provider
        .sections()
        .into_iter()
        .map(|(key, title, rows)| section(provider, key, title, &rows))
        .collect();
    let checked = provider.checked_on.map(|day| {
        view! { " Last checked as a whole on " <time>{day.to_string()}</time> "." }
    });
    let description = format!("{}: prices, plans, isolation, limits and sources.", provider.name);
    view! {
        {head(provider.name.clone(), description)}
        {is_current().then(|| structured(&service(site, provider, on)))}
        <h1 class="with-mark">{mark(provider)} {provider.name.clone()}</h1>
        <p class="lead">{provider.summary.clone()}</p>
        <p class="status-line">
            {provider.kind.label()} ", " {provider.status.label()} "." {checked}
        </p>
        {notice(&errors)}
        {completeness(provider)}
        {oldest([provider])}
        <nav class="contents" aria-label="On this page"><ul>{contents}</ul></nav>
        {prices(provider, on)}
        {history(provider, on)}
        {variants(provider)}
        {plans(provider)}
        {sections}
        {more(provider)}
        {measurements(provider)}
        {score(provider)}
        {changes(provider)}
        <section id="compare" class="block"><h2>"Compare and reckon"</h2><ul class="plain">{comparisons}{calculators}</ul></section>
        {sources(provider)}
        {errors.is_empty().then(|| twins(&format!("/sandboxes/{}", provider.slug)))}
    }
    .into_any()
}

/// Ids and titles of what the page has.
fn contents(provider: &Provider) -> Vec<(&'static str, &'static str)> {
    let mut list = vec![
        ("prices", "Prices"),
        ("price-history", "Price history"),
        ("variants", "Variants"),
        ("plans", "Plans"),
    ];
    list.extend(provider.sections().into_iter().map(|(key, title, _)| (key, title)));
    list.extend([
        ("more", "More facts"),
        ("measurements", "Measurements"),
        ("score", "Score"),
        ("changes", "Other history"),
        ("compare", "Compare"),
        ("sources", "Sources"),
    ]);
    list
}

/// What holds on a day: list and routed beside each other, and what a plain create call costs.
fn prices(provider: &Provider, on: Date) -> AnyView {
    let list: Vec<&Price> = provider.prices_on(PriceKind::List, on).collect();
    let rows: Vec<_> = list
        .iter()
        .map(|price| {
            let routed =
                provider.prices_on(PriceKind::Routed, on).find(|other| other.pairs_with(price));
            price_row(provider, price, routed)
        })
        .collect();
    let fee = provider.fee_on(on).map(|fee| {
        view! { <p>"Routed price = list price and a fee of " <strong>{fee.percent.to_string()} " %"</strong>
        ", since " {fee.since.to_string()} "." </p> }
    });
    let bills: Vec<_> =
        provider.variants.iter().map(|variant| default_bill(provider, variant, on)).collect();
    view! {
        <section id="prices" class="block">
            <h2>"Prices"</h2>
            {fee}
            <div>
                <table role="table" class="cards">
                    <caption>"Prices of " {on.to_string()} ", US dollars for one unit and one second"</caption>
                    <thead role="rowgroup"><tr role="row">
                        <th role="columnheader" scope="col">"For"</th><th role="columnheader" scope="col">"Billed by"</th>
                        <th role="columnheader" scope="col" class="number">"List"</th><th role="columnheader" scope="col" class="number">"Routed"</th>
                        <th role="columnheader" scope="col">"In the vendor's unit"</th><th role="columnheader" scope="col">"Not charged"</th>
                        <th role="columnheader" scope="col">"Source"</th>
                    </tr></thead>
                    <tbody role="rowgroup">{rows}</tbody>
                </table>
            </div>
            <h3>"If you just call create"</h3>
            <dl class="facts">{bills}</dl>
        </section>
    }
    .into_any()
}

fn price_row(provider: &Provider, price: &Price, routed: Option<&Price>) -> AnyView {
    let second = |price: &Price| match price.basis {
        Basis::Bundled => "included".to_owned(),
        _ => price.rate.per_second().shown(),
    };
    let variants: Vec<&str> = price
        .variants
        .iter()
        .filter_map(|id| provider.variant(id))
        .map(|variant| variant.name.as_str())
        .collect();
    let of = (!variants.is_empty()).then(|| format!(" ({})", variants.join(", ")));
    let preset = price.preset.map(|preset| {
        let size = format!("{} vCPU, {} GiB", preset.vcpu, preset.memory_gib);
        let disk = preset.disk_gib.map_or_else(String::new, |disk| format!(", {disk} GiB disk"));
        format!(": {size}{disk}")
    });
    let unit = match price.basis {
        Basis::Bundled => String::new(),
        _ => format!("{} per {}", price.rate.usd.shown(), price.rate.per.label()),
    };
    let included = price.included.as_ref().map(Allowance::label);
    let dispute = provider.price_dispute(&price.id);
    let source = Entry {
        standing: if dispute.is_some() { Standing::Disputed } else { Standing::Known },
        dispute,
        ..Entry::computed("").from_source(&price.evidence)
    }
    .under(format!("price.{}", price.id));
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{price.component.label()} {preset} {of}</th>
            <td role="cell" data-label="Billed by"><span>{price.basis.label()}</span></td>
            <td role="cell" class="number" data-label="List"><span>{second(price)}</span></td>
            <td role="cell" class="number" data-label="Routed"><span>{routed.map_or_else(|| "not routed".to_owned(), second)}</span></td>
            <td role="cell" data-label="In the vendor's unit"><span>{unit}</span></td>
            <td role="cell" data-label="Not charged"><span>{included.unwrap_or_else(|| "–".to_owned())}</span></td>
            <td role="cell" data-label="Source">{entry(&source, Detail::Short, &provider.slug)}</td>
        </tr>
    }
    .into_any()
}

/// The bill of a variant in the size that a create call gives.
fn default_bill(provider: &Provider, variant: &Variant, on: Date) -> AnyView {
    let shown = |kind: PriceKind, seconds: u64| {
        Entry::bill(&price_default(provider, variant, kind, Quantity::from(seconds), on))
    };
    let size = Shape::default_of(variant).map(|shape| format!(" ({})", shape.label()));
    view! {
        <div>
            <dt>{variant.name.clone()} {size}</dt>
            <dd>{entry(&shown(PriceKind::List, 1).labelled("a second, list"), Detail::Short, &provider.slug)}</dd>
            <dd>{entry(&shown(PriceKind::List, 3_600).labelled("an hour, list"), Detail::Short, &provider.slug)}</dd>
            <dd>{entry(&shown(PriceKind::Routed, 3_600).labelled("an hour, routed"), Detail::Short, &provider.slug)}</dd>
        </div>
    }
    .into_any()
}

/// Every price row with its first day, the newest first.
fn history(provider: &Provider, on: Date) -> AnyView {
    let mut prices: Vec<&Price> =
        provider.prices.iter().filter(|price| price.since <= on).collect();
    prices.sort_by_key(|price| Reverse(price.since));
    let rows: Vec<_> = prices
        .into_iter()
        .map(|price| {
            let amount = match price.basis {
                Basis::Bundled => "included".to_owned(),
                _ => format!("{} per {}", price.rate.usd.shown(), price.rate.per.label()),
            };
            let source = Entry::computed("").from_source(&price.evidence);
            view! {
                <tr role="row">
                    <th role="rowheader" scope="row"><time>{price.since.to_string()}</time></th>
                    <td role="cell" data-label="Which means"><span>{price.beginning.label()}</span></td>
                    <td role="cell" data-label="Price"><span>{price_label(provider, price)}</span></td>
                    <td role="cell" class="number" data-label="Amount"><span>{amount}</span></td>
                    <td role="cell" data-label="Source">{entry(&source, Detail::Short, &provider.slug)}</td>
                </tr>
            }
        })
        .collect();
    view! {
        <section id="price-history" class="block">
            <h2>"Price history"</h2>
            {steps(provider, on)}
            <div>
                <table role="table" class="cards">
                    <caption>"A price is never edited: a later row replaces an earlier one"</caption>
                    <thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">"Since"</th><th role="columnheader" scope="col">"Which means"</th><th role="columnheader" scope="col">"Price"</th>
                    <th role="columnheader" scope="col" class="number">"Amount"</th><th role="columnheader" scope="col">"Source"</th></tr></thead>
                    <tbody role="rowgroup">{rows}</tbody>
                </table>
            </div>
        </section>
    }
    .into_any()
}

/// Variants: the default in full, the others where they differ from it.
fn variants(provider: &Provider) -> AnyView {
    let default = provider.default_variant();
    let said = |claim: &dyn AnyClaim| (claim.state(), claim.shown());
    let shown: Vec<_> = provider
        .variants
        .iter()
        .map(|variant| {
            let is_default = variant.id == default.id;
            let rows: Vec<_> = variant
                .sections()
                .into_iter()
                .zip(default.sections())
                .flat_map(|((key, _, rows), (_, _, defaults))| {
                    rows.into_iter().zip(defaults).map(move |(row, other)| (key, row, other))
                })
                .filter(|(_, row, other)| is_default || said(row.claim) != said(other.claim))
                .map(|(key, row, _)| (key, row))
                .map(|(key, row)| {
                    let key = format!("variant.{}.{key}.{}", variant.id, row.key);
                    fact(row.label, &Entry::of(row.claim).under(key), &provider.slug)
                })
                .collect();
            let remark = (!is_default)
                .then(|| view! { <p class="remark">"Only what differs from " {default.name.clone()} "."</p> });
            view! {
                <section class="variant">
                    <h3>{variant.name.clone()} {is_default.then_some(" (default)")}</h3>
                    <p>"Asked for by " <code>{variant.asked_by.clone()}</code></p>
                    {remark}
                    <dl class="facts">{rows}</dl>
                </section>
            }
        })
        .collect();
    view! { <section id="variants" class="block"><h2>"Variants"</h2>{shown}</section> }.into_any()
}

/// A term and its value in full.
fn fact(label: &str, shown: &Entry<'_>, slug: &ProviderSlug) -> AnyView {
    view! { <div><dt>{label.to_owned()}</dt><dd>{entry(shown, Detail::Full, slug)}</dd></div> }
        .into_any()
}

/// A section of claims, with the facts under keys of their own that belong to it.
fn section(
    provider: &Provider,
    key: &'static str,
    title: &'static str,
    rows: &[Row<'_>],
) -> AnyView {
    let claim = |row: &Row<'_>| {
        let shown = Entry::of(row.claim).under(format!("{key}.{}", row.key));
        fact(row.label, &shown, &provider.slug)
    };
    let claims: Vec<_> = rows.iter().map(claim).collect();
    let details: Vec<_> = provider
        .details
        .iter()
        .filter(|detail| detail.section == key)
        .map(|detail| fact(&spoken(&detail.key), &of_detail(detail), &provider.slug))
        .collect();
    view! {
        <section id=key class="block"><h2>{title}</h2><dl class="facts">{claims}{details}</dl></section>
    }
    .into_any()
}

fn of_detail(detail: &Fact) -> Entry<'_> {
    Entry::of(&detail.claim).under(format!("detail.{}.{}", detail.section, detail.key))
}

/// Facts under keys of their own whose section is not one of the above, such as those about prices.
fn more(provider: &Provider) -> AnyView {
    let shown = provider.sections().map(|(key, _, _)| key);
    let facts: Vec<_> = provider
        .details
        .iter()
        .filter(|detail| !shown.contains(&detail.section.as_str()))
        .map(|detail| {
            let label = format!("{}: {}", capitalised(&detail.section), spoken(&detail.key));
            fact(&label, &of_detail(detail), &provider.slug)
        })
        .collect();
    let none = facts.is_empty().then(|| view! { <p>"Nothing is recorded."</p> });
    view! {
        <section id="more" class="block"><h2>"More facts"</h2>{none}<dl class="facts">{facts}</dl></section>
    }
    .into_any()
}

/// Plans beside each other; what none of them states is left out.
fn plans(provider: &Provider) -> AnyView {
    let Some(first) = provider.plans.first() else {
        return view! {
            <section id="plans" class="block"><h2>"Plans"</h2><p>"No plan is known."</p></section>
        }
        .into_any();
    };
    let names: Vec<_> = provider
        .plans
        .iter()
        .map(|plan| view! { <th role="columnheader" scope="col">{plan.name.clone()}</th> })
        .collect();
    let rows: Vec<_> = first
        .rows()
        .iter()
        .enumerate()
        .filter_map(|(place, row)| {
            let claims: Vec<(&Plan, Row<'_>)> = provider
                .plans
                .iter()
                .filter_map(|plan| Some((plan, plan.rows().into_iter().nth(place)?)))
                .collect();
            if claims.iter().all(|(_, row)| row.claim.state() == State::Unknown) {
                return None;
            }
            let cells: Vec<_> = claims
                .into_iter()
                .map(|(plan, row)| {
                    let key = format!("plan.{}.{}", plan.id, row.key);
                    let shown = entry(&Entry::of(row.claim).under(key), Detail::Short, &provider.slug);
                    view! { <td role="cell" data-label=plan.name.clone()>{shown}</td> }
                })
                .collect();
            Some(view! { <tr role="row"><th role="rowheader" scope="row">{row.label}</th>{cells}</tr> })
        })
        .collect();
    view! {
        <section id="plans" class="block">
            <h2>"Plans"</h2>
            <div class="table-region" role="region" aria-label="Plans" tabindex="0">
                <table role="table" class="cards"><caption>"What each plan costs and allows, fees in US dollars"</caption>
                <thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">"Plan"</th>{names}</tr></thead><tbody role="rowgroup">{rows}</tbody></table>
            </div>
        </section>
    }
    .into_any()
}

fn measurements(provider: &Provider) -> AnyView {
    let items: Vec<_> = provider
        .measurements
        .iter()
        .enumerate()
        .map(|(place, one)| {
            let figures: Vec<_> = one
                .statistics
                .iter()
                .map(|figure| {
                    let name = spoken(&figure.name);
                    view! { <tr><th scope="row">{name}</th><td class="number">{figure.value.clone()}</td></tr> }
                })
                .collect();
            let variant = provider.variant(&one.variant).map_or_else(
                || one.variant.clone(),
                |variant| variant.name.clone(),
            );
            let window: Vec<String> =
                [one.window_start.clone(), one.window_end.clone()].into_iter().flatten().collect();
            let source = Entry::computed(one.measured_by.clone())
                .from_source(&one.evidence)
                .under(format!("measurement.{}", place + 1));
            view! {
                <section class="variant">
                    <h3>{spoken(&one.metric)} ", " {one.mode.clone()}</h3>
                    <p>{variant} ", " {window.join(" to ")} {one.days.clone().map(|days| format!(" ({days} days)"))}</p>
                    {one.method.clone().map(|method| view! { <p class="remark">{method}</p> })}
                    <table><caption class="visually-hidden">"Figures"</caption><tbody>{figures}</tbody></table>
                    {entry(&source, Detail::Full, &provider.slug)}
                </section>
            }
        })
        .collect();
    let none = items.is_empty().then(|| view! { <p>"Nobody is known to have measured it."</p> });
    view! {
        <section id="measurements" class="block"><h2>"Independent measurements"</h2>{none}{items}</section>
    }
    .into_any()
}

fn score(provider: &Provider) -> AnyView {
    let shown = match provider.score() {
        Some(score) => {
            let text = format!("{} of {} ({})", score.value, score.scale, score.kind.label());
            let found = Entry::computed(text).from_source(&score.evidence).under("score");
            entry(&found, Detail::Full, &provider.slug)
        }
        None => entry(&Entry::without(Standing::NotScored), Detail::Full, &provider.slug),
    };
    view! { <section id="score" class="block"><h2>"Score"</h2>{shown}</section> }.into_any()
}

fn changes(provider: &Provider) -> AnyView {
    let items: Vec<_> = provider
        .history
        .iter()
        .enumerate()
        .map(|(place, change)| {
            let shown = Entry::computed(change.value.clone())
                .from_source(&change.evidence)
                .under(format!("history.{}", place + 1));
            let since = change.since.map(|day| format!(", since {day}"));
            let label = format!("{}{}", spoken(&change.key), since.unwrap_or_default());
            fact(&label, &shown, &provider.slug)
        })
        .collect();
    let none = items.is_empty().then(|| view! { <p>"Nothing is recorded."</p> });
    view! {
        <section id="changes" class="block"><h2>"Other history"</h2>{none}<dl class="facts">{items}</dl>
        <p><a href=format!("/changes?providers={}", provider.slug)>"What changed about it here"</a>", also as an "
        {feed(&format!("/sandboxes/{}.atom", provider.slug), "Atom feed")}"."</p></section>
    }
    .into_any()
}

fn sources(provider: &Provider) -> AnyView {
    let items: Vec<_> = provider
        .sources
        .iter()
        .map(|source| {
            let note = source.note.clone().map(|note| format!(" {note}"));
            view! {
                <li>{link(source, source.reference())} <span class="muted">" " {source.by.label()} ", "
                {source.seen_on.to_string()} {note}</span></li>
            }
        })
        .collect();
    view! {
        <section id="sources" class="block"><h2>"Sources"</h2><ol class="sources">{items}</ol></section>
    }
    .into_any()
}
