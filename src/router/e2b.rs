//! E2B: a microVM for one run, made and destroyed by its control plane; Python and JavaScript by the interpreter in it,
//! shell commands by its process service.
//!
//! What follows which answer is from the vendor's public sources of August 2026 and its clients of November 2026 (Python
//! `e2b` 2.63.0, `e2b-code-interpreter` 2.11.5). Wire formats are in `lines.rs` and `envelopes.rs`.

mod api;
mod envelopes;
mod lines;
mod refusals;
mod run;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use reqwest::{Method, RequestBuilder, StatusCode};
use secrecy::SecretString;
use serde_json::json;
use url::Url;

use super::adapter::{
    Adapter, Created, Failure, Gone, KillFrom, Order, Owed, Remains, Sandbox, Terms,
};
use super::outbound::{Answer, Keep, Outbound, PAGE_SIZE, SetupError, secret_header};
use crate::catalog::claim::Tier;
use crate::catalog::shape::Shape;
use crate::money::Quantity;
use crate::query::encoded;
use crate::runs::{Applied, Egress, Language, OutputMode, Proof, Reason};

/// The slug in the catalog.
pub const SLUG: &str = "e2b";
/// The longest wall clock that Thud asks for; the plans allow an hour and more.
const TIMEOUT_MAX: Duration = Duration::from_mins(5);
/// How long after the wall clock the end of the code may still be told.
const ANSWER_GRACE: Duration = Duration::from_secs(1);
/// The longest id that is taken for one.
const ID_CHARS_MAX: usize = 64;

/// Which instance made a sandbox.
const TAG_INSTANCE: &str = "thud";
/// For which run.
const TAG_RUN: &str = "thud_run";
/// By which lease.
const TAG_LEASE: &str = "thud_lease";

/// How E2B is reached.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The team's key.
    pub api_key: SecretString,
    /// The domain below which everything is.
    pub domain: String,
    /// The control plane, without a slash at the end.
    pub api_url: String,
    /// One address for all sandboxes, as in front of a self-hosted one; `None` for an address each below the domain.
    pub sandbox_url: Option<String>,
    /// What sandboxes are made from.
    pub template: String,
    /// The size that such a sandbox has: what a quote rests on. A dearer one is not used.
    pub shape: Shape,
    /// Its share of a run's time to start in.
    pub start_slice: Duration,
}

/// What E2B offers.
pub fn terms(shape: Shape, start_slice: Duration) -> Terms {
    Terms {
        languages: vec![Language::Python, Language::JavaScript, Language::Bash],
        tier: Tier::VirtualMachine,
        egress: vec![Egress::None, Egress::Open],
        output_mode: OutputMode::Live,
        start_slice,
        timeout_max: TIMEOUT_MAX,
        answer_grace: ANSWER_GRACE,
        kill_step: Duration::from_secs(1),
        kill_from: KillFrom::Started,
        shape: Some(shape),
        variant: None,
    }
}

/// E2B as a provider. Cheap to clone.
#[derive(Debug, Clone)]
pub struct E2b(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: Settings,
    /// The name of this site, for the tag.
    instance: String,
    control: Outbound,
    sandboxes: Outbound,
    /// Whether the server has only the first version of the create call.
    is_first_version: AtomicBool,
}

impl E2b {
    /// The adapter for a site of this name.
    pub fn new(settings: Settings, instance: String) -> Result<Self, SetupError> {
        let parsed = |url: &str| Url::parse(url).map_err(|_| SetupError::Address(url.to_owned()));
        let mut bases =
            vec![parsed(&format!("https://{}", settings.domain))?, parsed(&settings.api_url)?];
        if let Some(url) = &settings.sandbox_url {
            bases.push(parsed(url)?);
        }
        let key = &settings.api_key;
        let control = Outbound::new(key.clone(), bases.clone(), Keep::Open)?;
        // The connection that the check of a sandbox opens is there for its code.
        let sandboxes = Outbound::new(key.clone(), bases, Keep::Open)?;
        let is_first_version = AtomicBool::new(false);
        Ok(Self(Arc::new(Inner { settings, instance, control, sandboxes, is_first_version })))
    }

