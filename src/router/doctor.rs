//! Looks whether a provider does what it should: one sandbox is made, looked at from within and destroyed.
//!
//! It works beside a site that runs: it keeps no records, and so it has to clean up by itself, whatever happens on the way.
//! Not here: how it is printed (`main/doctor.rs`).

use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde::Deserialize;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::adapter::{
    Adapter, Created, Ended, Failure, Gone, Order, Owed, Readiness, Remains, Sandbox, Snippet,
    Terms, Unrecorded, Watch,
};
use super::attempt::kill_horizon;
use super::{LATE_SANDBOX, TEARDOWN_TRY};
use crate::access::random_hex;
use crate::catalog::claim::Tier;
use crate::catalog::shape::Shape;
use crate::causes::chain;
use crate::runs::output::{Collected, inert};
use crate::runs::{Applied, Egress, Language, Proof, Stage, Stream, satisfies};

/// What is run in the sandbox.
const LOOK: &str = include_str!("doctor/look.py");
/// The wall clock of that.
const LOOK_TIMEOUT: Duration = Duration::from_secs(20);
/// So long after that the doctor waits for an adapter that should have ended it.
const LOOK_GRACE: Duration = Duration::from_secs(10);
/// What is read of its output, bytes.
const OUTPUT_BYTES_MAX: usize = 16 * 1024;
/// What is told of an output that cannot be read, characters.
const TOLD_CHARS_MAX: usize = 300;
/// How long a sandbox may warm up.
const WARM_UP_MAX: Duration = Duration::from_mins(2);
/// How long a list of sandboxes may take.
const LIST_MAX: Duration = Duration::from_secs(20);
/// How often destroying is tried, and how often it is looked whether nothing is left.
const TRIES: u32 = 4;
/// What passes before the second try; twice as long before every other.
const PAUSE: Duration = Duration::from_millis(250);
/// How often it is looked for.
const LATE_LOOK: Duration = Duration::from_secs(3);
/// The run that its sandboxes are said to be for.
const RUN: &str = "doctor";

