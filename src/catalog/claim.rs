//! Claims: a value with its sources, date, way, confidence and rivals. Unknown is a value of its own.
//!
//! Not here: which claims a provider has (`provider`), and how they are written in files (`load`).

use std::fmt;
use std::sync::Arc;

use jiff::civil::Date;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::price::Preset;
pub use super::word::{By, Confidence, Paused, Sizing, State, Tier, Verdict};
use crate::money::{MoneyError, Quantity, Usd};

/// When something was seen: to the day, to the month, or without a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seen {
    /// The material has no date.
    Undated,
    /// A month.
    Month {
        /// The year.
        year: i16,
        /// 1 to 12.
        month: i8,
    },
    /// A day.
    Day(Date),
}

impl Seen {
    /// Reads `2026-10-09`, `2026-10` or `undated`.
    pub fn parse(text: &str) -> Result<Self, String> {
        const ALLOWED: &str = "is not a date: write 2026-10-09, 2026-10 or undated";
        if text == "undated" {
            return Ok(Self::Undated);
        }
        let date = |text: &str| text.parse::<Date>().map_err(|_| ALLOWED.to_owned());
        match text.len() {
            10 => date(text).map(Self::Day),
            7 => {
                let first = date(&format!("{text}-01"))?;
                Ok(Self::Month { year: first.year(), month: first.month() })
            }
            _ => Err(ALLOWED.to_owned()),
        }
    }

    /// The first day that it can mean; `None` where it has no date.
    pub fn first_day(self) -> Option<Date> {
        match self {
            Self::Undated => None,
            Self::Month { year, month } => Date::new(year, month, 1).ok(),
            Self::Day(day) => Some(day),
        }
    }

    /// The last day that it can mean; `None` where it has no date.
    pub fn last_day(self) -> Option<Date> {
        self.first_day().map(|day| match self {
            Self::Month { .. } => day.last_of_month(),
            Self::Undated | Self::Day(_) => day,
        })
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undated => formatter.write_str("undated"),
            Self::Month { year, month } => write!(formatter, "{year:04}-{month:02}"),
            Self::Day(day) => write!(formatter, "{day}"),
        }
    }
}

/// Something that was read: an address, or at least a title, with the day and the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The name by which claims of the same file refer to it.
    pub id: String,
    /// Its address, where one was recorded.
    pub url: Option<String>,
    /// What it is, where the address does not tell.
    pub title: Option<String>,
    /// When it was seen.
    pub seen_on: Seen,
    /// How it reached the catalog.
    pub by: By,
    /// What a reader should know of it.
    pub note: Option<String>,
}

impl Source {
    /// The address, or the title where no address was recorded.
    pub fn reference(&self) -> &str {
        self.url.as_deref().or(self.title.as_deref()).unwrap_or(&self.id)
    }
}

/// Where a value comes from and how far it can be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// At least one.
    pub sources: Vec<Arc<Source>>,
    /// The day or month of the material.
    pub as_of: Seen,
    /// How the value reached the catalog.
    pub by: By,
    /// `None` where nobody judged it.
    pub confidence: Option<Confidence>,
    /// What a reader should know besides.
    pub note: Option<String>,
    /// The last day on which it is fresh, as [`super::freshness`] has it; `None` where the material has no date.
    pub stale_after: Option<Date>,
}

impl Evidence {
    /// The day by which somebody had certainly seen it; `None` where none of its material has a date.
    pub fn first_seen(&self) -> Option<Date> {
        let sources = self.sources.iter().map(|source| source.seen_on);
        sources.chain([self.as_of]).filter_map(Seen::last_day).min()
    }

    /// The day on which somebody saw it last; `None` where none of its material has a date.
    pub fn last_seen(&self) -> Option<Date> {
        self.last_seen_by(Date::MAX)
    }

    /// The day on which somebody had seen it last by a day; `None` where nobody is known to have.
    pub fn last_seen_by(&self, day: Date) -> Option<Date> {
        let sources = self.sources.iter().map(|source| source.seen_on);
        sources.chain([self.as_of]).filter_map(Seen::first_day).filter(|seen| *seen <= day).max()
    }

