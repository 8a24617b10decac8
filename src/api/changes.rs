//! `/api/v1/changes`: what changed between revisions and, day by day, where values have dates; as a feed too.

use std::cmp::Reverse;

use atom_syndication::{
    Content, Entry, FeedBuilder, FixedDateTime, Generator, LinkBuilder, Person, Text,
};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::asked::Asked;
use super::problem::Problem;
use super::providers::found;
use super::tables;
use super::views::Envelope;
use super::views::change::{ChangesView, DatedView, RevisionView};
use crate::catalog::change::{Dated, Fate, ProviderChange};
use crate::catalog::chronicle::{Chronicle, Interest, Told, chronicle};
use crate::state::{AppState, Site};

/// Entries of a feed, at most; the newest.
const FEED_ENTRIES_MAX: usize = 100;

/// What changed: field by field between the revisions that this site has published, and values with dates of their own,
/// which reach back before the first revision.
#[utoipa::path(get, path = "/api/v1/changes", params(
    ("since" = Option<String>, Query, description = "The name of a revision: only what was published after it."),
    ("providers" = Option<String>, Query, description = "Slugs with commas; all if left out."),
), responses((status = 200, body = Envelope<ChangesView>), (status = 400, body = Problem, content_type = "application/problem+json")))]
pub async fn list_changes(
    State(state): State<AppState>,
    asked: Asked,
) -> Result<Response, Problem> {
    let interest = interest(&state, &asked)?;
    let chronicle = chronicle(&state.published, &state.catalog, &interest);
    let view = ChangesView {
        revisions: chronicle.revisions.iter().map(RevisionView::new).collect(),
        dated: chronicle.dated.iter().map(DatedView::from).collect(),
    };
    let total = view.revisions.len() + view.dated.len();
    Ok(asked.answer(total, view, || tables::changes(&chronicle)))
}

/// The same as an Atom feed (RFC 4287), which is no part of the JSON contract: `/changes.atom`.
pub async fn feed(State(state): State<AppState>, asked: Asked) -> Result<Response, Problem> {
    let interest = interest(&state, &asked)?;
    Ok(written(&state, &interest, "the catalog", "/changes.atom"))
}

/// The feed of one provider: `/sandboxes/{slug}.atom`.
pub async fn feed_of_provider(
    State(state): State<AppState>,
    slug: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let provider = found(&state.catalog, slug)?;
    let slug = provider.slug.to_string();
    let own = format!("/sandboxes/{slug}.atom");
    let interest = Interest { slugs: Some(vec![slug]), since: None };
    Ok(written(&state, &interest, &provider.name, &own))
}

fn written(state: &AppState, interest: &Interest, about: &str, own: &str) -> Response {
    let chronicle = chronicle(&state.published, &state.catalog, interest);
    let own = state.site.absolute(own);
    let page = state.site.absolute("/changes");
    let entries = entries(&chronicle, &state.site);
    let first = instant(&state.revision.published_at);
    let updated = entries.first().map_or(first, |entry| entry.updated);
    let feed = FeedBuilder::default()
        .title(Text::plain(format!("Thud: what changed about {about}")))
        .id(own.clone())
        .updated(updated)
        .author(Person { name: "Thud".to_owned(), ..Person::default() })
        .link(LinkBuilder::default().href(own).rel("self".to_owned()).build())
        .link(LinkBuilder::default().href(page).rel("alternate".to_owned()).build())
        .generator(Generator { value: "Thud".to_owned(), ..Generator::default() })
        .rights(Text::plain("CC BY 4.0"))
        .entries(entries)
        .build();
    ([(header::CONTENT_TYPE, "application/atom+xml; charset=utf-8")], feed.to_string())
        .into_response()
}

fn interest(state: &AppState, asked: &Asked) -> Result<Interest, Problem> {
    let mut query = asked.query(&["since", "providers"]);
    let interest = query.interest(&state.catalog, &state.published);
    Problem::of(query)?;
    Ok(interest)
}

/// The newest entries: revisions by the time of their publication, dated values by their day.
fn entries(chronicle: &Chronicle<'_>, site: &Site) -> Vec<Entry> {
    let revisions = chronicle
        .revisions
        .iter()
        .flat_map(|told| told.changes.iter().map(|change| revision_entry(told, change, site)));
    let dated = chronicle.dated.iter().map(|one| dated_entry(one, site));
    let mut entries: Vec<Entry> = revisions.chain(dated).collect();
    entries.sort_by_key(|entry| Reverse(entry.updated));
    entries.truncate(FEED_ENTRIES_MAX);
    entries
}

fn revision_entry(told: &Told<'_>, change: &ProviderChange, site: &Site) -> Entry {
    let revision = &told.published.revision;
    let lines: Vec<String> = change
        .fields
        .iter()
        .map(|field| {
            let said =
                |words: &Option<String>| words.clone().unwrap_or_else(|| "nothing".to_owned());
            format!("{}: {} → {}", field.label, said(&field.before), said(&field.after))
        })
        .collect();
    let title = match change.fate {
        Fate::Changed => format!("{}: {} changed", change.name, count(lines.len())),
        fate => format!("{}: {}", change.name, fate.label()),
    };
    let address = site.absolute(&format!("/changes#{}-{}", revision.anchor(), change.slug));
    entry(address.clone(), address, title, &revision.published_at, lines.join("\n"))
}

fn dated_entry(one: &Dated<'_>, site: &Site) -> Entry {
    let slug = &one.provider.slug;
    let before = one.before.as_ref().map_or_else(String::new, |before| format!("{before} → "));
    // Many entries lead to one table: what names an entry is more than its link.
    entry(
        site.absolute(&format!("/sandboxes/{slug}?{}={}#price-history", one.key, one.since)),
        site.absolute(&format!("/sandboxes/{slug}#price-history")),
        format!("{}: {}", one.provider.name, one.label),
        &format!("{}T00:00:00Z", one.since),
        format!("{before}{}", one.after),
    )
}

fn entry(id: String, address: String, title: String, updated: &str, words: String) -> Entry {
    Entry {
        title: Text::plain(title),
        id,
        updated: instant(updated),
        links: vec![LinkBuilder::default().href(address).rel("alternate".to_owned()).build()],
        content: Some(Content {
            value: Some(words),
            content_type: Some("text".to_owned()),
            ..Content::default()
        }),
        ..Entry::default()
    }
}

fn count(fields: usize) -> String {
    if fields == 1 { "a field".to_owned() } else { format!("{fields} fields") }
}

/// An instant of the catalog or the database, both of which write RFC 3339.
fn instant(text: &str) -> FixedDateTime {
    text.parse().unwrap_or_default()
}
