//! `/changes`: what changed between the revisions that this site has published, and values with dates of their own.

use leptos::prelude::*;

use crate::catalog::change::{Dated, Fate, ProviderChange};
use crate::catalog::chronicle::{Told, chronicle};
use crate::parts::entry::link;
use crate::parts::layout::{head, query};
use crate::parts::notice::notice;
use crate::parts::twins::{feed, twins};
use crate::query::Query;

/// What changed.
#[component]
pub fn Changes() -> impl IntoView {
    let state = super::state();
    let mut query = Query::of_page(query().as_deref());
    let interest = query.interest(&state.catalog, &state.published);
    let errors = query.errors();
    let is_read = errors.is_empty();
    let chronicle = chronicle(&state.published, &state.catalog, &interest);
    let revisions: Vec<_> = chronicle.revisions.iter().map(revision).collect();
    let none = chronicle
        .revisions
        .is_empty()
        .then(|| view! { <p>"No revision that is told here changed anything about that."</p> });
    let rows: Vec<_> = chronicle.dated.iter().map(dated).collect();
    let dated = (!rows.is_empty()).then(|| {
        view! {
            <section class="block" id="dated">
                <h2>"Dated values"</h2>
                <p>"Prices and other values with a first day of their own, also from before this site's first revision. \
                “First seen” means that the value may be older."</p>
                <table role="table" class="cards">
                    <caption class="visually-hidden">"Dated values, the newest first"</caption>
                    <thead role="rowgroup"><tr role="row">
                        <th role="columnheader" scope="col">"Since"</th><th role="columnheader" scope="col">"Provider"</th>
                        <th role="columnheader" scope="col">"What"</th><th role="columnheader" scope="col">"Before"</th>
                        <th role="columnheader" scope="col">"Value"</th><th role="columnheader" scope="col">"Source"</th>
                    </tr></thead>
                    <tbody role="rowgroup">{rows}</tbody>
                </table>
            </section>
        }
    });
    view! {
        {head("What changed", "What changed in the catalog of code sandboxes: revision by revision, field by field, and every dated price.")}
        <h1>"What changed"</h1>
        <p class="lead">"This site keeps every revision of the catalog that it has published. Below is what each one changed, field \
        by field. A source that was read again and still says the same is no change."</p>
        <p class="actions">{feed("/changes.atom", "Atom feed")}</p>
        {notice(&errors)}
        {none}
        {revisions}
        {dated}
        {is_read.then(|| twins("/changes"))}
    }
}

fn revision(told: &Told<'_>) -> AnyView {
    let revision = &told.published.revision;
    let name = revision.name().to_owned();
    let id = revision.anchor();
    let changes: Vec<_> = told.changes.iter().map(|change| provider(change, &id)).collect();
    let remark = told.remark().map(|words| view! { <p>{words}</p> });
    let since = format!("/changes?since={name}");
    view! {
        <section class="block" id=id>
            <h2>"Revision " <code>{name}</code></h2>
            <p class="muted">"Published here " <time>{revision.published_at.clone()}</time> ". "
            <a href=since rel="nofollow">"Only what came after it"</a></p>
            {changes}{remark}
        </section>
    }
    .into_any()
}

fn provider(change: &ProviderChange, revision: &str) -> AnyView {
    let href = format!("/sandboxes/{}", change.slug);
    let id = format!("{revision}-{}", change.slug);
    let name = change.name.clone();
    let fields: Vec<_> = change
        .fields
        .iter()
        .map(|field| {
            let before = field.before.clone().map(|words| view! { <del>{words}</del> });
            let after = field.after.clone().map(|words| view! { <ins>{words}</ins> });
            view! { <div><dt>{field.label.clone()} " " <code>{field.key.clone()}</code></dt><dd>{before} " " {after}</dd></div> }
        })
        .collect();
    let fate = (change.fate != Fate::Changed).then(|| format!(": {}", change.fate.label()));
    let list = (!fields.is_empty()).then(|| view! { <dl class="facts">{fields}</dl> });
    let named = match change.fate {
        Fate::Removed => view! { {name} }.into_any(),
        Fate::Added | Fate::Changed => view! { <a href=href>{name}</a> }.into_any(),
    };
    view! { <section class="variant" id=id><h3>{named}{fate}</h3>{list}</section> }.into_any()
}

fn dated(one: &Dated<'_>) -> AnyView {
    let href = format!("/sandboxes/{}#price-history", one.provider.slug);
    let means = one
        .beginning
        .map(|beginning| view! { " " <small class="muted">{beginning.label()}</small> });
    let source = one.evidence.sources.first().map(|source| {
        link(source, &format!("{}, {}", one.evidence.by.label(), one.evidence.as_of))
    });
    view! {
        <tr role="row">
            <th role="rowheader" scope="row"><time>{one.since.to_string()}</time>{means}</th>
            <td role="cell" data-label="Provider"><a href=href>{one.provider.name.clone()}</a></td>
            <td role="cell" data-label="What"><span>{one.label.clone()}</span></td>
            <td role="cell" data-label="Before"><span>{one.before.clone().unwrap_or_else(|| "–".to_owned())}</span></td>
            <td role="cell" data-label="Value"><span>{one.after.clone()}</span></td>
            <td role="cell" data-label="Source">{source}</td>
        </tr>
    }
    .into_any()
}
