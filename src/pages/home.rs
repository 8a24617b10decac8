//! `/`: the catalog as a table, for a shape, a filter and an order that the visitor chooses; all of it in the address.

use leptos::prelude::*;

use crate::catalog::claim::{Answer, Claim, Tier};
use crate::catalog::listing::{Column, Direction, Filter, NEEDS, Question, Row, list};
use crate::catalog::word::{PriceKind, Status};
use crate::catalog::{Provider, Shape};
use crate::comparison::{COMPARED_MAX, Comparison, Entry, Standing};
use crate::parts::layout::{head, query};
use crate::parts::mark::named;
use crate::parts::notice::notice;
use crate::parts::structured::{dataset, structured};
use crate::query::Query;
use crate::state::today;

/// The page in a sentence, and the data.
const DESCRIPTION: &str = "What code sandboxes for AI agents cost, how they isolate and what stops \
                           a runaway, each value with its source and date.";
/// Columns: what they are ordered by, where they can be, their label, whether they hold figures.
const COLUMNS: [(Option<Column>, &str, bool); 7] = [
    (Some(Column::Name), "Provider", false),
    (Some(Column::Price), "An hour, USD", true),
    (Some(Column::Isolation), "Isolation", false),
    (None, "Egress can be off", false),
    (Some(Column::Score), "Score", true),
    (None, "Measured start, ms", true),
    (None, "Open source", false),
];

/// The catalog.
#[component]
pub fn Home() -> impl IntoView {
    let state = super::state();
    let mut query = Query::of_page(query().as_deref());
    let question = question(&mut query);
    let errors = query.errors();
    let listing = list(&state.catalog, &question);
    let rows: Vec<_> = listing.rows.iter().map(row).collect();
    let headers: Vec<_> = COLUMNS.iter().map(|column| header(column, &question)).collect();
    let routed: Vec<&Provider> = state.catalog.routed().take(COMPARED_MAX).collect();
    let pair = (routed.len() > 1).then(|| {
        let names: Vec<&str> = routed.iter().map(|one| one.name.as_str()).collect();
        let href = Comparison::address(&routed);
        view! { <a class="button" href=href>{names.join(" vs ")}</a> }
    });
    let shown = listing.rows.len();
    let hidden = match listing.hidden {
        0 => format!("{shown} providers."),
        hidden => {
            format!("{shown} providers; {hidden} more are left out by the filter.")
        }
    };
    view! {
        {head("Code sandboxes for AI agents, compared", DESCRIPTION)}
        {structured(&dataset(&state.site, &state.revision, DESCRIPTION))}
        <h1>"What a code sandbox costs, how it isolates, and what stops a runaway"</h1>
        <p class="lead">"The open catalog of code sandboxes for AI agents. Every value has a source and a date; where \
        sources disagree, all of them are shown; what nobody knows is called unknown."</p>
        <p class="actions">{pair} <a class="button quiet" href="/calculator">"What a runaway costs"</a></p>
        {notice(&errors)}
        {form(&question)}
        <form class="picker" method="get" action="/compare">
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
    }
}

fn question(query: &mut Query) -> Question {
    Question {
        filter: Filter {
            isolation: query.word("isolation", Tier::parse),
            needs: NEEDS.into_iter().filter(|need| query.switch(need.word())).collect(),
            status: query.word("status", Status::parse),
        },
        column: query.word("sort", Column::parse).unwrap_or(Column::Position),
        direction: query.word("order", Direction::parse).unwrap_or(Direction::Ascending),
        shape: query.shape(),
        kind: query.price_kind(),
        on: today(),
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
    let needs = filter.needs.iter().map(|need| (need.word(), Some("1")));
    for (name, word) in words.into_iter().chain(needs) {
        if let Some(word) = word {
            address.push('&');
            address.push_str(name);
            address.push('=');
            address.push_str(word);
        }
    }
    address
}

fn header((column, label, figures): &(Option<Column>, &str, bool), question: &Question) -> AnyView {
    let class = if *figures { "number" } else { "" };
    let label = (*label).to_owned();
    let Some(column) = *column else {
        return view! { <th role="columnheader" scope="col" class=class>{label}</th> }.into_any();
    };
    let is_sorted = question.column == column;
    let (sort, mark, next) = match (is_sorted, question.direction) {
        (true, Direction::Ascending) => ("ascending", " ↑", Direction::Descending),
        (true, Direction::Descending) => ("descending", " ↓", Direction::Ascending),
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
    let kind = (provider.status == Status::Routed).then(|| row.kind.label());
    view! {
        <tr role="row">
            <td role="cell"><input type="checkbox" name="p" value=provider.slug.to_string() aria-label=compare/></td>
            <th role="rowheader" scope="row">{named(provider)}</th>
            {cell(Entry::bill(&row.bill), kind.map(str::to_owned))}
            {isolation(provider)}
            {cell(verdict(&provider.egress.can_disable_at_create), None)}
            {cell(score(provider), None)}
            {start(provider)}
            {cell(verdict(&provider.deploy.open_source), None)}
        </tr>
    }
    .into_any()
}

/// A value, flagged where it depends or is disputed, with a word beside it.
fn cell(entry: Entry<'_>, beside: Option<String>) -> AnyView {
    let flag = match entry.standing {
        Standing::Known => None,
        standing => Some(standing.label()),
    };
    let beside = beside.map(|words| view! { <small>{words}</small> });
    match (entry.text, flag) {
        (Some(text), None) if beside.is_none() => view! { <td role="cell">{text}</td> }.into_any(),
        (Some(text), None) => view! { <td role="cell">{text} {beside}</td> }.into_any(),
        (Some(text), Some(flag)) => {
            view! { <td role="cell">{text} " " <small class="flag">{flag}</small> {beside}</td> }
                .into_any()
        }
        (None, flag) => {
            view! { <td role="cell"><i class="standing">{flag.unwrap_or_default()}</i></td> }
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
    let asked = (!words.is_empty()).then(|| format!("on request: {}", words.join(", ")));
    cell(Entry::of(&default.isolation.tier), asked)
}

/// Yes, partly or no.
fn verdict(claim: &Claim<Answer>) -> Entry<'_> {
    let label = claim.value().map(|answer| answer.verdict.label().to_owned());
    Entry { text: label, ..Entry::of(claim) }
}

fn score(provider: &Provider) -> Entry<'_> {
    provider.score().map_or_else(
        || Entry::without(Standing::NotScored),
        |score| Entry::computed(format!("{} of {}", score.value, score.scale)),
    )
}

/// The first measured median, with the class that was measured.
fn start(provider: &Provider) -> AnyView {
    let measured =
        provider.measurements.iter().find_map(|one| one.median().map(|(median, _)| (one, median)));
    let Some((one, median)) = measured else {
        return cell(Entry::without(Standing::NotMeasured), None);
    };
    let tier = provider.variant(&one.variant).and_then(|one| one.isolation.tier.value());
    let until = one.window_end.clone().unwrap_or_default();
    let class = tier.map_or_else(String::new, |tier| format!("{}, ", tier.label()));
    cell(Entry::computed(median.to_owned()), Some(format!("{class}{until}")))
}
