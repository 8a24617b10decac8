//! `/runs/{id}`: the receipt of a run. First what became of it, then what the code wrote, then how it went.
//!
//! Without scripts a page of a run that is not over asks again by itself; with them `public/run.js` writes what is new.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next as Inner;
use axum::response::{IntoResponse, Response};
use futures_util::future::{join_all, try_join_all};
use jiff::Timestamp;
use leptos::prelude::*;
use leptos_axum::ResponseOptions;
use leptos_meta::Meta;

use super::problem::NotFound;
use crate::money::count;
use crate::parts::layout::{head, query};
use crate::picture::{Segment, Span, WIDTH, timeline};
use crate::query::{encoded, shortened};
use crate::runs::output::inert;
use crate::runs::typed::Typed;
use crate::runs::verdict::{Verdict, duration, verdict};
use crate::runs::{
    Applied, Attempt, AttemptOutcome, Choice, Cost, Next, Omission, Outcome, Output, Reason,
    Receipt, Run, Stage, TeardownState,
};
use crate::state::AppState;

/// How long the page waits for a run that is about to end, so that most receipts are whole at first sight.
const PATIENCE: Duration = Duration::from_millis(700);
/// When a page of a run that is not over asks again.
const REFRESH: (HeaderName, HeaderValue) =
    (HeaderName::from_static("refresh"), HeaderValue::from_static("2"));
/// What stands between two runs in an address.
pub const AND: &str = "/and/";
/// What is seen of an output at once, bytes.
const SEEN_BYTES: usize = 8 * 1024;
/// What is shown of it at all. The JSON has what is kept.
const SHOWN_BYTES_MAX: usize = 256 * 1024;
/// Height of an attempt in the picture, in its own units.
const ROW: u32 = 40;

/// The receipts that a request is about: those of its path, or that of the run that its form begins with.
#[derive(Clone)]
pub struct Found(Arc<[Option<Receipt>]>);

