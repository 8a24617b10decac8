//! How a run begins: who may run it, where, and for how much; or why not.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use sqlx::SqliteConnection;
use thiserror::Error;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::adapter::{Adapter, Readiness};
use super::attempt::kill_horizon;
use super::live::Live;
use super::plan::{Candidate, Selection, Wish, select};
use super::{Drive, Inner, SandboxRouter, after, drill, end, locked};
use crate::access::{self, Caller, RandomError, random_hex};
use crate::catalog::claim::Tier;
use crate::hash::{hexadecimal, sha256};
use crate::moment::{millis, stamp, today};
use crate::money::Usd;
use crate::runs::store::{self, Beginning, StoreError};
use crate::runs::{
    Asked, Choice, Cost, Drill, Omission, Outcome, Request, Run, RunState, TIMEOUT_MS_DEFAULT,
};

/// Seconds after which somebody may try again where there was no place.
const BUSY_RETRY_AFTER_SECONDS: u32 = 5;
/// The provider that everybody may use: it spends nobody's money.
pub const OPEN_TO_ALL: &str = "local";

/// A run that was accepted.
#[derive(Clone, PartialEq, Eq)]
pub struct Submitted {
    /// Its id.
    pub id: String,
    /// Cancels it; `None` where the same request under the same key was there already.
    pub cancel_secret: Option<String>,
}

impl fmt::Debug for Submitted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the secret.
        formatter.debug_struct("Submitted").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Why a run was not accepted. Nothing was written and nothing was spent.
#[derive(Debug, Error)]
pub enum Refusal {
    /// The token's budget of the day does not hold what the run may cost.
    #[error(
        "the run may cost {needed} USD, and {left} USD of today's budget of this token are left"
    )]
    OverBudget {
        /// What it may cost.
        needed: Usd,
        /// What is left.
        left: Usd,
    },
    /// Too many runs of one address.
    #[error("too many runs of this address; try again in {retry_after_seconds} s")]
    RateLimited {
        /// Seconds.
        retry_after_seconds: u32,
    },
    /// No place, and too many wait for one.
    #[error("every place is taken; try again in {retry_after_seconds} s")]
    Busy {
        /// Seconds.
        retry_after_seconds: u32,
    },
    /// The site is about to stop.
    #[error("the site is restarting; try again in a moment")]
    Draining,
    /// It was being accepted when something broke.
    #[error("the run could not be started")]
    BrokeOff,
    /// Another request stands under the key already.
    #[error("another request was made under this idempotency key")]
    KeyConflict,
    /// Keys belong to tokens.
    #[error("an idempotency key needs a token")]
    KeyWithoutToken,
    /// A token is needed for what was asked.
    #[error("{0}")]
    NotAllowed(String),
    /// No random numbers.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The database.
    #[error("the run could not be recorded")]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for Refusal {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

impl SandboxRouter {
    /// Accepts a run, or says why not. It goes on by itself: whoever asked may go away.
    pub async fn submit(
        &self,
        request: Request,
        caller: &Caller,
        key: Option<&str>,
    ) -> Result<Submitted, Refusal> {
        let (router, caller, key) = (self.clone(), caller.clone(), key.map(str::to_owned));
        // A task of its own: whoever goes away while a run is being written down leaves no half of one.
        let accepted =
            tokio::spawn(async move { router.accept(request, &caller, key.as_deref()).await });
        accepted.await.unwrap_or(Err(Refusal::BrokeOff))
    }

