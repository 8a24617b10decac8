//! The answer of a command: Connect's envelopes, one flag byte, four of length, that many of JSON. Pure: bytes in, events
//! out, in bounded memory.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use crate::runs::Stream;

/// The longest envelope, bytes: a piece of output is 32 KiB and 44 KiB as text.
pub const ENVELOPE_BYTES_MAX: usize = 256 * 1024;
/// Flag and length.
const HEAD_BYTES: usize = 5;
/// The flag of a message.
const MESSAGE: u8 = 0;
/// The flag of the last envelope.
const LAST: u8 = 2;

/// What an envelope says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The process exists.
    Started,
    /// Some output.
    Output(Stream, Vec<u8>),
    /// The process ended, with this exit code; -1 by a signal.
    Exited(i32),
    /// The call is over.
    Over,
    /// The call is over with an error of this code.
    Failed(String),
    /// A sign of life, or an unknown kind.
    Other,
}

/// Bytes that are no envelope, or one that is too long.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an envelope of the answer is not what it should be")]
pub struct Malformed;

/// Puts envelopes together.
#[derive(Debug, Default)]
pub struct Envelopes(Vec<u8>);

impl Envelopes {
    /// Takes some bytes and returns the events of the envelopes that they end.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, Malformed> {
        self.0.extend_from_slice(bytes);
        let (mut events, mut used) = (Vec::new(), 0);
        let mut rest = self.0.as_slice();
        while let Some((&[flag, a, b, c, d], behind)) = rest.split_first_chunk::<HEAD_BYTES>() {
            let length = u32::from_be_bytes([a, b, c, d]) as usize;
            if length > ENVELOPE_BYTES_MAX {
                return Err(Malformed);
            }
            let Some((body, behind)) = behind.split_at_checked(length) else { break };
            events.push(event(flag, body)?);
            used += HEAD_BYTES + length;
            rest = behind;
        }
        self.0.drain(..used);
        Ok(events)
    }
}

#[derive(Deserialize)]
struct Message {
    event: Kinds,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Kinds {
    start: Option<serde::de::IgnoredAny>,
    data: Option<Data>,
    end: Option<End>,
}

#[derive(Deserialize)]
struct Data {
    stdout: Option<String>,
    stderr: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct End {
    /// Left out where it is 0.
    #[serde(default)]
    exit_code: i32,
}

#[derive(Deserialize)]
struct Last {
    error: Option<Error>,
}

#[derive(Deserialize)]
struct Error {
    code: String,
}

fn event(flag: u8, body: &[u8]) -> Result<Event, Malformed> {
    let decoded = |text: String| STANDARD.decode(text).map_err(|_| Malformed);
    match flag {
        MESSAGE => {
            let Message { event } = serde_json::from_slice(body).map_err(|_| Malformed)?;
            Ok(match event {
                Kinds { end: Some(End { exit_code }), .. } => Event::Exited(exit_code),
                Kinds { data: Some(Data { stdout: Some(text), .. }), .. } => {
                    Event::Output(Stream::Stdout, decoded(text)?)
                }
                Kinds { data: Some(Data { stderr: Some(text), .. }), .. } => {
                    Event::Output(Stream::Stderr, decoded(text)?)
                }
                Kinds { start: Some(_), .. } => Event::Started,
                Kinds { .. } => Event::Other,
            })
        }
        LAST => {
            let Last { error } = serde_json::from_slice(body).map_err(|_| Malformed)?;
            Ok(error.map_or(Event::Over, |Error { code }| Event::Failed(code)))
        }
        // Compressed, which nobody asked for, or nothing that is known.
        _ => Err(Malformed),
    }
}

/// One envelope that carries a message.
pub fn envelope(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    [&[MESSAGE][..], &length.to_be_bytes(), message].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn last(text: &str) -> Vec<u8> {
        let mut bytes = envelope(text.as_bytes());
        bytes[0] = LAST;
        bytes
    }

    #[test]
    fn envelopes_come_in_any_pieces() {
        let messages = [
            r#"{"event":{"start":{"pid":743}}}"#,
            r#"{"event":{"data":{"stdout":"aGk="}}}"#,
            r#"{"event":{"data":{"stderr":"/w=="}}}"#,
            r#"{"event":{"keepalive":{}}}"#,
            r#"{"event":{"surprise":7}}"#,
            r#"{"event":{"end":{"exited":true,"status":"exit status 0"}}}"#,
        ];
        let mut answer: Vec<u8> =
            messages.iter().flat_map(|message| envelope(message.as_bytes())).collect();
        answer.extend(last("{}"));
        let expected = [
            Event::Started,
            Event::Output(Stream::Stdout, b"hi".to_vec()),
            Event::Output(Stream::Stderr, vec![0xff]),
            Event::Other,
            Event::Other,
            Event::Exited(0),
            Event::Over,
        ];
        for size in [1, 3, 64, 4096] {
            let mut envelopes = Envelopes::default();
            let pieces = answer.chunks(size);
            let events: Vec<Event> =
                pieces.flat_map(|piece| envelopes.push(piece).unwrap()).collect();
            assert_eq!(events, expected, "{size}");
        }
    }

    #[test]
    fn an_end_tells_exit_code_signal_or_error() {
        let end = |text: &str| Envelopes::default().push(&envelope(text.as_bytes())).unwrap();
        assert_eq!(end(r#"{"event":{"end":{"exitCode":3,"exited":true}}}"#), [Event::Exited(3)]);
        let signal = r#"{"event":{"end":{"exitCode":-1,"status":"signal: killed"}}}"#;
        assert_eq!(end(signal), [Event::Exited(-1)]);
        let failed = last(r#"{"error":{"code":"deadline_exceeded","message":"m"}}"#);
        let expected = vec![Event::Failed("deadline_exceeded".to_owned())];
        assert_eq!(Envelopes::default().push(&failed), Ok(expected));
    }

    #[test]
    fn what_is_no_envelope_is_an_error_before_it_is_read() {
        let huge = [MESSAGE, 0x40, 0, 0, 0];
        let compressed = [1, 0, 0, 0, 0];
        let unknown = [9, 0, 0, 0, 0];
        for bytes in [
            &huge[..],
            &compressed,
            &unknown,
            &envelope(b"nonsense"),
            &envelope(b"{\"event\":7}"),
            &envelope(b"{\"event\":{\"data\":{\"stdout\":\"?\"}}}"),
            &envelope(b"{\"event\":{\"end\":{\"exitCode\":\"3\"}}}"),
            &last("nonsense"),
        ] {
            assert_eq!(Envelopes::default().push(bytes), Err(Malformed), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_comes_in_breaks_the_reader(
            pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..200), 0..20),
        ) {
            let mut envelopes = Envelopes::default();
            for piece in pieces {
                if envelopes.push(&piece).is_err() {
                    break;
                }
                prop_assert!(envelopes.0.len() <= ENVELOPE_BYTES_MAX + HEAD_BYTES);
            }
        }
    }
}
