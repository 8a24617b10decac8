//! The other forms of a page: the same path, query and figures as JSON, CSV and Markdown.

use leptos::prelude::*;
use leptos_meta::Link;

use crate::form::Form;
use crate::parts::layout::query;

/// Links to the twins of a page, for people and, in its head, for programs. `page` is its path, `/catalog` for `/`.
pub fn twins(page: &str) -> AnyView {
    let query = query().map_or_else(String::new, |query| format!("?{query}"));
    let address = |form: Form| format!("{page}.{}{query}", form.word());
    let alternates: Vec<_> = Form::ALL
        .into_iter()
        .map(|form| {
            view! { <Link rel="alternate" type_=form.media_type() href=address(form)/> }
        })
        .collect();
    let links: Vec<_> = Form::ALL
        .into_iter()
        .map(|form| {
            let comma = if form == Form::Json { "" } else { ", " };
            view! { {comma} <a href=address(form) rel="alternate">{form.label()}</a> }
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
