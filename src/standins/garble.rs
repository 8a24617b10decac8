//! How an answer is spoilt: a body that was written in full is taken apart by its form and put together wrong.

use std::io::Write;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response, header};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::{Compression, Crc, write::DeflateEncoder};
use futures_util::{StreamExt, stream};
use serde_json::{Map, Value, json};

use super::connect;
use super::faults::Garble;
use super::python_json;

/// The length that a huge frame announces.
const HUGE_FRAME_BYTES: u32 = 1024 * 1024 * 1024;
/// How much of a huge frame or line is sent: more than any client of ours takes, and no more than an unoptimised one reads
/// in a blink.
const HUGE_SENT_BYTES: usize = 4 * 1024 * 1024;
/// What is sent at once of something long.
const PIECE_BYTES: usize = 64 * 1024;
/// What a bomb grows to, in pieces of [`BOMB_PIECE_BYTES`]: 1 GiB.
const BOMB_PIECES: usize = 1024;
/// What is compressed once and sent many times.
const BOMB_PIECE_BYTES: usize = 1024 * 1024;
/// The id of a sandbox that nobody made, for E2B.
const OTHER_E2B_ID: &str = "i00000000000000000000";
/// The same for Daytona.
const OTHER_UUID: &str = "00000000-0000-4000-8000-000000000000";
/// A host that is not the provider's.
const OTHER_DOMAIN: &str = "evil.example";
/// An address that is not the provider's.
const OTHER_URL: &str = "http://127.0.0.1:1/toolbox";

/// What a body consists of, where it is not one JSON value; stands among the extensions of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Lines of JSON.
    Lines,
    /// Connect's frames.
    Frames,
}

/// The answer as it is spoilt.
pub fn spoil(response: Response<Body>, body: &Bytes, kind: Garble) -> Response<Body> {
    let form = response.extensions().get::<Form>().copied();
    let (mut head, _) = response.into_parts();
    head.headers.remove(header::CONTENT_LENGTH);
    let body = match (kind, form) {
        (Garble::GzipBomb, _) => {
            let gzip = HeaderValue::from_static("gzip");
            head.headers.insert(header::CONTENT_ENCODING, gzip);
            bomb()
        }
        (Garble::NotJson, _) => {
            let json = HeaderValue::from_static("application/json");
            head.headers.insert(header::CONTENT_TYPE, json);
            Body::from("<html><body>Service Unavailable</body></html>")
        }
        (kind, Some(Form::Lines)) => lines(body, kind),
        (kind, Some(Form::Frames)) => frames(body, kind),
        (kind, None) => value(body, kind),
    };
    Response::from_parts(head, body)
}

