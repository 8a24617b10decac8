//! `/guide`: why agents' code wants a sandbox, which wall is which, and what else keeps one safe.

use leptos::prelude::*;

use crate::catalog::claim::Tier;
use crate::catalog::word::capitalised;
use crate::catalog::{Catalog, Provider};
use crate::parts::layout::head;

/// The rungs, weakest first, and the kind that is none of them.
const LADDER: [(Tier, &str); 4] = [
    (
        Tier::Process,
        "A subprocess, a chroot, a language's own restrictions. Everything stands on the host's kernel and mostly on \
         good behaviour; getting out is a craft that people practise. For code that you wrote yourself.",
    ),
    (
        Tier::Container,
        "A file system and a process tree of its own, and the host's kernel underneath. That kernel is what an attacker \
         talks to, and everybody on the machine shares it.",
    ),
    (
        Tier::VirtualMachine,
        "A kernel for each workload, and hardware virtualisation as the boundary; microVMs belong here. The strongest \
         practical step short of a machine of your own, and what hosted sandboxes generally aim for.",
    ),
    (
        Tier::Wasm,
        "A fourth kind rather than a rung: the code sees only what it was handed, by construction of the language it is \
         compiled to. What it is worth depends on the runtime, and not every program runs there.",
    ),
];

/// The security model.
#[component]
pub fn Guide() -> impl IntoView {
    let state = super::state();
    let rungs: Vec<_> = LADDER
        .iter()
        .map(|(tier, words)| {
            view! {
                <li><h3>{capitalised(tier.label())}</h3><p>{*words}</p>{standing_on(&state.catalog, *tier)}</li>
            }
        })
        .collect();
    view! {
        {head(
            "Running code from agents: the security model",
            "Why code from an agent is untrusted, what each kind of isolation is worth, and why timeouts and teardown matter more than price.",
        )}
        <article class="prose">
        <h1>"Running code from agents"</h1>
        <p class="lead">"Assume that the code is hostile, because now and then it is. None of what follows limits what an \
        agent can do. It limits what a mistake can do. "<a href="/try">"Try it"</a>": every run there leaves a receipt."</p>

        <h2>"Untrusted three times over"</h2>
        <p><b>"The model errs."</b>" Asked to clear out temporary files, it makes up a path and removes something that \
        mattered. Nobody attacked anybody."</p>
        <p><b>"What it reads can steer it."</b>" Web pages, mails and documents end up in the same context as your \
        instructions. An agent that reads the open internet runs code that strangers had a hand in."</p>
        <p><b>"The user asks for it."</b>" Sooner or later somebody wants something hostile, and a model that declines is \
        a courtesy, not a boundary."</p>
        <p>"Browsers came to this conclusion long ago: code from elsewhere runs in a place that assumes the worst. Not in \
        the production shell, and not in a subprocess that inherits the service's credentials."</p>

        <h2>"The ladder"</h2>
        <ol class="ladder">{rungs}</ol>
        <p>"Buy rather than build: isolation of one's own making is a research project. But look at what you get if you \
        just call create. The default is often a rung below the best that the same provider sells, and the better one has \
        to be asked for by name."</p>

        <h2>"A timeout keeps things alive; that it caps spending is a bonus"</h2>
        <p>"An agent does not lose patience. A loop that never ends waits for ever, with the meter running. So every \
        execution gets a wall-clock limit that the caller sets, the platform enforces and the code cannot reach."</p>
        <p>"Be honest about the sums, though: one runaway processor costs about six cents an hour and a dollar forty-five \
        a day ("<a href="/calculator">"work out your own"</a>"). What the limit really protects is the rest: a task that \
        does not finish, a session that is held, a slot of the plan that nobody else gets, retries upstream that multiply \
        all of it. Set it tight, seconds to a few minutes. And when it strikes, rethink the code; the same run with more \
        time is seldom the cure."</p>

        <h2>"The best thing about a sandbox is that it dies"</h2>
        <p><b>"One task, one sandbox."</b>" Reuse carries files, processes and whatever an injected page left behind from \
        one task into the next. A fresh one can be judged by itself."</p>
        <p><b>"Nothing long-lived inside."</b>" No credential that outlives the sandbox. Hand the data in; if it must be a \
        token, make it narrow and let it end with the sandbox."</p>
        <p><b>"What comes out is untrusted too."</b>" Output was made by untrusted code and flows back into the agent's \
        context. Parse it defensively: the sandbox protects your infrastructure, not your prompt."</p>
        <p><b>"Close the network."</b>" Code that only computes needs no egress. The less a sandbox can reach, the less an \
        escape or an injection is worth. Whether it can be switched off, and on which plan, stands on each provider's \
        page and in every "<a href="/compare">"comparison"</a>"."</p>

        <h2>"Two are cheap insurance"</h2>
        <p>"Where two providers charge the same rate, having both costs nothing: if one platform fails, the other is \
        tried. Keep the chain of attempts, and never repeat a run that may have started. The catalog adds a caution: the \
        same rate is not the same bill, and one provider's default is not the other's isolation."</p>
        </article>
    }
}

/// The variants of the catalog that stand on a rung, the defaults told apart from what has to be asked for.
fn standing_on(catalog: &Catalog, tier: Tier) -> AnyView {
    let variants = |provider: &Provider| {
        let slug = provider.slug.clone();
        let name = provider.name.clone();
        provider
            .variants
            .iter()
            .enumerate()
            .filter(|(_, variant)| variant.isolation.tier.value() == Some(&tier))
            .map(|(place, variant)| {
                let how = if place == 0 {
                    "what a plain create call gives".to_owned()
                } else {
                    format!("by {}", variant.asked_by)
                };
                let href = format!("/sandboxes/{slug}#variants");
                view! { <li><a href=href>{name.clone()} ", " {variant.name.clone()}</a> <span class="muted">" (" {how} ")"</span></li> }
            })
            .collect::<Vec<_>>()
    };
    let items: Vec<_> = catalog.providers().iter().flat_map(variants).collect();
    if items.is_empty() {
        return view! { <p class="muted">"Nobody in the catalog stands here."</p> }.into_any();
    }
    view! { <ul>{items}</ul> }.into_any()
}