    fn call(&self, method: Method, path: &str) -> Result<RequestBuilder, Failure> {
        let Inner { settings, control, .. } = &*self.0;
        let key = secret_header("", &settings.api_key)?;
        let url = format!("{}{path}", settings.api_url);
        Ok(control.call(method, &url)?.header("x-api-key", key))
    }

    async fn ask_for(&self, order: &Order) -> Result<api::Made, Failure> {
        let Inner { settings, instance, is_first_version, .. } = &*self.0;
        let metadata = BTreeMap::from([
            (TAG_INSTANCE, instance.as_str()),
            (TAG_RUN, order.run.as_str()),
            (TAG_LEASE, order.lease.as_str()),
        ]);
        let body = api::Create {
            template_id: &settings.template,
            timeout: order.kill_after.as_millis().div_ceil(1000),
            auto_pause: false,
            allow_internet_access: order.egress == Egress::Open,
            network: api::Network { allow_public_traffic: false },
            metadata,
            secure: None,
        };
        if !is_first_version.load(Ordering::Relaxed) {
            let call = self.call(Method::POST, "/v2/sandboxes")?;
            let call = call.header("idempotency-key", &order.lease).json(&body);
            let answer = Answer::to(call).await?;
            let is_missing =
                matches!(answer.status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED);
            if !is_missing {
                return self.made(&answer);
            }
        }
        // There is no such call, or no such template: the older one knows which.
        let body = api::Create { secure: Some(true), ..body };
        let answer = Answer::to(self.call(Method::POST, "/sandboxes")?.json(&body)).await?;
        let made = self.made(&answer)?;
        is_first_version.store(true, Ordering::Relaxed);
        Ok(made)
    }

    fn made(&self, answer: &Answer) -> Result<api::Made, Failure> {
        match answer.status {
            StatusCode::CREATED | StatusCode::OK => {
                let made: api::Made = answer.json()?;
                if is_id(&made.sandbox_id) {
                    Ok(made)
                } else {
                    Err(answer.failure(Reason::Protocol, Remains::Perhaps))
                }
            }
            _ => {
                let (reason, remains) = refusals::create(answer);
                Err(self.0.control.refused(answer, reason, remains))
            }
        }
    }

    async fn detail(&self, id: &str) -> Result<api::Detail, Failure> {
        let path = format!("/sandboxes/{id}");
        let answer = self.0.control.look(|| self.call(Method::GET, &path)).await?;
        match answer.status {
            status if status.is_success() => answer.json(),
            // It was made a moment ago.
            StatusCode::NOT_FOUND => Err(answer.failure(Reason::Outage, Remains::Perhaps)),
            _ => Err(self.0.control.refusal(&answer)),
        }
    }

    /// What the platform says of a sandbox that was made, and the way to it.
    async fn seen(
        &self,
        order: &Order,
        made: api::Made,
    ) -> Result<(api::Detail, run::Way), Failure> {
        let id = made.sandbox_id.clone();
        let way = run::Way::to(self.clone(), made, order.language)?;
        // One is read while the run's own connection is opened: one wait for both.
        let (detail, ()) = tokio::try_join!(self.detail(&id), way.open())?;
        if detail.tag(TAG_LEASE) == Some(&order.lease) {
            Ok((detail, way))
        } else {
            // Somebody else's.
            Err(Failure::leaving_perhaps(Reason::Protocol))
        }
    }

    /// Every sandbox that carries a tag.
    async fn listed(&self, tag: &str, value: &str) -> Result<Vec<api::Listed>, Failure> {
        // Our tags have no character that would have to be encoded twice, as the server wants it.
        let (metadata, limit) = (format!("{tag}={value}"), PAGE_SIZE.to_string());
        let call = |next: Option<&str>| {
            let query = [("metadata", &*metadata), ("state", "running,paused"), ("limit", &limit)];
            let query = query.into_iter().chain(next.map(|token| ("nextToken", token)));
            self.call(Method::GET, &encoded("/v2/sandboxes", query))
        };
        let read = |answer: &Answer| {
            let next = answer.headers.get("x-next-token").and_then(|token| token.to_str().ok());
            Ok((answer.json::<Vec<api::Listed>>()?, next.map(str::to_owned)))
        };
        let mut all = self.0.control.pages(call, read).await?;
        // A server that does not know the filter gives everybody's.
        all.retain(|one| one.tag(tag) == Some(value));
        Ok(all)
    }

