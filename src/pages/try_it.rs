//! `/try`: a snippet, where it may run, what that can cost; and the form that runs it. Works without scripts.
//!
//! Not here: running. The form posts to the action, which leads to the receipt (`pages/run.rs`).

mod examples;
mod offers;
mod same;

use axum::Form;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use leptos::prelude::*;
use serde::Deserialize;

use self::examples::{EXAMPLES, Example};
use super::run::found;
use crate::access::{Caller, verify};
use crate::catalog::claim::Tier;
use crate::moment::millis;
use crate::money::count;
use crate::parts::layout::{head, query};
use crate::query::{encoded, shortened};
use crate::runs::draft::Slip;
use crate::runs::typed::{Secret, Typed};
use crate::runs::verdict::duration;
use crate::runs::{CODE_BYTES_MAX, Drill, Egress, Language, Omission, Request, TIMEOUT_MS_MAX};
use crate::state::AppState;

/// The provider that needs no token.
const LOCAL: &str = "local";

/// Lines of code that are seen at once.
const LINES: u32 = 14;

/// What a form was sent with, to be looked at once more.
#[derive(Clone)]
struct Sent {
    typed: Typed,
    caller: Caller,
    is_unknown_token: bool,
}

/// The form as a browser sends it.
#[derive(Deserialize)]
pub struct Posted {
    #[serde(flatten)]
    typed: Typed,
    #[serde(default)]
    token: Secret,
}

/// The page again with what was typed, and with the quote for whoever the token is. Sent, not asked for by an address: neither
/// code nor token may stand in one.
pub async fn look_again(State(state): State<AppState>, Form(posted): Form<Posted>) -> Response {
    let text = posted.token.0.trim();
    let token = match text {
        "" => Ok(None),
        text => verify(&state.pool, text).await,
    };
    let Ok(token) = token.inspect_err(|error| tracing::error!(%error, "no token could be read"))
    else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let is_unknown_token = token.is_none() && !text.is_empty();
    let caller = token.map_or(Caller::Anonymous(None), Caller::Token);
    let typed = posted.typed.tidied();
    if typed.is_too_long() {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    }
    super::rendered(&state, "/try", Sent { typed, caller, is_unknown_token }).await
}

/// The page.
#[component]
pub fn TryIt() -> impl IntoView {
    let state = super::state();
    if let Some(Sent { typed, caller, is_unknown_token }) = use_context::<Sent>() {
        let words = is_unknown_token.then_some(
            "The token is not known here, or was revoked: this is what holds without it.",
        );
        return page(&state, &typed, &caller, words);
    }
    let (typed, words) = asked();
    page(&state, &typed, &Caller::Anonymous(None), words)
}

/// What the address asks for: an example, a run to be changed, or fields by name; and what is to be said of it.
fn asked() -> (Typed, Option<&'static str>) {
    let query = query().unwrap_or_default();
    let pairs: Vec<(String, String)> =
        form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let text = |name: &str| pairs.iter().find(|(known, _)| known == name).map(|(_, text)| text);
    let language = text("language").and_then(|word| Language::parse(word).ok());
    let example = text("example").and_then(|word| examples::find(word)).unwrap_or(&EXAMPLES[0]);
    let mut typed = of_example(example, language.unwrap_or(Language::Python));
    let mut words = None;
    if let Some(receipt) = found() {
        let is_gone = receipt.code.is_none();
        words = is_gone
            .then_some("The code of that run is deleted; what else was asked for stands here.");
        typed = Typed::of(&receipt.run.asked, receipt.code.unwrap_or_default());
    } else if text("run").is_some() {
        words = Some("There is no run of that name, so here is an example.");
    }
    for (name, field) in typed.fields_mut() {
        if let Some(text) = text(name) {
            field.clone_from(text);
        }
    }
    (typed.tidied(), words)
}

fn of_example(example: &Example, language: Language) -> Typed {
    Typed {
        language: language.word().to_owned(),
        code: example.code(language).to_owned(),
        timeout_ms: example.timeout_ms.to_owned(),
        fallback: "true".to_owned(),
        egress: Egress::None.word().to_owned(),
        ..Typed::default()
    }
}

