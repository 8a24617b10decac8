//! Calls to hosted providers: one client, what its answers may be, and where a key may go.
//!
//! A key goes to the configured hosts and below them, whatever address an answer names. No redirect is followed, no proxy of
//! the environment is used, nothing is unpacked, and nothing is asked twice. Bodies are read up to a limit.
//!
//! Not here: what any provider means by an answer.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::{CONTENT_ENCODING, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use tokio::time::sleep;
use url::Url;

use super::adapter::{Failure, Remains};
use crate::runs::Reason;

/// How long opening a connection may take.
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// The longest body of an ordinary answer, bytes.
const BODY_BYTES_MAX: usize = 1024 * 1024;
/// How much of a body that explains a refusal goes into the log, characters.
const MESSAGE_CHARS_MAX: usize = 200;
/// Idle connections to one host that are kept for later calls.
const IDLE_MAX: usize = 8;
/// Items on a page of a list: the most that providers give.
pub const PAGE_SIZE: u32 = 100;
/// Pages of a list that are read at most.
const PAGES_MAX: usize = 50;
/// How often a call that changes nothing is made at most.
const LOOKS: u32 = 3;
/// What passes before the second; twice as long before the third.
const LOOK_PAUSE: Duration = Duration::from_millis(100);
/// What we call ourselves; nothing that a proxy takes for a browser.
const USER_AGENT: &str = concat!("thud/", env!("CARGO_PKG_VERSION"));

/// A client for one kind of call. Cheap to clone; clones share their connections.
#[derive(Debug, Clone)]
pub struct Outbound {
    client: Client,
    /// Where keys may go.
    bases: Vec<Url>,
    /// What stands in no text, whatever an answer says.
    key: SecretString,
}

/// Which connections a client keeps open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Some, for later calls.
    Open,
    /// None: every call has one of its own.
    None,
}

/// Why an adapter cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// An address that is none.
    #[error("{0} is no address; one such as https://api.e2b.app is allowed")]
    Address(String),
    /// No client can be made.
    #[error("no HTTP client can be made")]
    Client(#[from] reqwest::Error),
}

impl Outbound {
    /// A client whose key may go to some bases and hosts below them.
    ///
    /// # Errors
    /// If the system's certificates cannot be read.
    pub fn new(key: SecretString, bases: Vec<Url>, keep: Keep) -> Result<Self, reqwest::Error> {
        // The process may have one already: that is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(USER_AGENT)
            .connect_timeout(CONNECT_MAX)
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy()
            .http1_only()
            .tcp_nodelay(true)
            .pool_max_idle_per_host(if keep == Keep::Open { IDLE_MAX } else { 0 })
            .build()?;
        Ok(Self { client, bases, key })
    }

    /// A call, where the address is one that keys may go to; else a failure of kind `protocol`.
    pub fn call(&self, method: reqwest::Method, url: &str) -> Result<RequestBuilder, Failure> {
        Ok(self.client.request(method, self.permitted(url)?))
    }

    /// Makes a call that changes nothing, once more or twice where the platform was only in trouble for a moment.
    pub async fn look(
        &self,
        call: impl Fn() -> Result<RequestBuilder, Failure>,
    ) -> Result<Answer, Failure> {
        let mut pause = LOOK_PAUSE;
        for _ in 1..LOOKS {
            match Answer::to(call()?).await {
                Ok(answer) if !is_passing(answer.status) => return Ok(answer),
                Ok(_) => {}
                Err(failure)
                    if matches!(failure.reason, Reason::Outage | Reason::LostConnection) => {}
                Err(failure) => return Err(failure),
            }
            sleep(pause).await;
            pause *= 2;
        }
        Answer::to(call()?).await
    }

    /// Reads a list page by page, up to a limit: `call` asks for the page of a cursor, `read` takes what is on it and the
    /// cursor of the next.
    pub async fn pages<T>(
        &self,
        call: impl Fn(Option<&str>) -> Result<RequestBuilder, Failure>,
        read: impl Fn(&Answer) -> Result<(Vec<T>, Option<String>), Failure>,
    ) -> Result<Vec<T>, Failure> {
        let (mut all, mut cursor) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let answer = Answer::to(call(cursor.as_deref())?).await?;
            if !answer.status.is_success() {
                return Err(self.refusal(&answer));
            }
            let (items, next) = read(&answer)?;
            all.extend(items);
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        Ok(all)
    }

    /// The failure that the refusal of an ordinary call is: it may leave a sandbox.
    pub fn refusal(&self, answer: &Answer) -> Failure {
        self.refused(answer, answer.reason(), Remains::Perhaps)
    }

