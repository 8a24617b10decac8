//! What stands round every page: the way to the others, and how old the data is.

use axum::http::request::Parts;
use leptos::prelude::*;
use leptos_meta::{Link, Meta, Title};

use super::preview::preview;
use crate::parts::day::banner;
use crate::state::{AppState, Edition};

/// Every page that the menu leads to.
const MENU: [(&str, &str); 9] = [
    ("/", "Catalog"),
    ("/compare", "Compare"),
    ("/calculator", "Runaway cost"),
    ("/calculator/workload", "Workload cost"),
    ("/try", "Try"),
    ("/changes", "Changes"),
    ("/guide", "Guide"),
    ("/methodology", "Methodology"),
    ("/api", "API"),
];

/// The path that was asked for.
pub fn path() -> String {
    use_context::<Parts>().map_or_else(String::new, |parts| parts.uri.path().to_owned())
}

/// The query that was asked with, as it came.
pub fn query() -> Option<String> {
    use_context::<Parts>().and_then(|parts| parts.uri.query().map(str::to_owned))
}

/// Title, description and canonical address of a page, and what a preview of it shows.
pub fn head(title: impl Into<String>, description: impl Into<String>) -> AnyView {
    let (title, description) = (title.into(), description.into());
    let state = use_context::<AppState>();
    let canonical = state
        .as_ref()
        .and_then(|state| state.site.public_url.clone())
        .map(|url| format!("{url}{}", path()));
    let preview = state.map(|state| preview(&state, &path(), &title, &description));
    view! {
        <Title text=format!("{title} · Thud")/>
        <Meta name="description" content=description/>
        {canonical.map(|href| view! { <Link rel="canonical" href=href/> })}
        {preview}
    }
    .into_any()
}

/// Menu above, page, freshness below.
#[component]
pub fn Layout(children: Children) -> impl IntoView {
    let here = path();
    let items: Vec<_> = MENU
        .iter()
        .map(|(href, label)| {
            let below = here.starts_with(&format!("{href}/"));
            // A page of the menu below another one is itself, not inside of that.
            let inside = *href != "/" && below && !MENU.iter().any(|(other, _)| *other == here);
            let current = (here == *href).then_some("page").or(inside.then_some("true"));
            view! { <li><a href=*href aria-current=current>{*label}</a></li> }
        })
        .collect();
    // Where the addresses of pages are listed at the start, there is no catalog.
    let footer = use_context::<Edition>().map(|edition| {
        let checked = edition.catalog.providers().iter().filter_map(|one| one.checked_on).min();
        let checked = checked.map(|day| format!("Data last checked {day}. "));
        view! {
            <p>{checked} "Revision " <code>{edition.revision.name().to_owned()}</code>", published here "
            {edition.revision.published_at.clone()}"."</p>
        }
    });
    view! {
        <a class="skip" href="#content">"To the content"</a>
        <header class="masthead">
            <a class="brand" href="/">"Thud"</a>
            <nav aria-label="Main"><ul>{items}</ul></nav>
        </header>
        <main id="content" tabindex="-1">{banner(&here)}{children()}</main>
        <footer class="footer">
            {footer}
            <p>"Catalog data: " <a rel="license noopener" href="https://creativecommons.org/licenses/by/4.0/">"CC BY 4.0"</a>
            ". Prices are in US dollars and exclude tax. No trackers, no third-party requests."</p>
        </footer>
    }
}
