//! Offers on their way to a browser: few bytes in the page, and little code to read them there. JSON would take a third more
//! of the browser half, since each of its structures is read by name.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::offer::Offers;

/// Offers that serialise as one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed(pub Vec<Offers>);

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = postcard::to_allocvec(&self.0).map_err(serde::ser::Error::custom)?;
        let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
        let text: String =
            bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let half =
            |letter: u8| char::from(letter).to_digit(16).and_then(|half| u8::try_from(half).ok());
        let bytes: Option<Vec<u8>> = text
            .as_bytes()
            .chunks(2)
            .map(|pair| match pair {
                [high, low] => Some(half(*high)? << 4 | half(*low)?),
                _ => None,
            })
            .collect();
        let bytes = bytes.ok_or_else(|| serde::de::Error::custom("is not hexadecimal"))?;
        postcard::from_bytes(&bytes).map(Self).map_err(serde::de::Error::custom)
    }
}
