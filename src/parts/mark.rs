//! Letter marks: a provider's initial instead of somebody's logo.

use leptos::prelude::*;

use crate::catalog::Provider;
use crate::parts::day::dated;

/// The mark of a provider; its name always stands beside it.
pub fn mark(provider: &Provider) -> AnyView {
    let initial: String = provider.name.chars().take(1).collect();
    view! { <span class="mark" aria-hidden="true">{initial}</span> }.into_any()
}

/// The mark and the name, linked to the provider's page.
pub fn named(provider: &Provider) -> AnyView {
    let href = dated(&format!("/sandboxes/{}", provider.slug));
    view! { <a class="named" href=href>{mark(provider)} {provider.name.clone()}</a> }.into_any()
}