    async fn accept(
        &self,
        request: Request,
        caller: &Caller,
        key: Option<&str>,
    ) -> Result<Submitted, Refusal> {
        let inner = &self.0;
        inner.refuse_while_draining()?;
        if request.drill.is_some() && !inner.limits.drills {
            return Err(Refusal::NotAllowed(drill::OFF.to_owned()));
        }
        let request_sha256 = fingerprint(&request);
        if let Some(known) = inner.known(caller, key, &request_sha256).await? {
            return Ok(known);
        }
        let place = inner.place(&request, caller).await?;
        // It may have waited for that.
        inner.refuse_while_draining()?;
        let (floor, selection) = inner.selection(&request, caller);
        let cancel_secret = random_hex::<16>()?;
        let now = Instant::now();
        let mut run = begun(&request, floor, &selection)?;
        let is_over = selection.candidates.is_empty();
        if is_over && selection.not_tried.iter().any(|one| is_passing(one.reason)) {
            end(&mut run, Outcome::Unavailable);
        } else if is_over {
            refuse(&mut run, "No provider may or can run it as it was asked for.".to_owned());
        }
        let beginning = Beginning {
            run: &run,
            token_id: caller.token().map(|token| token.id.as_str()),
            idempotency_key: key,
            request_sha256: &request_sha256,
            cancel_sha256: &sha256(&cancel_secret),
            code: &request.code,
            delete_at: &inner.delete_at(caller),
        };
        let mut transaction = inner.pool.begin_with("begin immediate").await?;
        // Somebody may have been quicker under the same key.
        if let Some(known) = known_in(&mut transaction, caller, key, &request_sha256).await? {
            return Ok(known);
        }
        let today = today().to_string();
        let budget = reserved(&mut transaction, caller, &run, &today).await?;
        store::insert(&mut transaction, &beginning).await?;
        if let (Some(picodollars), Some(token)) = (budget, caller.token()) {
            access::reserve(&mut transaction, &token.id, &run.id, &today, picodollars).await?;
        }
        let id = run.id.clone();
        if is_over {
            transaction.commit().await?;
            return Ok(Submitted { id, cancel_secret: Some(cancel_secret) });
        }
        let deadline = now + selection.time_max(Duration::from_millis(request.timeout_ms));
        let live = Arc::new(Live::new(run, deadline, inner.limits.output_bytes));
        // Before it can be seen in the database: what is there and not on its way is ended by the reaper.
        locked(&inner.live).insert(id.clone(), live.clone());
        if let Err(error) = transaction.commit().await {
            locked(&inner.live).remove(&id);
            return Err(error.into());
        }
        let drive = Drive { live, request, selection };
        tokio::spawn(inner.clone().see_through(drive, place));
        Ok(Submitted { id, cancel_secret: Some(cancel_secret) })
    }

    /// What a request would do: who would be tried, who not, and what it can cost at most. Nothing is written.
    pub fn preview(&self, request: &Request, caller: &Caller) -> (Selection, Tier) {
        let ((floor, _), selection) = self.0.selection(request, caller);
        (selection, floor)
    }

    /// Every provider as it is now for a caller, whatever is asked for.
    pub fn offers(&self, caller: &Caller) -> Vec<Candidate> {
        self.0.candidates(Duration::from_millis(TIMEOUT_MS_DEFAULT), caller)
    }

    /// Writes a refusal as a run that is final, so that a page has a receipt to show and nothing typed is lost.
    pub async fn record_refusal(
        &self,
        request: &Request,
        caller: &Caller,
        why: String,
    ) -> Result<String, Refusal> {
        let inner = &self.0;
        let nobody = Selection { candidates: Vec::new(), not_tried: Vec::new() };
        let floor = floor_of(request, caller, inner);
        let mut run = begun(request, floor, &nobody)?;
        refuse(&mut run, why);
        let beginning = Beginning {
            run: &run,
            token_id: caller.token().map(|token| token.id.as_str()),
            idempotency_key: None,
            request_sha256: &fingerprint(request),
            cancel_sha256: &sha256(&random_hex::<16>()?),
            code: &request.code,
            delete_at: &inner.delete_at(caller),
        };
        let mut transaction = inner.pool.begin_with("begin immediate").await?;
        store::insert(&mut transaction, &beginning).await?;
        transaction.commit().await?;
        Ok(run.id)
    }

    /// Ends a run for whoever holds its secret or the token that started it; `None` where there is no such run, `false`
    /// where the secret is another's.
    pub async fn cancel_by(
        &self,
        id: &str,
        caller: &Caller,
        secret: Option<&str>,
    ) -> Result<Option<bool>, StoreError> {
        let Some((token_id, cancel_sha256)) = store::owner(&self.0.pool, id).await? else {
            return Ok(None);
        };
        let by_token = caller.token().is_some_and(|token| Some(&token.id) == token_id.as_ref());
        let by_secret = secret.is_some_and(|secret| access::is_secret(secret, &cancel_sha256));
        if !by_token && !by_secret {
            return Ok(Some(false));
        }
        if let Some(live) = self.0.live(id) {
            live.cancel.cancel();
        }
        self.wait(id).await;
        Ok(Some(true))
    }
}

impl Inner {
    fn refuse_while_draining(&self) -> Result<(), Refusal> {
        if *self.draining.borrow() { Err(Refusal::Draining) } else { Ok(()) }
    }