    /// Whether somebody had seen it by a day.
    pub fn is_seen_by(&self, day: Date) -> bool {
        self.first_seen().is_some_and(|seen| seen <= day)
    }

    /// Whether it wants to be read again on a day. What has no date is neither fresh nor stale.
    pub fn is_stale(&self, on: Date) -> bool {
        self.stale_after.is_some_and(|last| on > last)
    }
}

/// One of several claims that disagree, in the words of its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rival {
    /// What it says.
    pub value: String,
    /// The size that it means, where it is one.
    pub preset: Option<Preset>,
    /// Who says so, and when.
    pub evidence: Evidence,
}

/// A disagreement: every claim, which one the catalog follows, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispute {
    /// In the order of the file; at least two.
    pub claims: Vec<Rival>,
    /// What the catalog follows, in words.
    pub ruling: Option<String>,
    /// Why.
    pub note: Option<String>,
}

impl Dispute {
    /// What was known of it on a day: nothing where fewer than two of its claims were.
    pub fn known_by(self, day: Date) -> Option<Self> {
        let all = self.claims.len();
        let claims: Vec<Rival> =
            self.claims.into_iter().filter(|rival| rival.evidence.is_seen_by(day)).collect();
        // A ruling may rest on what came later.
        let is_whole = claims.len() == all;
        let (ruling, note) = if is_whole { (self.ruling, self.note) } else { (None, None) };
        (claims.len() > 1).then_some(Self { claims, ruling, note })
    }
}

/// A value, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stated<T> {
    /// The value.
    Value(T),
    /// Nobody is known to say.
    Unknown,
    /// The question has no meaning here.
    NotApplicable,
}

/// A value with where it comes from, and with those who disagree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim<T> {
    /// What is held.
    pub stated: Stated<T>,
    /// Where from; `None` only where nothing was found or the question has no meaning.
    pub evidence: Option<Evidence>,
    /// Set where sources disagree.
    pub dispute: Option<Dispute>,
}

impl<T> Claim<T> {
    /// A claim that has no value and no evidence.
    pub fn bare(stated: Stated<T>) -> Self {
        Self { stated, evidence: None, dispute: None }
    }

    /// The value, where one is held: the ruling where it is disputed.
    pub fn value(&self) -> Option<&T> {
        match &self.stated {
            Stated::Value(value) => Some(value),
            Stated::Unknown | Stated::NotApplicable => None,
        }
    }

    /// The claim as it was known on a day. What nobody is known to have seen by then is unknown, never the nearest.
    #[must_use]
    pub fn known_by(self, day: Date) -> Self {
        let dispute = self.dispute.and_then(|dispute| dispute.known_by(day));
        let (Stated::Value(_), Some(evidence)) = (&self.stated, &self.evidence) else {
            return Self { dispute, ..self };
        };
        let note = match evidence.first_seen() {
            Some(seen) if seen <= day => return Self { dispute, ..self },
            Some(seen) => format!("first seen on {seen}, after the day asked about"),
            None => "undated: whether it held on the day asked about is not known".to_owned(),
        };
        let evidence = Some(Evidence { note: Some(note), ..evidence.clone() });
        // Those who disagreed by then are told; which of them is followed rests on what came later.
        let dispute = dispute.map(|dispute| Dispute { ruling: None, note: None, ..dispute });
        Self { stated: Stated::Unknown, evidence, dispute }
    }

    /// Why it has a value or has none.
    pub fn state(&self) -> State {
        match (&self.dispute, &self.stated) {
            (Some(_), _) => State::Disputed,
            (None, Stated::Value(_)) => State::Known,
            (None, Stated::Unknown) => State::Unknown,
            (None, Stated::NotApplicable) => State::NotApplicable,
        }
    }
}

/// A claim of any type, as pages, tables and comparisons see it.
pub trait AnyClaim {
    /// Why it has a value or has none.
    fn state(&self) -> State;
    /// The value in words; `None` where there is none.
    fn shown(&self) -> Option<String>;
    /// The value for a column of data: amounts without a currency sign.
    fn plain(&self) -> Option<String>;
    /// Where from.
    fn evidence(&self) -> Option<&Evidence>;
    /// Those who disagree.
    fn dispute(&self) -> Option<&Dispute>;
}

