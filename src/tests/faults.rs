//! The hosted providers' adapters in the chain, under every fault: stand-in servers do what a script says, first in the chain
//! and last. Whatever happens, the code runs once at most, the answer comes in time, and no sandbox is left.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream;
use jiff::Timestamp;
use secrecy::SecretString;
use sqlx::SqlitePool;
use tokio::net::TcpListener;

use crate::access::{self, Caller};
use crate::catalog::Catalog;
use crate::catalog::claim::Tier;
use crate::catalog::load::{embedded_files, load};
use crate::catalog::shape::Shape;
use crate::database;
use crate::moment::today;
use crate::money::{Quantity, Usd};
use crate::router::adapter::Adapter;
use crate::router::daytona::{self, Daytona};
use crate::router::e2b::{self, E2b};
use crate::router::{Limits, SandboxRouter};
use crate::runs::draft::Draft;
use crate::runs::{AttemptOutcome, Next, Outcome, Reason, Receipt, TeardownState};
use crate::standins::faults::{Answer, Fault, Garble, Stage, What};
use crate::standins::runner::Echo;
use crate::standins::scripted::{Script, Scripted};
use crate::standins::{Standin, daytona as daytona_standin, e2b as e2b_standin};

/// What a provider under test has to start in.
const START_SLICE: Duration = Duration::from_millis(900);
/// The wall clock of the code.
const TIMEOUT: Duration = Duration::from_millis(600);
/// How long a sandbox whose order was never answered may still come.
const LATE: Duration = Duration::from_millis(2_500);
/// How long a try to destroy a sandbox may take.
const TEARDOWN_TRY: Duration = Duration::from_millis(800);
/// How long a test waits for what comes by itself.
const PATIENCE: Duration = Duration::from_secs(30);
/// Rows that are tried at the same time.
const AT_ONCE: usize = 12;
/// What the faulty provider is in the chain with.
const OTHER: &str = "scripted-other";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Provider {
    E2b,
    Daytona,
}

/// How the faulty provider is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Address {
    Its,
    Refused,
    Unknown,
    NoTls,
}

/// What has to become of the attempt at the faulty provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// It runs the code.
    Runs,
    /// It fails before any code ran: the next one is tried.
    Fails(Reason),
    /// It is not known whether code ran: the end.
    Interrupts(Reason),
    /// The wall clock ends it.
    TimesOut,
}

use Expected::{Fails, Interrupts, Runs, TimesOut};

struct Row {
    name: String,
    language: &'static str,
    faults: Vec<Fault>,
    address: Address,
    expected: Expected,
}

fn row(name: impl Into<String>, faults: Vec<Fault>, expected: Expected) -> Row {
    Row { name: name.into(), language: "python", faults, address: Address::Its, expected }
}

fn at(stage: Stage, what: What, expected: Expected) -> Row {
    row(format!("{stage:?} {what:?}"), vec![Fault::at(stage, what)], expected)
}

fn answer(stage: Stage, status: u16, body: &str, expected: Expected) -> Row {
    let mut row = at(stage, What::answer(status, body), expected);
    row.name = format!("{stage:?} {status} {body}");
    row
}

fn html(stage: Stage, status: u16, expected: Expected) -> Row {
    let answer = Answer {
        status,
        body: "<html><body>bad gateway</body></html>".to_owned(),
        content_type: Some("text/html".to_owned()),
        headers: [].into(),
    };
    at(stage, What::Answer(answer), expected)
}

fn limited(stage: Stage, header: &str, expected: Expected) -> Row {
    let answer = Answer {
        status: 429,
        body: r#"{"code":429,"statusCode":429,"message":"Rate limit exceeded"}"#.to_owned(),
        content_type: Some("application/json".to_owned()),
        headers: [(header.to_owned(), "7".to_owned())].into(),
    };
    at(stage, What::Answer(answer), expected)
}

fn garbled(stage: Stage, kind: Garble, expected: Expected) -> Row {
    at(stage, What::Garble { kind }, expected)
}

fn reached(address: Address, expected: Expected) -> Row {
    Row { address, ..row(format!("{address:?}"), Vec::new(), expected) }
}