    /// A place among those that run at once. Without a token only so many wait, and not for long.
    async fn place(
        &self,
        request: &Request,
        caller: &Caller,
    ) -> Result<OwnedSemaphorePermit, Refusal> {
        let busy = Refusal::Busy { retry_after_seconds: BUSY_RETRY_AFTER_SECONDS };
        let address = match caller {
            Caller::Token(_) => return self.places.clone().try_acquire_owned().map_err(|_| busy),
            Caller::Anonymous(address) => address,
        };
        let most = millis(self.limits.anonymous_timeout);
        if request.timeout_ms > most {
            return Err(Refusal::NotAllowed(format!(
                "without a token the time limit is at most {most} ms"
            )));
        }
        if let Some(address) = address {
            let taken = self.rate.take(*address);
            taken.map_err(|retry_after_seconds| Refusal::RateLimited { retry_after_seconds })?;
        }
        if let Ok(place) = self.anonymous_places.clone().try_acquire_owned() {
            return Ok(place);
        }
        let Ok(_waiting) = self.anonymous_waiting.try_acquire() else { return Err(busy) };
        let place = self.anonymous_places.clone().acquire_owned();
        match timeout(self.limits.anonymous_wait, place).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) | Err(_) => Err(busy),
        }
    }

    /// The floor that holds, and who is tried under it.
    fn selection(&self, request: &Request, caller: &Caller) -> ((Tier, Choice), Selection) {
        let floor = floor_of(request, caller, self);
        let wish = Wish {
            language: request.language,
            isolation_at_least: floor.0,
            egress: request.egress,
            timeout: Duration::from_millis(request.timeout_ms),
            providers: request.providers.clone(),
            fallback: request.fallback,
            max_cost_usd: request.max_cost_usd,
        };
        let mut selection = select(&wish, self.candidates(wish.timeout, caller));
        if let Some(drill) = request.drill.filter(|_| self.limits.drills) {
            drill::lead(&mut selection, drill, &wish);
        }
        (floor, selection)
    }

    /// Every provider as it is now, for runs of a length.
    fn candidates(&self, timeout: Duration, caller: &Caller) -> Vec<Candidate> {
        let candidate = |adapter: &Arc<dyn Adapter>| {
            let (terms, slug) = (adapter.terms(), adapter.slug());
            let lifetime = kill_horizon(&terms, timeout);
            let quote = match terms.shape {
                None => Some(Cost::ZERO),
                Some(shape) => self.prices.cost(slug, terms.variant, shape, lifetime, today()),
            };
            Candidate {
                provider: slug.to_owned(),
                // Without a price nothing that it may cost could be held.
                configured: adapter.readiness() != Readiness::NotConfigured && quote.is_some(),
                permitted: permits(caller, slug),
                warming_up: adapter.readiness() == Readiness::WarmingUp,
                quote: quote.unwrap_or(Cost::ZERO),
                breaker: self.breaker(slug, |breaker| breaker.state(Instant::now())),
                position: self.prices.position(slug),
                languages: terms.languages,
                tier: terms.tier,
                egress: terms.egress,
                timeout_max: terms.timeout_max,
                start_slice: terms.start_slice,
            }
        };
        self.adapters.iter().map(candidate).collect()
    }

    fn delete_at(&self, caller: &Caller) -> String {
        let kept = match caller {
            Caller::Anonymous(_) => self.limits.anonymous_kept,
            Caller::Token(_) => self.limits.kept,
        };
        stamp(after(Timestamp::now(), kept))
    }

    async fn known(
        &self,
        caller: &Caller,
        key: Option<&str>,
        request_sha256: &[u8; 32],
    ) -> Result<Option<Submitted>, Refusal> {
        if key.is_none() {
            return Ok(None);
        }
        let mut connection = self.pool.acquire().await?;
        known_in(&mut connection, caller, key, request_sha256).await
    }
}