    /// The failure that an answer is. Its text goes to the log, without the key.
    pub fn refused(&self, answer: &Answer, reason: Reason, remains: Remains) -> Failure {
        let message = shortened(&answer.body).replace(self.key.expose_secret(), "…");
        answer.failure_saying(message, reason, remains)
    }

    /// An address that keys may go to; else a failure of kind `protocol`.
    pub fn permitted(&self, url: &str) -> Result<Url, Failure> {
        let known =
            Url::parse(url).ok().filter(|url| self.bases.iter().any(|base| is_within(base, url)));
        known.ok_or_else(|| {
            let shown = shortened(url.as_bytes());
            Failure::leaving_perhaps(Reason::Protocol).because(Foreign(shown))
        })
    }
}

/// Whether an answer says that the platform is in trouble, and no more.
fn is_passing(status: StatusCode) -> bool {
    status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS
}

/// Whether an address is at the host of a base or at one below it, by the same scheme and port.
fn is_within(base: &Url, url: &Url) -> bool {
    let is_plain = url.username().is_empty() && url.password().is_none();
    let same_way = base.scheme() == url.scheme()
        && base.port_or_known_default() == url.port_or_known_default();
    let host_fits = match (base.host(), url.host()) {
        (Some(url::Host::Domain(base)), Some(url::Host::Domain(host))) => {
            host == base || host.strip_suffix(base).is_some_and(|rest| rest.ends_with('.'))
        }
        (Some(base), Some(host)) => base == host,
        _ => false,
    };
    is_plain && same_way && host_fits
}

#[derive(Debug, thiserror::Error)]
#[error("{0} is at none of the configured hosts: no key goes there")]
struct Foreign(String);

/// What a provider answered, when that is not what was hoped for.
#[derive(Debug, thiserror::Error)]
#[error("the answer was {status}: {message}")]
pub struct Refused {
    status: StatusCode,
    message: String,
}

/// A whole answer.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, whole.
    pub body: Bytes,
}

impl Answer {
    /// Sends a call and reads the answer. A failure says `outage` where nothing was sent, else `lost_connection`, and leaves
    /// a sandbox perhaps unless nothing was sent.
    pub async fn to(request: RequestBuilder) -> Result<Self, Failure> {
        Self::read(sent(request).await?, BODY_BYTES_MAX).await
    }

    /// Reads the rest of an answer, up to a limit.
    pub async fn read(mut response: Response, bytes_max: usize) -> Result<Self, Failure> {
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(not_answered)? {
            if body.len() + chunk.len() > bytes_max {
                return Err(Failure::leaving_perhaps(Reason::Protocol)
                    .because(TooLong { bytes_max })
                    .status(status));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Self { status, headers, body: body.freeze() })
    }

    /// The body as JSON; a failure of kind `protocol` where it is something else.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_slice(&self.body).map_err(|error| {
            Failure::leaving_perhaps(Reason::Protocol).because(error).status(self.status)
        })
    }

    /// The body as text, as far as it is any.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The failure that this answer is, without its text: it may repeat what was sent.
    pub fn failure(&self, reason: Reason, remains: Remains) -> Failure {
        self.failure_saying("its text is not shown".to_owned(), reason, remains)
    }

    fn failure_saying(&self, message: String, reason: Reason, remains: Remains) -> Failure {
        let refused = Refused { status: self.status, message };
        let failure = Failure { remains, ..Failure::leaving_perhaps(reason) };
        let retry_after =
            (reason == Reason::RateLimited).then(|| retry_after(&self.headers)).flatten();
        Failure { retry_after, ..failure.because(refused).status(self.status) }
    }

    /// Of what kind the refusal of an ordinary call is.
    fn reason(&self) -> Reason {
        match self.status.as_u16() {
            401 | 403 => Reason::Auth,
            429 => Reason::RateLimited,
            500..=599 => Reason::Outage,
            status if (400..500).contains(&status) => Reason::BadRequest,
            _ => Reason::Protocol,
        }
    }
}

