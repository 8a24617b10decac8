//! What changed: field by field between two revisions, and day by day where values have dates of their own.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::civil::Date;

use super::Catalog;
use super::claim::Evidence;
use super::field::{Field, fields, price_amount, price_label};
use super::provider::Provider;
use super::word::Beginning;

words! {
    /// What became of a provider between two revisions.
    Fate {
        /// It was not there before.
        Added = "added", "added";
        /// It is not there any more.
        Removed = "removed", "removed";
        /// Some of its fields changed.
        Changed = "changed", "changed";
    }
}

/// A field that two revisions say differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldChange {
    /// Its dotted key.
    pub key: String,
    /// Its name on pages.
    pub label: String,
    /// What was said, with unit; `None` where the field was not there.
    pub before: Option<String>,
    /// What is said; `None` where the field is not there any more.
    pub after: Option<String>,
}

/// A provider that two revisions say differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderChange {
    /// Its slug.
    pub slug: String,
    /// Its name.
    pub name: String,
    /// What became of it.
    pub fate: Fate,
    /// What changed, in the order of its page; empty where it came or went as a whole.
    pub fields: Vec<FieldChange>,
}

/// What changed about a provider; `None` where nothing did. A source that was read again and said the same is no change.
pub fn between(old: Option<&Provider>, new: Option<&Provider>) -> Option<ProviderChange> {
    let of = |provider: &Provider, fate, fields| ProviderChange {
        slug: provider.slug.to_string(),
        name: provider.name.clone(),
        fate,
        fields,
    };
    match (old, new) {
        (None, None) => None,
        (None, Some(new)) => Some(of(new, Fate::Added, Vec::new())),
        (Some(old), None) => Some(of(old, Fate::Removed, Vec::new())),
        (Some(old), Some(new)) => {
            let fields = field_changes(old, new);
            (!fields.is_empty()).then(|| of(new, Fate::Changed, fields))
        }
    }
}

/// What a field says, those who disagree included.
fn said(field: &Field<'_>) -> String {
    let mut words = field.words();
    if let Some(dispute) = field.dispute {
        let claims: Vec<&str> = dispute.claims.iter().map(|rival| rival.value.as_str()).collect();
        words = format!("{words} (disputed: {})", claims.join(" / "));
    }
    words
}

fn field_changes(old: &Provider, new: &Provider) -> Vec<FieldChange> {
    let (old, new) = (fields(old), fields(new));
    let mut before: BTreeMap<&str, &Field<'_>> =
        old.iter().map(|field| (field.key.as_str(), field)).collect();
    let mut changes: Vec<FieldChange> = new
        .iter()
        .filter_map(|field| {
            let old = before.remove(field.key.as_str());
            let (was, is) = (old.map(said), said(field));
            let same = old.is_some_and(|old| old.label == field.label) && was.as_ref() == Some(&is);
            (!same).then(|| FieldChange {
                key: field.key.clone(),
                label: field.label.clone(),
                before: was,
                after: Some(is),
            })
        })
        .collect();
    changes.extend(before.into_values().map(|field| FieldChange {
        key: field.key.clone(),
        label: field.label.clone(),
        before: Some(said(field)),
        after: None,
    }));
    changes
}

/// A value that has held since a day of its own.
#[derive(Debug, Clone)]
pub struct Dated<'a> {
    /// The day.
    pub since: Date,
    /// What the day means, where that is stated.
    pub beginning: Option<Beginning>,
    /// Whose value it is.
    pub provider: &'a Provider,
    /// The dotted key.
    pub key: String,
    /// What it is, in words.
    pub label: String,
    /// The value that it replaced, where one is known.
    pub before: Option<String>,
    /// The value.
    pub after: String,
    /// Where from.
    pub evidence: &'a Evidence,
}

/// Every dated value of the catalog, the newest first: prices, the router's fee, and what else has a first day.
pub fn dated(catalog: &Catalog) -> Vec<Dated<'_>> {
    let mut list: Vec<Dated<'_>> = catalog.providers().iter().flat_map(dated_of).collect();
    list.sort_by_key(|one| (Reverse(one.since), one.provider.position));
    list
}

fn dated_of(provider: &Provider) -> Vec<Dated<'_>> {
    let prices = provider.prices.iter().enumerate().map(|(place, price)| {
        let older = provider.prices.iter().take(place).rev().find(|older| price.replaces(older));
        Dated {
            since: price.since,
            beginning: Some(price.beginning),
            provider,
            key: format!("price.{}", price.id),
            label: price_label(price),
            before: older.map(price_amount),
            after: price_amount(price),
            evidence: &price.evidence,
        }
    });
    let fees = provider.fees.iter().enumerate().map(|(place, fee)| {
        let older = place.checked_sub(1).and_then(|older| provider.fees.get(older));
        Dated {
            since: fee.since,
            beginning: None,
            provider,
            key: format!("fee.{}", fee.since),
            label: "The router's fee, % of list".to_owned(),
            before: older.map(|older| older.percent.to_string()),
            after: fee.percent.to_string(),
            evidence: &fee.evidence,
        }
    });
    let others = provider.history.iter().filter_map(|change| {
        Some(Dated {
            since: change.since?,
            beginning: None,
            provider,
            key: format!("history.{}", change.key),
            label: change.key.replace(['_', '.'], " "),
            before: None,
            after: change.value.clone(),
            evidence: &change.evidence,
        })
    });
    prices.chain(fees).chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::load::{CatalogFile, embedded_files, load};

    fn provider(text: &str) -> Catalog {
        let day = Date::new(2999, 1, 1).unwrap();
        load(&[CatalogFile { slug: "e2b".to_owned(), text: text.to_owned() }], day).unwrap()
    }

    #[test]
    fn a_changed_value_is_told_with_what_it_was() {
        let file = embedded_files().into_iter().find(|file| file.slug == "e2b").unwrap();
        let (old, new) = (&file.text, file.text.replacen("value = 85", "value = 86", 1));
        let (old, new) = (provider(old), provider(&new));
        let change = between(old.providers().first(), new.providers().first()).unwrap();
        assert_eq!(change.fate, Fate::Changed);
        let [field] = change.fields.as_slice() else { panic!("{:?}", change.fields) };
        assert_eq!(field.key, "score");
        assert_eq!(field.before.as_deref(), Some("85 of 100"));
        assert_eq!(field.after.as_deref(), Some("86 of 100"));
        assert_eq!(between(old.providers().first(), old.providers().first()), None);
        assert_eq!(between(None, new.providers().first()).unwrap().fate, Fate::Added);
        assert_eq!(between(new.providers().first(), None).unwrap().fate, Fate::Removed);
    }
}