/// The record of a run that begins.
fn begun(
    request: &Request,
    (isolation_at_least, isolation_from): (Tier, Choice),
    selection: &Selection,
) -> Result<Run, RandomError> {
    let at = Timestamp::now();
    let time_max = selection.time_max(Duration::from_millis(request.timeout_ms));
    let is_tried = !selection.candidates.is_empty();
    Ok(Run {
        id: random_hex::<16>()?,
        state: RunState::Queued,
        outcome: None,
        refusal: None,
        asked: Asked {
            language: request.language,
            code_sha256: hexadecimal(&sha256(&request.code)),
            code_bytes: request.code.len() as u64,
            timeout_ms: request.timeout_ms,
            providers: request.providers.clone(),
            fallback: request.fallback,
            isolation_at_least,
            isolation_from,
            egress: request.egress,
            max_cost_usd: request.max_cost_usd,
            drill: request.drill,
        },
        provider: None,
        exit_code: None,
        output_mode: None,
        duration_ms: None,
        requested_at: stamp(at),
        deadline_at: is_tried.then(|| stamp(after(at, time_max))),
        final_at: None,
        quote: selection.quote(),
        attempts: Vec::new(),
        not_tried: selection.not_tried.clone(),
    })
}

/// The run that stands under a key already, where it is of the same request.
async fn known_in(
    connection: &mut SqliteConnection,
    caller: &Caller,
    key: Option<&str>,
    request_sha256: &[u8; 32],
) -> Result<Option<Submitted>, Refusal> {
    let Some(key) = key else { return Ok(None) };
    let token = caller.token().ok_or(Refusal::KeyWithoutToken)?;
    let Some(known) = store::known(connection, &token.id, key).await? else { return Ok(None) };
    if known.request_sha256 != request_sha256 {
        return Err(Refusal::KeyConflict);
    }
    Ok(Some(Submitted { id: known.id, cancel_secret: None }))
}

/// What has to be reserved for a run, in picodollars, where the budget of its token holds it.
async fn reserved(
    connection: &mut SqliteConnection,
    caller: &Caller,
    run: &Run,
    today: &str,
) -> Result<Option<i64>, Refusal> {
    let needed = run.quote.routed_usd.picodollars();
    let Some(token) = caller.token().filter(|_| needed > 0) else { return Ok(None) };
    let spent = access::taken(connection, &token.id, today).await?;
    let left = token.daily_budget_usd.picodollars().saturating_sub(spent);
    if needed > left {
        return Err(Refusal::OverBudget {
            needed: run.quote.routed_usd,
            left: Usd::of_picodollars(left),
        });
    }
    Ok(Some(needed))
}

fn refuse(run: &mut Run, why: String) {
    end(run, Outcome::Refused);
    run.refusal = Some(why);
}

/// Whether somebody was left out only for now: the same request may be answered later.
fn is_passing(reason: Omission) -> bool {
    matches!(reason, Omission::BreakerOpen | Omission::WarmingUp | Omission::NotConfigured)
}

/// Whether a caller may use a provider: without a token only what costs nobody anything.
fn permits(caller: &Caller, slug: &str) -> bool {
    match caller {
        Caller::Anonymous(_) => slug == OPEN_TO_ALL,
        Caller::Token(token) => {
            token.providers.as_ref().is_none_or(|slugs| slugs.iter().any(|one| one == slug))
        }
    }
}

/// The floor that holds, and who chose it: a virtual machine for whoever may use a hosted provider, else WebAssembly.
fn floor_of(request: &Request, caller: &Caller, inner: &Inner) -> (Tier, Choice) {
    if let Some(floor) = request.isolation_at_least {
        return (floor, Choice::Asked);
    }
    let is_hosted =
        |slug: &str| slug != OPEN_TO_ALL && caller.token().is_some() && permits(caller, slug);
    // What is not set up cannot be used.
    let may_hosted = inner.adapters.iter().any(|adapter| {
        is_hosted(adapter.slug()) && adapter.readiness() != Readiness::NotConfigured
    });
    (if may_hosted { Tier::VirtualMachine } else { Tier::Wasm }, Choice::Default)
}

/// SHA-256 of everything that was asked for.
fn fingerprint(request: &Request) -> [u8; 32] {
    let Request {
        language,
        code,
        timeout_ms,
        providers,
        fallback,
        isolation_at_least,
        egress,
        max_cost_usd,
        drill,
    } = request;
    let parts = [
        language.word().to_owned(),
        timeout_ms.to_string(),
        providers.as_ref().map_or_else(|| "*".to_owned(), |slugs| slugs.join(",")),
        fallback.to_string(),
        isolation_at_least.map_or("*", Tier::word).to_owned(),
        egress.word().to_owned(),
        max_cost_usd.map_or_else(|| "*".to_owned(), |usd| usd.to_string()),
        drill.map_or("*", Drill::word).to_owned(),
        code.clone(),
    ];
    sha256(parts.join("\n"))
}
