//! Comparisons as JSON.

use serde::Serialize;
use utoipa::ToSchema;

use super::{RivalView, references, rivals};
use crate::catalog::claim::Confidence;
use crate::comparison::{Comparison, Entry, Group, Row};

/// Providers side by side.
#[derive(Debug, Serialize, ToSchema)]
pub struct ComparisonView {
    /// The page that shows it.
    pub page: String,
    /// Slugs, in the order of all cells.
    pub providers: Vec<String>,
    /// What decides.
    pub verdict: Vec<FindingView>,
    /// Needs that some of them meet and others do not.
    pub picks: Vec<PickView>,
    /// Everything, by subject.
    pub groups: Vec<GroupView>,
}

/// One of the things that decide.
#[derive(Debug, Serialize, ToSchema)]
pub struct FindingView {
    /// The finding in a few words.
    pub title: String,
    /// What there is to say.
    pub parts: Vec<FindingPartView>,
}

/// What there is to say of one provider, or of all.
#[derive(Debug, Serialize, ToSchema)]
pub struct FindingPartView {
    /// Name of the provider; null where the sentence holds for all.
    pub provider: Option<String>,
    /// The sentence.
    pub text: String,
}

/// A need with those who meet it.
#[derive(Debug, Serialize, ToSchema)]
pub struct PickView {
    /// What somebody may need.
    pub need: &'static str,
    /// Names of those who meet it.
    pub providers: Vec<String>,
}

/// Rows of one subject.
#[derive(Debug, Serialize, ToSchema)]
pub struct GroupView {
    /// Its name.
    pub key: &'static str,
    /// Its name on pages.
    pub title: &'static str,
    /// What is to be known of all of them.
    pub remark: Option<String>,
    /// The rows.
    pub rows: Vec<RowView>,
}

/// One question.
#[derive(Debug, Serialize, ToSchema)]
pub struct RowView {
    /// Its name.
    pub key: String,
    /// Its name on pages, unit included.
    pub label: String,
    /// Whether the cells say different things.
    pub differs: bool,
    /// Whether sources disagree over one of them.
    pub disputed: bool,
    /// Slug of the best; null where that cannot be said honestly.
    pub best: Option<String>,
    /// One for each provider, in order.
    pub cells: Vec<CellView>,
}

/// What one provider has to say.
#[derive(Debug, Serialize, ToSchema)]
pub struct CellView {
    /// The provider.
    pub slug: String,
    /// One entry, or one for each variant or plan.
    pub entries: Vec<EntryView>,
}

/// One value of a cell.
#[derive(Debug, Serialize, ToSchema)]
pub struct EntryView {
    /// The variant or plan that it holds for, where there are several.
    pub label: Option<String>,
    /// `known`, `depends`, `disputed`, `unknown`, `not_applicable`, `unpriced`, `not_routed`, `not_scored` or
    /// `not_measured`.
    pub state: &'static str,
    /// The value in words, as the page shows it.
    pub text: Option<String>,
    /// What it depends on, what it is made of, or why there is none.
    pub remark: Option<String>,
    /// Address or title of the first source; null for what was computed.
    pub source: Option<String>,
    /// Day, month or `undated`.
    pub as_of: Option<String>,
    /// How it reached the catalog.
    pub by: Option<&'static str>,
    /// `high`, `medium`, `low`; null where nobody judged it.
    pub confidence: Option<&'static str>,
    /// What a reader should know besides.
    pub note: Option<String>,
    /// Every claim where sources disagree, else empty.
    pub claims: Vec<RivalView>,
}

impl From<&Comparison<'_>> for ComparisonView {
    fn from(comparison: &Comparison<'_>) -> Self {
        let slugs: Vec<String> =
            comparison.providers.iter().map(|one| one.slug.to_string()).collect();
        Self {
            page: Comparison::address(&comparison.providers),
            verdict: comparison
                .verdict
                .iter()
                .map(|finding| FindingView {
                    title: finding.title.clone(),
                    parts: finding
                        .parts
                        .iter()
                        .map(|(provider, text)| FindingPartView {
                            provider: provider.clone(),
                            text: text.clone(),
                        })
                        .collect(),
                })
                .collect(),
            picks: comparison
                .picks
                .iter()
                .map(|pick| PickView { need: pick.need, providers: pick.names.clone() })
                .collect(),
            groups: comparison.groups.iter().map(|group| GroupView::new(group, &slugs)).collect(),
            providers: slugs,
        }
    }
}

impl GroupView {
    fn new(group: &Group<'_>, slugs: &[String]) -> Self {
        Self {
            key: group.key,
            title: group.title,
            remark: group.remark.clone(),
            rows: group.rows.iter().map(|row| RowView::new(row, slugs)).collect(),
        }
    }
}

impl RowView {
    fn new(row: &Row<'_>, slugs: &[String]) -> Self {
        Self {
            key: row.key.to_string(),
            label: row.label.clone(),
            differs: row.differs(),
            disputed: row.is_disputed(),
            best: row.best.and_then(|place| slugs.get(place)).cloned(),
            cells: row
                .cells
                .iter()
                .zip(slugs)
                .map(|(cell, slug)| CellView {
                    slug: slug.clone(),
                    entries: cell.entries.iter().map(EntryView::from).collect(),
                })
                .collect(),
        }
    }
}

impl From<&Entry<'_>> for EntryView {
    fn from(entry: &Entry<'_>) -> Self {
        let evidence = entry.evidence;
        Self {
            label: entry.label.clone(),
            state: entry.standing.word(),
            text: entry.text.clone(),
            remark: entry.remark.clone(),
            source: evidence.and_then(|evidence| references(evidence).into_iter().next()),
            as_of: evidence.map(|evidence| evidence.as_of.to_string()),
            by: evidence.map(|evidence| evidence.by.word()),
            confidence: evidence.and_then(|evidence| evidence.confidence).map(Confidence::word),
            note: entry.note.map(str::to_owned),
            claims: rivals(entry.dispute),
        }
    }
}