fn lines(body: &[u8], kind: Garble) -> Body {
    let mut lines: Vec<Vec<u8>> =
        body.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let event = |bytes: &[u8]| {
        [
            br#"{"type": "stdout", "text": ""#,
            bytes,
            br#"", "timestamp": "2026-01-01T00:00:00.000000+00:00"}"#,
            b"\n",
        ]
        .concat()
    };
    let last = lines.len().saturating_sub(1);
    match kind {
        Garble::HalfFrame => halve(&mut lines),
        Garble::NoEnd => drop(lines.pop()),
        Garble::UnknownEvents => {
            for at in (0..=lines.len()).rev() {
                lines.insert(
                    at,
                    b"{\"type\": \"not_yet_known\", \"text\": 7, \"more\": {}}\n".to_vec(),
                );
            }
        }
        Garble::InvalidUtf8 => lines.insert(last, event(b"\xff\xfe")),
        Garble::WrongTypes => {
            for line in &mut lines {
                if let Ok(mut value) = serde_json::from_slice(line) {
                    mistype(&mut value);
                    *line = python_json::line(&value);
                }
            }
        }
        Garble::HugeFrame => {
            let end = lines.split_off(last).concat();
            let begun = [lines.concat(), br#"{"type": "stdout", "text": ""#.to_vec()].concat();
            let ended = [b"\", \"timestamp\": \"\"}\n".to_vec(), end].concat();
            return huge(begun, b'x', ended);
        }
        _ => {}
    }
    Body::from(lines.concat())
}

fn frames(body: &[u8], kind: Garble) -> Body {
    let mut frames: Vec<Vec<u8>> = connect::split(body).map(<[u8]>::to_vec).collect();
    let first = frames.len().min(1);
    match kind {
        Garble::HalfFrame => halve(&mut frames),
        // The last event, and the end of the stream behind it.
        Garble::NoEnd => frames.truncate(frames.len().saturating_sub(2)),
        Garble::UnknownEvents => {
            let unknown = connect::message(&json!({"event": {"notYetKnown": {"more": 7}}}));
            // Not before the first: the official clients want `start` there.
            for at in (1..frames.len()).rev() {
                frames.insert(at, unknown.clone());
            }
        }
        // Output is base64 here, so it is what a command wrote that is no text.
        Garble::InvalidUtf8 => {
            let output = BASE64_STANDARD.encode(b"\xff\xfe");
            let data = connect::message(&json!({"event": {"data": {"stdout": output}}}));
            frames.insert(first, data);
        }
        Garble::WrongTypes => {
            for frame in &mut frames {
                let (flags, payload) = (frame[0], &frame[connect::HEADER_BYTES..]);
                if let Ok(mut value) = serde_json::from_slice(payload) {
                    mistype(&mut value);
                    *frame = connect::frame(flags, value.to_string().as_bytes());
                }
            }
        }
        Garble::HugeFrame => {
            frames.truncate(first);
            let begun = [frames.concat(), connect::header(0, HUGE_FRAME_BYTES).to_vec()].concat();
            return huge(begun, b' ', Vec::new());
        }
        _ => {}
    }
    Body::from(frames.concat())
}

fn value(body: &Bytes, kind: Garble) -> Body {
    let spaced = |begun: &[u8]| huge(begun.to_vec(), b' ', body.to_vec());
    let text = match kind {
        Garble::HugeFrame => return spaced(b""),
        Garble::HalfFrame => body[..body.len() / 2].to_vec(),
        Garble::NoEnd => body[..body.len().saturating_sub(1)].to_vec(),
        Garble::InvalidUtf8 => {
            let mut spoilt = body.to_vec();
            let text = spoilt.windows(2).position(|two| two == b":\"");
            if let Some(at) = text {
                spoilt.splice(at + 2..at + 2, *b"\xff\xfe");
            }
            spoilt
        }
        kind => match serde_json::from_slice::<Value>(body) {
            Ok(mut value) => {
                match kind {
                    Garble::WrongTypes => mistype(&mut value),
                    kind => for_each_object(&mut value, &mut |object| misstate(object, kind)),
                }
                value.to_string().into_bytes()
            }
            Err(_) => body.to_vec(),
        },
    };
    Body::from(text)
}

/// Takes the second half of the last piece away.
fn halve(pieces: &mut [Vec<u8>]) {
    if let Some(last) = pieces.last_mut() {
        last.truncate(last.len() / 2);
    }
}

/// Gives every text, number and flag another type, but leaves the types of events and the names as they are.
fn mistype(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for (_, value) in object.iter_mut().filter(|(name, _)| *name != "type") {
                mistype(value);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(mistype),
        Value::String(_) | Value::Bool(_) => *value = json!(7),
        Value::Number(_) => *value = json!("seven"),
        Value::Null => {}
    }
}

/// Every sandbox of an answer: itself, or the items of a list. What is inside of one is a client's own.
fn for_each_object(value: &mut Value, change: &mut dyn FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            change(object);
            if let Some(items) = object.get_mut("items") {
                for_each_object(items, change);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| for_each_object(value, change)),
        _ => {}
    }
}