    /// Kills a sandbox. Says whether it was there.
    async fn kill(&self, id: &str) -> Result<bool, Failure> {
        if !is_id(id) {
            return Err(Failure::leaving_perhaps(Reason::Protocol));
        }
        let call = self.call(Method::DELETE, &format!("/sandboxes/{id}"))?;
        let answer = Answer::to(call).await.map_err(|failure| failure.of(id))?;
        match answer.status {
            status if status.is_success() => Ok(true),
            StatusCode::NOT_FOUND => Ok(false),
            _ => {
                // As the next best thing it is told to end by itself.
                let path = format!("/sandboxes/{id}/timeout");
                let end = self.call(Method::POST, &path)?.json(&json!({ "timeout": 0 }));
                let _ = Answer::to(end).await;
                Err(self.0.control.refusal(&answer).of(id))
            }
        }
    }
}

/// Whether a text is an id: it becomes part of a host name and a path.
fn is_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=ID_CHARS_MAX).contains(&text.len()) && text.bytes().all(is_plain)
}

#[async_trait]
impl Adapter for E2b {
    fn slug(&self) -> &'static str {
        SLUG
    }

    fn terms(&self) -> Terms {
        terms(self.0.settings.shape, self.0.settings.start_slice)
    }

    async fn create(&self, order: &Order) -> Result<Created, Failure> {
        let made = self.ask_for(order).await?;
        let (answered, id) = (Timestamp::now(), made.sandbox_id.clone());
        // From here on there is one, whatever fails.
        let seen = self.seen(order, made).await.map_err(|failure| failure.of(&id));
        let (detail, way) = seen?;
        let said = detail.allow_internet_access;
        let said = said.map(|is_open| if is_open { Egress::Open } else { Egress::None });
        let sandbox: Box<dyn Sandbox> = Box::new(way);
        Ok(Created {
            handle: id,
            answered,
            // No answer says what the wall is.
            isolation: Applied { value: Tier::VirtualMachine, evidence: Proof::Declared },
            egress: Applied::said_or_asked(said, order.egress),
            shape: detail.shape(),
            sandbox,
        })
    }

    async fn destroy(&self, owed: &Owed) -> Result<Gone, Failure> {
        if let Some(id) = &owed.handle
            && self.kill(id).await?
        {
            return Ok(Gone::Destroyed);
        }
        // The answer was lost, or it named another one: our tag knows it.
        let mut was_there = false;
        for one in self.listed(TAG_LEASE, &owed.lease).await? {
            was_there |= self.kill(&one.sandbox_id).await?;
        }
        Ok(match (was_there, &owed.handle) {
            (true, _) => Gone::Destroyed,
            (false, Some(_)) => Gone::Already,
            (false, None) => Gone::Unseen,
        })
    }

    async fn tagged(&self) -> Result<Vec<Owed>, Failure> {
        let all = self.listed(TAG_INSTANCE, &self.0.instance).await?;
        let owed = |one: api::Listed| {
            let lease = one.tag(TAG_LEASE).unwrap_or_default().to_owned();
            Owed { lease, handle: Some(one.sandbox_id) }
        };
        Ok(all.into_iter().map(owed).collect())
    }
}

/// A count of something as a quantity.
fn count(number: u32) -> Quantity {
    Quantity::from(u64::from(number))
}

/// MiB as GiB.
fn gibibytes(mebibytes: u32) -> Quantity {
    count(mebibytes).divided_by(MEBIBYTES_PER_GIBIBYTE)
}

const MEBIBYTES_PER_GIBIBYTE: u32 = 1024;
