//! The providers of this site: which are ready, why others are not, and what unlocks them.
//!
//! Not here: who would be tried for a request. That is the quote.

use leptos::prelude::*;

use crate::access::Caller;
use crate::runs::{Language, Omission};
use crate::state::AppState;

/// All of them, for a caller.
pub fn here(state: &AppState, caller: &Caller) -> AnyView {
    let offers = state.sandboxes.offers(caller);
    let is_locked = offers.iter().any(|one| one.configured && !one.permitted);
    let command = is_locked.then(|| {
        let all = offers.iter().filter(|one| one.configured).map(|one| one.provider.as_str());
        let command = format!(
            "thud token create --name NAME --daily-budget-usd 0.50 --providers {}",
            all.collect::<Vec<_>>().join(",")
        );
        view! {
            <p>"Hosted providers spend money of whoever runs this site, and so want a token, which is made there by this command:"</p>
            <pre class="example" tabindex="0" role="region" aria-label="How a token is made"><code>{command}</code></pre>
        }
    });
    let rows: Vec<_> = offers
        .into_iter()
        .map(|one| {
            let now = now(one.hindrance(), one.permitted, caller);
            let languages = one.languages.into_iter().map(Language::label).collect::<Vec<_>>();
            view! {
                <tr role="row">
                    <th role="rowheader" scope="row"><code>{one.provider}</code></th>
                    <td role="cell" data-label="Now"><span>{now}</span></td>
                    <td role="cell" data-label="Isolation"><span>{one.tier.label()}</span></td>
                    <td role="cell" data-label="Languages"><span>{languages.join(", ")}</span></td>
                </tr>
            }
        })
        .collect();
    view! {
        <section class="block" id="providers-here">
            <h2>"Providers here"</h2>
            <div class="table-region" tabindex="0" role="region" aria-label="Providers here"><table role="table" class="cards">
                <caption>"Which are ready, and why others are not"</caption>
                <thead role="rowgroup"><tr role="row">
                    <th role="columnheader" scope="col">"Provider"</th><th role="columnheader" scope="col">"Now"</th>
                    <th role="columnheader" scope="col">"Isolation"</th><th role="columnheader" scope="col">"Languages"</th>
                </tr></thead>
                <tbody role="rowgroup">{rows}</tbody>
            </table></div>
            {command}
        </section>
    }
    .into_any()
}

/// Whether a provider can be used now, in words.
fn now(hindrance: Option<Omission>, is_permitted: bool, caller: &Caller) -> String {
    let state = match hindrance {
        None => "ready",
        Some(Omission::NotConfigured) => return "not configured on this site".to_owned(),
        Some(Omission::BreakerOpen) => "left out for a while, after failures",
        Some(other) => other.label(),
    };
    if is_permitted {
        return state.to_owned();
    }
    let wanted = match caller {
        Caller::Anonymous(_) => "needs a token",
        Caller::Token(_) => "this token may not use it",
    };
    format!("{state}; {wanted}")
}
