//! What of all changes is told: those since a revision, or about some providers.

use super::Catalog;
use super::change::{Dated, ProviderChange, dated};
use super::store::Published;

/// Which changes are asked about.
#[derive(Debug, Clone, Default)]
pub struct Interest {
    /// Only revisions with a larger number.
    pub since: Option<i64>,
    /// Only these slugs; everybody if left out.
    pub slugs: Option<Vec<String>>,
}

/// A revision with those of its changes that are asked about.
pub struct Told<'a> {
    /// The revision.
    pub published: &'a Published,
    /// Its changes.
    pub changes: Vec<&'a ProviderChange>,
    /// Slugs of files that changed as well, but are in a form that is not read any more.
    pub unreadable: Vec<&'a str>,
}

impl Told<'_> {
    /// What is to be known where no field is told; `None` where there is nothing to add.
    pub fn remark(&self) -> Option<String> {
        if !self.unreadable.is_empty() {
            let slugs = self.unreadable.join(", ");
            return Some(format!(
                "Changed as well, but in a form that is not read any more: {slugs}."
            ));
        }
        let words = if self.published.revision.is_first() {
            "The first revision that this site published: there is none to compare it with."
        } else if self.changes.is_empty() {
            "No value changed: sources were read again, or words about them."
        } else {
            return None;
        };
        Some(words.to_owned())
    }
}

/// The changes that are asked about, the newest first.
pub struct Chronicle<'a> {
    /// By revision.
    pub revisions: Vec<Told<'a>>,
    /// Values that have dates of their own; none where only what came since a revision is asked about.
    pub dated: Vec<Dated<'a>>,
}

impl Interest {
    fn is_about(&self, slug: &str) -> bool {
        self.slugs.as_ref().is_none_or(|slugs| slugs.iter().any(|one| one == slug))
    }
}

/// Tells what changed. A revision that changed nothing about the asked providers is left out where some are named.
pub fn chronicle<'a>(
    published: &'a [Published],
    catalog: &'a Catalog,
    interest: &Interest,
) -> Chronicle<'a> {
    let newer = |one: &&Published| interest.since.is_none_or(|since| one.revision.number > since);
    let revisions = published
        .iter()
        .filter(newer)
        .map(|published| Told {
            published,
            changes: published
                .changes
                .iter()
                .filter(|change| interest.is_about(&change.slug))
                .collect(),
            unreadable: published
                .unreadable
                .iter()
                .map(String::as_str)
                .filter(|slug| interest.is_about(slug))
                .collect(),
        })
        .filter(|told| {
            let first = told.published.revision.is_first() && interest.since.is_none();
            interest.slugs.is_none()
                || first
                || !told.changes.is_empty()
                || !told.unreadable.is_empty()
        })
        .collect();
    let mut dated = if interest.since.is_some() { Vec::new() } else { dated(catalog) };
    dated.retain(|one| interest.is_about(one.provider.slug.as_str()));
    Chronicle { revisions, dated }
}
