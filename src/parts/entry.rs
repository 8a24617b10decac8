//! One value with all that a reader needs to trust it: how it stands, who says so and when, and who disagrees.

use leptos::prelude::*;

use crate::catalog::ProviderSlug;
use crate::catalog::claim::{Confidence, Dispute, Evidence, Source};
use crate::catalog::freshness::age_days;
use crate::comparison::{Cell, Entry, Standing};
use crate::parts::day::edition;
use crate::state::{Edition, Origin};

/// How much is said of where a value comes from.
#[derive(Clone, Copy, PartialEq)]
pub enum Detail {
    /// Date and way of the first source, linked; notes folded.
    Short,
    /// Every source, confidence and note.
    Full,
}

/// Every entry of a provider's cell.
pub fn cell(cell: &Cell<'_>, detail: Detail, slug: &ProviderSlug) -> AnyView {
    let entries: Vec<_> = cell.entries.iter().map(|one| entry(one, detail, slug)).collect();
    view! { <div class="entries">{entries}</div> }.into_any()
}

/// One entry of a provider.
pub fn entry(entry: &Entry<'_>, detail: Detail, slug: &ProviderSlug) -> AnyView {
    let label = entry.label.clone().map(|label| view! { <span class="entry-label">{label}</span> });
    let value = match (&entry.text, entry.standing) {
        (Some(text), _) => value(text),
        // A dispute without a ruling has no value; the claims below say what is said.
        (None, Standing::Disputed) => {
            view! { <span class="standing">"no ruling"</span> }.into_any()
        }
        (None, standing) => view! { <span class="standing">{standing.label()}</span> }.into_any(),
    };
    let flag = matches!(entry.standing, Standing::Disputed | Standing::Depends)
        .then(|| view! { <span class="flag">{entry.standing.label()}</span> });
    let remark = entry.remark.clone().map(|remark| view! { <p class="remark">{remark}</p> });
    let Edition { day: on, origin, .. } = edition();
    let stale = entry.evidence.filter(|evidence| evidence.is_stale(on));
    let age = stale.and_then(Evidence::last_seen).and_then(|seen| age_days(seen, on));
    let faded = age.map(|days| {
        let words = format!("not seen for {days} days");
        view! { <span class="flag">{words}</span> }
    });
    // Today's file may have no such line.
    let key = entry.key.as_ref().filter(|_| origin == Origin::Current);
    let fix = key.map(|key| correction(slug, key, entry.label.as_deref()));
    let evidence = entry.evidence.map(|evidence| evidence_of(evidence, entry.note, detail));
    let dispute = entry.dispute.map(rivals);
    view! {
        <div class="entry" data-standing=entry.standing.word() class:stale=stale.is_some()>
            {label} " " {value} " " {flag} " " {faded} {fix} {remark} {evidence} {dispute}
        </div>
    }
    .into_any()
}

/// The way to correct a value.
fn correction(slug: &ProviderSlug, key: &str, label: Option<&str>) -> AnyView {
    let href = format!("/sandboxes/{slug}/correct?key={key}");
    let words = format!("Correct {}", label.unwrap_or("this value"));
    view! { <a class="fix" href=href aria-label=words>"✎"</a> }.into_any()
}

/// A value; an address becomes a link.
fn value(text: &str) -> AnyView {
    if text.starts_with("https://") && !text.contains(char::is_whitespace) {
        let shown = text.trim_start_matches("https://").to_owned();
        view! { <a class="value" rel="noopener" href=text.to_owned()>{shown}</a> }.into_any()
    } else {
        view! { <span class="value">{text.to_owned()}</span> }.into_any()
    }
}

fn evidence_of(evidence: &Evidence, note: Option<&str>, detail: Detail) -> AnyView {
    let said = format!("{}, {}", evidence.by.label(), evidence.as_of);
    let confidence =
        evidence.confidence.filter(|one| detail == Detail::Full || *one != Confidence::High);
    let confidence = confidence.map(|confidence| {
        let words = format!("{} confidence", confidence.label());
        view! { " " <span class="confidence" data-confidence=confidence.word()>{words}</span> }
    });
    let sources: Vec<_> = match detail {
        Detail::Short => {
            evidence.sources.first().map(|source| link(source, &said)).into_iter().collect()
        }
        Detail::Full => evidence
            .sources
            .iter()
            .enumerate()
            .map(|(place, source)| {
                let words = if place == 0 { said.clone() } else { format!("source {}", place + 1) };
                view! { {(place > 0).then_some(", ")} {link(source, &words)} }.into_any()
            })
            .collect(),
    };
    let note = note.map(str::to_owned).map(|note| match detail {
        Detail::Short => {
            view! { <details class="note"><summary>"note"</summary><p>{note}</p></details> }
                .into_any()
        }
        Detail::Full => view! { <p class="remark">{note}</p> }.into_any(),
    });
    view! { <div class="evidence">{sources} {confidence} {note}</div> }.into_any()
}

/// A source as a link where it has an address, else by its title.
pub fn link(source: &Source, words: &str) -> AnyView {
    let title = source.reference().to_owned();
    match source.url.clone() {
        Some(url) => {
            view! { <a class="source" rel="noopener" href=url title=title>{words.to_owned()}</a> }
                .into_any()
        }
        None => view! { <span class="source" title=title>{words.to_owned()}</span> }.into_any(),
    }
}

/// All claims of those who disagree, each with its date, and which one is followed.
fn rivals(dispute: &Dispute) -> AnyView {
    let claims: Vec<_> = dispute
        .claims
        .iter()
        .map(|rival| {
            let said = format!("{}, {}", rival.evidence.by.label(), rival.evidence.as_of);
            let source = rival.evidence.sources.first().map(|source| link(source, &said));
            view! { <li><q>{rival.value.clone()}</q> " " {source}</li> }
        })
        .collect();
    let ruling = dispute.ruling.clone().map(|ruling| {
        view! { <p class="ruling">"Followed here: " {ruling}</p> }
    });
    let note = dispute.note.clone().map(|note| view! { <p class="remark">{note}</p> });
    view! { <div class="rivals"><p>"Sources disagree:"</p><ul>{claims}</ul>{ruling}{note}</div> }
        .into_any()
}