fn page(state: &AppState, typed: &Typed, caller: &Caller, words: Option<&'static str>) -> AnyView {
    // A drill that cannot be chosen here is not asked for again.
    let drill = if state.sandboxes.limits().drills { typed.drill.clone() } else { String::new() };
    let typed = &Typed { drill, ..typed.clone() };
    let read = typed.read(&state.sandboxes.providers());
    let slips = read.as_ref().err().cloned().unwrap_or_default();
    let language = Language::parse(&typed.language).unwrap_or(Language::Python);
    let plan = match &read {
        Ok(request) => quote(state, request, caller),
        Err(_) => view! { <p>"It stands here as soon as every field can be read."</p> }.into_any(),
    };
    let same = read.as_ref().ok().map(|request| by_other_means(state, request));
    view! {
        {head(
            "Run code in a sandbox",
            "Run a snippet of Python or JavaScript in a fresh sandbox and see the receipt: output, attempts, cost, teardown.",
        )}
        <h1>"Run code in a sandbox"</h1>
        <p class="lead">"Every run gets a fresh sandbox, a time limit from outside, and a receipt: what the code wrote, who ran it, what \
        that cost, and that nothing of it is left. No account is needed."</p>
        {notice(&slips, words)}
        {links(language)}
        {form(state, typed, &slips)}
        {offers::here(state, caller)}
        <section class="block" id="quote"><h2>"Before it runs"</h2>{plan}</section>
        {same}
        {local(state)}
    }
    .into_any()
}

fn notice(slips: &[Slip], words: Option<&'static str>) -> Option<AnyView> {
    if slips.is_empty() && words.is_none() {
        return None;
    }
    let lines: Vec<_> = slips
        .iter()
        .map(|(field, words)| view! { <li><code>{*field}</code>" "{words.clone()}</li> })
        .collect();
    let list = (!slips.is_empty()).then(|| {
        view! { <p><strong>"Not every field can be read."</strong></p><ul>{lines}</ul> }
    });
    let words = words.map(|words| view! { <p>{words}</p> });
    Some(view! { <div class="notice" role="alert">{words}{list}</div> }.into_any())
}

/// Every example in a language, and the way to the other.
fn links(language: Language) -> AnyView {
    let language = if language == Language::JavaScript { language } else { Language::Python };
    let other = if language == Language::Python { Language::JavaScript } else { Language::Python };
    let link = |word: &str, language: Language| {
        encoded("/try", [("example", word), ("language", language.word())])
    };
    let items: Vec<_> = EXAMPLES
        .iter()
        .map(|one| view! { <li><a href=link(one.word, language)>{one.label}</a></li> })
        .collect();
    view! {
        <nav class="contents" aria-label="Examples"><ul>
            {items}
            <li><a href=link(EXAMPLES[0].word, other)>"Examples in " {other.label()}</a></li>
        </ul></nav>
    }
    .into_any()
}

/// Choices of a field: word and label each.
type Choices<'a> = &'a [(&'a str, &'a str)];

