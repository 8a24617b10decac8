//! Small pictures as SVG. Each says in words what it shows.

use jiff::civil::Date;
use leptos::prelude::*;

use crate::catalog::Provider;
use crate::catalog::field::{Completeness, price_amount, price_label};
use crate::catalog::price::Price;
use crate::catalog::word::{Basis, State};
use crate::picture::{STEPS_HEIGHT, Step, WIDTH, bar, steps as step_path};

/// Height of a bar in the picture's own units.
const BAR_HEIGHT: u32 = 40;

/// How much of what can be asked of a provider is answered.
pub fn completeness(provider: &Provider) -> AnyView {
    let counted = Completeness::of(provider);
    let parts = counted.parts();
    let segments: Vec<_> = bar(&parts.map(|(_, count)| count))
        .into_iter()
        .zip(parts)
        .map(|(segment, (state, _))| {
            let (x, width) = (segment.x, segment.width);
            view! { <rect x=x y="0" width=width height=BAR_HEIGHT data-state=state.word()></rect> }
        })
        .collect();
    let words: Vec<_> = parts
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(state, count)| view! { <li data-state=state.word()>{count} " " {state_words(state)}</li> })
        .collect();
    view! {
        <div class="completeness">
            <svg class="bar" viewBox=format!("0 0 {WIDTH} {BAR_HEIGHT}") preserveAspectRatio="none" aria-hidden="true">{segments}</svg>
            <ul aria-label=format!("Of {} questions", counted.total())>{words}</ul>
        </div>
    }
    .into_any()
}

fn state_words(state: State) -> &'static str {
    match state {
        State::Known => "values known",
        State::Disputed => "disputed",
        State::Unknown => "unknown",
        State::NotApplicable => "not applicable",
    }
}

/// Prices of one thing over time, the oldest first.
fn series(provider: &Provider, on: Date) -> Vec<Vec<&Price>> {
    let mut all: Vec<Vec<&Price>> = Vec::new();
    for price in &provider.prices {
        if price.since > on || price.basis == Basis::Bundled {
            continue;
        }
        let same = all.iter_mut().find(|one| one.last().is_some_and(|p| p.prices_same_as(price)));
        match same {
            Some(one) => one.push(price),
            None => all.push(vec![price]),
        }
    }
    all
}

/// Each price as a line of steps from its first known day to the day of the page. The table below has the same.
pub fn steps(provider: &Provider, on: Date) -> Option<AnyView> {
    let all = series(provider, on);
    let first = all.iter().flatten().map(|price| price.since).min()?;
    let rows: Vec<_> = all.iter().map(|one| steps_row(provider, one, first, on)).collect();
    let view = view! {
        <table role="table" class="steps cards">
            <caption>"From " <time>{first.to_string()}</time> " to " <time>{on.to_string()}</time> ", from zero up"</caption>
            <thead role="rowgroup"><tr role="row">
                <th role="columnheader" scope="col">"Price"</th><th role="columnheader" scope="col">"Over time"</th>
                <th role="columnheader" scope="col">"Last"</th>
            </tr></thead>
            <tbody role="rowgroup">{rows}</tbody>
        </table>
    };
    Some(view.into_any())
}

fn steps_row(provider: &Provider, prices: &[&Price], first: Date, on: Date) -> Option<AnyView> {
    let newest = prices.last()?;
    let points: Vec<Step> = prices
        .iter()
        .map(|price| Step { since: price.since, usd: price.rate.per_second() })
        .collect();
    let path = step_path(&points, first, on)?;
    let said: Vec<String> = prices
        .iter()
        .map(|price| format!("{} since {}", price_amount(price), price.since))
        .collect();
    let label = price_label(provider, newest);
    let view = view! {
        <tr role="row">
            <th role="rowheader" scope="row">{label}</th>
            <td role="cell" data-label="Over time"><svg class="line" viewBox=format!("0 0 {WIDTH} {STEPS_HEIGHT}") preserveAspectRatio="none" role="img" aria-label=said.join(", then ")>
                <path d=path></path>
            </svg></td>
            <td role="cell" data-label="Last"><span>{price_amount(newest)}</span> " " <small class="muted">{newest.beginning.label()} " " <time>{newest.since.to_string()}</time></small></td>
        </tr>
    };
    Some(view.into_any())
}
