//! `/`: the catalog as a table, for a shape, a filter and an order that the visitor chooses; all of it in the address.

use leptos::prelude::*;

use crate::catalog::Shape;
use crate::catalog::claim::Tier;
use crate::catalog::freshness::AGE_DAYS_MAX;
use crate::catalog::listing::{Column, Direction, NEEDS, Question, Row, list};
use crate::catalog::word::{PriceKind, Status};
use crate::comparison::Comparison;
use crate::comparison::summary::{Brief, LABELS, summary};
use crate::moment::today;
use crate::parts::day::{dated, edition, hidden_day, is_current, oldest};
use crate::parts::layout::{head, query};
use crate::parts::mark::named;
use crate::parts::notice::notice;
use crate::parts::structured::{dataset, structured};
use crate::parts::twins::twins;
use crate::query::Query;

/// The page in a sentence, and the data.
const DESCRIPTION: &str = "What code sandboxes for AI agents cost, how they isolate and what stops \
                           a runaway, each value with its source and date.";
/// Columns: what they are ordered by, their label, whether they hold figures.
const COLUMNS: [(Column, &str, bool); 7] = [
    (Column::Name, "Provider", false),
    (Column::Price, LABELS[0], true),
    (Column::Isolation, LABELS[1], false),
    (Column::Egress, LABELS[2], false),
    (Column::Score, LABELS[3], true),
    (Column::Start, LABELS[4], true),
    (Column::OpenSource, LABELS[5], false),
];

/// The catalog.
#[component]
pub fn Home() -> impl IntoView {
    let state = super::state();
    let catalog = edition().catalog;
    let mut query = Query::of_page(query().as_deref());
    let on = query.as_of(today());
    let question = query.listing(on);
    let errors = query.errors();
    let is_read = errors.is_empty();
    let listing = list(&catalog, &question);
    let rows: Vec<_> = listing.rows.iter().map(row).collect();
    let headers: Vec<_> = COLUMNS.iter().map(|column| header(column, &question)).collect();
    let routed = Comparison::by_default(&catalog);
    let pair = (routed.len() > 1).then(|| {
        let names: Vec<&str> = routed.iter().map(|one| one.name.as_str()).collect();
        let href = dated(&Comparison::address(&routed));
        view! { <a class="button" href=href>{names.join(" vs ")}</a> }
    });
    let hidden = listing.count_words(&question.filter);
    view! {
        {head("Code sandboxes for AI agents, compared", DESCRIPTION)}
        {is_current().then(|| structured(&dataset(&state.site, &state.revision, DESCRIPTION)))}
        <h1>"What a code sandbox costs, how it isolates, and what stops a runaway"</h1>
        <p class="lead">"The open catalog of code sandboxes for AI agents. Every value has a source and a date; where \
        sources disagree, all of them are shown; what nobody knows is called unknown."</p>
        <p class="actions">{pair} <a class="button quiet" href=dated("/calculator")>"What a runaway costs"</a></p>
        {notice(&errors)}
        {form(&question)}
        <form class="picker" method="get" action="/compare">
            {hidden_day()}
            <table role="table" class="catalog-table cards">
                <caption>{hidden} " One hour of " {question.shape.label()} ", use only, default class of each. Ranges and \
                prices that are not known are not ranked."</caption>
                <thead role="rowgroup"><tr role="row">
                    <th role="columnheader" scope="col"><span class="visually-hidden">"Compare"</span></th>
                    {headers}
                </tr></thead>
                <tbody role="rowgroup">{rows}</tbody>
            </table>
            <p><button type="submit">"Compare the chosen"</button> " " <span class="muted">"two to five"</span></p>
        </form>
        <p class="muted">"Sources and dates stand on each provider's page. Routed prices are list prices and the router's \
        fee. The score is an editorial figure without a published error: two points decide nothing. "
        <a href="/methodology">"How all of this is made"</a>"."</p>
        {oldest(listing.rows.iter().map(|row| row.provider))}
        {is_read.then(|| twins("/catalog"))}
    }
}

/// The address of the same question in another order.
fn ordered(question: &Question, column: Column, direction: Direction) -> String {
    let Shape { vcpu, memory_gib, disk_gib } = question.shape;
    let filter = &question.filter;
    let mut address = format!("/?vcpu={vcpu}&memory_gib={memory_gib}&disk_gib={disk_gib}");
    let words = [
        ("price", question.kind.map(PriceKind::word)),
        ("isolation", filter.isolation.map(Tier::word)),
        ("status", filter.status.map(Status::word)),
        ("sort", Some(column.word())),
        ("order", Some(direction.word())),
    ];
    let age = question.max_age_days.map_or_else(String::new, |age| format!("&max_age_days={age}"));
    address.push_str(&age);
    let needs = filter.needs.iter().map(|need| (need.word(), Some("1")));
    for (name, word) in words.into_iter().chain(needs) {
        if let Some(word) = word {
            address.push('&');
            address.push_str(name);
            address.push('=');
            address.push_str(word);
        }
    }
    dated(&address)
}