words! {
    /// What came of a check.
    Verdict {
        /// It is as it should be.
        Passed = "passed", "ok";
        /// It is not.
        Failed = "failed", "FAILED";
        /// Nothing was demanded: it is told.
        Told = "told", "-";
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What it is.
    pub name: &'static str,
    /// What came of it.
    pub verdict: Verdict,
    /// What was seen. Untrusted where the sandbox said it: without control characters, but not true for that.
    pub words: String,
}

fn passed(name: &'static str, words: impl Into<String>) -> Check {
    Check { name, verdict: Verdict::Passed, words: words.into() }
}

fn failed(name: &'static str, words: impl Into<String>) -> Check {
    Check { name, verdict: Verdict::Failed, words: words.into() }
}

fn told(name: &'static str, words: impl Into<String>) -> Check {
    Check { name, verdict: Verdict::Told, words: words.into() }
}

/// Looks at one provider. A cancelled look goes on to destroy what it made. One that is not configured is told, and nothing is
/// asked of it.
pub async fn examine(adapter: &dyn Adapter, stop: &CancellationToken) -> Vec<Check> {
    let words = match adapter.ready_by(Instant::now() + WARM_UP_MAX).await {
        Readiness::Ready => None,
        Readiness::NotConfigured => {
            return vec![told("configured", adapter.about().unwrap_or_else(|| "no".to_owned()))];
        }
        Readiness::WarmingUp => Some(format!("it still warms up after {WARM_UP_MAX:?}")),
    };
    if let Some(words) = words {
        return vec![failed("configured", words)];
    }
    let begun = Instant::now();
    let listed = match list(adapter).await {
        Ok(tagged) => {
            let took = begun.elapsed();
            passed("credentials", format!("taken; a list in {took:.0?}, {} of ours", tagged.len()))
        }
        Err(words) => return vec![failed("credentials", words)],
    };
    let Ok(lease) = random_hex::<16>() else {
        return vec![listed, failed("create", "no random numbers for a name")];
    };
    let mut checks = vec![listed];
    let mut owed = Owed { lease, handle: None };
    if made(adapter, &mut owed, &mut checks, stop).await == Remains::Perhaps {
        checks.push(destroyed(adapter, &owed).await);
    }
    checks.push(nothing_left(adapter, &owed).await);
    if stop.is_cancelled() {
        checks.push(failed("whole", "it was broken off"));
    }
    checks
}

/// What somebody has to know who is told of a failure: it is the operator's own terminal.
fn why(failure: &Failure) -> String {
    let status = failure.http_status.map_or_else(String::new, |status| format!(", HTTP {status}"));
    let causes = failure.source.as_deref().map(|source| format!(": {}", chain(source)));
    inert(&format!("{}{status}{}", failure.reason.label(), causes.unwrap_or_default()))
}

async fn list(adapter: &dyn Adapter) -> Result<Vec<Owed>, String> {
    match timeout(LIST_MAX, adapter.tagged()).await {
        Ok(Ok(tagged)) => Ok(tagged),
        Ok(Err(failure)) => Err(why(&failure)),
        Err(_) => Err(format!("no list within {LIST_MAX:?}")),
    }
}

/// Waits for an answer, for so long at most and until it is broken off.
async fn within<T>(
    limit: Duration,
    stop: &CancellationToken,
    answer: impl Future<Output = T>,
) -> Result<T, String> {
    tokio::select! {
        biased;
        () = stop.cancelled() => Err("broken off".to_owned()),
        answer = timeout(limit, answer) => answer.map_err(|_| format!("no answer within {limit:?}")),
    }
}

/// Makes a sandbox, looks at it from without and within; says whether anything may be there afterwards.
async fn made(
    adapter: &dyn Adapter,
    owed: &mut Owed,
    checks: &mut Vec<Check>,
    stop: &CancellationToken,
) -> Remains {
    let terms = adapter.terms();
    let language = if terms.languages.contains(&Language::Python) {
        Language::Python
    } else {
        terms.languages.first().copied().unwrap_or(Language::Python)
    };
    let begun = Instant::now();
    let order = Order {
        lease: owed.lease.clone(),
        run: RUN.to_owned(),
        language,
        isolation_at_least: terms.tier,
        egress: Egress::None,
        timeout: LOOK_TIMEOUT,
        kill_after: kill_horizon(&terms, LOOK_TIMEOUT),
        start_by: begun + terms.start_slice,
    };
    let created = match within(terms.start_slice, stop, adapter.create(&order)).await {
        Ok(Ok(created)) => created,
        Ok(Err(failure)) => {
            checks.push(failed("create", why(&failure)));
            owed.handle = failure.handle;
            return failure.remains;
        }
        Err(words) => {
            checks.push(failed("create", words));
            return Remains::Perhaps;
        }
    };
    let Created { handle, isolation, egress, shape, mut sandbox, .. } = created;
    checks.push(passed("create", format!("there after {:.0?}", begun.elapsed())));
    owed.handle = Some(handle);
    checks.push(wall(isolation, &terms));
    checks.push(egress_as_given(egress));
    checks.push(size(shape, terms.shape));
    if language == Language::Python {
        looked(sandbox.as_mut(), checks, stop).await;
    } else {
        checks.push(failed("run", "it runs no Python, so nobody looked from within"));
    }
    Remains::Perhaps
}

fn wall(isolation: Applied<Tier>, terms: &Terms) -> Check {
    let Applied { value, evidence } = isolation;
    let words = format!("{}, {}", value.label(), evidence.label());
    if satisfies(value, terms.tier) {
        return passed("isolation", words);
    }
    failed(
        "isolation",
        format!("{words}: weaker than the {} that it should be", terms.tier.label()),
    )
}

/// The size as the platform tells it, beside the one that quotes rest on: a dearer sandbox would run nothing.
fn size(given: Option<Shape>, quoted: Option<Shape>) -> Check {
    let Some(quoted) = quoted else { return told("size", "not sold by size") };
    match given {
        None => told(
            "size",
            format!("{}, as asked for; the platform does not report it", quoted.label()),
        ),
        Some(given)
            if given.vcpu > quoted.vcpu
                || given.memory_gib > quoted.memory_gib
                || given.disk_gib > quoted.disk_gib =>
        {
            let words = format!("{}, but quotes rest on {}", given.label(), quoted.label());
            failed("size", words)
        }
        Some(given) => passed("size", format!("{}, confirmed by the platform", given.label())),
    }
}

fn egress_as_given(egress: Applied<Egress>) -> Check {
    let Applied { value, evidence } = egress;
    let words = match (value, evidence) {
        (Egress::None, Proof::Confirmed) => "off, confirmed by the platform",
        (Egress::None, Proof::Declared) => "off, as asked for; the platform does not report it",
        (Egress::Open, _) => return failed("egress", "open, though it was to be off"),
    };
    passed("egress", words)
}

/// What the sandbox says of itself.
#[derive(Debug, Deserialize)]
struct Looked {
    connect: Way,
    lookup: Way,
    inside: String,
}

/// What came of a way out.
#[derive(Debug, Deserialize)]
struct Way {
    reached: bool,
    said: String,
}

async fn looked(sandbox: &mut dyn Sandbox, checks: &mut Vec<Check>, stop: &CancellationToken) {
    let snippet = Snippet {
        language: Language::Python,
        code: LOOK,
        timeout: LOOK_TIMEOUT,
        output_bytes_max: OUTPUT_BYTES_MAX,
    };
    let heard = Heard::default();
    let begun = Instant::now();
    let ended = match within(LOOK_TIMEOUT + LOOK_GRACE, stop, sandbox.run(&snippet, &heard)).await {
        Ok(ended) => ended,
        Err(words) => return checks.push(failed("run", words)),
    };
    let took = begun.elapsed();
    let said = heard.said();
    let line = said.stdout.lines().rev().find(|line| line.starts_with('{'));
    let looked = line.and_then(|line| serde_json::from_str::<Looked>(line).ok());
    let how = match &ended {
        Ended::Exited { exit_code, .. } => format!("exit code {exit_code}"),
        Ended::TimedOut { .. } => format!("not over within {LOOK_TIMEOUT:?}"),
        Ended::NotRun(failure) | Ended::Lost(failure) => why(failure),
    };
    let is_whole = matches!(ended, Ended::Exited { exit_code: 0, .. });
    let Some(looked) = looked.filter(|_| is_whole) else {
        let said: String =
            [said.stdout, said.stderr].concat().chars().take(TOLD_CHARS_MAX).collect();
        return checks.push(failed("run", format!("{how}; it wrote: {}", inert(said.trim()))));
    };
    checks.push(passed("run", format!("{how}, in {took:.0?}")));
    checks.push(way("1.1.1.1:443", &looked.connect));
    checks.push(way("example.com", &looked.lookup));
    checks.push(told("inside", inert(&looked.inside)));
}

/// Whether a way out is shut.
fn way(to: &'static str, way: &Way) -> Check {
    let said = inert(&way.said);
    if way.reached {
        return failed(to, format!("reached, though egress is off: {said}"));
    }
    passed(to, format!("not reached: {said}"))
}

async fn destroyed(adapter: &dyn Adapter, owed: &Owed) -> Check {
    let begun = Instant::now();
    let mut words = String::new();
    let mut number = 1;
    while number <= TRIES {
        words = match timeout(TEARDOWN_TRY, adapter.destroy(owed)).await {
            Ok(Ok(Gone::Destroyed)) => {
                let took = begun.elapsed();
                return passed("destroy", format!("destroyed and confirmed after {took:.0?}"));
            }
            Ok(Ok(Gone::Already)) => {
                return passed("destroy", "it was gone already, or never there");
            }
            Ok(Ok(Gone::Unseen)) if begun.elapsed() < LATE_SANDBOX => {
                // No try: it is waited for.
                sleep(LATE_LOOK).await;
                continue;
            }
            Ok(Ok(Gone::Unseen)) => {
                return passed("destroy", format!("nothing came within {LATE_SANDBOX:?}"));
            }
            Ok(Err(failure)) => why(&failure),
            Err(_) => format!("no answer within {TEARDOWN_TRY:?}"),
        };
        pause(number).await;
        number += 1;
    }
    let Owed { lease, handle } = owed;
    let name = handle.as_deref().unwrap_or("a sandbox without a known name");
    let (name, last) = (inert(name), kill_horizon(&adapter.terms(), LOOK_TIMEOUT));
    failed(
        "destroy",
        format!(
            "{words}. Destroy it by hand: {name}, tagged with the lease {lease}; its platform should end it after {last:?}"
        ),
    )
}

async fn nothing_left(adapter: &dyn Adapter, owed: &Owed) -> Check {
    let mut words = String::new();
    for number in 1..=TRIES {
        words = match list(adapter).await {
            Ok(tagged) if tagged.iter().all(|one| one.lease != owed.lease) => {
                return passed("nothing left", "its sandbox is not in the list any more");
            }
            Ok(_) => "its sandbox is still in the list".to_owned(),
            Err(words) => words,
        };
        // A list may be a moment old.
        pause(number).await;
    }
    failed("nothing left", words)
}

/// Waits after a try of a number, unless it was the last.
async fn pause(number: u32) {
    if number < TRIES {
        sleep(PAUSE * 2_u32.pow(number - 1)).await;
    }
}

/// What the snippet writes.
#[derive(Default)]
struct Heard(Mutex<Collected>);

impl Heard {
    fn said(&self) -> crate::runs::Output {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).end()
    }
}

#[async_trait]
impl Watch for Heard {
    fn stage(&self, _: Stage) {}

    async fn code_starts(&self) -> Result<(), Unrecorded> {
        Ok(())
    }

    fn output(&self, stream: Stream, bytes: &[u8]) {
        let mut collected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        collected.push(stream, bytes, OUTPUT_BYTES_MAX);
    }

    fn dropped(&self, _: Stream, _: u64) {}
}
