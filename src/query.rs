//! Query strings, read the same way for pages and API: every value is in range, or all that is wrong is said at once.
//!
//! Not here: what an error looks like. A page shows a notice, the API a problem.

use jiff::civil::Date;
use serde::Serialize;
use utoipa::ToSchema;

use crate::calculator::exposure::Exposure;
use crate::calculator::input::{self, Bounds, Input, read_count};
use crate::calculator::workload::Workload;
use crate::catalog::chronicle::Interest;
use crate::catalog::claim::{Seen, Tier};
use crate::catalog::freshness::AGE_DAYS_MAX;
use crate::catalog::listing::{Column, Direction, Filter, NEEDS, Question};
use crate::catalog::shape::Shape;
use crate::catalog::store::Published;
use crate::catalog::word::{PriceKind, Status};
use crate::catalog::{Catalog, Provider};
use crate::money::Quantity;

/// Errors that an answer lists, at most.
const ERRORS_MAX: usize = 20;
/// Parameters that a query is read to, at most.
const PARAMETERS_MAX: usize = 50;
/// Slugs or plans that a list is read to, at most.
const LISTED_MAX: usize = 100;
/// The longest value that a page reads, and shows again in its form.
const VALUE_CHARS_MAX: usize = 2_000;
/// The longest part of somebody's text that an answer repeats.
const REPEATED_CHARS_MAX: usize = 64;
/// What the catalog can be listed by.
pub const LISTING: [&str; 13] = [
    "isolation",
    "egress_off",
    "self_host",
    "open_source",
    "gpu",
    "status",
    "sort",
    "order",
    "vcpu",
    "memory_gib",
    "disk_gib",
    "price",
    "max_age_days",
];
/// Revisions that an error suggests, at most.
const SUGGESTED_MAX: usize = 5;
/// How like a slug must be to another one to be suggested, from 0 to 1.
const SUGGESTED_FROM: f64 = 0.7;

/// What is wrong with one parameter, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldError {
    /// The parameter.
    pub field: String,
    /// What is wrong, with the range or the words that are allowed.
    pub message: String,
}

/// A query string being read.
pub struct Query {
    pairs: Vec<(String, String)>,
    errors: Vec<FieldError>,
    /// Whether a form may have sent it, which sends a choice that was not made as an empty text.
    of_form: bool,
}

impl Query {
    /// Reads a query string of which every parameter counts, unknown ones being ignored: links carry tracking tags.
    pub fn of_page(raw: Option<&str>) -> Self {
        let pairs = form_urlencoded::parse(raw.unwrap_or("").as_bytes())
            .take(PARAMETERS_MAX)
            .map(|(name, value)| (name.into_owned(), printable(&value, VALUE_CHARS_MAX)))
            .collect();
        Self { pairs, errors: Vec::new(), of_form: true }
    }

    /// Reads a query string; parameters that are not in `allowed`, or are there twice, are errors.
    pub fn new(raw: Option<&str>, allowed: &[&str]) -> Self {
        let pairs = form_urlencoded::parse(raw.unwrap_or("").as_bytes()).into_owned();
        let mut query = Self { pairs: Vec::new(), errors: Vec::new(), of_form: false };
        for (number, (name, value)) in pairs.enumerate() {
            if number >= PARAMETERS_MAX {
                query.error("the query", format!("has more than {PARAMETERS_MAX} parameters"));
                break;
            }
            if !allowed.contains(&name.as_str()) {
                let list = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
                query.error(&shortened(&name), format!("is not a parameter here; allowed: {list}"));
            } else if query.pairs.iter().any(|(known, _)| *known == name) {
                query.error(&name, "is there twice");
            } else {
                query.pairs.push((name, value));
            }
        }
        query
    }

    /// Remembers an error; beyond the first few there is nothing to learn.
    fn error(&mut self, field: &str, message: impl Into<String>) {
        if self.errors.len() >= ERRORS_MAX {
            return;
        }
        self.errors.push(FieldError { field: field.to_owned(), message: message.into() });
    }

    /// Whether a switch is on: there with the value 1. Anything else is an error.
    pub fn switch(&mut self, name: &str) -> bool {
        match self.text(name).as_deref() {
            None => false,
            Some("1") => true,
            Some(_) => {
                self.error(name, "must be 1, or left out");
                false
            }
        }
    }