fn form(state: &AppState, typed: &Typed, slips: &[Slip]) -> AnyView {
    let known = state.sandboxes.providers().join(", ");
    let choice = |name: &'static str, label: &'static str, now: &str, all: Choices<'_>, hint| {
        let options: Vec<_> = all
            .iter()
            .map(|(word, label)| {
                view! { <option value=(*word).to_owned() selected=*word == now>{(*label).to_owned()}</option> }
            })
            .collect();
        let input = view! { <select id=name name=name aria-describedby=format!("{name}-hint")>{options}</select> };
        field(name, label, input.into_any(), hint, slips)
    };
    let text = |name: &'static str, label: &'static str, now: &str, hint: String| {
        let is_wrong = slips.iter().any(|(field, _)| *field == name);
        let input = view! {
            <input id=name name=name value=now.to_owned() autocomplete="off" spellcheck="false"
                aria-describedby=format!("{name}-hint") aria-invalid=is_wrong.then_some("true")/>
        };
        field(name, label, input.into_any(), hint, slips)
    };
    let languages = Language::ALL.map(|one| (one.word(), one.label()));
    let tiers = Tier::ALL.map(|one| (one.word(), one.label()));
    let floors: Vec<_> = [("", "by default")].into_iter().chain(tiers).collect();
    let egress = Egress::ALL.map(|one| (one.word(), one.label()));
    let fallback = [("true", "try the next"), ("false", "stop there")];
    let anonymous = state.sandboxes.limits().anonymous_timeout.as_millis();
    let limit = format!("{TIMEOUT_MS_MAX} at most; {anonymous} without a token");
    let drills: Vec<_> =
        [("", "none")].into_iter().chain(Drill::ALL.map(|one| (one.word(), one.label()))).collect();
    let drill = state.sandboxes.limits().drills.then(|| {
        let hint =
            "a fault to watch: a first provider that is not there fails so, then the others follow";
        choice("drill", "Drill", &typed.drill, &drills, hint.to_owned())
    });
    // Parsers drop a line end right after the tag.
    let code =
        if typed.code.starts_with('\n') { format!("\n{}", typed.code) } else { typed.code.clone() };
    let lines = count(u64::try_from(typed.code.lines().count()).unwrap_or_default());
    view! {
        <form class="form calculator" method="post" action="/actions/start-run">
            {choice("language", "Language", &typed.language, &languages, "Bash where a provider has it".to_owned())}
            {text("timeout_ms", "Time limit, ms", &typed.timeout_ms, limit)}
            <p class="field code">
                <label for="code">"Code"</label>
                <textarea id="code" name="code" rows=LINES spellcheck="false" autocapitalize="off" autocomplete="off"
                    aria-describedby="code-hint">{code}</textarea>
                <small id="code-hint" class="hint"><span data-lines>{lines} " lines"</span> ", of " {count(CODE_BYTES_MAX as u64)} " bytes at most"
                <span data-keys hidden>". Tab indents; Escape, then Tab leaves"</span></small>
            </p>
            {text("providers", "Providers, in order", &typed.providers, format!("{known}; any if empty"))}
            {choice("fallback", "If one fails", &typed.fallback, &fallback, "while no code has run".to_owned())}
            {choice("isolation_at_least", "Isolation, at least", &typed.isolation_at_least, &floors, "virtual machine with a token, else WebAssembly".to_owned())}
            {choice("egress", "Network", &typed.egress, &egress, "what the code may reach".to_owned())}
            {text("max_cost_usd", "Cost, USD at most", &typed.max_cost_usd, "over all attempts".to_owned())}
            {drill}
            <p class="field">
                <label for="token">"Token"</label>
                <input id="token" name="token" type="password" autocomplete="off" spellcheck="false" aria-describedby="token-hint"/>
                <small id="token-hint" class="hint">"only for hosted providers; never kept"</small>
            </p>
            <p class="actions"><button type="submit">"Run"</button>
            <button class="quiet" type="submit" formaction="/actions/start-two">"Run on two and compare"</button>
            <button class="quiet" type="submit" formaction="/try#quote">"Show the quote"</button></p>
        </form>
    }
    .into_any()
}

fn field(
    name: &'static str,
    label: &'static str,
    input: AnyView,
    hint: String,
    slips: &[Slip],
) -> AnyView {
    let wrong = slips.iter().find(|(field, _)| *field == name).map(|(_, words)| words.clone());
    let class = if wrong.is_some() { "wrong" } else { "hint" };
    view! {
        <p class="field"><label for=name>{label}</label>{input}
        <small id=format!("{name}-hint") class=class>{wrong.unwrap_or(hint)}</small></p>
    }
    .into_any()
}

