//! The day that a page is about: today, or a past one that its address names.

use axum::http::request::Parts;
use leptos::prelude::*;
use leptos_meta::Meta;

use crate::catalog::Provider;
use crate::catalog::freshness;
use crate::state::{AppState, Edition, Origin};

/// Shares the catalog of the day with everything on the page.
pub fn provide_edition() {
    let chosen =
        use_context::<Parts>().and_then(|parts| parts.extensions.get::<Edition>().cloned());
    let edition = chosen.or_else(|| use_context::<AppState>().map(|state| state.current()));
    if let Some(edition) = edition {
        provide_context(edition);
    }
}

/// The catalog of the day that the page is about.
pub fn edition() -> Edition {
    expect_context::<Edition>()
}

/// Whether the page is about today.
pub fn is_current() -> bool {
    edition().origin == Origin::Current
}

/// An address of this site that stays with the day of the page.
pub fn dated(address: &str) -> String {
    let Edition { day, origin, .. } = edition();
    if origin == Origin::Current {
        return address.to_owned();
    }
    let (page, anchor) = address.split_once('#').map_or((address, None), |(a, b)| (a, Some(b)));
    let joint = if page.contains('?') { '&' } else { '?' };
    let anchor = anchor.map_or_else(String::new, |anchor| format!("#{anchor}"));
    format!("{page}{joint}as_of={day}{anchor}")
}

/// The day for a form that stays with it; nothing where it is today.
pub fn hidden_day() -> Option<AnyView> {
    let Edition { day, origin, .. } = edition();
    let hidden = || view! { <input type="hidden" name="as_of" value=day.to_string()/> }.into_any();
    (origin != Origin::Current).then(hidden)
}

/// What is to be known of a page about a past day; nothing where it is about today.
pub fn banner(here: &str) -> Option<AnyView> {
    let Edition { day, origin, revision, unreadable, .. } = use_context::<Edition>()?;
    let left_out = (!unreadable.is_empty()).then(|| {
        let slugs = unreadable.join(", ");
        format!(" Left out, since their files are in a form that is not read any more: {slugs}.")
    });
    let words = match origin {
        Origin::Current => return None,
        Origin::Revision => format!(
            "Values are those of revision {}, which this site had published by then; prices are those of that day by \
             what is known of their history now.",
            revision.name()
        ),
        Origin::Evidence => "This site has no revision of that day. Prices are those of that day by their dated \
                             history; of all else only what somebody is known to have seen by then is shown. What is \
                             undated, or was first seen later, is unknown. Names and summaries are today's."
            .to_owned(),
    };
    let view = view! {
        <Meta name="robots" content="noindex"/>
        <div class="notice past" role="note">
            <p><strong>"The catalog as of " <time>{day.to_string()}</time>"."</strong> " " {words} {left_out} " "
            <a href=here.to_owned()>"Back to today"</a></p>
        </div>
    };
    Some(view.into_any())
}

/// When the oldest of the values that decide between providers was last seen.
pub fn oldest<'a>(providers: impl IntoIterator<Item = &'a Provider>) -> Option<AnyView> {
    let day = edition().day;
    let oldest = freshness::oldest(providers, day)?;
    let age = freshness::age_days(oldest.seen_on, day)?;
    let words = format!("{}, {}", oldest.provider.name, oldest.what);
    let view = view! {
        <p class="muted">"Oldest deciding value on this page: " {words} ", last seen on " <time>{oldest.seen_on.to_string()}</time>
        ", " {age} " days before."</p>
    };
    Some(view.into_any())
}
