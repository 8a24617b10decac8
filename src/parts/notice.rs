//! What is said above figures whose question could not be read as it was asked.

use leptos::prelude::*;

use crate::query::FieldError;

/// Names every value that was wrong, what is allowed, and that defaults stand in for them. Nothing where all was right.
pub fn notice(errors: &[FieldError]) -> Option<AnyView> {
    if errors.is_empty() {
        return None;
    }
    let lines: Vec<_> = errors
        .iter()
        .map(
            |error| view! { <li><code>{error.field.clone()}</code>" "{error.message.clone()}</li> },
        )
        .collect();
    let view = view! {
        <div class="notice" role="alert">
            <p><strong>"Not everything in the address could be read."</strong>
            " Defaults stand in for what is named here."</p>
            <ul>{lines}</ul>
        </div>
    };
    Some(view.into_any())
}
