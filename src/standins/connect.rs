//! The frames of Connect's streams: a byte of flags, four of length, and JSON.

use serde_json::{Value, json};

/// Bytes before the JSON of a frame.
pub const HEADER_BYTES: usize = 5;
/// The flags of a stream's last frame.
const END_FLAGS: u8 = 2;

/// What stands before so many bytes.
pub fn header(flags: u8, bytes: u32) -> [u8; HEADER_BYTES] {
    let [a, b, c, d] = bytes.to_be_bytes();
    [flags, a, b, c, d]
}

/// One frame.
pub fn frame(flags: u8, payload: &[u8]) -> Vec<u8> {
    let bytes = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    [&header(flags, bytes), payload].concat()
}

/// A message.
pub fn message(value: &Value) -> Vec<u8> {
    frame(0, value.to_string().as_bytes())
}

/// The end of a stream, well or with an error.
pub fn end(error: Option<(&str, &str)>) -> Vec<u8> {
    let value = match error {
        None => json!({}),
        Some((code, message)) => json!({"error": {"code": code, "message": message}}),
    };
    frame(END_FLAGS, value.to_string().as_bytes())
}

/// The whole frames of some bytes, each with its header.
pub fn split(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let length = bytes.get(1..HEADER_BYTES)?.try_into().ok().map(u32::from_be_bytes)?;
        let (frame, rest) = bytes.split_at_checked(HEADER_BYTES + usize::try_from(length).ok()?)?;
        bytes = rest;
        Some(frame)
    })
}