impl<T: Value> AnyClaim for Claim<T> {
    fn state(&self) -> State {
        Claim::state(self)
    }
    fn shown(&self) -> Option<String> {
        self.value().map(Value::shown)
    }
    fn plain(&self) -> Option<String> {
        self.value().map(Value::plain)
    }
    fn evidence(&self) -> Option<&Evidence> {
        self.evidence.as_ref()
    }
    fn dispute(&self) -> Option<&Dispute> {
        self.dispute.as_ref()
    }
}

/// What stands behind `value =` in a file, before its type is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Raw<'a> {
    /// A text.
    Text(&'a str),
    /// A whole number.
    Number(i64),
    /// A list of texts.
    List(Vec<&'a str>),
}

/// A type that a claim can have.
pub trait Value: Sized + Clone {
    /// Reads it; an error says what is allowed.
    fn parse(raw: &Raw<'_>) -> Result<Self, String>;
    /// The value in words, without its unit.
    fn shown(&self) -> String;
    /// The value for a column of data: amounts without a currency sign.
    fn plain(&self) -> String {
        self.shown()
    }
    /// Takes a `detail` beside the value; the types that have none refuse it.
    fn with_detail(self, _detail: &str) -> Result<Self, String> {
        Err("has a detail, which only yes, partly and no may have".to_owned())
    }
}

/// Prose of the catalog or of a vendor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text(pub String);

impl Value for Text {
    fn parse(raw: &Raw<'_>) -> Result<Self, String> {
        match raw {
            Raw::Text(text) if !text.trim().is_empty() => Ok(Self((*text).to_owned())),
            _ => Err("is not a text between quotes".to_owned()),
        }
    }
    fn shown(&self) -> String {
        self.0.clone()
    }
}

/// An address that begins with `https://` or `http://`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(pub String);

impl Address {
    /// Reads an address; blanks, quotes, angle brackets and other schemes are refused.
    pub fn parse_text(text: &str) -> Result<Self, String> {
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let unsafe_character =
            |character: char| character.is_whitespace() || "\"'<>`\\".contains(character);
        match rest {
            Some(rest) if !rest.is_empty() && !text.contains(unsafe_character) => {
                Ok(Self(text.to_owned()))
            }
            _ => Err("is not an address that begins with https:// or http://".to_owned()),
        }
    }
}

impl Value for Address {
    fn parse(raw: &Raw<'_>) -> Result<Self, String> {
        match raw {
            Raw::Text(text) => Self::parse_text(text),
            _ => Self::parse_text(""),
        }
    }
    fn shown(&self) -> String {
        self.0.clone()
    }
}

/// A list of names, such as languages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

impl Value for Names {
    fn parse(raw: &Raw<'_>) -> Result<Self, String> {
        match raw {
            Raw::List(names)
                if !names.is_empty() && names.iter().all(|name| !name.trim().is_empty()) =>
            {
                Ok(Self(names.iter().map(|name| (*name).to_owned()).collect()))
            }
            _ => Err("is not a list of texts such as [\"python\", \"javascript\"]".to_owned()),
        }
    }
    fn shown(&self) -> String {
        self.0.join(", ")
    }
}

impl Value for u64 {
    fn parse(raw: &Raw<'_>) -> Result<Self, String> {
        const ALLOWED: &str = "is not a whole number that is zero or more";
        match raw {
            Raw::Number(number) => Self::try_from(*number).map_err(|_| ALLOWED.to_owned()),
            _ => Err(ALLOWED.to_owned()),
        }
    }
    fn shown(&self) -> String {
        self.to_string()
    }
}

fn decimal<T>(raw: &Raw<'_>, parse: fn(&str) -> Result<T, MoneyError>) -> Result<T, String> {
    match raw {
        Raw::Text(text) => parse(text).map_err(|error| error.to_string()),
        _ => Err("is not a decimal between quotes, such as \"0.0504\"".to_owned()),
    }
}

impl Value for Usd {
    fn parse(raw: &Raw<'_>) -> Result<Self, String> {
        decimal(raw, Usd::parse)
    }
    fn shown(&self) -> String {
        Usd::shown(*self)
    }
    fn plain(&self) -> String {
        self.to_string()
    }
}

impl Value for Quantity {
    fn parse(raw: &Raw<'_>) -> Result<Self, String> {
        decimal(raw, Quantity::parse)
    }
    fn shown(&self) -> String {
        self.to_string()
    }
}

/// A word of a closed list as a value.
macro_rules! word_value {
    ($($name:ident),+) => {
        $(impl Value for $name {
            fn parse(raw: &Raw<'_>) -> Result<Self, String> {
                match raw {
                    Raw::Text(word) => Self::parse(word),
                    _ => Self::parse(""),
                }
            }
            fn shown(&self) -> String {
                self.label().to_owned()
            }
        })+
    };
}

word_value!(Tier, Paused, Sizing);

/// Yes, partly or no, with what has to be known besides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The answer.
    pub verdict: Verdict,
    /// The condition, the limits, the vendor's words.
    pub detail: Option<String>,
}

impl Value for Answer {
    fn parse(raw: &Raw<'_>) -> Result<Self, String> {
        match raw {
            Raw::Text(word) => Verdict::parse(word).map(|verdict| Self { verdict, detail: None }),
            _ => Verdict::parse("").map(|verdict| Self { verdict, detail: None }),
        }
    }
    fn shown(&self) -> String {
        match &self.detail {
            Some(detail) => format!("{}: {detail}", self.verdict.label()),
            None => self.verdict.label().to_owned(),
        }
    }
    fn with_detail(mut self, detail: &str) -> Result<Self, String> {
        self.detail = Some(detail.to_owned());
        Ok(self)
    }
}

/// A limit that may be a number or may be none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// At most (or at least) this much, in the unit of the key.
    Number(Quantity),
    /// There is no limit.
    Unlimited,
    /// By agreement with the vendor.
    Custom,
    /// The vendor publishes none, which is no promise that there is none.
    NonePublished,
}