fn header((column, label, figures): &(Column, &str, bool), question: &Question) -> AnyView {
    let class = if *figures { "number" } else { "" };
    let label = (*label).to_owned();
    let column = *column;
    let is_sorted = question.column == column;
    let (sort, mark, next) = match (is_sorted, question.direction) {
        (true, Direction::Ascending) => ("ascending", " ↑", Direction::Descending),
        (true, Direction::Descending) => ("descending", " ↓", Direction::Ascending),
        // Of scores the best is what one looks for.
        (false, _) if column == Column::Score => ("none", "", Direction::Descending),
        (false, _) => ("none", "", Direction::Ascending),
    };
    let href = ordered(question, column, next);
    view! {
        <th role="columnheader" scope="col" class=class aria-sort=sort><a href=href>{label}</a><span aria-hidden="true">{mark}</span></th>
    }
    .into_any()
}

/// One provider in few words: sources, conditions and reasons stand on its page.
fn row(row: &Row<'_>) -> AnyView {
    let provider = row.provider;
    let compare = format!("Compare {}", provider.name);
    let cells: Vec<_> = summary(row).iter().map(cell).collect();
    view! {
        <tr role="row">
            <td role="cell"><input type="checkbox" name="p" value=provider.slug.to_string() aria-label=compare/></td>
            <th role="rowheader" scope="row">{named(provider)}</th>
            {cells}
        </tr>
    }
    .into_any()
}

/// A value, flagged where it depends or is disputed, with a word beside it.
fn cell(brief: &Brief<'_>) -> AnyView {
    let flag = brief.flag();
    let beside = brief.beside.clone().map(|words| view! { <small>{words}</small> });
    match (brief.entry.text.clone(), flag) {
        (Some(text), None) if beside.is_none() => view! { <td role="cell">{text}</td> }.into_any(),
        (Some(text), None) => view! { <td role="cell">{text} " " {beside}</td> }.into_any(),
        (Some(text), Some(flag)) => {
            view! { <td role="cell">{text} " " <small class="flag">{flag}</small> " " {beside}</td> }
                .into_any()
        }
        (None, flag) => {
            view! { <td role="cell"><i class="standing">{flag.unwrap_or_default()}</i> " " {beside}</td> }
                .into_any()
        }
    }
}

fn form(question: &Question) -> AnyView {
    let filter = &question.filter;
    let Shape { vcpu, memory_gib, disk_gib } = question.shape;
    let switches: Vec<_> = NEEDS
        .iter()
        .map(|need| {
            let (name, on) = (need.word(), filter.needs.contains(need));
            view! {
                <span class="choice"><input type="checkbox" id=name name=name value="1" checked=on/>
                <label for=name>{need.label()}</label></span>
            }
        })
        .collect();
    let kinds = [
        (None, "routed where there is one"),
        (Some(PriceKind::List), PriceKind::List.label()),
        (Some(PriceKind::Routed), PriceKind::Routed.label()),
    ]
    .map(|(kind, label)| option(kind.map(PriceKind::word), label, question.kind == kind));
    let tiers = [
        None,
        Some(Tier::VirtualMachine),
        Some(Tier::Container),
        Some(Tier::Process),
        Some(Tier::Wasm),
    ]
    .map(|tier| {
        option(tier.map(Tier::word), tier.map_or("any", Tier::label), filter.isolation == tier)
    });
    let statuses = [None, Some(Status::Routed), Some(Status::Listed)].map(|status| {
        option(
            status.map(Status::word),
            status.map_or("any", Status::label),
            filter.status == status,
        )
    });
    view! {
        <form class="form" method="get" action="/">
            <p class="field"><label for="vcpu">"vCPU"</label>
            <input id="vcpu" name="vcpu" inputmode="decimal" value=vcpu.to_string()/></p>
            <p class="field"><label for="memory_gib">"Memory, GiB"</label>
            <input id="memory_gib" name="memory_gib" inputmode="decimal" value=memory_gib.to_string()/></p>
            <p class="field"><label for="disk_gib">"Disk, GiB"</label>
            <input id="disk_gib" name="disk_gib" inputmode="decimal" value=disk_gib.to_string()/></p>
            <p class="field"><label for="price">"Price"</label><select id="price" name="price">{kinds.to_vec()}</select></p>
            <p class="field"><label for="isolation">"Isolation of any variant"</label>
            <select id="isolation" name="isolation">{tiers.to_vec()}</select></p>
            <p class="field"><label for="status">"Router"</label><select id="status" name="status">{statuses.to_vec()}</select></p>
            <fieldset class="field"><legend>"Only those that say yes to"</legend>{switches}</fieldset>
            <p class="field"><label for="max_age_days">"Rank prices seen within, days"</label>
            <input id="max_age_days" name="max_age_days" inputmode="numeric" placeholder=format!("any, to {AGE_DAYS_MAX}")
                value=question.max_age_days.map(|age| age.to_string())/></p>
            <p class="field"><label for="as_of">"As of"</label>
            <input id="as_of" name="as_of" type="date" max=today().to_string() value=(question.on != today()).then(|| question.on.to_string())/></p>
            <input type="hidden" name="sort" value=question.column.word()/>
            <input type="hidden" name="order" value=question.direction.word()/>
            <p class="field"><button type="submit">"Show"</button></p>
        </form>
    }
    .into_any()
}

fn option(
    word: Option<&'static str>,
    label: &'static str,
    selected: bool,
) -> impl IntoView + Clone {
    view! { <option value=word.unwrap_or("") selected=selected>{label}</option> }
}
