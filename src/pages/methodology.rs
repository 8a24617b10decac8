//! `/methodology`: how prices, scores and everything else are made, and what is not measured.

use leptos::prelude::*;

use crate::catalog::claim::{By, Confidence};
use crate::catalog::freshness::{MONEY_STALE_AFTER_DAYS, STALE_AFTER_DAYS};
use crate::parts::layout::head;

/// What each way into the catalog means.
const WAYS: [(By, &str); 7] = [
    (By::Vendor, "A page or document of the vendor, seen."),
    (By::VendorCode, "The vendor's own code: an SDK, an API description, a template."),
    (By::Relayed, "A vendor's page as somebody else quoted it in public, with a date."),
    (By::ThirdParty, "Somebody else says so."),
    (By::Measured, "Measured, by whom is said."),
    (By::Derived, "Computed from other values of the catalog, or read out of them."),
    (By::Editorial, "This catalog's own judgement or decision."),
];

/// What each degree of confidence means.
const TRUST: [(Confidence, &str); 3] = [
    (Confidence::High, "Rely on it."),
    (Confidence::Medium, "Read the source again before you rely on it."),
    (Confidence::Low, "A pointer, no more."),
];

/// How the catalog is made.
#[component]
pub fn Methodology() -> impl IntoView {
    let state = super::state();
    let ways: Vec<_> = WAYS
        .iter()
        .map(|(by, words)| view! { <div><dt>{by.label()}</dt><dd>{*words}</dd></div> })
        .collect();
    let trust: Vec<_> = TRUST
        .iter()
        .map(|(confidence, words)| view! { <div><dt>{confidence.label()}</dt><dd>{*words}</dd></div> })
        .collect();
    let scores: Vec<_> = state
        .catalog
        .providers()
        .iter()
        .filter_map(|provider| provider.score().map(|score| (provider, score)))
        .map(|(provider, score)| {
            view! { <li>{provider.name.clone()} ": " {score.value} " of " {score.scale} ", " {score.kind.label()}</li> }
        })
        .collect();
    view! {
        {head("Methodology", "How the catalog's prices, scores and figures are made, what the words mean, and what is not measured.")}
        <article class="prose">
        <h1>"How this is made"</h1>
        <p class="lead">"One text file per provider, each value with a source and a date, kept in a public repository. \
        What is on these pages is computed from those files and from nothing else."</p>

        <h2>"Prices"</h2>
        <p>"A price is kept in the vendor's own unit, to the digit: what is quoted by the hour stays a price of an hour. \
        Amounts are exact decimals, multiplied first and divided last; only what is shown is rounded, to twelve places, \
        half to even. A price is never edited: a later one with its first day replaces it, and the earlier one stays in the history."</p>
        <p><b>"List, fee, routed."</b>" What the vendor asks, what the router adds in per cent, and the sum are three \
        values, each with the day since which it holds. They have to agree, or the catalog does not load."</p>
        <p><b>"A figure is exact, or it says why not."</b>" Where a bill rests on something disputed or assumed, it \
        is shown with its bounds as “depends”, and never ranked. Where no figure can be given, there is none, and the reason stands there."</p>
        <p><b>"Included is not free."</b>" Disk that comes with a sandbox up to an allowance is “included”; zero \
        means that something costs nothing."</p>

        <p><b>"A month of a workload"</b>" is 30 days on each provider's default class and its cheapest plan that is enough: it \
        has to hold the peak (and what the runs of a day make at once on average), the length of a run, the runs of a day at \
        its create rate, and the create rate that is named. A burst above a plan's create rate only waits, so the default rate, a tenth of the \
        peak, chooses no plan. Where nobody states what a plan holds, the bill depends on it. List totals are \
        ranked with list totals alone. Credits and top-ups are told and not taken off."</p>
        <h2>"Unknown, not applicable, disputed"</h2>
        <p>"“Unknown” is not zero and not “no”: nobody is known to say. “Not applicable” means that \
        the question has no meaning there. “Disputed” means that sources contradict each other: every claim is \
        shown with its date, and which of them the catalog follows."</p>

        <h2>"How a value got here"</h2>
        <dl class="facts">{ways}</dl>
        <h2>"How far to trust it"</h2>
        <dl class="facts">{trust}</dl>

        <h2>"How old a value may be"</h2>
        <p>"A price is fresh for " {MONEY_STALE_AFTER_DAYS} " days after somebody last saw it, anything else for "
        {STALE_AFTER_DAYS} ". After that it is shown faded, with the days since; in JSON, " <code>"stale_after"</code> " is the last fresh         day. The catalog's " <code>"max_age_days"</code> " leaves older prices out of the ranking and says so."</p>
        <h2>"A past day"</h2>
        <p>"Any page of the catalog can be asked about a past day with " <code>"as_of"</code> ". Prices are looked up in their         dated history. Everything else is what this site had published by that day, where it has a revision of it;         before that, only what somebody is known to have seen by then. What is undated or was seen later is unknown on         that day: never the nearest value. " <a href="/changes">"What changed"</a> " compares the revisions."</p>
        <h2>"How complete a provider is"</h2>
        <p>"The bar on a provider's page counts its sections and variants: values known, disputed, unknown, not applicable.         Plans are left out, since what a plan does not say is no gap."</p>

        <h2>"Scores"</h2>
        <ul>{scores}</ul>
        <p>"These are editorial figures without a published error. Two points decide nothing. Providers without one are \
        “not scored”; none is invented."</p>

        <h2>"Best"</h2>
        <p>"A cell is marked best only if every provider of the row has an exact figure on the same basis and one of them \
        stands out. Start times are never ranked across classes: a container and a virtual machine start different things."</p>

        <h2>"What is not measured"</h2>
        <p>"Thud has measured nothing itself so far. Start times come from published measurements of others, with their \
        method and window; claims of vendors are shown as claims. Nothing here says how reliable a provider is, how its \
        support answers, or how well it keeps tenants apart beyond what it publishes."</p>
        </article>
    }
}