/// Looks for them before the page is rendered: what a page says in its head is lost where it is rendered after a wait.
pub async fn find(State(state): State<AppState>, mut request: Request, next: Inner) -> Response {
    let (path, query) = (request.uri().path(), request.uri().query().unwrap_or_default());
    let own = path.strip_prefix("/runs/");
    let ids: Vec<String> = match own {
        Some(own) => own.splitn(2, AND).map(str::to_owned).collect(),
        None if path == "/try" => {
            let mut pairs = form_urlencoded::parse(query.as_bytes());
            pairs
                .find(|(name, _)| name == "run")
                .map(|(_, id)| id.into_owned())
                .into_iter()
                .collect()
        }
        None => Vec::new(),
    };
    if ids.is_empty() {
        return next.run(request).await;
    }
    if own.is_some() {
        // A run that takes longer is told as far as it is.
        let over = join_all(ids.iter().map(|id| state.sandboxes.wait(id)));
        let _ = tokio::time::timeout(PATIENCE, over).await;
    }
    match try_join_all(ids.iter().map(|id| state.sandboxes.receipt(id))).await {
        Ok(receipts) => {
            request.extensions_mut().insert(Found(receipts.into()));
            next.run(request).await
        }
        Err(error) => {
            tracing::error!(%error, "a receipt could not be read");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// The receipt that was found for this page.
pub fn found() -> Option<Receipt> {
    let parts = use_context::<Parts>()?;
    let Found(receipts) = parts.extensions.get::<Found>()?;
    receipts.first()?.clone()
}

/// The two receipts that were found for this page.
pub fn found_two() -> Option<(Receipt, Receipt)> {
    let parts = use_context::<Parts>()?;
    match &*parts.extensions.get::<Found>()?.0 {
        [Some(one), Some(two)] => Some((one.clone(), two.clone())),
        _ => None,
    }
}

/// Lets the browser ask again by itself, until some runs are over and their sandboxes gone.
pub fn ask_again_until_settled(runs: &[&Run]) {
    let is_settled = |run: &&Run| {
        let is_pending = |one: &Attempt| one.teardown.state == TeardownState::Pending;
        run.is_final() && !run.attempts.iter().any(is_pending)
    };
    if let Some(options) = use_context::<ResponseOptions>()
        && !runs.iter().all(is_settled)
    {
        options.insert_header(REFRESH.0, REFRESH.1);
    }
}

/// The receipt.
#[component]
pub fn RunPage() -> impl IntoView {
    match found() {
        Some(receipt) => page(&super::state(), &receipt),
        None => view! { <Meta name="robots" content="noindex"/> <NotFound/> }.into_any(),
    }
}

fn page(state: &AppState, receipt: &Receipt) -> AnyView {
    let run = &receipt.run;
    let name = |slug: &str| name(state, slug);
    let Verdict { title, sentence } = verdict(run, name);
    ask_again_until_settled(&[run]);
    let again = again(run);
    let live = (!run.is_final()).then(|| {
        view! { <p class="muted" role="status" data-live>"This page follows the run by itself. " <a href="">"Look again"</a>"."</p> }
    });
    let was_tried = !run.attempts.is_empty();
    let drill = run.asked.drill.filter(|_| was_tried).map(|drill| {
        view! { <p class="notice">"A drill: " {drill.label()} ", as it was ordered to. There is no such provider: it asked nobody and executed nothing. Whatever \
        follows is real."</p> }
    });
    view! {
        {head(title, "The receipt of a run: outcome, output, attempts, cost, teardown.")}
        <Meta name="robots" content="noindex"/>
        <h1>{title}</h1>
        <p class="lead">{inert(&sentence)}</p>
        {live}
        {drill}
        <p class="actions"><a class="button" href=again>"Edit and try again"</a></p>
        {was_tried.then(|| output(receipt))}
        {was_tried.then(|| chain(run, name))}
        {others(run)}
        {facts(receipt, name)}
        {code(receipt)}
    }
    .into_any()
}

/// What a provider is called.
pub fn name(state: &AppState, slug: &str) -> String {
    let known = state.catalog.find(slug).map(|provider| provider.name.clone());
    known.unwrap_or_else(|| slug.to_owned())
}

/// The form with what was typed: what the record holds, and what could not be read, which came along in the address.
fn again(run: &Run) -> String {
    let query = query().unwrap_or_default();
    let names: Vec<_> = Typed::default().fields().into_iter().map(|(name, _)| name).collect();
    let mut typed = Typed::default();
    for (name, field) in typed.fields_mut() {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        *field = pairs
            .find(|(known, _)| known == name)
            .map(|(_, text)| text.into_owned())
            .unwrap_or_default();
    }
    let typed = typed.tidied();
    let kept =
        typed.fields().into_iter().filter(|(name, text)| names.contains(name) && !text.is_empty());
    encoded("/try", [("run", run.id.as_str())].into_iter().chain(kept))
}

fn output(receipt: &Receipt) -> AnyView {
    let json = format!("/api/v1/runs/{}", receipt.run.id);
    let warning = receipt.output.is_some().then(|| {
        view! {
            <p class="muted">"Untrusted: the code chose every character of it. It is shown as text, and control characters as signs. "
            <a href=json>"As JSON"</a>"."</p>
        }
    });
    view! {
        <section class="block">
            <h2>"What it wrote"</h2>
            {warning}
            {streams(receipt, "")}
        </section>
    }
    .into_any()
}

/// Both outputs of a run, as far as there are any. Where a page has those of two runs, `whose` follows the name of each.
pub fn streams(receipt: &Receipt, whose: &str) -> AnyView {
    let is_live = !receipt.run.is_final();
    let Some(output) = &receipt.output else {
        return view! { <p>"Code and output of this run are deleted; the record stays."</p> }
            .into_any();
    };
    let Output { stdout, stderr, stdout_dropped_bytes, stderr_dropped_bytes } = output;
    let nothing =
        (!is_live && stdout.is_empty() && stderr.is_empty()).then(|| view! { <p>"Nothing."</p> });
    let streams = [
        ("stdout", "Standard output", stdout, *stdout_dropped_bytes),
        ("stderr", "Standard error", stderr, *stderr_dropped_bytes),
    ];
    let streams: Vec<_> = streams
        .into_iter()
        .filter(|(_, _, text, dropped)| is_live || !text.is_empty() || *dropped > 0)
        .map(|(word, label, text, dropped)| stream(word, label, whose, text, dropped))
        .collect();
    view! { {nothing}{streams} }.into_any()
}

fn stream(
    word: &'static str,
    label: &'static str,
    whose: &str,
    text: &str,
    dropped: u64,
) -> AnyView {
    let (seen, rest) = split(text, SEEN_BYTES);
    let (folded, beyond) = split(rest, SHOWN_BYTES_MAX - SEEN_BYTES);
    let folded = (!folded.is_empty()).then(|| {
        let bytes = count(u64::try_from(folded.len()).unwrap_or_default());
        view! {
            <details><summary>{bytes} " bytes more"</summary>
            <pre class="example" tabindex="0" role="region" aria-label=format!("{label}{whose}, the rest") dir="ltr"><code>{inert(folded)}</code></pre></details>
        }
    });
    let beyond = (!beyond.is_empty()).then(|| {
        let bytes = count(u64::try_from(beyond.len()).unwrap_or_default());
        view! { <p>{bytes} " bytes after that are kept, but not shown: the JSON has them."</p> }
    });
    let dropped = (dropped > 0).then(|| {
        view! { <p><strong>{count(dropped)} " bytes more were written and dropped"</strong>": only the beginning of an output is kept."</p> }
    });
    view! {
        <h3>{label}</h3>
        <pre class="example" tabindex="0" role="region" aria-label=format!("{label}{whose}") dir="ltr"><code data-stream=word>{inert(seen)}</code></pre>
        {folded}{beyond}{dropped}
    }
    .into_any()
}

/// The beginning of a text, in whole lines where there are some, and the rest.
fn split(text: &str, most: usize) -> (&str, &str) {
    if text.len() <= most {
        return (text, "");
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let end = text[..end].rfind('\n').map_or(end, |line| line + 1);
    text.split_at(end)
}

/// Attempts as a picture of time, and what each did in words.
fn chain(run: &Run, name: impl Fn(&str) -> String) -> AnyView {
    let begun = millis(&run.requested_at);
    let spans: Vec<Span> = run
        .attempts
        .iter()
        .map(|one| {
            let whole = one.duration_ms.unwrap_or_default();
            let start = one.start_ms.unwrap_or(whole);
            Span {
                at_ms: millis(&one.started_at).saturating_sub(begun),
                start_ms: start.min(whole),
                run_ms: one.code_started.then(|| whole.saturating_sub(start)),
                teardown_ms: one.teardown.duration_ms,
            }
        })
        .collect();
    let rows: Vec<_> = run
        .attempts
        .iter()
        .zip(timeline(&spans).into_iter().zip(spans))
        .map(|(one, (drawn, span))| attempt(one, drawn, span, name(&one.provider)))
        .collect();
    let legend: Vec<_> = PARTS
        .map(|(word, label)| view! { <span><i class="swatch" data-part=word></i>{label}" "</span> })
        .into_iter()
        .collect();
    view! {
        <section class="block">
            <h2>"How it went"</h2>
            <div class="table-region" tabindex="0" role="region" aria-label="Attempts"><table role="table" class="attempts cards">
                <caption>"Every attempt in its own sandbox, along one time. " {legend}</caption>
                <thead role="rowgroup"><tr role="row">
                    <th role="columnheader" scope="col">"Attempt"</th><th role="columnheader" scope="col">"Over time"</th>
                    <th role="columnheader" scope="col">"What happened"</th><th role="columnheader" scope="col">"Isolation"</th>
                    <th role="columnheader" scope="col">"Network"</th><th role="columnheader" scope="col">"Cost"</th>
                    <th role="columnheader" scope="col">"Its sandbox"</th>
                </tr></thead>
                <tbody role="rowgroup">{rows}</tbody>
            </table></div>
        </section>
    }
    .into_any()
}

/// The parts of an attempt.
const PARTS: [(&str, &str); 3] = [("start", "start"), ("run", "code"), ("teardown", "teardown")];

fn attempt(one: &Attempt, drawn: [Option<Segment>; 3], span: Span, name: String) -> AnyView {
    let took = [Some(span.start_ms), span.run_ms, span.teardown_ms];
    let words: Vec<String> = PARTS
        .into_iter()
        .zip(took)
        .filter_map(|((_, label), ms)| Some(format!("{label} {}", duration(ms?))))
        .collect();
    let words = words.join(", ");
    let segments: Vec<_> = PARTS
        .into_iter()
        .zip(drawn)
        .filter_map(|((word, _), segment)| {
            let Segment { x, width } = segment?;
            Some(view! { <rect x=x y="0" width=width height=ROW data-part=word></rect> })
        })
        .collect();
    let is_drill = one.reason == Some(Reason::Drill);
    let or_nothing = |words: String| if is_drill { "–".to_owned() } else { words };
    let Applied { value: tier, evidence } = one.isolation;
    let isolation = or_nothing(format!("{}, {}", tier.label(), evidence.label()));
    let Applied { value: egress, evidence } = one.egress;
    let network = or_nothing(format!("{}, {}", egress.label(), evidence.label()));
    let teardown = match (one.teardown.state, one.teardown.duration_ms) {
        _ if is_drill => "there was none".to_owned(),
        (TeardownState::Confirmed, Some(ms)) => {
            format!("destroyed, confirmed after {}", duration(ms))
        }
        (TeardownState::Confirmed, None) => "destroyed, confirmed".to_owned(),
        (TeardownState::NothingCreated, _) => "there was none".to_owned(),
        (TeardownState::Pending, _) => "being destroyed".to_owned(),
        (TeardownState::Failed, _) => {
            "could not be destroyed yet; it is tried again until it is gone".to_owned()
        }
    };
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{one.number} ". " {name}</th>
            <td role="cell" data-label="Over time"><div><svg class="bar" viewBox=format!("0 0 {WIDTH} {ROW}") preserveAspectRatio="none" role="img" aria-label=words.clone()>{segments}</svg>
                <small class="muted">{words}</small></div></td>
            <td role="cell" data-label="What happened"><span>{happened(one)}</span></td>
            <td role="cell" data-label="Isolation"><span>{isolation}</span></td>
            <td role="cell" data-label="Network"><span>{network}</span></td>
            <td role="cell" data-label="Cost"><span>{one.cost.routed_usd.shown()}</span></td>
            <td role="cell" data-label="Its sandbox"><span>{teardown}</span></td>
        </tr>
    }
    .into_any()
}

/// What an attempt did, why, and what followed.
fn happened(one: &Attempt) -> String {
    let stage = match one.stage {
        Stage::Create => "while a sandbox was asked for",
        Stage::Start => "while it started",
        Stage::Confirm => "while what was asked for was checked",
        Stage::Run | Stage::Done => "while the code ran",
    };
    let mut why: Vec<String> = one.reason.iter().map(|reason| reason.label().to_owned()).collect();
    why.extend(one.http_status.map(|status| format!("HTTP {status}")));
    let why = if why.is_empty() { String::new() } else { format!(": {}", why.join(", ")) };
    let what = match one.outcome {
        None => return format!("on its way, {stage}"),
        Some(AttemptOutcome::Completed) => "The code ran to its end.".to_owned(),
        Some(AttemptOutcome::TimedOut) => "The time limit ended the code.".to_owned(),
        Some(AttemptOutcome::Cancelled) => format!("Cancelled {stage}."),
        Some(AttemptOutcome::Interrupted) => {
            format!("Interrupted {stage}{why}. The code may have run, so nobody runs it again.")
        }
        Some(AttemptOutcome::Unavailable) => format!("Failed {stage}{why}. No code had run."),
    };
    let next = match one.next {
        Some(Next::FailedOver) => " The next was tried.",
        Some(Next::NoCandidateLeft) => " There was nobody left to try.",
        Some(Next::FallbackOff) => " Nobody else was to be tried.",
        Some(Next::Deadline) => " There was no time left for another.",
        Some(Next::Final) | None => "",
    };
    format!("{what}{next}")
}

fn others(run: &Run) -> Option<AnyView> {
    let items: Vec<_> = run
        .not_tried
        .iter()
        .map(|one| {
            let what = match one.reason {
                Omission::NotPermitted => "needs a token that may use it",
                other => other.label(),
            };
            view! { <li><code>{one.provider.clone()}</code> ": " {what}</li> }
        })
        .collect();
    let view = view! { <section class="block"><h2>"Who was not tried, and why"</h2><ul>{items}</ul></section> };
    (!run.not_tried.is_empty()).then(|| view.into_any())
}

fn facts(receipt: &Receipt, name: impl Fn(&str) -> String) -> AnyView {
    let (run, asked) = (&receipt.run, &receipt.run.asked);
    let money = |cost: Cost| {
        format!("{} ({} at list price)", cost.routed_usd.shown(), cost.list_usd.shown())
    };
    let floor = format!(
        "{}, {}",
        asked.isolation_at_least.label(),
        if asked.isolation_from == Choice::Asked { "as asked for" } else { "by default" }
    );
    let providers = asked.providers.as_ref().map_or_else(
        || "any, by price".to_owned(),
        |slugs| slugs.iter().map(|slug| name(slug)).collect::<Vec<_>>().join(", then "),
    );
    let fallback = if asked.fallback { "yes, while no code has run" } else { "no" };
    let is_refused = run.outcome == Some(Outcome::Refused);
    let lines = [
        (
            "Cost",
            (!is_refused)
                .then(|| format!("{}; at most {} was quoted", money(run.cost()), money(run.quote))),
        ),
        ("Drill", asked.drill.map(|drill| drill.label().to_owned())),
        ("Allowed cost", asked.max_cost_usd.map(|most| format!("{} at most", most.shown()))),
        ("Time limit", Some(duration(asked.timeout_ms))),
        ("The code ran for", run.duration_ms.map(duration)),
        ("Isolation, at least", Some(floor)),
        ("Network", Some(asked.egress.label().to_owned())),
        ("Providers", Some(providers)),
        ("Another if one fails", Some(fallback.to_owned())),
        ("Language", Some(asked.language.label().to_owned())),
        ("Asked for", Some(run.requested_at.clone())),
        ("To be over by", run.deadline_at.clone()),
        ("Over", run.final_at.clone()),
        ("Code and output are deleted", receipt.kept_until.clone()),
    ];
    let rows: Vec<_> = lines
        .into_iter()
        .filter_map(|(term, words)| Some(view! { <div><dt>{term}</dt><dd>{words?}</dd></div> }))
        .collect();
    let json = format!("/api/v1/runs/{}", run.id);
    view! {
        <section class="block">
            <h2>"The record"</h2>
            <dl class="facts">
                {rows}
                <div><dt>"Record"</dt><dd><a href=json><code>{run.id.clone()}</code></a> ", for whoever has this link"</dd></div>
            </dl>
        </section>
    }
    .into_any()
}

fn code(receipt: &Receipt) -> Option<AnyView> {
    let code = receipt.code.as_ref().filter(|code| !code.is_empty())?;
    let view = view! {
        <details><summary>"The code, " {count(receipt.run.asked.code_bytes)} " bytes"</summary>
        <pre class="example" tabindex="0" role="region" aria-label="The code" dir="ltr"><code>{inert(code)}</code></pre>
        <p class="muted">"SHA-256 " <code>{shortened(&receipt.run.asked.code_sha256)}</code></p></details>
    };
    Some(view.into_any())
}

/// An instant of a record, milliseconds since 1970.
fn millis(stamp: &str) -> u64 {
    let at = stamp.parse::<Timestamp>().map_or(0, Timestamp::as_millisecond);
    u64::try_from(at).unwrap_or_default()
}