    /// Values that the calculators read, with whatever is wrong about them.
    fn input<T>(&mut self, read: impl FnOnce(&mut Input<'_>) -> T) -> T {
        let pairs = &self.pairs;
        let text = |name: &str| text(pairs, name);
        let mut input = Input::new(&text);
        let value = read(&mut input);
        for (field, message) in input.errors() {
            self.error(field, message);
        }
        value
    }

    /// A size, in vCPU and GiB.
    pub fn shape(&mut self) -> Shape {
        self.input(input::shape)
    }

    /// A question about runaways.
    pub fn exposure(&mut self) -> Exposure {
        self.input(input::exposure)
    }

    /// A question about a workload.
    pub fn workload(&mut self) -> Workload {
        self.input(input::workload)
    }

    /// A decimal.
    pub fn quantity(&mut self, name: &'static str, bounds: Bounds) -> Quantity {
        self.input(|input| input.quantity(name, bounds))
    }

    /// A whole number between two bounds.
    pub fn count(&mut self, name: &'static str, default: u64, least: u64, most: u64) -> u64 {
        self.input(|input| input.count(name, default, least, most))
    }

    /// Plans by provider, from `e2b:pro,daytona:tier_2`: slug and plan id, each provider once.
    pub fn plans(&mut self, providers: &[&Provider]) -> Vec<(String, String)> {
        let text = self.text("plan").unwrap_or_default();
        let mut plans: Vec<(String, String)> = Vec::new();
        for pair in text.split(',').filter(|pair| !pair.is_empty()).take(LISTED_MAX) {
            match named_plan(pair, providers, &plans) {
                Ok(plan) => plans.push(plan),
                Err(message) => self.error("plan", message),
            }
        }
        plans
    }

    /// The text of a parameter.
    pub fn text(&self, name: &str) -> Option<String> {
        text(&self.pairs, name)
    }

    /// The text of a parameter, unless a form sent it as a choice that was not made.
    fn choice(&self, name: &str) -> Option<String> {
        self.text(name).filter(|text| !(self.of_form && text.is_empty()))
    }

    /// A word of a vocabulary; an empty choice of a form is none.
    pub fn word<T>(&mut self, name: &str, parse: fn(&str) -> Result<T, String>) -> Option<T> {
        let text = self.choice(name)?;
        parse(&text).map_err(|message| self.error(name, message)).ok()
    }

    /// Every value of a parameter that may be there more than once, such as the boxes of a form.
    pub fn repeated(&self, name: &str) -> Vec<String> {
        let named = self.pairs.iter().filter(|(known, _)| known == name);
        named.map(|(_, value)| value.clone()).take(LISTED_MAX).collect()
    }

    /// The price kind that was asked for.
    pub fn price_kind(&mut self) -> Option<PriceKind> {
        self.word("price", PriceKind::parse)
    }

    /// The day whose prices hold: today unless an earlier one is named.
    pub fn as_of(&mut self, today: Date) -> Date {
        let Some(text) = self.choice("as_of") else { return today };
        match Seen::parse(&text) {
            Ok(Seen::Day(day)) if day <= today => day,
            Ok(Seen::Day(_)) => {
                self.error("as_of", format!("lies in the future; {today} is the last day"));
                today
            }
            _ => {
                self.error("as_of", "is not a day: write 2026-10-09");
                today
            }
        }
    }

    /// What the catalog is listed by, on a day.
    pub fn listing(&mut self, on: Date) -> Question {
        Question {
            filter: Filter {
                isolation: self.word("isolation", Tier::parse),
                needs: NEEDS.into_iter().filter(|need| self.switch(need.word())).collect(),
                status: self.word("status", Status::parse),
            },
            column: self.word("sort", Column::parse).unwrap_or(Column::Position),
            direction: self.word("order", Direction::parse).unwrap_or(Direction::Ascending),
            shape: self.shape(),
            kind: self.price_kind(),
            on,
            max_age_days: self.optional_count("max_age_days", 1, AGE_DAYS_MAX),
        }
    }

    /// Which changes are asked about.
    pub fn interest(&mut self, catalog: &Catalog, published: &[Published]) -> Interest {
        let since = self.choice("since").and_then(|name| {
            // A catalog that was put back has an old name again: the newest of that name counts.
            let known = published.iter().find(|one| one.revision.name() == name);
            if known.is_none() {
                let names: Vec<&str> =
                    published.iter().take(SUGGESTED_MAX).map(|one| one.revision.name()).collect();
                let names = names.join(", ");
                self.error(
                    "since",
                    format!("names no revision that is told here; the newest are {names}"),
                );
            }
            known.map(|one| one.revision.number)
        });
        let providers = self.providers(catalog);
        let slugs = providers.map(|list| list.iter().map(|one| one.slug.to_string()).collect());
        Interest { since, slugs }
    }

    /// A whole number between two bounds that need not be there; an empty field of a form is none.
    pub fn optional_count(&mut self, name: &'static str, least: u64, most: u64) -> Option<u64> {
        let text = self.choice(name)?;
        read_count(text.trim(), least, most).map_err(|message| self.error(name, message)).ok()
    }

    /// The named providers in canonical order; `None` where none are named.
    pub fn providers<'a>(&mut self, catalog: &'a Catalog) -> Option<Vec<&'a Provider>> {
        // The boxes of a form name them one by one.
        let text = self.repeated("providers").join(",");
        if self.text("providers").is_none() || (self.of_form && text.is_empty()) {
            return None;
        }
        let mut found: Vec<&Provider> = Vec::new();
        for slug in text.split(',').take(LISTED_MAX) {
            match catalog.find(slug) {
                Some(provider) if found.iter().any(|known| known.slug == provider.slug) => {
                    self.error("providers", format!("names {slug} twice"));
                }
                Some(provider) => found.push(provider),
                None => self.error("providers", not_a_slug(catalog, slug)),
            }
        }
        found.sort_by_key(|provider| provider.position);
        Some(found)
    }

    /// Everything that was wrong.
    pub fn errors(self) -> Vec<FieldError> {
        self.errors
    }
}

