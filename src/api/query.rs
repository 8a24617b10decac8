//! Query strings: every parameter is known and in range, or all that is wrong is said at once.

use jiff::civil::Date;

use super::problem::{FieldError, Problem};
use crate::catalog::claim::Seen;
use crate::catalog::word::PriceKind;
use crate::catalog::{Catalog, Provider};
use crate::money::Quantity;

/// A query string being read.
pub struct Query {
    pairs: Vec<(String, String)>,
    errors: Vec<FieldError>,
}

impl Query {
    /// Reads a query string; parameters that are not in `allowed`, or are there twice, are errors.
    pub fn new(raw: Option<&str>, allowed: &[&str]) -> Self {
        let pairs: Vec<(String, String)> =
            form_urlencoded::parse(raw.unwrap_or("").as_bytes()).into_owned().collect();
        let mut query = Self { pairs: Vec::new(), errors: Vec::new() };
        for (name, value) in pairs {
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

    fn error(&mut self, field: &str, message: impl Into<String>) {
        self.errors.push(FieldError { field: field.to_owned(), message: message.into() });
    }

    /// The text of a parameter.
    pub fn text(&self, name: &str) -> Option<String> {
        self.pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    /// A decimal between two bounds, with at most `places` digits after the point.
    pub fn quantity(
        &mut self,
        name: &str,
        default: &str,
        bounds: (&str, &str),
        places: u32,
    ) -> Quantity {
        let parse = |text: &str| Quantity::parse(text).unwrap_or(Quantity::ZERO);
        let (least, most) = (parse(bounds.0), parse(bounds.1));
        let Some(text) = self.text(name) else { return parse(default) };
        match Quantity::parse(&text) {
            Ok(value) if value >= least && value <= most && value.places() <= places => value,
            Ok(_) => {
                self.error(
                    name,
                    format!(
                        "must be {least} to {most} with at most {places} digits after the point"
                    ),
                );
                parse(default)
            }
            Err(error) => {
                self.error(name, format!("{error}; {least} to {most} is allowed"));
                parse(default)
            }
        }
    }

    /// A whole number between two bounds.
    pub fn count(&mut self, name: &str, default: u64, least: u64, most: u64) -> u64 {
        let Some(text) = self.text(name) else { return default };
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse::<u64>() {
            Ok(value) if digits && (least..=most).contains(&value) => value,
            _ => {
                self.error(name, format!("must be a whole number from {least} to {most}"));
                default
            }
        }
    }

    /// The price kind that was asked for.
    pub fn price_kind(&mut self) -> Option<PriceKind> {
        let text = self.text("price")?;
        PriceKind::parse(&text).map_err(|message| self.error("price", message)).ok()
    }

    /// The day whose prices hold: today unless an earlier one is named.
    pub fn as_of(&mut self, today: Date) -> Date {
        let Some(text) = self.text("as_of") else { return today };
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

    /// The named providers in canonical order; `None` where none are named.
    pub fn providers<'a>(&mut self, catalog: &'a Catalog) -> Option<Vec<&'a Provider>> {
        let text = self.text("providers")?;
        let mut found: Vec<&Provider> = Vec::new();
        for slug in text.split(',') {
            match catalog.find(slug) {
                Some(provider) if found.iter().any(|known| known.slug == provider.slug) => {
                    self.error("providers", format!("names {slug} twice"));
                }
                Some(provider) => found.push(provider),
                None => {
                    let message = super::unknown_slug(catalog, slug);
                    self.error("providers", message);
                }
            }
        }
        found.sort_by_key(|provider| provider.position);
        Some(found)
    }

    /// Nothing if all was right, else everything that was wrong.
    pub fn finish(self) -> Result<(), Problem> {
        if self.errors.is_empty() { Ok(()) } else { Err(Problem::bad_request(self.errors)) }
    }
}

/// The longest part of somebody's text that an answer repeats.
const REPEATED_CHARS_MAX: usize = 64;

/// A text short enough to be repeated in an answer.
pub fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(REPEATED_CHARS_MAX).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