/// Says something else of a sandbox than is true.
fn misstate(object: &mut Map<String, Value>, kind: Garble) {
    let said: &[(&str, Value)] = match kind {
        Garble::UnknownEvents if !object.is_empty() => {
            object.insert("notYetKnown".to_owned(), json!([null, 7]));
            return;
        }
        Garble::OtherId => &[("sandboxID", json!(OTHER_E2B_ID)), ("id", json!(OTHER_UUID))],
        Garble::OtherHost => {
            &[("domain", json!(OTHER_DOMAIN)), ("toolboxProxyUrl", json!(OTHER_URL))]
        }
        Garble::EgressOpen => &[
            ("allowInternetAccess", json!(true)),
            ("network", json!({})),
            ("networkBlockAll", json!(false)),
        ],
        Garble::ContainerClass => &[("sandboxClass", json!("container"))],
        Garble::Larger => &[("cpuCount", json!(8)), ("cpu", json!(8))],
        _ => &[],
    };
    for (name, value) in said {
        if let Some(own) = object.get_mut(*name) {
            *own = value.clone();
        }
    }
}

/// A body with many MiB of one byte in its middle.
fn huge(begun: Vec<u8>, byte: u8, ended: Vec<u8>) -> Body {
    let piece = Bytes::from(vec![byte; PIECE_BYTES]);
    let middle = stream::repeat(piece).take(HUGE_SENT_BYTES / PIECE_BYTES);
    streamed(
        stream::iter([Bytes::from(begun)]).chain(middle).chain(stream::iter([Bytes::from(ended)])),
    )
}