/// Who would be tried in which order, who not and why, and what it can cost at most.
fn quote(state: &AppState, request: &Request, caller: &Caller) -> AnyView {
    let (selection, floor) = state.sandboxes.preview(request, caller);
    let who = caller.token().map_or_else(
        || "Without a token".to_owned(),
        |token| format!("With the token “{}”", shortened(&token.name)),
    );
    let is_warming = selection.candidates.iter().any(|one| one.warming_up)
        || selection.not_tried.iter().any(|one| one.reason == Omission::WarmingUp);
    let warming = is_warming.then(|| {
        view! { <p class="notice" role="status"><code>"local"</code> " is warming up: its interpreters are compiled once, at the first start. A run waits \
        for it for a few seconds; after that, ask again."</p> }
    });
    let none = selection.candidates.is_empty().then(|| {
        view! { <p><strong>"Nobody would run it as it is asked for."</strong></p> }
    });
    let (most, limits) = (selection.quote(), state.sandboxes.limits());
    let time = selection.time_max(std::time::Duration::from_millis(request.timeout_ms));
    let time = duration(millis(time));
    let rows: Vec<_> = selection
        .candidates
        .iter()
        .enumerate()
        .map(|(place, one)| {
            let what = match place {
                0 => "tried first".to_owned(),
                1 => "tried if the first fails".to_owned(),
                _ => format!("tried if all {place} before fail"),
            };
            let cost = one.quote.routed_usd.shown();
            row(one.provider.clone(), what, one.tier.label(), cost)
        })
        .chain(selection.not_tried.iter().map(|one| {
            row(
                one.provider.clone(),
                format!("not tried: {}", one.reason.label()),
                "",
                String::new(),
            )
        }))
        .collect();
    view! {
        {warming}
        {none}
        <p>{who} " it costs at most " <strong>{most.routed_usd.shown()}</strong> " (" {most.list_usd.shown()} " at list price), and an answer is there \
        after " {time} " at the latest. The weakest wall that may be used: " {floor.label()} "."</p>
        <div class="table-region" tabindex="0" role="region" aria-label="Providers"><table role="table" class="cards">
            <caption>"Who would be tried"</caption>
            <thead role="rowgroup"><tr role="row">
                <th role="columnheader" scope="col">"Provider"</th><th role="columnheader" scope="col">"Would be"</th>
                <th role="columnheader" scope="col">"Isolation"</th><th role="columnheader" scope="col">"At most, routed"</th>
            </tr></thead>
            <tbody role="rowgroup">{rows}</tbody>
        </table></div>
        <p class="muted">"At most: a sandbox until its platform itself ends it, at every provider in turn. Limits without a token: "
        <code>"local"</code> " only, " {format!("{} ms", limits.anonymous_timeout.as_millis())} " at most, " {limits.anonymous_per_minute.get()} " runs a minute \
        from one address, " {limits.anonymous_running} " at once on the whole site."</p>
    }
    .into_any()
}

fn row(provider: String, what: String, tier: &'static str, cost: String) -> AnyView {
    view! {
        <tr role="row">
            <th role="rowheader" scope="row"><code>{provider}</code></th>
            <td role="cell" data-label="Would be"><span>{what}</span></td>
            <td role="cell" data-label="Isolation"><span>{tier}</span></td>
            <td role="cell" data-label="At most"><span>{cost}</span></td>
        </tr>
    }
    .into_any()
}

fn by_other_means(state: &AppState, request: &Request) -> AnyView {
    let block = |words: &'static str, text: String| {
        view! {
            <details><summary>{words}</summary>
            <pre class="example" tabindex="0" role="region" aria-label=words><code>{text}</code></pre></details>
        }
    };
    let url = &state.site.base_url;
    view! {
        <section class="block">
            <h2>"The same from elsewhere"</h2>
            {block("With curl", same::curl(url, request))}
            {block("With Python’s standard library", same::python(url, request))}
            <p class="muted">"With a token, add the header " <code>"Authorization: Bearer thud_…"</code> "."</p>
        </section>
    }
    .into_any()
}

/// What the provider of this site is, and what it is not.
fn local(state: &AppState) -> AnyView {
    let about = state.sandboxes.about(LOCAL).unwrap_or_else(|| {
        "WebAssembly software fault isolation (Wasmtime) in a process of its own. It is warming up: how far this system locks \
         that process is known as soon as it has started one."
            .to_owned()
    });
    view! {
        <section class="block prose">
            <h2>"What " <code>"local"</code> " is"</h2>
            <p>{about}</p>
            <p>"Whoever has the link of a receipt can read it. Code and output are deleted after 24 hours, or 30 days with a token. What code \
            writes is untrusted, on the receipt too. " <a href="/guide">"Why all this"</a>"."</p>
        </section>
    }
    .into_any()
}
