//! Daytona: a virtual machine (or, where so configured, a container) for one run, made and destroyed by its API; the code
//! goes into it as one command of the toolbox, in a script of our own.
//!
//! What follows which answer is from the vendor's last open server (0.190.0, June 2026) and its clients of November 2026
//! (Python `daytona` 0.226.1). What the script does is in `wrapper.rs`.

mod api;
mod refusals;
mod run;
pub mod wrapper;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use reqwest::{Method, RequestBuilder, StatusCode};
use secrecy::SecretString;
use serde_json::json;
use tokio::time::sleep;
use url::Url;

use super::adapter::{Adapter, Created, Failure, Gone, KillFrom, Order, Owed, Sandbox, Terms};
use super::outbound::{Answer, Keep, Outbound, PAGE_SIZE, SetupError, secret_header};
use crate::catalog::claim::Tier;
use crate::catalog::shape::Shape;
use crate::query::encoded;
use crate::runs::{Applied, Egress, Language, OutputMode, Proof, Reason};

/// The slug in the catalog.
pub const SLUG: &str = "daytona";
/// The longest wall clock that Thud asks for.
const TIMEOUT_MAX: Duration = Duration::from_mins(5);
/// How long after the wall clock the end of the code may still be told: all output comes with it.
const ANSWER_GRACE: Duration = Duration::from_secs(3);
/// The platform counts the life of a sandbox in minutes.
const KILL_STEP: Duration = Duration::from_mins(1);
/// How long after the first look whether a sandbox has started the next one is; longer after every other, up to a second.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// The longest pause between two looks.
const LOOK_AGAIN_MAX: Duration = Duration::from_secs(1);
/// Minutes without a sign of life after which the platform stops a sandbox: the least that it takes.
const IDLE_MINUTES: u32 = 1;
/// The longest id that is taken for one.
const ID_CHARS_MAX: usize = 64;

/// Which instance made a sandbox.
const LABEL_INSTANCE: &str = "thud";
/// For which run.
const LABEL_RUN: &str = "thud_run";
/// By which lease.
const LABEL_LEASE: &str = "thud_lease";

/// How Daytona is reached.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The organisation's key.
    pub api_key: SecretString,
    /// The API, without a slash at the end.
    pub api_url: String,
    /// The toolbox of all sandboxes, without a slash at the end; `None` for the one that each sandbox names, where that is at
    /// the API's host or below it.
    pub toolbox_url: Option<String>,
    /// The region; `None` for the organisation's own.
    pub target: Option<String>,
    /// What sandboxes are made from.
    pub snapshot: String,
    /// The wall that such a sandbox has.
    pub tier: Tier,
    /// The size that it has: what a quote rests on. A dearer one is not used.
    pub shape: Shape,
    /// Its share of a run's time to start in.
    pub start_slice: Duration,
}

/// What Daytona offers.
pub fn terms(tier: Tier, shape: Shape, start_slice: Duration) -> Terms {
    Terms {
        languages: vec![Language::Python, Language::JavaScript, Language::Bash],
        tier,
        egress: vec![Egress::None, Egress::Open],
        output_mode: OutputMode::AtEnd,
        start_slice,
        timeout_max: TIMEOUT_MAX,
        answer_grace: ANSWER_GRACE,
        kill_step: KILL_STEP,
        kill_from: KillFrom::Asked,
        shape: Some(shape),
        variant: Some(if tier == Tier::VirtualMachine { "vm" } else { "container" }),
    }
}

/// Daytona as a provider. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Daytona(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: Settings,
    /// The name of this site, for the labels.
    instance: String,
    api: Outbound,
    /// Every run has a connection of its own: none that may have gone stale has to be told from a run in progress.
    toolbox: Outbound,
}

impl Daytona {
    /// The adapter for a site of this name.
    pub fn new(settings: Settings, instance: String) -> Result<Self, SetupError> {
        let addresses = [Some(&settings.api_url), settings.toolbox_url.as_ref()];
        let bases: Vec<Url> = addresses
            .into_iter()
            .flatten()
            .map(|url| Url::parse(url).map_err(|_| SetupError::Address(url.clone())))
            .collect::<Result<_, _>>()?;
        let key = &settings.api_key;
        let api = Outbound::new(key.clone(), bases.clone(), Keep::Open)?;
        let toolbox = Outbound::new(key.clone(), bases, Keep::None)?;
        Ok(Self(Arc::new(Inner { settings, instance, api, toolbox })))
    }

    fn call(&self, method: Method, path: &str) -> Result<RequestBuilder, Failure> {
        let Inner { settings, api, .. } = &*self.0;
        let key = secret_header("Bearer ", &settings.api_key)?;
        let url = format!("{}{path}", settings.api_url);
        Ok(api.call(method, &url)?.header("authorization", key))
    }

