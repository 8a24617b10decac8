//! What a value of a provider file may look like: the types of claims, and the texts,
//! dates and decimals of rows.
//!
//! Not here: which keys there are. That is `schema`.

use serde_json::{Value as Json, json};

use crate::catalog::claim::{
    Address, Answer, Limit, Names, Paused, Sizing, Text, Tier, Value, Verdict,
};
use crate::money::{DIGITS_MAX, Quantity, Usd};

/// A day as a pattern; whether the month has it is for the loader.
const DAY: &str = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])";

/// A type that a claim can have, as files write it.
pub(super) trait Written: Value {
    /// Whether a `detail` may stand beside the value.
    const HAS_DETAIL: bool = false;
    /// The value.
    fn schema() -> Json;
}

impl Written for Text {
    fn schema() -> Json {
        text("A text.")
    }
}

impl Written for Address {
    fn schema() -> Json {
        json!({
            "description": "An address that begins with https:// or http://.",
            "type": "string",
            "pattern": r#"^https?://[^\s"'<>`\\]+$"#,
        })
    }
}

impl Written for Names {
    fn schema() -> Json {
        json!({
            "description": "A list of texts.",
            "type": "array",
            "items": Text::schema(),
            "minItems": 1,
        })
    }
}

impl Written for u64 {
    fn schema() -> Json {
        json!({ "description": "A whole number, without quotes.", "type": "integer", "minimum": 0 })
    }
}

impl Written for Usd {
    fn schema() -> Json {
        decimal("US dollars: a decimal between quotes.")
    }
}

impl Written for Quantity {
    fn schema() -> Json {
        decimal("A decimal between quotes.")
    }
}

impl Written for Tier {
    fn schema() -> Json {
        words("How strong the wall is.", Self::WORDS)
    }
}

impl Written for Paused {
    fn schema() -> Json {
        words("What is billed while a sandbox is paused or stopped.", Self::WORDS)
    }
}

impl Written for Sizing {
    fn schema() -> Json {
        words("How the size of a sandbox is chosen.", Self::WORDS)
    }
}

impl Written for Answer {
    const HAS_DETAIL: bool = true;
    fn schema() -> Json {
        words("Yes, no, or partly: under a condition that the detail names.", Verdict::WORDS)
    }
}

impl Written for Limit {
    fn schema() -> Json {
        let none = [Self::Unlimited, Self::Custom, Self::NonePublished].map(Self::kind);
        json!({
            "description": "A number, or the word for there being none.",
            "anyOf": [
                words("No limit, one by agreement, or none that is published.", &none),
                Quantity::schema(),
                u64::schema(),
            ],
        })
    }
}

/// A text or a list of texts, as the loader takes either.
pub(super) fn one_or_several(about: &str, one: &Json) -> Json {
    let several = json!({ "type": "array", "items": one });
    json!({ "description": about, "anyOf": [one, several] })
}

/// A text that is not blank.
pub(super) fn text(about: &str) -> Json {
    json!({ "description": about, "type": "string", "pattern": r"\S" })
}

/// One of some words.
pub(super) fn words<T: serde::Serialize>(about: &str, words: &[T]) -> Json {
    json!({ "description": about, "type": "string", "enum": words })
}

/// A count.
pub(super) fn whole(about: &str) -> Json {
    json!({ "description": about, "type": "integer", "minimum": 0, "maximum": u32::MAX })
}

/// True or false.
pub(super) fn switch(about: &str) -> Json {
    json!({ "description": about, "type": "boolean" })
}

/// A day.
pub(super) fn day(about: &str) -> Json {
    json!({ "description": about, "type": "string", "pattern": format!("^{DAY}$") })
}

/// A day, a month or neither.
pub(super) fn seen(about: &str) -> Json {
    let month = "[0-9]{4}-(0[1-9]|1[0-2])";
    let pattern = format!("^({DAY}|{month}|undated)$");
    json!({ "description": about, "type": "string", "pattern": pattern })
}

/// A decimal between quotes, as [`crate::money`] reads it.
pub(super) fn decimal(about: &str) -> Json {
    json!({
        "description": about,
        "type": "string",
        "pattern": format!(r"^[0-9]{{1,{DIGITS_MAX}}}(\.[0-9]+)?$"),
        // The point is no digit.
        "maxLength": DIGITS_MAX + 1,
    })
}
