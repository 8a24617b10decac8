//! The other forms of a page: the same path, query and figures as JSON, CSV and Markdown.

use leptos::prelude::*;
use leptos_meta::Link;

use crate::parts::layout::query;

/// Ending, media type and name of each form.
const FORMS: [(&str, &str, &str); 3] = [
    ("json", "application/json", "JSON"),
    ("csv", "text/csv", "CSV"),
    ("md", "text/markdown", "Markdown"),
];

/// Links to the twins of a page, for people and, in its head, for programs. `page` is its path, `/catalog` for `/`.
pub fn twins(page: &str) -> AnyView {
    let query = query().map_or_else(String::new, |query| format!("?{query}"));
    let address = |ending: &str| format!("{page}.{ending}{query}");
    let alternates: Vec<_> = FORMS
        .iter()
        .map(|(ending, kind, _)| {
            view! { <Link rel="alternate" type_=*kind href=address(ending)/> }
        })
        .collect();
    let links: Vec<_> = FORMS
        .iter()
        .enumerate()
        .map(|(place, (ending, _, name))| {
            let comma = if place == 0 { "" } else { ", " };
            view! { {comma} <a href=address(ending) rel="alternate">{*name}</a> }
        })
        .collect();
    view! { {alternates} <p class="muted twins">"The same as " {links} "."</p> }.into_any()
}

/// A feed in the head of a page, and a link to it.
pub fn feed(address: &str, words: &'static str) -> AnyView {
    let href = address.to_owned();
    view! {
        <Link rel="alternate" type_="application/atom+xml" href=href.clone()/>
        <a href=href>{words}</a>
    }
    .into_any()
}
