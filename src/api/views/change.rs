//! What changed, as JSON.

use serde::Serialize;
use utoipa::ToSchema;

use super::references;
use crate::catalog::change::{Dated, FieldChange, ProviderChange};
use crate::catalog::chronicle::Told;
use crate::catalog::word::Beginning;

/// Revisions with what changed in each, and values that have dates of their own.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangesView {
    /// The newest first.
    pub revisions: Vec<RevisionView>,
    /// Dated values of the catalog, the newest first; empty where `since` is named.
    pub dated: Vec<DatedView>,
}

/// A revision with what changed in it.
#[derive(Debug, Serialize, ToSchema)]
pub struct RevisionView {
    /// Its name.
    pub revision: String,
    /// When this site first saw it, RFC 3339, UTC.
    pub published_at: String,
    /// Whether it is the first that this site published, so that there is nothing to compare it with.
    pub first: bool,
    /// What changed.
    pub changes: Vec<ProviderChangeView>,
    /// Slugs of files that changed but are in a form that is not read any more.
    pub unreadable: Vec<String>,
}

impl RevisionView {
    /// A revision with the changes that are asked about.
    pub fn new(told: &Told<'_>) -> Self {
        let Told { published, changes, unreadable } = told;
        Self {
            revision: published.revision.name().to_owned(),
            published_at: published.revision.published_at.clone(),
            first: published.revision.is_first(),
            changes: changes.iter().map(|change| ProviderChangeView::from(*change)).collect(),
            unreadable: unreadable.iter().map(|slug| (*slug).to_owned()).collect(),
        }
    }
}

/// What changed about a provider.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProviderChangeView {
    /// The provider.
    pub slug: String,
    /// Its name on pages.
    pub name: String,
    /// `added`, `removed` or `changed`.
    pub fate: &'static str,
    /// Field by field; empty where it came or went as a whole.
    pub fields: Vec<FieldChangeView>,
}

/// A field that changed.
#[derive(Debug, Serialize, ToSchema)]
pub struct FieldChangeView {
    /// Its dotted key.
    pub key: String,
    /// Its name on pages.
    pub label: String,
    /// What was said; null where the field was not there.
    pub before: Option<String>,
    /// What is said; null where the field is not there any more.
    pub after: Option<String>,
}

/// A value that has held since a day of its own.
#[derive(Debug, Serialize, ToSchema)]
pub struct DatedView {
    /// The day.
    pub since: String,
    /// `took_effect`, or `first_seen` where it may be older; null where that is not stated.
    pub beginning: Option<&'static str>,
    /// The provider.
    pub slug: String,
    /// The dotted key.
    pub key: String,
    /// What it is, in words.
    pub label: String,
    /// The value that it replaced, where one is known.
    pub before: Option<String>,
    /// The value.
    pub after: String,
    /// Address or title of the first source.
    pub source: Option<String>,
}

impl From<&ProviderChange> for ProviderChangeView {
    fn from(change: &ProviderChange) -> Self {
        Self {
            slug: change.slug.clone(),
            name: change.name.clone(),
            fate: change.fate.word(),
            fields: change.fields.iter().map(FieldChangeView::from).collect(),
        }
    }
}

impl From<&FieldChange> for FieldChangeView {
    fn from(change: &FieldChange) -> Self {
        Self {
            key: change.key.clone(),
            label: change.label.clone(),
            before: change.before.clone(),
            after: change.after.clone(),
        }
    }
}

impl From<&Dated<'_>> for DatedView {
    fn from(one: &Dated<'_>) -> Self {
        Self {
            since: one.since.to_string(),
            beginning: one.beginning.map(Beginning::word),
            slug: one.provider.slug.to_string(),
            key: one.key.clone(),
            label: one.label.clone(),
            before: one.before.clone(),
            after: one.after.clone(),
            source: references(one.evidence).into_iter().next(),
        }
    }
}
