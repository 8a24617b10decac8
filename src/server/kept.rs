//! Answers of the catalog as they were sent, compressed: the same question on the same day has the same answer, so it
//! is rendered and compressed once. Bounded in bytes; what is asked for least goes first.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use futures_util::stream::iter;
use jiff::civil::Date;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::caching::{CATALOG, is_known};
use crate::moment::today;

/// What all answers together may take, bytes.
const KEPT_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// About how many of them there will be.
const ANSWERS: usize = 4_096;
/// The largest answer.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The longest address whose answer is kept.
const ADDRESS_BYTES_MAX: usize = 512;
/// Encodings that are sent, the smallest answer first.
const ENCODINGS: [&str; 2] = ["br", "gzip"];
/// What an answer takes besides its body and its question, about.
const OVERHEAD_BYTES: usize = 1_024;

/// Everything that an answer depends on besides the program and the catalog, which do not change while it runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Question {
    day: Date,
    address: String,
    encoding: Option<&'static str>,
}

#[derive(Debug, Clone)]
struct Answer {
    headers: HeaderMap,
    body: Bytes,
}

#[derive(Debug, Clone)]
struct Bytewise;

impl Weighter<Question, Answer> for Bytewise {
    fn weight(&self, question: &Question, answer: &Answer) -> u64 {
        let bytes = answer.body.len() + question.address.len();
        u64::try_from(bytes + OVERHEAD_BYTES).unwrap_or(u64::MAX)
    }
}

/// The answers that are kept; cheap to clone.
#[derive(Debug, Clone)]
pub struct Kept(Arc<Cache<Question, Answer, Bytewise>>);

impl Kept {
    /// Nothing yet.
    pub fn new() -> Self {
        Self(Arc::new(Cache::with_weighter(ANSWERS, KEPT_BYTES_MAX, Bytewise)))
    }
}

/// The encoding in which an answer is sent: the smallest that the client takes. One wish in whatever words is one question,
/// and what is kept is exactly what was asked for.
fn encoding(headers: &HeaderMap) -> Option<&'static str> {
    let wishes = headers.get_all(header::ACCEPT_ENCODING);
    let wishes: Vec<&str> = wishes.iter().filter_map(|value| value.to_str().ok()).collect();
    let takes = |name: &str| {
        wishes.iter().flat_map(|line| line.split(',')).any(|wish| {
            let (encoding, quality) = wish.split_once(';').unwrap_or((wish, ""));
            let quality = quality.trim().trim_start_matches("q=");
            let refused =
                quality.starts_with('0') && !quality.bytes().any(|b| (b'1'..=b'9').contains(&b));
            encoding.trim().eq_ignore_ascii_case(name) && !refused
        })
    };
    ENCODINGS.into_iter().find(|name| takes(name))
}

/// The question of a request, unless its answer depends on more than that. The request then asks for one encoding.
fn question(request: &mut Request) -> Option<Question> {
    if request.method() != Method::GET {
        return None;
    }
    let address = request.uri().path_and_query()?.as_str().to_owned();
    let encoding = encoding(request.headers());
    let headers = request.headers_mut();
    headers.remove(header::ACCEPT_ENCODING);
    if let Some(name) = encoding {
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(name));
    }
    (address.len() <= ADDRESS_BYTES_MAX).then(|| Question { day: today(), address, encoding })
}

/// Answers from what is kept, and keeps what is good.
pub async fn answer(State(kept): State<Kept>, mut request: Request, next: Next) -> Response {
    let Some(question) = question(&mut request) else { return next.run(request).await };
    if let Some(answer) = kept.0.get(&question) {
        let tag = answer.headers.get(header::ETAG).and_then(|tag| tag.to_str().ok());
        if tag.is_some_and(|tag| is_known(request.headers(), tag)) {
            let mut headers = answer.headers;
            for about_the_body in
                [header::CONTENT_TYPE, header::CONTENT_LENGTH, header::CONTENT_ENCODING]
            {
                headers.remove(about_the_body);
            }
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        return (answer.headers, answer.body).into_response();
    }
    let response = next.run(request).await;
    let keepable = response.status() == StatusCode::OK
        && response.headers().get(header::CACHE_CONTROL).is_some_and(|value| value == CATALOG);
    if !keepable {
        return response;
    }
    let (parts, body) = response.into_parts();
    match gathered(body).await {
        Gathered::Whole(body) => {
            kept.0.insert(question, Answer { headers: parts.headers.clone(), body: body.clone() });
            Response::from_parts(parts, Body::from(body))
        }
        Gathered::TooLarge(body) => Response::from_parts(parts, body),
        Gathered::Broken => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// A body that was read as far as it is worth keeping.
enum Gathered {
    /// All of it.
    Whole(Bytes),
    /// It is too large to be kept: it goes on as it comes.
    TooLarge(Body),
    /// It broke off.
    Broken,
}

async fn gathered(body: Body) -> Gathered {
    let mut stream = body.into_data_stream();
    let mut chunks: Vec<Bytes> = Vec::new();
    let mut length = 0;
    while let Some(chunk) = stream.next().await {
        let Ok(chunk) = chunk else { return Gathered::Broken };
        length += chunk.len();
        chunks.push(chunk);
        if length > ANSWER_BYTES_MAX {
            let read = iter(chunks.into_iter().map(Ok));
            return Gathered::TooLarge(Body::from_stream(read.chain(stream)));
        }
    }
    Gathered::Whole(Bytes::from(chunks.concat()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;

    #[test]
    fn one_wish_in_many_words_is_one_question() {
        let check = |lines: &[&str], chosen| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::ACCEPT_ENCODING, HeaderValue::from_str(line).unwrap());
            }
            assert_eq!(encoding(&headers), chosen, "{lines:?}");
        };
        check(&[], None);
        check(&["identity"], None);
        check(&["gzip, deflate, br, zstd"], Some("br"));
        check(&["GZIP;q=0.5"], Some("gzip"));
        check(&["br;q=0, gzip;q=0.000"], None);
        check(&["identity", "br"], Some("br"));
        check(&["", "gzip"], Some("gzip"));
        check(&["*"], None);
    }

    #[tokio::test]
    async fn what_is_too_large_to_keep_is_answered_all_the_same() {
        let chunk = Bytes::from(vec![7_u8; ANSWER_BYTES_MAX / 2 + 1]);
        let stream = iter([Ok::<_, axum::Error>(chunk.clone()), Ok(chunk.clone())]);
        let Gathered::TooLarge(body) = gathered(Body::from_stream(stream)).await else {
            panic!("was kept");
        };
        let read = to_bytes(body, usize::MAX).await.unwrap();
        assert_eq!(read.len(), 2 * chunk.len());
        let Gathered::Whole(small) = gathered(Body::from("small")).await else {
            panic!("not kept")
        };
        assert_eq!(&small[..], b"small");
    }
}