impl Failure {
    fn status(self, status: StatusCode) -> Self {
        Self { http_status: Some(status.as_u16()), ..self }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the answer is longer than {bytes_max} bytes")]
struct TooLong {
    bytes_max: usize,
}

/// Sends a call, and returns its answer as soon as that begins. Nothing is unpacked here: nobody asked for a packed one, so it
/// is a failure.
pub async fn sent(request: RequestBuilder) -> Result<Response, Failure> {
    let response = request.send().await.map_err(not_answered)?;
    let encoding = response.headers().get(CONTENT_ENCODING);
    if encoding.is_some_and(|encoding| encoding != "identity") {
        let failure = Failure::leaving_perhaps(Reason::Protocol).because(Packed);
        return Err(failure.status(response.status()));
    }
    Ok(response)
}

#[derive(Debug, thiserror::Error)]
#[error("the answer is packed, though nobody asked for that")]
struct Packed;

/// What it means that a call was not answered.
pub fn not_answered(error: reqwest::Error) -> Failure {
    let failure = if error.is_connect() || error.is_builder() {
        Failure::leaving_nothing(Reason::Outage)
    } else {
        Failure::leaving_perhaps(Reason::LostConnection)
    };
    failure.because(error)
}

/// Whether a failure came about before anything was sent.
pub fn is_unsent(failure: &Failure) -> bool {
    let source = failure.source.as_ref().and_then(|source| source.downcast_ref::<reqwest::Error>());
    source.is_some_and(|error| error.is_connect() || error.is_builder())
}

/// A header whose value no log shows.
pub fn secret_header(prefix: &str, secret: &SecretString) -> Result<HeaderValue, Failure> {
    let text = format!("{prefix}{}", secret.expose_secret());
    // Without the cause: it must not carry the secret.
    let mut value = HeaderValue::try_from(text)
        .map_err(|_| Failure::leaving_perhaps(Reason::Auth).because(NoHeader))?;
    value.set_sensitive(true);
    Ok(value)
}

#[derive(Debug, thiserror::Error)]
#[error("a key or token has characters that no header can have")]
struct NoHeader;

/// For how long a provider wants to be left alone: `Retry-After` in seconds, also under the name of a limiter
/// (`Retry-After-sandbox-create`).
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let named = headers.iter().filter(|(name, _)| name.as_str().starts_with("retry-after"));
    let seconds = named.filter_map(|(_, value)| value.to_str().ok()?.trim().parse().ok()).max();
    seconds.map(Duration::from_secs)
}

/// The beginning of a text from outside, on one line.
fn shortened(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(MESSAGE_CHARS_MAX * 4)]);
    text.chars()
        .map(|one| if one.is_control() { ' ' } else { one })
        .take(MESSAGE_CHARS_MAX)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_goes_to_the_configured_host_and_below_it_only() {
        let base = Url::parse("https://e2b.app").unwrap();
        for fine in ["https://e2b.app/x", "https://api.e2b.app", "https://49999-i1.e2b.app/execute"]
        {
            assert!(is_within(&base, &Url::parse(fine).unwrap()), "{fine}");
        }
        for foreign in [
            "http://api.e2b.app",
            "https://e2b.app:8443",
            "https://evil-e2b.app",
            "https://e2b.app.evil.example",
            "https://user@api.e2b.app",
            "https://127.0.0.1",
        ] {
            assert!(!is_within(&base, &Url::parse(foreign).unwrap()), "{foreign}");
        }
        let base = Url::parse("http://127.0.0.1:3999/api").unwrap();
        assert!(is_within(&base, &Url::parse("http://127.0.0.1:3999/toolbox").unwrap()));
        for foreign in ["http://127.0.0.1:1/", "http://x.127.0.0.1:3999/", "http://127.0.0.2:3999/"]
        {
            assert!(!Url::parse(foreign).is_ok_and(|url| is_within(&base, &url)), "{foreign}");
        }
    }

    #[test]
    fn a_wish_to_be_left_alone_is_read_under_every_name() {
        let headers = |name: &'static str, value: &'static str| {
            HeaderMap::from_iter([(
                reqwest::header::HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )])
        };
        let seconds = Some(Duration::from_secs(7));
        assert_eq!(retry_after(&headers("retry-after", "7")), seconds);
        assert_eq!(retry_after(&headers("retry-after-sandbox-create", " 7 ")), seconds);
        assert_eq!(retry_after(&headers("retry-after", "soon")), None);
        assert_eq!(retry_after(&headers("x-other", "7")), None);
    }

    #[test]
    fn a_key_stands_in_no_debug_output() {
        let key = SecretString::from("e2b_secret".to_owned());
        let header = secret_header("Bearer ", &key).unwrap();
        assert!(!format!("{key:?} {header:?}").contains("e2b_secret"));
        let wrong = secret_header("", &SecretString::from("a\nb_secret".to_owned())).unwrap_err();
        assert!(!format!("{wrong:?}").contains("b_secret"));
    }
}
