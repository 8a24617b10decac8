//! Providers side by side: a verdict, what each is good for, and rows of cells, all from the catalog.
//!
//! A cell is marked best only where every cell of its row holds an exact figure on the same basis and one of them
//! stands out. Not here: how any of it looks.

mod rows;
pub mod summary;
mod verdict;

use std::borrow::Cow;

use crate::catalog::claim::{AnyClaim, Dispute, Evidence, State};
use crate::catalog::shape::{Estimate, Exactness};
use crate::catalog::{Catalog, Provider};
use crate::money::MoneyError;
use jiff::civil::Date;

pub use verdict::{Finding, Pick};

/// Providers in one comparison, at most.
pub const COMPARED_MAX: usize = 5;
/// What joins slugs in the address of a comparison.
pub const JOINT: &str = "-vs-";

/// Providers side by side.
pub struct Comparison<'a> {
    /// Those compared, by position.
    pub providers: Vec<&'a Provider>,
    /// What decides, in five lines.
    pub verdict: Vec<Finding>,
    /// Needs that some of them meet and others do not.
    pub picks: Vec<Pick>,
    /// Everything, by subject.
    pub groups: Vec<Group<'a>>,
}

/// Rows of one subject.
pub struct Group<'a> {
    /// Its name in addresses and JSON.
    pub key: &'static str,
    /// Its name on pages.
    pub title: &'static str,
    /// What is to be known of all of them.
    pub remark: Option<String>,
    /// The rows.
    pub rows: Vec<Row<'a>>,
}

/// One question, with a cell for each provider.
pub struct Row<'a> {
    /// Its name in JSON.
    pub key: Cow<'static, str>,
    /// Its name on pages, unit included.
    pub label: String,
    /// The cells, in the order of the providers.
    pub cells: Vec<Cell<'a>>,
    /// The cell that is best, where that can be said honestly.
    pub best: Option<usize>,
}

/// What one provider has to say to a row: one entry, or one for each variant or plan.
pub struct Cell<'a> {
    /// At least one.
    pub entries: Vec<Entry<'a>>,
}

words! {
    /// How an entry stands: whether there is a value, and how firm it is.
    Standing {
        /// It has a value, and nobody disagrees.
        Known = "known", "known";
        /// It has a value that rests on something assumed or up to the code.
        Depends = "depends", "depends";
        /// Sources disagree.
        Disputed = "disputed", "disputed";
        /// No sourced value is known.
        Unknown = "unknown", "unknown";
        /// The question has no meaning here.
        NotApplicable = "not_applicable", "not applicable";
        /// No figure can be given.
        Unpriced = "unpriced", "no price";
        /// The router does not reach it.
        NotRouted = "not_routed", "not routed";
        /// Nobody scored it.
        NotScored = "not_scored", "not scored";
        /// Nobody measured it.
        NotMeasured = "not_measured", "not measured";
    }
}

/// One value of a cell.
pub struct Entry<'a> {
    /// The variant or plan that it holds for, where there are several.
    pub label: Option<String>,
    /// Whether there is a value, and how firm.
    pub standing: Standing,
    /// The value in words; `None` where there is none.
    pub text: Option<String>,
    /// What it depends on, what it is made of, or why there is none. What a source says besides is in the evidence.
    pub remark: Option<String>,
    /// Where it comes from; `None` for what was computed.
    pub evidence: Option<&'a Evidence>,
    /// What its source says besides.
    pub note: Option<&'a str>,
    /// Those who disagree.
    pub dispute: Option<&'a Dispute>,
    /// The dotted key by which the provider's file names it; `None` for what was computed.
    pub key: Option<String>,
}

impl<'a> Comparison<'a> {
    /// Those that are compared where nobody names any: the routed ones.
    pub fn by_default(catalog: &'a Catalog) -> Vec<&'a Provider> {
        catalog.routed().take(COMPARED_MAX).collect()
    }

    /// Compares providers at the prices of a day. They are put in canonical order.
    pub fn of(mut providers: Vec<&'a Provider>, on: Date) -> Result<Self, MoneyError> {
        providers.sort_by_key(|provider| provider.position);
        Ok(Self {
            verdict: verdict::findings(&providers, on),
            picks: verdict::picks(&providers, on),
            groups: rows::groups(&providers, on)?,
            providers,
        })
    }

    /// Leaves out rows whose cells all say the same, or over which sources disagree.
    #[must_use]
    pub fn only(mut self, differences: bool, undisputed: bool) -> Self {
        for group in &mut self.groups {
            group.rows.retain(|row| {
                (!differences || row.differs()) && (!undisputed || !row.is_disputed())
            });
        }
        self.groups.retain(|group| !group.rows.is_empty());
        self
    }

    /// The canonical address of a comparison of these providers.
    pub fn address(providers: &[&Provider]) -> String {
        let mut sorted = providers.to_vec();
        sorted.sort_by_key(|provider| provider.position);
        let slugs: Vec<&str> = sorted.iter().map(|provider| provider.slug.as_str()).collect();
        format!("/compare/{}", slugs.join(JOINT))
    }
}

impl Row<'_> {
    /// Whether the cells say different things.
    pub fn differs(&self) -> bool {
        let said = |cell: &Cell<'_>| {
            cell.entries
                .iter()
                .map(|entry| (entry.label.clone(), entry.standing, entry.text.clone()))
                .collect::<Vec<_>>()
        };
        self.cells.windows(2).any(|pair| match pair {
            [left, right] => said(left) != said(right),
            _ => false,
        })
    }

    /// Whether sources disagree over one of the cells.
    pub fn is_disputed(&self) -> bool {
        self.cells.iter().flat_map(|cell| &cell.entries).any(|entry| entry.dispute.is_some())
    }
}