fn shape(vcpu: u64, memory_gib: u64, disk_gib: u64) -> Shape {
    Shape { vcpu: vcpu.into(), memory_gib: memory_gib.into(), disk_gib: disk_gib.into() }
}

/// A chain of two with its database.
struct Chain {
    router: SandboxRouter,
    pool: SqlitePool,
    standin: Standin,
    other: Scripted,
    providers: Vec<&'static str>,
    _folder: tempfile::TempDir,
}

impl Chain {
    /// The provider under test first, or last behind one that refuses.
    async fn new(provider: Provider, is_first: bool, address: Address, catalog: &Arc<Catalog>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pool = database::open(&folder.path().join("thud.sqlite")).await.unwrap();
        let standin = match provider {
            Provider::E2b => e2b_standin::start(Arc::new(Echo)).await.unwrap(),
            Provider::Daytona => daytona_standin::start(Arc::new(Echo)).await.unwrap(),
        };
        let url = match address {
            Address::Its => standin.url(),
            // Nobody listens at a port that was free a moment ago.
            Address::Refused => {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                format!("http://{}", listener.local_addr().unwrap())
            }
            Address::Unknown => "http://nobody.invalid:1".to_owned(),
            Address::NoTls => standin.url().replace("http://", "https://"),
        };
        let adapter = adapter(provider, &url, standin.key(), "site-a");
        let other = Scripted::new(OTHER, if is_first { Script::Runs } else { Script::Refuses });
        let slug = adapter.slug();
        let providers = if is_first { vec![slug, OTHER] } else { vec![OTHER, slug] };
        let limits =
            Limits { teardown_try: TEARDOWN_TRY, late_sandbox: LATE, ..Limits::default() };
        let adapters: Vec<Arc<dyn Adapter>> = vec![adapter, Arc::new(other.clone())];
        let router = SandboxRouter::new(pool.clone(), catalog.clone(), adapters, limits);
        Self { router, pool, standin, other, providers, _folder: folder }
    }

    async fn token(&self) -> Caller {
        let budget = Usd::from(1_000);
        let text =
            access::create(&self.pool, "test", budget, None, Timestamp::now()).await.unwrap();
        Caller::Token(access::verify(&self.pool, &text).await.unwrap().unwrap())
    }

    async fn run(&self, language: &str, code: &str) -> (Receipt, Duration) {
        let draft = Draft {
            language: language.to_owned(),
            code: code.to_owned(),
            timeout_ms: Some(u64::try_from(TIMEOUT.as_millis()).unwrap()),
            providers: Some(self.providers.iter().map(|slug| (*slug).to_owned()).collect()),
            ..Draft::default()
        };
        let request = draft.read(&self.router.providers()).unwrap();
        let begun = Instant::now();
        let id = self.router.submit(request, &self.token().await, None).await.unwrap().id;
        let waited = tokio::time::timeout(PATIENCE, self.router.wait(&id)).await;
        assert!(waited.is_ok(), "no answer");
        (self.router.receipt(&id).await.unwrap().unwrap(), begun.elapsed())
    }

