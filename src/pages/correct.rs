//! `/sandboxes/{slug}/correct?key=…`: where a value stands in its file, and how to suggest another one with its source.

use axum::http::StatusCode;
use leptos::prelude::*;
use leptos_meta::Meta;
use leptos_router::hooks::use_params_map;

use super::problem::{NotFound, set_status};
use crate::catalog::Provider;
use crate::catalog::claim::State;
use crate::catalog::field::{Field, fields};
use crate::catalog::place::{Place, place_of};
use crate::moment::today;
use crate::parts::entry::link;
use crate::parts::layout::{head, query};
use crate::query::{Query, shortened};
use crate::state::AppState;

/// The branch of the repository that is published.
const BRANCH: &str = "main";

/// How to correct a value.
#[component]
pub fn Correct() -> impl IntoView {
    let state = super::state();
    let slug = use_params_map().read_untracked().get("slug").unwrap_or_default();
    let Some(provider) = state.catalog.find(&slug) else {
        return view! { <NotFound/> }.into_any();
    };
    let key = Query::of_page(query().as_deref()).text("key").unwrap_or_default();
    let all = fields(provider);
    let found = all.iter().find(|field| field.key == key || is_row_of(field, &key));
    let Some(field) = found else {
        set_status(StatusCode::NOT_FOUND);
        let page = format!("/sandboxes/{slug}");
        return view! {
            {head("No such value", "The file of this provider has no value under this key.")}
            <h1>"No such value"</h1>
            <p class="lead">{provider.name.clone()} " has no value under " <code>{shortened(&key)}</code> ". Each value on "
            <a href=page>"its page"</a> " leads to its own correction."</p>
        }
        .into_any();
    };
    let file = state.files.iter().find(|file| file.slug == slug);
    let place = file.and_then(|file| place_of(&file.text, &field.key));
    shown(&state, provider, field, place.as_ref())
}

/// Whether a key names the row whose figures a field is one of, such as a measurement.
fn is_row_of(field: &Field<'_>, key: &str) -> bool {
    key.starts_with("measurement.") && field.key.starts_with(&format!("{key}."))
}

fn shown(
    state: &AppState,
    provider: &Provider,
    field: &Field<'_>,
    place: Option<&Place>,
) -> AnyView {
    let file = format!("catalog/{}.toml", provider.slug);
    let line = place.map_or(1, |place| place.line);
    let sources: Vec<_> = field
        .evidence
        .iter()
        .flat_map(|evidence| &evidence.sources)
        .map(|source| {
            let day = source.seen_on.to_string();
            view! { <li>{link(source, source.reference())} ", " {day}</li> }
        })
        .collect();
    let none = sources.is_empty().then(|| view! { <p>"No source is named for it."</p> });
    let excerpt = place.map(|place| {
        view! { <pre class="example" tabindex="0" role="region" aria-label="Lines of the file"><code>{place.text.clone()}</code></pre> }
    });
    let back = format!("/sandboxes/{}", provider.slug);
    let title = format!("Correct {}: {}", provider.name, field.label);
    view! {
        {head(title, "Where this value stands in its file, and how to suggest another one.")}
        <Meta name="robots" content="noindex"/>
        <h1>"Suggest a correction"</h1>
        <p class="lead"><a href=back>{provider.name.clone()}</a> ", " {field.section.clone()} ", " {field.label.clone()}
        ": now " <strong>{field.words()}</strong> "."</p>
        <section class="block">
            <h2>"Where it stands"</h2>
            <p><code>{file.clone()}</code> ", line " {line} ", key " <code>{field.key.clone()}</code></p>
            {excerpt}
            {(field.state == State::Unknown).then(|| view! { <p>"The file holds no value for it: write the key with one here, and take it out of "
            <code>"unknown"</code> " if it is named there."</p> })}
        </section>
        <section class="block"><h2>"What it rests on"</h2>{none}<ul>{sources}</ul></section>
        {ways(state, provider, field, &file, line)}
    }
    .into_any()
}

/// How to send it: in the repository where its address is known, else by hand.
fn ways(
    state: &AppState,
    provider: &Provider,
    field: &Field<'_>,
    file: &str,
    line: usize,
) -> AnyView {
    let links = state.site.repository_url.as_ref().map(|repository| {
        let at = format!("{repository}/blob/{BRANCH}/{file}?plain=1#L{line}");
        let issue = issue(repository, provider, field, file, line);
        view! {
            <p class="actions">
                <a class="button" rel="noopener" href=at>"Open " {file.to_owned()} " at line " {line}</a> " "
                <a class="button quiet" rel="noopener" href=issue>"Open an issue that asks for the source"</a>
            </p>
        }
    });
    let unknown = links.is_none().then(|| {
        view! { <p>"This site was not told where its repository is (" <code>"THUD_REPOSITORY_URL"</code>"): change the file in your copy of it."</p> }
    });
    let today = today();
    let source = format!(
        "[sources.what_you_read_{}]\nurl = \"https://…\"\nseen_on = \"{today}\"\nby = \"vendor\"",
        today.to_string().replace('-', "_")
    );
    view! {
        <section class="block">
            <h2>"How to correct it"</h2>
            {links}{unknown}
            <ol>
                <li>"Name the page that says so, under " <code>"[sources]"</code> ", with the day on which you read it:"
                    <pre class="example" tabindex="0" role="region" aria-label="A source"><code>{source}</code></pre></li>
                <li>"Change the value and name that source. A price is never edited: add a new " <code>"[[price]]"</code>
                " with its first day. If you have a source that disagrees rather than a newer one, add a " <code>"[[conflict]]"</code>
                " with both claims."</li>
                <li>"In a copy of the repository, " <code>"cargo run -- catalog check catalog"</code> " names everything that is wrong, by file, line and key."</li>
            </ol>
        </section>
    }
    .into_any()
}

/// The address that begins an issue in which everything but the correction is filled in.
fn issue(
    repository: &str,
    provider: &Provider,
    field: &Field<'_>,
    file: &str,
    line: usize,
) -> String {
    let body = format!(
        "File: {file}, line {line}\nKey: {}\nValue now: {}\n\nThe right value:\nSource (address of the page that says so):\n\
         Seen on (day):\n",
        field.key,
        field.words()
    );
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("title", &format!("{}: correct {}", provider.slug, field.key))
        .append_pair("body", &body)
        .finish();
    format!("{repository}/issues/new?{query}")
}
