//! The pages that say what went wrong, and where to go from there.

use axum::http::{HeaderValue, StatusCode, header};
use leptos::prelude::*;
use leptos_axum::ResponseOptions;

use crate::parts::layout::{head, path, query};
use crate::query::{nearest, shortened};

/// What went wrong before a page was reached.
#[derive(Debug, Clone, Copy)]
pub struct Failure(pub StatusCode);

/// Answers with a status other than 200.
pub fn set_status(status: StatusCode) {
    if let Some(options) = use_context::<ResponseOptions>() {
        options.set_status(status);
    }
}

/// To the one address of a page, for ever: slugs and positions never change.
pub fn redirect(address: &str) -> AnyView {
    let query = query().map_or_else(String::new, |query| format!("?{query}"));
    moved(&format!("{address}{query}"))
}

/// The same without the query, which the address has taken in.
pub fn moved(address: &str) -> AnyView {
    if let (Some(options), Ok(location)) =
        (use_context::<ResponseOptions>(), HeaderValue::from_str(address))
    {
        options.set_status(StatusCode::PERMANENT_REDIRECT);
        options.insert_header(header::LOCATION, location);
    }
    view! {
        {head("Moved", "This page has another address.")}
        <h1>"This page has another address"</h1>
        <p>"It is at " <a href=address.to_owned()>{address.to_owned()}</a> "."</p>
    }
    .into_any()
}

/// The page of a failure.
#[component]
pub fn Problem() -> impl IntoView {
    let status = use_context::<Failure>().map_or(StatusCode::INTERNAL_SERVER_ERROR, |one| one.0);
    let is_run = path().starts_with("/actions/") || path() == "/try";
    let (title, words) = match status {
        StatusCode::NOT_FOUND => return view! { <NotFound/> }.into_any(),
        StatusCode::MISDIRECTED_REQUEST => (
            "Not at this address",
            "This site does not answer for the host name that was asked for. If you run it, name the right one by \
             THUD_PUBLIC_URL.",
        ),
        StatusCode::METHOD_NOT_ALLOWED => {
            ("This page is only for reading", "It answers GET and HEAD; nothing can be sent to it.")
        }
        StatusCode::PAYLOAD_TOO_LARGE if is_run => (
            "That is too much code",
            "Code can have 262,144 bytes. Nothing of what was sent is kept here, and nothing was run; your browser still has it: go \
             back one page.",
        ),
        StatusCode::PAYLOAD_TOO_LARGE => {
            ("Too much at once", "What was sent is larger than anything that this page asks for.")
        }
        StatusCode::FORBIDDEN => (
            "Not from another site",
            "Code is only run from this site's own page, so that no other site can run some in your name. Nothing was run.",
        ),
        StatusCode::TOO_MANY_REQUESTS => (
            "Too often",
            "Nothing of what was sent is kept here, and nothing was run; your browser still has it: go back one page, and \
             try again in a minute.",
        ),
        StatusCode::SERVICE_UNAVAILABLE => (
            "That took too long",
            "The site could not answer in time. It may be busy: try again in a moment.",
        ),
        status if status.is_client_error() => {
            ("That could not be read", "The request is not one that this site understands.")
        }
        _ => (
            "Something broke on our side",
            "It is written in our log. The catalog itself is not harmed: try again, or look elsewhere for now.",
        ),
    };
    view! {
        {head(title, words)}
        <h1>{title}</h1>
        <p class="lead">{words}</p>
        <p class="status-line">"Status " {status.as_u16()}</p>
        {ways_on()}
    }
    .into_any()
}

/// A page that is not there.
#[component]
pub fn NotFound() -> impl IntoView {
    set_status(StatusCode::NOT_FOUND);
    let path = path();
    // The last part of an address is often a provider that stands elsewhere.
    let last = path.rsplit('/').find(|part| !part.is_empty()).unwrap_or_default();
    let near = super::state();
    let near = nearest(&near.catalog, last)
        .map(|provider| (format!("/sandboxes/{}", provider.slug), provider.name.clone()));
    view! {
        {head("Nothing here", "There is no page at this address.")}
        <h1>"Nothing here"</h1>
        <p class="lead">"There is no page at " <code>{shortened(&path)}</code>"."</p>
        {near.map(|(href, name)| view! { <p>"Did you mean " <a href=href>{name}</a>"?"</p> })}
        {ways_on()}
    }
}

/// Where to go from a page that has nothing to say.
pub fn ways_on() -> AnyView {
    view! {
        <p>"From here: the " <a href="/">"catalog"</a>", the " <a href="/compare">"comparison"</a>
        ", the " <a href="/calculator">"cost of a runaway"</a>", " <a href="/try">"code of your own"</a>" or the " <a href="/api">"API"</a>"."</p>
    }
    .into_any()
}