/// A body in gzip that is small on the wire and grows to 1 GiB of spaces.
fn bomb() -> Body {
    let spaces = vec![b' '; BOMB_PIECE_BYTES];
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    let piece = encoder.write_all(&spaces).and_then(|()| encoder.flush());
    // A vector takes everything.
    let piece = piece.map(|()| encoder.get_ref().clone()).unwrap_or_default();
    let mut of_piece = Crc::new();
    of_piece.update(&spaces);
    let mut sum = Crc::new();
    for _ in 0..BOMB_PIECES {
        sum.combine(&of_piece);
    }
    let header = Bytes::from_static(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
    // An empty last block, the checksum and the length.
    let footer =
        [&[3, 0], sum.sum().to_le_bytes().as_slice(), &sum.amount().to_le_bytes()].concat();
    let middle = stream::repeat(Bytes::from(piece)).take(BOMB_PIECES);
    streamed(stream::iter([header]).chain(middle).chain(stream::iter([Bytes::from(footer)])))
}

fn streamed(pieces: impl futures_util::Stream<Item = Bytes> + Send + 'static) -> Body {
    Body::from_stream(pieces.map(Ok::<_, std::convert::Infallible>))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use axum::body::to_bytes;

    use super::*;

    const LIMIT: usize = 80 * 1024 * 1024;

    async fn spoilt(form: Option<Form>, body: &[u8], kind: Garble) -> Vec<u8> {
        let mut response = Response::new(Body::empty());
        if let Some(form) = form {
            response.extensions_mut().insert(form);
        }
        let spoilt = spoil(response, &Bytes::copy_from_slice(body), kind);
        to_bytes(spoilt.into_body(), LIMIT).await.unwrap().to_vec()
    }

    #[tokio::test]
    async fn a_bomb_is_true_gzip_of_one_gibibyte() {
        let body = spoilt(None, b"{}", Garble::GzipBomb).await;
        assert!(body.len() < 4 * 1024 * 1024, "{}", body.len());
        let mut decoder = flate2::read::GzDecoder::new(body.as_slice());
        let (mut piece, mut total) = (vec![0; 1 << 20], 0_u64);
        loop {
            match decoder.read(&mut piece).unwrap() {
                0 => break,
                length => total += length as u64,
            }
        }
        assert_eq!(total, 1 << 30);
    }

    #[tokio::test]
    async fn lines_are_spoilt_each_in_its_way() {
        let body = b"{\"type\": \"stdout\", \"text\": \"a\"}\n{\"type\": \"end_of_execution\"}\n";
        let of = |kind| spoilt(Some(Form::Lines), body, kind);
        assert_eq!(of(Garble::NoEnd).await, b"{\"type\": \"stdout\", \"text\": \"a\"}\n");
        assert!(of(Garble::HalfFrame).await.ends_with(b"\n{\"type\": \"end_"));
        let wrong = String::from_utf8(of(Garble::WrongTypes).await).unwrap();
        assert!(wrong.contains("\"type\": \"stdout\"") && wrong.contains("\"text\": 7"), "{wrong}");
        assert!(String::from_utf8(of(Garble::InvalidUtf8).await).is_err());
        let unknown = String::from_utf8(of(Garble::UnknownEvents).await).unwrap();
        assert_eq!(unknown.lines().count(), 5);
        assert!(of(Garble::HugeFrame).await.len() > HUGE_SENT_BYTES);
        assert_eq!(of(Garble::Larger).await, body);
    }

    #[tokio::test]
    async fn frames_are_spoilt_each_in_its_way() {
        let data = connect::message(&json!({"event": {"data": {"stdout": "YQ=="}}}));
        let end = connect::message(&json!({"event": {"end": {"exited": true}}}));
        let body = [data.clone(), end.clone(), connect::frame(2, b"{}")].concat();
        let of = |kind| spoilt(Some(Form::Frames), &body, kind);
        assert_eq!(of(Garble::NoEnd).await, data);
        assert_eq!(of(Garble::HalfFrame).await.len(), body.len() - 4);
        assert!(of(Garble::HugeFrame).await[data.len()..].starts_with(&[0, 0x40, 0, 0, 0]));
        let wrong = of(Garble::WrongTypes).await;
        assert_eq!(connect::split(&wrong).count(), 3);
        assert!(String::from_utf8_lossy(&wrong).contains("{\"stdout\":7}"));
        assert_eq!(connect::split(&of(Garble::UnknownEvents).await).count(), 5);
        let invalid = of(Garble::InvalidUtf8).await;
        let added = connect::split(&invalid).nth(1).unwrap();
        let added: Value = serde_json::from_slice(&added[connect::HEADER_BYTES..]).unwrap();
        assert_eq!(added["event"]["data"]["stdout"], "//4=");
    }

    #[tokio::test]
    async fn a_value_is_spoilt_each_in_its_way() {
        let body = json!({
            "id": "a", "cpu": 1, "networkBlockAll": true, "sandboxClass": "vm",
            "toolboxProxyUrl": "http://here/toolbox", "exitCode": 0,
        });
        let of = async |kind| {
            serde_json::from_slice::<Value>(&spoilt(None, body.to_string().as_bytes(), kind).await)
        };
        assert_eq!(of(Garble::OtherId).await.unwrap()["id"], OTHER_UUID);
        assert_eq!(of(Garble::OtherHost).await.unwrap()["toolboxProxyUrl"], OTHER_URL);
        assert_eq!(of(Garble::EgressOpen).await.unwrap()["networkBlockAll"], false);
        assert_eq!(of(Garble::ContainerClass).await.unwrap()["sandboxClass"], "container");
        assert_eq!(of(Garble::Larger).await.unwrap()["cpu"], 8);
        assert_eq!(of(Garble::WrongTypes).await.unwrap()["exitCode"], "seven");
        assert_eq!(of(Garble::UnknownEvents).await.unwrap()["id"], "a");
        assert_eq!(of(Garble::HugeFrame).await.unwrap(), body);
        for kind in [Garble::HalfFrame, Garble::NoEnd, Garble::InvalidUtf8, Garble::NotJson] {
            assert!(of(kind).await.is_err(), "{kind:?}");
        }
    }
}