impl<'a> Entry<'a> {
    /// A claim as an entry.
    pub fn of(claim: &'a dyn AnyClaim) -> Self {
        Self {
            label: None,
            standing: match claim.state() {
                State::Known => Standing::Known,
                State::Disputed => Standing::Disputed,
                State::Unknown => Standing::Unknown,
                State::NotApplicable => Standing::NotApplicable,
            },
            text: claim.shown(),
            remark: None,
            evidence: claim.evidence(),
            note: claim.evidence().and_then(|evidence| evidence.note.as_deref()),
            dispute: claim.dispute(),
            key: None,
        }
    }

    /// A value that was computed here.
    pub fn computed(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::without(Standing::Known) }
    }

    /// The same from a source.
    #[must_use]
    pub fn from_source(self, evidence: &'a Evidence) -> Self {
        Self { evidence: Some(evidence), note: evidence.note.as_deref(), ..self }
    }

    /// No value, and which kind of none.
    pub fn without(standing: Standing) -> Self {
        Self {
            label: None,
            standing,
            text: None,
            remark: None,
            evidence: None,
            note: None,
            dispute: None,
            key: None,
        }
    }

    /// A bill with how firm it is and why.
    pub fn bill(estimate: &Estimate) -> Self {
        let sold = estimate.sold_as.map(|shape| format!("sold as {}", shape.label()));
        let because = || {
            let parts: Vec<String> = sold.iter().chain(&estimate.because).cloned().collect();
            Some(parts.join("; "))
        };
        match estimate.exactness {
            Exactness::Exact => Self { remark: sold.clone(), ..Self::computed(estimate.shown()) },
            Exactness::Depends => Self {
                standing: Standing::Depends,
                remark: because(),
                ..Self::computed(estimate.shown())
            },
            Exactness::Unpriced => Self { remark: because(), ..Self::without(Standing::Unpriced) },
        }
    }

    /// The same for a variant or a plan.
    #[must_use]
    pub fn labelled(self, label: impl Into<String>) -> Self {
        Self { label: Some(label.into()), ..self }
    }

    /// The same under the dotted key by which the provider's file names it.
    #[must_use]
    pub fn under(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    /// The same with something to be known besides.
    #[must_use]
    pub fn remarked(self, remark: impl Into<String>) -> Self {
        Self { remark: Some(remark.into()), ..self }
    }
}

impl<'a> From<Entry<'a>> for Cell<'a> {
    fn from(entry: Entry<'a>) -> Self {
        Self { entries: vec![entry] }
    }
}

/// Which end of a scale is the better one.
#[derive(Clone, Copy)]
enum Better {
    Low,
    High,
}

/// The place of the best figure: only where all are there, all on one basis, and one stands out.
fn best_of<T: Ord>(figures: &[Option<(T, String)>], better: Better) -> Option<usize> {
    let all: Vec<&(T, String)> = figures.iter().flatten().collect();
    let (_, basis) = all.first()?;
    if all.len() < 2 || all.len() < figures.len() || all.iter().any(|(_, other)| other != basis) {
        return None;
    }
    let values: Vec<&T> = all.iter().map(|(value, _)| value).collect();
    let best = match better {
        Better::Low => values.iter().min()?,
        Better::High => values.iter().max()?,
    };
    let mut places = values.iter().enumerate().filter(|(_, value)| *value == best);
    let (place, _) = places.next()?;
    places.next().is_none().then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(list: &[(u32, &str)]) -> Vec<Option<(u32, String)>> {
        list.iter().map(|(value, basis)| Some((*value, (*basis).to_owned()))).collect()
    }

    #[test]
    fn the_best_stands_out_on_one_basis() {
        let check = |list: &[(u32, &str)], best| {
            assert_eq!(best_of(&figures(list), Better::Low), best, "{list:?}");
        };
        check(&[(2, "vm"), (1, "vm")], Some(1));
        check(&[(1, "vm"), (1, "vm")], None);
        check(&[(1, "vm"), (2, "container")], None);
        check(&[(1, "vm")], None);
        check(&[], None);
    }

    #[test]
    fn nothing_is_best_where_a_figure_is_missing() {
        let mut list = figures(&[(1, "vm"), (2, "vm")]);
        list.push(None);
        assert_eq!(best_of(&list, Better::High), None);
    }
}