    /// Lets the platform work again and the reaper look, until nothing is owed.
    async fn paid(&self, name: &str) {
        self.standin.script(Vec::new());
        let nothing_left = async {
            loop {
                self.router.reap().await.unwrap();
                let is_owed: bool =
                    sqlx::query_scalar("select exists (select 1 from lease where state = 'open')")
                        .fetch_one(&self.pool)
                        .await
                        .unwrap();
                if !is_owed && self.standin.sandboxes().is_empty() && self.other.left() == 0 {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        let paid = tokio::time::timeout(PATIENCE, nothing_left).await;
        assert!(paid.is_ok(), "{name}: left {:?}", self.standin.sandboxes());
    }
}

fn adapter(provider: Provider, url: &str, key: &str, site: &str) -> Arc<dyn Adapter> {
    let (api_key, start_slice) = (SecretString::from(key.to_owned()), START_SLICE);
    match provider {
        Provider::E2b => {
            let settings = e2b::Settings {
                api_key,
                domain: "e2b.test".to_owned(),
                api_url: url.to_owned(),
                sandbox_url: Some(url.to_owned()),
                template: "code-interpreter-v1".to_owned(),
                shape: shape(2, 2, 10),
                start_slice,
            };
            Arc::new(E2b::new(settings, site.to_owned()).unwrap())
        }
        Provider::Daytona => {
            let settings = daytona::Settings {
                api_key,
                api_url: url.to_owned(),
                toolbox_url: None,
                target: None,
                snapshot: "daytona-vm-small".to_owned(),
                tier: Tier::VirtualMachine,
                shape: shape(1, 1, 3),
                start_slice,
            };
            Arc::new(Daytona::new(settings, site.to_owned()).unwrap())
        }
    }
}

async fn check(provider: Provider, is_first: bool, row: &Row, catalog: &Arc<Catalog>) {
    let place = if is_first { "first" } else { "last" };
    let name = format!("{provider:?} {place}, {}: {}", row.language, row.name);
    let chain = Chain::new(provider, is_first, row.address, catalog).await;
    chain.standin.script(row.faults.clone());
    let (Receipt { run, .. }, took) = chain.run(row.language, "say:hello").await;
    let text = format!("{name}\n{:#?}", run.attempts);

    let own = if is_first { &run.attempts[0] } else { run.attempts.last().unwrap() };
    let by_itself = if is_first { Next::FailedOver } else { Next::NoCandidateLeft };
    let (outcome, reason, next, of_run) = match row.expected {
        Runs => (AttemptOutcome::Completed, None, Next::Final, Outcome::Completed),
        TimesOut => (AttemptOutcome::TimedOut, None, Next::Final, Outcome::TimedOut),
        Interrupts(reason) => {
            (AttemptOutcome::Interrupted, Some(reason), Next::Final, Outcome::Interrupted)
        }
        Fails(reason) => {
            let of_run = if is_first { Outcome::Completed } else { Outcome::Unavailable };
            (AttemptOutcome::Unavailable, Some(reason), by_itself, of_run)
        }
    };
    assert_eq!((own.outcome, own.reason, own.next), (Some(outcome), reason, Some(next)), "{text}");
    assert_eq!(run.outcome, Some(of_run), "{text}");

    // Never twice, and where the chain went on, not at the first one at all.
    let (here, there) = (chain.standin.executions(), u64::from(chain.other.executions()));
    assert!(here + there <= 1, "{text}\nran {here} and {there} times");
    match row.expected {
        Runs => assert_eq!(here, 1, "{text}"),
        Fails(_) => assert_eq!((here, there), (0, u64::from(is_first)), "{text}"),
        Interrupts(_) | TimesOut => assert_eq!(there, 0, "{text}"),
    }
    let most = START_SLICE + Duration::from_secs(2) + TIMEOUT + Duration::from_secs(5);
    assert!(took < most, "{text}\ntook {took:?}");

    chain.paid(&name).await;
    let receipt = chain.router.receipt(&run.id).await.unwrap().unwrap();
    for attempt in &receipt.run.attempts {
        let is_over = matches!(
            attempt.teardown.state,
            TeardownState::NothingCreated | TeardownState::Confirmed
        );
        assert!(is_over, "{name}: {:?}", attempt.teardown);
    }
    let cost = receipt.run.cost().routed_usd;
    assert!(cost <= run.quote.routed_usd, "{name}: {cost} of {}", run.quote.routed_usd);
}

async fn check_all(provider: Provider, rows: Vec<Row>) {
    let catalog = Arc::new(load(&embedded_files(), today()).unwrap());
    let cases = rows.iter().flat_map(|row| [(row, true), (row, false)]);
    let all = stream::iter(cases).map(|(row, is_first)| check(provider, is_first, row, &catalog));
    all.buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
}

/// What the create call of both is answered with by edges and by accident.
fn of_any_create() -> Vec<Row> {
    use Stage::Create;
    vec![
        reached(Address::Refused, Fails(Reason::Outage)),
        reached(Address::Unknown, Fails(Reason::Outage)),
        reached(Address::NoTls, Fails(Reason::Outage)),
        at(Create, What::Hang {}, Fails(Reason::StartTimeout)),
        at(Create, What::HangAfter {}, Fails(Reason::StartTimeout)),
        at(Create, What::Drip {}, Fails(Reason::StartTimeout)),
        at(Create, What::Cut {}, Fails(Reason::LostConnection)),
        at(Create, What::CutAfter {}, Fails(Reason::LostConnection)),
        at(Create, What::CutWithin { bytes: 9 }, Fails(Reason::LostConnection)),
        // The answer comes when nobody waits for it any more, and with it a sandbox.
        at(Create, What::DelayMs { ms: 1_500 }, Fails(Reason::StartTimeout)),
        answer(Create, 401, r#"{"message":"no"}"#, Fails(Reason::Auth)),
        answer(Create, 403, r#"{"message":"no"}"#, Fails(Reason::Auth)),
        answer(Create, 404, r#"{"message":"no"}"#, Fails(Reason::BadRequest)),
        answer(Create, 422, r#"{"message":"no"}"#, Fails(Reason::BadRequest)),
        answer(Create, 500, r#"{"message":"no"}"#, Fails(Reason::Outage)),
        html(Create, 502, Fails(Reason::Outage)),
        garbled(Create, Garble::HalfFrame, Fails(Reason::Protocol)),
        garbled(Create, Garble::HugeFrame, Fails(Reason::Protocol)),
        garbled(Create, Garble::WrongTypes, Fails(Reason::Protocol)),
        garbled(Create, Garble::UnknownEvents, Runs),
        garbled(Create, Garble::GzipBomb, Fails(Reason::Protocol)),
        garbled(Create, Garble::NotJson, Fails(Reason::Protocol)),
        garbled(Create, Garble::NoEnd, Fails(Reason::Protocol)),
        garbled(Create, Garble::OtherHost, Fails(Reason::Protocol)),
        garbled(Create, Garble::OtherId, Fails(Reason::Outage)),
    ]
}

/// What a sandbox of both may be looked at with.
fn of_any_detail() -> Vec<Row> {
    use Stage::Detail;
    vec![
        at(Detail, What::Hang {}, Fails(Reason::StartTimeout)),
        at(Detail, What::Drip {}, Fails(Reason::StartTimeout)),
        at(Detail, What::Cut {}, Fails(Reason::LostConnection)),
        at(Detail, What::CutWithin { bytes: 9 }, Fails(Reason::LostConnection)),
        answer(Detail, 401, r#"{"message":"no"}"#, Fails(Reason::Auth)),
        answer(Detail, 404, r#"{"message":"no"}"#, Fails(Reason::Outage)),
        answer(Detail, 500, r#"{"message":"no"}"#, Fails(Reason::Outage)),
        html(Detail, 502, Fails(Reason::Outage)),
        garbled(Detail, Garble::WrongTypes, Fails(Reason::Protocol)),
        garbled(Detail, Garble::NotJson, Fails(Reason::Protocol)),
        garbled(Detail, Garble::EgressOpen, Fails(Reason::EgressNotConfirmed)),
        garbled(Detail, Garble::Larger, Fails(Reason::Protocol)),
    ]
}

/// How destroying a sandbox of both may fail, for a while.
fn of_any_delete() -> Vec<Row> {
    use Stage::Delete;
    let for_a_while = |what: What| {
        let name = format!("Delete for a while {what:?}");
        row(name, vec![Fault::at(Delete, what).times(4)], Runs)
    };
    vec![
        at(Delete, What::Hang {}, Runs),
        at(Delete, What::HangAfter {}, Runs),
        at(Delete, What::Drip {}, Runs),
        at(Delete, What::Cut {}, Runs),
        at(Delete, What::CutAfter {}, Runs),
        for_a_while(What::answer(500, "{}")),
        for_a_while(What::answer(429, "{}")),
        for_a_while(What::answer(401, "{}")),
        for_a_while(What::Hang {}),
        at(Delete, What::Redirect { to: "http://127.0.0.1:1/".to_owned() }, Runs),
    ]
}

/// How the call that carries the code may go wrong at both.
fn of_any_run() -> Vec<Row> {
    use Stage::Run;
    vec![
        at(Run, What::Hang {}, TimesOut),
        at(Run, What::HangAfter {}, TimesOut),
        at(Run, What::Drip {}, TimesOut),
        at(Run, What::Cut {}, Interrupts(Reason::LostConnection)),
        at(Run, What::CutAfter {}, Interrupts(Reason::LostConnection)),
        at(Run, What::CutWithin { bytes: 9 }, Interrupts(Reason::LostConnection)),
        answer(Run, 401, r#"{"message":"no"}"#, Fails(Reason::Auth)),
        answer(Run, 403, r#"{"message":"no"}"#, Fails(Reason::Auth)),
        answer(Run, 404, r#"{"message":"no"}"#, Fails(Reason::Outage)),
        limited(Run, "retry-after", Fails(Reason::RateLimited)),
        answer(Run, 503, r#"{"message":"no"}"#, Interrupts(Reason::LostConnection)),
        answer(Run, 504, r#"{"message":"no"}"#, Interrupts(Reason::LostConnection)),
        html(Run, 500, Interrupts(Reason::LostConnection)),
        html(Run, 502, Interrupts(Reason::LostConnection)),
        at(
            Run,
            What::Redirect { to: "http://127.0.0.1:1/".to_owned() },
            Interrupts(Reason::Protocol),
        ),
        garbled(Run, Garble::GzipBomb, Interrupts(Reason::Protocol)),
        garbled(Run, Garble::WrongTypes, Interrupts(Reason::Protocol)),
        garbled(Run, Garble::NotJson, Interrupts(Reason::Protocol)),
        garbled(Run, Garble::UnknownEvents, Runs),
    ]
}

#[tokio::test]
async fn e2b_that_makes_no_sandbox_is_followed_by_another() {
    use Stage::Create;
    let mut rows = of_any_create();
    rows.extend([
        answer(Create, 400, r#"{"message":"Timeout cannot be greater"}"#, Fails(Reason::BadRequest)),
        answer(
            Create,
            409,
            r#"{"message":"m","error_code":"idempotency_in_progress"}"#,
            Fails(Reason::Outage),
        ),
        answer(
            Create,
            429,
            r#"{"message":"you have reached the maximum number of concurrent E2B sandboxes"}"#,
            Fails(Reason::Quota),
        ),
        limited(Create, "retry-after", Fails(Reason::RateLimited)),
        answer(
            Create,
            503,
            r#"{"message":"m","error_code":"sandbox_capacity_unavailable"}"#,
            Fails(Reason::Capacity),
        ),
        answer(
            Create,
            504,
            r#"{"message":"m","error_code":"sandbox_placement_timeout"}"#,
            Fails(Reason::StartTimeout),
        ),
    ]);
    check_all(Provider::E2b, rows).await;
}

#[tokio::test]
async fn e2b_that_cannot_confirm_what_it_gave_is_sent_no_code() {
    use Stage::Health;
    let mut rows = of_any_detail();
    let shut = r#"{"sandboxId":"i1","message":"The sandbox is running but port is not open","code":502}"#;
    rows.extend([
        at(Health, What::Hang {}, Fails(Reason::StartTimeout)),
        at(Health, What::Cut {}, Fails(Reason::LostConnection)),
        answer(Health, 502, shut, Fails(Reason::LostConnection)),
        answer(Health, 403, r#"{"message":"no"}"#, Fails(Reason::Auth)),
    ]);
    check_all(Provider::E2b, rows).await;
}

#[tokio::test]
async fn e2b_that_loses_code_is_not_followed_by_another() {
    use Stage::Run;
    let gone = r#"{"sandboxId":"i1","message":"The sandbox was not found","code":502}"#;
    let mut rows = of_any_run();
    rows.extend([
        answer(Run, 502, gone, Fails(Reason::Outage)),
        answer(Run, 409, r#"{"message":"still transitioning"}"#, Fails(Reason::Outage)),
        answer(Run, 422, r#"{"detail":[]}"#, Fails(Reason::BadRequest)),
        garbled(Run, Garble::HalfFrame, Interrupts(Reason::LostConnection)),
        garbled(Run, Garble::NoEnd, Interrupts(Reason::LostConnection)),
        // Of a line of many MiB the beginning is kept, and a broken character is replaced.
        garbled(Run, Garble::HugeFrame, Runs),
        garbled(Run, Garble::InvalidUtf8, Runs),
    ]);
    let of_shell = [
        at(Run, What::Hang {}, TimesOut),
        at(Run, What::Drip {}, TimesOut),
        at(Run, What::Cut {}, Interrupts(Reason::LostConnection)),
        at(Run, What::CutAfter {}, Interrupts(Reason::LostConnection)),
        answer(Run, 401, r#"{"code":401,"message":"no"}"#, Fails(Reason::Auth)),
        answer(Run, 502, gone, Fails(Reason::Outage)),
        answer(Run, 500, "no", Interrupts(Reason::LostConnection)),
        garbled(Run, Garble::HalfFrame, Interrupts(Reason::LostConnection)),
        garbled(Run, Garble::NoEnd, Interrupts(Reason::LostConnection)),
        garbled(Run, Garble::HugeFrame, Interrupts(Reason::Protocol)),
        garbled(Run, Garble::WrongTypes, Interrupts(Reason::Protocol)),
        garbled(Run, Garble::UnknownEvents, Runs),
        garbled(Run, Garble::InvalidUtf8, Runs),
    ];
    rows.extend(of_shell.map(|row| Row { language: "bash", ..row }));
    check_all(Provider::E2b, rows).await;
}

#[tokio::test]
async fn e2b_that_cannot_destroy_a_sandbox_is_asked_until_it_has() {
    check_all(Provider::E2b, of_any_delete()).await;
}

#[tokio::test]
async fn daytona_that_makes_no_sandbox_is_followed_by_another() {
    use Stage::Create;
    let mut rows = of_any_create();
    for (status, message, reason) in [
        (400, "No available runners", Reason::Capacity),
        (400, "Total CPU limit exceeded. Maximum allowed: 10.", Reason::Quota),
        (400, "Snapshot x not found", Reason::BadRequest),
        (400, "Sandbox failed to start: boom", Reason::Outage),
        (403, "Organization is suspended: payment", Reason::Quota),
        (503, "Service is currently under maintenance.", Reason::Outage),
        (504, "", Reason::Outage),
    ] {
        let body = serde_json::json!({ "statusCode": status, "message": message }).to_string();
        rows.push(answer(Create, status, &body, Fails(reason)));
    }
    rows.extend([
        limited(Create, "retry-after-sandbox-create", Fails(Reason::RateLimited)),
        answer(Create, 429, r#"{"message":"ThrottlerException"}"#, Fails(Reason::RateLimited)),
        garbled(Create, Garble::EgressOpen, Fails(Reason::EgressNotConfirmed)),
        garbled(Create, Garble::ContainerClass, Fails(Reason::IsolationNotConfirmed)),
        garbled(Create, Garble::Larger, Fails(Reason::Protocol)),
    ]);
    check_all(Provider::Daytona, rows).await;
}

#[tokio::test]
async fn daytona_that_loses_code_is_not_followed_by_another() {
    use Stage::Run;
    let mut rows = of_any_run();
    rows.extend([
        answer(Run, 400, r#"{"message":"failed to get runner info"}"#, Fails(Reason::Outage)),
        answer(Run, 400, r#"{"message":"command is required"}"#, Fails(Reason::BadRequest)),
        answer(Run, 408, r#"{"code":"PROCESS_EXECUTION_TIMEOUT"}"#, TimesOut),
        answer(Run, 500, r#"{"message":"no"}"#, Interrupts(Reason::LostConnection)),
        answer(Run, 502, "", Interrupts(Reason::LostConnection)),
        answer(
            Run,
            200,
            r#"{"exitCode":-1,"result":"Killed"}"#,
            Interrupts(Reason::Protocol),
        ),
        garbled(Run, Garble::HalfFrame, Interrupts(Reason::Protocol)),
        garbled(Run, Garble::NoEnd, Interrupts(Reason::Protocol)),
        garbled(Run, Garble::HugeFrame, Interrupts(Reason::Protocol)),
        garbled(Run, Garble::InvalidUtf8, Interrupts(Reason::Protocol)),
    ]);
    check_all(Provider::Daytona, rows).await;
}

#[tokio::test]
async fn daytona_that_cannot_destroy_a_sandbox_is_asked_until_it_has() {
    check_all(Provider::Daytona, of_any_delete()).await;
}
