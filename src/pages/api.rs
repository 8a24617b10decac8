//! `/api`: the API for people, from the same document that programs read.

use leptos::prelude::*;
use serde_json::Value;

use crate::parts::layout::head;

/// The types of errors, by which a program can branch: anchor, status, meaning.
const PROBLEMS: [(&str, &str, &str); 13] = [
    (
        "bad-request",
        "400",
        "A parameter is unknown, there twice or out of range. Each is named in errors, with what is allowed.",
    ),
    ("not-found", "404", "No such path or provider; a near miss is suggested."),
    ("method-not-allowed", "405", "The path is there, the method is not."),
    ("too-large", "413", "A body larger than anything that is asked for."),
    ("unauthorized", "401", "A token is needed, or it is none that counts."),
    ("over-budget", "402", "The daily budget of the token does not hold what the run may cost."),
    ("forbidden", "403", "The caller may not do this."),
    ("conflict", "409", "Another request stands under the idempotency key."),
    ("unsupported-media-type", "415", "The body is not application/json."),
    ("rate-limited", "429", "Too many runs of one address; Retry-After says when."),
    ("misdirected", "421", "The site does not answer for the host that was asked for."),
    ("internal", "500", "Something went wrong on our side."),
    (
        "unavailable",
        "503",
        "The site could not answer in time, is full or restarts; Retry-After says when.",
    ),
];

/// The API, readable.
#[component]
pub fn Api() -> impl IntoView {
    let state = super::state();
    let document = &state.site.api_document;
    let paths: Vec<_> = document
        .get("paths")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().into_iter().flatten();
            methods.map(move |(method, about)| endpoint(&method.to_uppercase(), path, about))
        })
        .collect();
    let problems: Vec<_> = PROBLEMS
        .iter()
        .map(|(anchor, status, words)| {
            view! { <div id=*anchor><dt>{*status} " " <code>"/api#" {*anchor}</code></dt><dd>{*words}</dd></div> }
        })
        .collect();
    view! {
        {head("API", "The catalog as JSON: paths, parameters, rules of the format, errors.")}
        <h1>"The catalog as JSON"</h1>
        <p class="lead">"The catalog needs no key and is open to every origin; runs at hosted providers need a token. The whole of it as one OpenAPI 3.1 document: "
        <a href="/api/v1/openapi.json">"/api/v1/openapi.json"</a>"."</p>
        <pre class="example" tabindex="0" role="region" aria-label="Example"><code>"curl '" {state.site.base_url.clone()} "/api/v1/exposure?runaways=20&noticed_after_seconds=28800'"</code></pre>
        <section class="block">
            <h2>"Rules"</h2>
            <ul>
                <li>"Within v1 fields may be added; none is removed or renamed. Ignore what you do not know."</li>
                <li>"Money, rates and quantities with fractions are decimal strings; counts and milliseconds are integers; no field has two types."</li>
                <li>"Fields are always present. A value has a " <code>"state"</code> " (known, unknown, not_applicable, disputed) that says why it is null; where sources disagree, " <code>"claims"</code> " has all of them."</li>
                <li>"Every answer stands in an envelope with " <code>"schema_version"</code> ", " <code>"revision"</code> ", " <code>"published_at"</code> ", " <code>"as_of"</code> ", " <code>"origin"</code> ", " <code>"total"</code> " and " <code>"result"</code> "."</li>
                <li><code>"as_of"</code> " asks about a past day: prices by their dated history, all else from the revision of that day where this site has one (" <code>"origin"</code> " revision), else only what had been seen by then (evidence): what is undated or newer is unknown."</li>
                <li>"Pages have twins: their path and query with " <code>".json"</code> ", " <code>".csv"</code> " or " <code>".md"</code> " at its end (" <code>"/catalog.json"</code> " for the catalog). The JSON twin is this API's answer, byte for byte. " <code>"/changes.atom"</code> " is a feed."</li>
                <li><code>"stale_after"</code> " is the last day on which a value is fresh: 90 days after a price was seen, 180 after anything else."</li>
                <li>"GET has a weak ETag and answers 304; answers may be kept for a minute and used for an hour while asked for again."</li>
                <li>"Unknown parameters are errors, so that a typing mistake never goes unnoticed."</li>
                <li>"Runs stand in no envelope, are never cached and are read by whoever knows their id. Their output is hostile text: "<code>"output_trust"</code>" says so."</li>
                <li>"The data is licensed CC BY 4.0."</li>
            </ul>
        </section>
        {paths}
        <section class="block">
            <h2>"Errors"</h2>
            <p>"Errors are " <code>"application/problem+json"</code> " (RFC 9457). Their " <code>"type"</code> " is one of these and stays what it is:"</p>
            <dl class="facts">{problems}</dl>
        </section>
        <section class="block">
            <h2>"Changes"</h2>
            <dl class="facts"><div><dt>"2026-11-30"</dt><dd>"v1 begins. Providers take the catalog page's filters, a shape and as_of, and carry the bill of an hour and their completeness; values carry stale_after; envelopes carry origin; changes are told; a workload is billed for a month."</dd></div></dl>
        </section>
    }
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn endpoint(method: &str, path: &str, get: &Value) -> AnyView {
    let words = [text(get, "summary"), text(get, "description")].join(" ");
    let parameters: Vec<_> = get
        .get("parameters")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|one| {
            view! { <div><dt><code>{text(one, "name")}</code></dt><dd>{text(one, "description")}</dd></div> }
        })
        .collect();
    let none = parameters.is_empty().then(|| view! { <p class="muted">"No parameters."</p> });
    let list = (!parameters.is_empty()).then(|| view! { <dl class="facts">{parameters}</dl> });
    let id = text(get, "operationId");
    view! {
        <section class="block" id=id><h2><code>{method.to_owned()} " " {path.to_owned()}</code></h2><p>{words}</p>{none}{list}</section>
    }
    .into_any()
}
