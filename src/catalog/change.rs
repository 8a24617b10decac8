//! What changed: field by field between two revisions, and day by day where values have dates of their own.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::civil::Date;

use super::Catalog;
use super::claim::Evidence;
use super::field::{CHECKED_ON, Field, fields, price_amount, price_label, spoken};
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
    let told = |provider: &Provider| -> Vec<(String, String, String)> {
        // That somebody looked again is no change.
        let told = fields(provider).into_iter().filter(|field| field.key != CHECKED_ON);
        told.map(|field| {
            let said = said(&field);
            (field.key, field.label, said)
        })
        .collect()
    };
    let (old, new) = (told(old), told(new));
    let mut before: BTreeMap<&str, (&str, &str)> = old
        .iter()
        .map(|(key, label, said)| (key.as_str(), (label.as_str(), said.as_str())))
        .collect();
    let mut changes = Vec::new();
    for (key, label, said) in &new {
        let was = before.remove(key.as_str());
        if was != Some((label, said)) {
            changes.push(FieldChange {
                key: key.clone(),
                label: label.clone(),
                before: was.map(|(_, was)| was.to_owned()),
                after: Some(said.clone()),
            });
        }
    }
    let gone = old.iter().filter(|(key, _, _)| before.contains_key(key.as_str()));
    changes.extend(gone.map(|(key, label, said)| FieldChange {
        key: key.clone(),
        label: label.clone(),
        before: Some(said.clone()),
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
            label: price_label(provider, price),
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
    let others = provider.history.iter().enumerate().filter_map(|(place, change)| {
        Some(Dated {
            since: change.since?,
            beginning: None,
            provider,
            key: format!("history.{}", place + 1),
            label: spoken(&change.key),
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
    fn a_provider_differs_in_nothing_from_itself() {
        let file = embedded_files().into_iter().find(|file| file.slug == "e2b").unwrap();
        let entry = |value: &str, since: &str| {
            format!(
                "\n[[history]]\nkey = \"a.b\"\nvalue = \"{value}\"\nsince = \"{since}\"\nsource = \"thud\"\n"
            )
        };
        let text = file.text + &entry("one", "2026-01-01") + &entry("two", "2026-02-01");
        let catalog = provider(&text);
        assert_eq!(between(catalog.providers().first(), catalog.providers().first()), None);
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
        let again =
            file.text.replacen("checked_on = \"2026-11-30\"", "checked_on = \"2026-12-01\"", 1);
        assert_ne!(again, file.text);
        assert_eq!(between(old.providers().first(), provider(&again).providers().first()), None);
        assert_eq!(between(None, new.providers().first()).unwrap().fate, Fate::Added);
        assert_eq!(between(new.providers().first(), None).unwrap().fate, Fate::Removed);
    }
}
