//! What chats and feeds show beside a link to a page: Open Graph tags, and which picture is the
//! page's own.
//!
//! Not here: how a picture is drawn. That is the server's, under the names that are given here.

use leptos::prelude::*;
use leptos_meta::Meta;

use crate::catalog::{Catalog, Provider};
use crate::comparison::{Comparison, JOINT};
use crate::state::AppState;

/// Width of every picture: what previews crop least.
pub const IMAGE_WIDTH: u32 = 1_200;
/// Height of every picture.
pub const IMAGE_HEIGHT: u32 = 630;
/// The name of the picture of the site itself.
pub const SITE_IMAGE: &str = "site";
/// The site in a sentence.
pub const SENTENCE: &str = "What a code sandbox costs, how it isolates, and what stops a runaway";

/// The tags of a page. Addresses are absolute, since whoever reads them has no page to start from.
pub fn preview(state: &AppState, path: &str, title: &str, description: &str) -> AnyView {
    let (image, shows) = picture(&state.catalog, path);
    let tags: Vec<_> = [
        ("og:site_name", "Thud".to_owned()),
        ("og:type", "website".to_owned()),
        ("og:title", title.to_owned()),
        ("og:description", description.to_owned()),
        ("og:url", state.site.absolute(path)),
        ("og:image", state.site.absolute(&format!("/share/{image}.png"))),
        ("og:image:width", IMAGE_WIDTH.to_string()),
        ("og:image:height", IMAGE_HEIGHT.to_string()),
        ("og:image:alt", shows),
    ]
    .into_iter()
    .map(|(property, content)| view! { <Meta property=property content=content/> })
    .collect();
    view! {
        {tags}
        <Meta name="twitter:card" content="summary_large_image"/>
    }
    .into_any()
}

/// The name of a page's picture and what stands on it: a provider, a pair that the router reaches,
/// else the site.
fn picture(catalog: &Catalog, path: &str) -> (String, String) {
    let provider = path.strip_prefix("/sandboxes/").and_then(|slug| catalog.find(slug));
    let pair = path.strip_prefix("/compare/").and_then(|slugs| routed_pair(catalog, slugs));
    let (name, subject) = match (provider, pair) {
        (Some(one), _) => (one.slug.to_string(), one.name.clone()),
        (None, Some([left, right])) => (
            format!("{}{JOINT}{}", left.slug, right.slug),
            format!("{} vs {}", left.name, right.name),
        ),
        (None, None) => return (SITE_IMAGE.to_owned(), SENTENCE.to_owned()),
    };
    (name, format!("{subject}: price of an hour, isolation, egress"))
}

/// The two different routed providers that `slugs` joins in canonical order: `e2b-vs-daytona`.
pub fn routed_pair<'a>(catalog: &'a Catalog, slugs: &str) -> Option<[&'a Provider; 2]> {
    let (left, right) = slugs.split_once(JOINT)?;
    let routed = |slug: &str| catalog.routed().find(|one| one.slug.as_str() == slug);
    let pair = [routed(left)?, routed(right)?];
    let is_canonical = Comparison::address(&pair) == format!("/compare/{slugs}");
    (is_canonical && left != right).then_some(pair)
}
