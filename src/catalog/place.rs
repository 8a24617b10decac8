//! Where a value stands in its file, so that somebody who knows better finds the line.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A place in a provider file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The first line, from 1.
    pub line: usize,
    /// The text that stands there, from the beginning of its first line.
    pub text: String,
}

/// Lines of a place that are shown, at most.
const LINES_MAX: usize = 24;

/// The place of a value by its dotted key, as `field` names it: the value itself, the variant that it is taken from, or
/// the list that declares it unknown. `None` where the file has no such value.
pub fn place_of(text: &str, key: &str) -> Option<Place> {
    let (document, _) = DeTable::parse_recoverable(text);
    let document = document.get_ref();
    let parts: Vec<&str> = key.split('.').collect();
    let span = span_of(document, &parts).or_else(|| declared(document, key))?;
    let before = text.get(..span.start)?;
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let rest = text.get(start..)?;
    if rest.starts_with('[') {
        // A table: all of it, up to the next one.
        let more =
            rest.lines().skip(1).take_while(|line| !line.starts_with('[') && !line.is_empty());
        let lines: Vec<&str> = rest.lines().take(1).chain(more).take(LINES_MAX).collect();
        return Some(Place { line, text: lines.join("\n") });
    }
    let lines: Vec<&str> = text.get(start..span.end.max(start))?.lines().take(LINES_MAX).collect();
    // The rest of the last line belongs to it: a comment, or the end of a table.
    let end = text.get(span.end..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    Some(Place { line, text: format!("{}{end}", lines.join("\n")) })
}

fn span_of(document: &DeTable<'_>, parts: &[&str]) -> Option<Range<usize>> {
    match parts {
        ["variant", id, rest @ ..] => variant(document, id, rest),
        ["plan" | "price", id] => item(document, parts.first()?, "id", id).map(Spanned::span),
        ["plan", id, key] => {
            let plan = item(document, "plan", "id", id)?;
            let own = plan.get_ref().as_table().and_then(|table| table.get(*key));
            Some(own.unwrap_or(plan).span())
        }
        ["fee", since] => item(document, "fee", "since", since).map(Spanned::span),
        ["score"] => list(document, "score")?.last().map(Spanned::span),
        [name @ ("measurement" | "history"), place, ..] => {
            let place = place.parse::<usize>().ok()?.checked_sub(1)?;
            list(document, name)?.get(place).map(Spanned::span)
        }
        ["detail", section, key] => list(document, "detail")?
            .iter()
            .find(|one| is(one, "section", section) && is(one, "key", key))
            .map(Spanned::span),
        path => walk(document, path),
    }
}

/// A claim of a variant: its own, else that of the variant that it is like.
fn variant(document: &DeTable<'_>, id: &str, path: &[&str]) -> Option<Range<usize>> {
    let table = item(document, "variant", "id", id)?.get_ref().as_table()?;
    walk(table, path).or_else(|| {
        let like = table.get("like")?.get_ref().as_str()?;
        // A variant is only ever like one above it, so this ends.
        if like == id { None } else { variant(document, like, path) }
    })
}

fn walk(table: &DeTable<'_>, path: &[&str]) -> Option<Range<usize>> {
    let (first, rest) = path.split_first()?;
    let value = table.get(*first)?;
    if rest.is_empty() {
        return Some(value.span());
    }
    walk(value.get_ref().as_table()?, rest)
}

/// The line of a key in `unknown` or `not_applicable`.
fn declared(document: &DeTable<'_>, key: &str) -> Option<Range<usize>> {
    ["unknown", "not_applicable"].into_iter().find_map(|name| {
        list(document, name)?
            .iter()
            .find(|one| one.get_ref().as_str() == Some(key))
            .map(Spanned::span)
    })
}

fn list<'a, 'b>(document: &'a DeTable<'b>, name: &str) -> Option<&'a [Spanned<DeValue<'b>>]> {
    document.get(name)?.get_ref().as_array().map(|array| &array[..])
}

fn item<'a, 'b>(
    document: &'a DeTable<'b>,
    name: &str,
    key: &str,
    wanted: &str,
) -> Option<&'a Spanned<DeValue<'b>>> {
    list(document, name)?.iter().find(|one| is(one, key, wanted))
}

fn is(value: &Spanned<DeValue<'_>>, key: &str, wanted: &str) -> bool {
    let table = value.get_ref().as_table();
    table.and_then(|table| table.get(key)).and_then(|value| value.get_ref().as_str())
        == Some(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::field::fields;
    use crate::catalog::load::{embedded_files, load};
    use jiff::civil::Date;

    #[test]
    fn every_field_of_the_catalog_has_its_place_unless_its_plan_is_silent() {
        let files = embedded_files();
        let catalog = load(&files, Date::new(2999, 1, 1).unwrap()).unwrap();
        for provider in catalog.providers() {
            let file = files.iter().find(|file| file.slug == provider.slug.as_str()).unwrap();
            for field in fields(provider) {
                let place = place_of(&file.text, &field.key);
                assert!(place.is_some(), "{} {}", provider.slug, field.key);
            }
        }
    }

    #[test]
    fn a_value_stands_on_its_line() {
        let text = "a = 1\n[egress]\nallow_list = { value = \"yes\" } # so\n";
        let place = place_of(text, "egress.allow_list").unwrap();
        assert_eq!((place.line, place.text.as_str()), (3, "allow_list = { value = \"yes\" } # so"));
        assert_eq!(place_of(text, "egress.nothing"), None);
        assert_eq!(place_of("not toml =", "a"), None);
    }
}