    async fn ask_for(&self, order: &Order) -> Result<api::Sandbox, Failure> {
        let Inner { settings, instance, .. } = &*self.0;
        let name = name_of(&order.lease);
        let mut body = json!({
            "name": name,
            "snapshot": settings.snapshot,
            "labels": {
                LABEL_INSTANCE: instance,
                LABEL_RUN: order.run,
                LABEL_LEASE: order.lease,
                "code-toolbox-language": "python",
            },
            "public": false,
            "networkBlockAll": order.egress == Egress::None,
            "autoStopInterval": IDLE_MINUTES,
            "autoDeleteInterval": 0,
            "ttlMinutes": order.kill_after.as_secs().div_ceil(60),
        });
        if let (Some(target), Some(fields)) = (&settings.target, body.as_object_mut()) {
            fields.insert("target".to_owned(), json!(target));
        }
        let answer = Answer::to(self.call(Method::POST, "/sandbox")?.json(&body)).await?;
        match answer.status {
            StatusCode::OK | StatusCode::CREATED => answer.json(),
            // The name is of this attempt alone: somebody in between sent the order twice, and the first one arrived.
            StatusCode::CONFLICT => {
                let found = self.look(&name).await.map_err(|failure| failure.of(&name))?;
                found.ok_or_else(|| self.not_made(&answer))
            }
            _ => Err(self.not_made(&answer)),
        }
    }

    fn not_made(&self, answer: &Answer) -> Failure {
        let (reason, remains) = refusals::create(answer);
        self.0.api.refused(answer, reason, remains)
    }

    /// What is answered about a sandbox, by id or name; `None` where there is none.
    async fn asked(&self, id: &str) -> Result<Option<Answer>, Failure> {
        let path = path_of(id)?;
        let answer = self.0.api.look(|| self.call(Method::GET, &path)).await?;
        match answer.status {
            StatusCode::NOT_FOUND => Ok(None),
            status if status.is_success() => Ok(Some(answer)),
            _ => Err(self.0.api.refusal(&answer)),
        }
    }

    /// A sandbox as it is now, by id or name; `None` where there is none.
    async fn look(&self, id: &str) -> Result<Option<api::Sandbox>, Failure> {
        self.asked(id).await?.map(|answer| answer.json()).transpose()
    }

    /// Whether a sandbox is certainly no more, whatever else is said of it.
    async fn is_gone(&self, id: &str) -> Result<bool, Failure> {
        let Some(answer) = self.asked(id).await? else { return Ok(true) };
        let said = answer.json::<serde_json::Value>()?;
        Ok(said.get("state").and_then(serde_json::Value::as_str) == Some(api::DESTROYED))
    }

    /// Waits until a sandbox has started, or will not.
    async fn started(&self, mut sandbox: api::Sandbox) -> Result<api::Sandbox, Failure> {
        let id = sandbox.id.clone();
        let mut pause = LOOK_AGAIN;
        loop {
            match sandbox.progress() {
                api::Progress::Started => return Ok(sandbox),
                api::Progress::Failed => {
                    return Err(Failure::leaving_perhaps(Reason::Outage)
                        .because(NotStarted(sandbox.state.unwrap_or_default())));
                }
                api::Progress::Coming => {}
            }
            rest(&mut pause).await;
            sandbox = self.look(&id).await?.ok_or_else(|| {
                Failure::leaving_perhaps(Reason::Outage).because(NotStarted("gone".to_owned()))
            })?;
            if sandbox.id != id {
                return Err(Failure::leaving_perhaps(Reason::Protocol));
            }
        }
    }

    /// Deletes a sandbox by id or name and waits until it is gone. Says whether it was there.
    async fn delete(&self, id: &str) -> Result<bool, Failure> {
        let path = path_of(id)?;
        let mut pause = LOOK_AGAIN;
        let answered = loop {
            let answer = Answer::to(self.call(Method::DELETE, &path)?).await?;
            match answer.status.as_u16() {
                404 => return Ok(false),
                200..=299 => break answer,
                // It is on its way from one state to another: all the time while it is being made.
                409 => {}
                _ => return Err(self.0.api.refusal(&answer)),
            }
            rest(&mut pause).await;
        };
        // By its name it is not found from here on, by its id it is until it is gone.
        let named = answered.json::<api::Sandbox>().map(|sandbox| sandbox.id);
        let id = named.as_deref().unwrap_or(id);
        let mut pause = LOOK_AGAIN;
        while !self.is_gone(id).await.map_err(|failure| failure.of(id))? {
            rest(&mut pause).await;
        }
        Ok(true)
    }