/// An address with a query of names and values; without one where there are none.
pub fn encoded<'a>(path: &str, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

fn text(pairs: &[(String, String)], name: &str) -> Option<String> {
    pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
}

/// Reads `e2b:pro`.
fn named_plan(
    pair: &str,
    providers: &[&Provider],
    named: &[(String, String)],
) -> Result<(String, String), String> {
    let (slug, id) = pair.split_once(':').ok_or("is not a list such as e2b:pro,daytona:tier_2")?;
    let provider = providers
        .iter()
        .find(|provider| provider.slug.as_str() == slug)
        .ok_or_else(|| format!("names {}, which was not asked about", shortened(slug)))?;
    if provider.plan(id).is_none() {
        let ids: Vec<&str> = provider.plans.iter().map(|plan| plan.id.as_str()).collect();
        return Err(format!("names no plan of {slug}; allowed: {}", ids.join(", ")));
    }
    if named.iter().any(|(other, _)| other == slug) {
        return Err(format!("names two plans of {slug}; one is allowed"));
    }
    Ok((slug.to_owned(), id.to_owned()))
}

/// The slug that was perhaps meant by one that is not there.
pub fn nearest<'a>(catalog: &'a Catalog, slug: &str) -> Option<&'a Provider> {
    let short = shortened(slug).to_lowercase();
    catalog
        .providers()
        .iter()
        .map(|provider| (strsim::jaro_winkler(provider.slug.as_str(), &short), provider))
        .filter(|(likeness, _)| *likeness >= SUGGESTED_FROM)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, provider)| provider)
}

/// What to say of a slug that is not there, with the one that was perhaps meant.
pub fn unknown_slug(catalog: &Catalog, slug: &str) -> String {
    let short = shortened(slug);
    match nearest(catalog, slug) {
        Some(known) => format!("there is no provider {short}; did you mean {}?", known.slug),
        None => format!("there is no provider {short}; /api/v1/providers lists all"),
    }
}

/// What to say of a slug in a list that is not there.
fn not_a_slug(catalog: &Catalog, slug: &str) -> String {
    if slug.is_empty() {
        return "has an empty slug; slugs with commas are allowed, such as e2b,daytona".to_owned();
    }
    let short = shortened(slug);
    match nearest(catalog, slug) {
        Some(known) => format!("names {short}, which is not there; did you mean {}?", known.slug),
        None => format!("names {short}, which is not there; /api/v1/providers lists all"),
    }
}

/// A text short enough to be repeated in an answer.
pub fn shortened(text: &str) -> String {
    let mut short = printable(text, REPEATED_CHARS_MAX);
    if text.chars().nth(REPEATED_CHARS_MAX).is_some() {
        short.push('…');
    }
    short
}

/// The beginning of somebody's text without what controls how text is shown: line ends, marks of direction.
fn printable(text: &str, most: usize) -> String {
    let controls = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let shown = |letter: char| if controls(letter) { char::REPLACEMENT_CHARACTER } else { letter };
    text.chars().take(most).map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_ignore_parameters_that_they_do_not_know_but_not_values() {
        let mut query = Query::of_page(Some("utm_source=mail&vcpu=many"));
        assert_eq!(query.shape().vcpu, Quantity::ONE);
        let errors = query.errors();
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].field, "vcpu");
    }
}
