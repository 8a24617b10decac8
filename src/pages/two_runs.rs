//! `/runs/{id}/and/{id}`: two runs side by side. Each is an ordinary run with a receipt of its own.
//!
//! Not here: how they are started (`actions`), and what differs (`runs/pair.rs`).

use leptos::prelude::*;
use leptos_meta::Meta;

use super::problem::NotFound;
use super::run::{ask_again_until_settled, found_two, name, streams};
use crate::parts::layout::head;
use crate::query::encoded;
use crate::runs::pair::{Row, rows, sentence};
use crate::runs::{Language, Receipt};
use crate::state::AppState;

/// The page.
#[component]
pub fn TwoRuns() -> impl IntoView {
    match found_two() {
        Some((one, two)) => page(&super::state(), &one, &two),
        None => view! { <Meta name="robots" content="noindex"/> <NotFound/> }.into_any(),
    }
}

fn page(state: &AppState, one: &Receipt, two: &Receipt) -> AnyView {
    ask_again_until_settled(&[&one.run, &two.run]);
    let mut names = [one, two].map(|receipt| place(state, receipt));
    if names[0] == names[1] {
        names = [1, 2].map(|number| format!("{} ({number})", names[0]));
    }
    let waits = (!one.run.is_final() || !two.run.is_final()).then(|| {
        view! { <p class="muted" role="status">"This page asks again by itself until both are over. " <a href="">"Look again"</a>"."</p> }
    });
    let columns: Vec<_> = names
        .iter()
        .zip([one, two])
        .map(|(name, receipt)| {
            let receipt = format!("/runs/{}", receipt.run.id);
            view! { <th role="columnheader" scope="col"><a href=receipt>{name.clone()}</a></th> }
        })
        .collect();
    let rows: Vec<_> = rows(&one.run, &two.run).into_iter().map(|one| row(one, &names)).collect();
    let outputs: Vec<_> = names
        .iter()
        .zip([one, two])
        .map(|(name, receipt)| view! { <div class="figure-table block"><h3>{name.clone()}</h3>{streams(receipt, &format!(" of {name}"))}</div> })
        .collect();
    let versions =
        encoded("/try", [("example", "versions"), ("language", one.run.asked.language.word())]);
    let versions = (one.run.asked.language != Language::Bash).then(|| {
        view! { <p class="muted">"Which version of a language runs is only for the code to say: "<a href=versions>"an example prints it"</a>"."</p> }
    });
    view! {
        {head("Two runs side by side", "One snippet at two providers: output, times, cost and isolation beside each other.")}
        <Meta name="robots" content="noindex"/>
        <h1>"Two runs side by side"</h1>
        <p class="lead">{sentence(one, two)}</p>
        {waits}
        <p class="actions"><a class="button" href=again(one, two)>"Edit and try again"</a></p>
        <table role="table" class="comparison-table cards">
            <caption>"What the receipts say. What differs is marked."</caption>
            <thead role="rowgroup"><tr role="row">
                <th role="columnheader" scope="col"><span class="visually-hidden">"Question"</span></th>{columns}
            </tr></thead>
            <tbody role="rowgroup">{rows}</tbody>
        </table>
        <section class="block">
            <h2>"What they wrote"</h2>
            <p class="muted">"Untrusted: the code chose every character of it."</p>
            <div class="figure-tables">{outputs}</div>
            {versions}
        </section>
    }
    .into_any()
}

fn row(row: Row, names: &[String; 2]) -> AnyView {
    let differs = row.differs();
    // A word besides the colour.
    let mark = differs.then(|| view! { " " <span class="best">"differs"</span> });
    let cells: Vec<_> = row
        .cells
        .into_iter()
        .zip(names)
        .map(|(words, name)| {
            view! { <td role="cell" class:is-best=differs data-label=name.clone()><span>{words}</span></td> }
        })
        .collect();
    view! { <tr role="row"><th role="rowheader" scope="row">{row.label} {mark}</th>{cells}</tr> }
        .into_any()
}

/// Where a run was to be executed: the only provider that it names.
fn place(state: &AppState, receipt: &Receipt) -> String {
    let asked = &receipt.run.asked;
    let slug = receipt.run.provider.as_ref().or_else(|| asked.providers.as_ref()?.first());
    slug.map_or_else(|| "no provider".to_owned(), |slug| name(state, slug))
}

/// The form with what was typed for both.
fn again(one: &Receipt, two: &Receipt) -> String {
    let slugs = [one, two].map(|receipt| receipt.run.asked.providers.clone().unwrap_or_default());
    let slugs = slugs.concat().join(", ");
    let run = one.run.id.as_str();
    encoded("/try", [("run", run), ("providers", slugs.as_str()), ("fallback", "true")])
}