impl Limit {
    /// The number, where it is one.
    pub fn number(self) -> Option<Quantity> {
        match self {
            Self::Number(number) => Some(number),
            Self::Unlimited | Self::Custom | Self::NonePublished => None,
        }
    }

    /// The word for its kind, as JSON has it.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Number(_) => "number",
            Self::Unlimited => "unlimited",
            Self::Custom => "custom",
            Self::NonePublished => "none_published",
        }
    }
}

impl Serialize for Limit {
    /// In one word, as files have it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.collect_str(number),
            other => serializer.serialize_str(other.kind()),
        }
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&Raw::Text(&text)).map_err(serde::de::Error::custom)
    }
}

impl Value for Limit {
    fn parse(raw: &Raw<'_>) -> Result<Self, String> {
        match raw {
            Raw::Text("unlimited") => Ok(Self::Unlimited),
            Raw::Text("custom") => Ok(Self::Custom),
            Raw::Text("none_published") => Ok(Self::NonePublished),
            Raw::Text(text) => Quantity::parse(text)
                .map(Self::Number)
                .map_err(|error| format!("{error}; or unlimited, custom, none_published")),
            Raw::Number(_) => u64::parse(raw).map(|number| Self::Number(Quantity::from(number))),
            Raw::List(_) => Err("is not a number, unlimited, custom or none_published".to_owned()),
        }
    }
    fn shown(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Unlimited => "no limit".to_owned(),
            Self::Custom => "by agreement".to_owned(),
            Self::NonePublished => "none published".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_months_or_undated() {
        for text in ["2026-10-09", "2026-10", "undated"] {
            assert_eq!(Seen::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "2026", "2026-13-01", "2026-02-30", "soon", "2026-1-1", "2026-10-09T00"] {
            assert!(Seen::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_plain_web_addresses_are_addresses() {
        assert!(Address::parse_text("https://e2b.dev/pricing").is_ok());
        for text in ["", "javascript:alert(1)", "https://", "https://a b", "https://a\"onload="] {
            assert!(Address::parse_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_disputed_claim_says_so_even_where_a_ruling_holds() {
        let mut claim = Claim::bare(Stated::Value(10_u64));
        assert_eq!(claim.state(), State::Known);
        claim.dispute = Some(Dispute { claims: Vec::new(), ruling: None, note: None });
        assert_eq!(claim.state(), State::Disputed);
    }
}