    async fn listed(&self) -> Result<Vec<api::Sandbox>, Failure> {
        let instance = &self.0.instance;
        let labels = json!({ LABEL_INSTANCE: instance }).to_string();
        let limit = PAGE_SIZE.to_string();
        let call = |cursor: Option<&str>| {
            let query = [("labels", &*labels), ("limit", &limit)];
            let query = query.into_iter().chain(cursor.map(|cursor| ("cursor", cursor)));
            self.call(Method::GET, &encoded("/sandbox", query))
        };
        let read = |answer: &Answer| {
            let api::Page { items, next_cursor } = answer.json()?;
            // One that cannot be read must not hide the others.
            let read = items.into_iter().filter_map(|one| serde_json::from_value(one).ok());
            Ok((read.collect::<Vec<api::Sandbox>>(), next_cursor))
        };
        let mut all = self.0.api.pages(call, read).await?;
        // A server that does not know the filter gives everybody's.
        all.retain(|one| one.label(LABEL_INSTANCE) == Some(instance) && !one.is_gone());
        Ok(all)
    }
}

/// Waits before the next look; longer every time, up to a limit.
async fn rest(pause: &mut Duration) {
    sleep(*pause).await;
    *pause = (*pause * 3 / 2).min(LOOK_AGAIN_MAX);
}

/// The name of the sandbox of a lease: the handle on it where the answer to its order was lost.
fn name_of(lease: &str) -> String {
    format!("thud-{lease}")
}

/// The path of a sandbox; a failure where the id is none.
fn path_of(id: &str) -> Result<String, Failure> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if (1..=ID_CHARS_MAX).contains(&id.len()) && id.bytes().all(is_plain) {
        Ok(format!("/sandbox/{id}"))
    } else {
        Err(Failure::leaving_perhaps(Reason::Protocol))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the sandbox did not start: it is {0:?}")]
struct NotStarted(String);

#[async_trait]
impl Adapter for Daytona {
    fn slug(&self) -> &'static str {
        SLUG
    }

    fn terms(&self) -> Terms {
        let Settings { tier, shape, start_slice, .. } = self.0.settings;
        terms(tier, shape, start_slice)
    }

    async fn create(&self, order: &Order) -> Result<Created, Failure> {
        let asked = self.ask_for(order).await?;
        let (answered, id) = (Timestamp::now(), asked.id.clone());
        path_of(&id)?;
        // From here on there is one, whatever fails.
        let started = self.started(asked).await;
        let sandbox = started.map_err(|failure| failure.of(&id))?;
        if sandbox.label(LABEL_LEASE) != Some(&order.lease) {
            // Somebody else's.
            return Err(Failure::leaving_perhaps(Reason::Protocol));
        }
        let said = sandbox.network_block_all;
        let said = said.map(|is_shut| if is_shut { Egress::None } else { Egress::Open });
        let egress = Applied::said_or_asked(said, order.egress);
        let isolation = match sandbox.wall() {
            api::Wall::Said(tier) => Applied { value: tier, evidence: Proof::Confirmed },
            api::Wall::NotSaid => {
                Applied { value: self.0.settings.tier, evidence: Proof::Declared }
            }
            api::Wall::Unknown => {
                return Err(Failure::leaving_perhaps(Reason::IsolationNotConfirmed).of(&id));
            }
        };
        let way = run::Way::to(self.clone(), &sandbox, &order.lease);
        let way = way.map_err(|failure| failure.of(&id))?;
        let runs: Box<dyn Sandbox> = Box::new(way);
        Ok(Created {
            handle: id,
            answered,
            isolation,
            egress,
            shape: sandbox.shape(),
            sandbox: runs,
        })
    }

    async fn destroy(&self, owed: &Owed) -> Result<Gone, Failure> {
        if let Some(id) = &owed.handle
            && self.delete(id).await?
        {
            return Ok(Gone::Destroyed);
        }
        // The answer was lost, or it named another one: the name is ours.
        Ok(match (self.delete(&name_of(&owed.lease)).await?, &owed.handle) {
            (true, _) => Gone::Destroyed,
            (false, Some(_)) => Gone::Already,
            (false, None) => Gone::Unseen,
        })
    }

    async fn tagged(&self) -> Result<Vec<Owed>, Failure> {
        let owed = |one: api::Sandbox| {
            let lease = one.label(LABEL_LEASE).unwrap_or_default().to_owned();
            Owed { lease, handle: Some(one.id) }
        };
        Ok(self.listed().await?.into_iter().map(owed).collect())
    }
}
