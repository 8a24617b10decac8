//! Every fault in both places of the chain: what becomes of the attempt and of the run, who ran the code and how often, how
//! long it took, and that nothing is left.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;

use super::{Address, Chain, Provider, START_SLICE, TIMEOUT, catalog};
use crate::catalog::Catalog;
use crate::runs::{AttemptOutcome, Next, Outcome, Reason, Receipt, TeardownState};
use crate::standins::faults::{Answer, Fault, Garble, Stage, What};

/// Rows that are tried at the same time.
const AT_ONCE: usize = 12;

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

    let (answered, deadline) = (run.final_at.as_deref(), run.deadline_at.as_deref());
    assert!(answered <= deadline, "{text}\n{answered:?} is after {deadline:?}");

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
    let catalog = catalog();
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
        at(Create, What::DelayMs { ms: 2_200 }, Fails(Reason::StartTimeout)),
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
        garbled(Run, Garble::UnknownEvents, Runs),
    ]
}

#[tokio::test]
async fn e2b_that_makes_no_sandbox_is_followed_by_another() {
    use Stage::Create;
    let mut rows = of_any_create();
    // A server of before the second version of the call.
    let older = vec![Fault::at(Create, What::answer(404, "404 page not found")).times(1)];
    rows.push(row("Create by the first version", older, Runs));
    rows.extend([
        answer(
            Create,
            400,
            r#"{"message":"Timeout cannot be greater"}"#,
            Fails(Reason::BadRequest),
        ),
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
    let shut =
        r#"{"sandboxId":"i1","message":"The sandbox is running but port is not open","code":502}"#;
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
        // A body without a line has no last one.
        garbled(Run, Garble::NotJson, Interrupts(Reason::LostConnection)),
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
async fn daytona_that_cannot_confirm_what_it_gave_is_sent_no_code() {
    use Stage::Detail;
    let mut rows = of_any_detail();
    rows.extend([
        garbled(Detail, Garble::OtherHost, Fails(Reason::Protocol)),
        garbled(Detail, Garble::ContainerClass, Fails(Reason::IsolationNotConfirmed)),
    ]);
    check_all(Provider::SlowDaytona, rows).await;
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
        answer(Run, 200, r#"{"exitCode":-1,"result":"Killed"}"#, Interrupts(Reason::Protocol)),
        garbled(Run, Garble::HalfFrame, Interrupts(Reason::Protocol)),
        garbled(Run, Garble::NoEnd, Interrupts(Reason::Protocol)),
        garbled(Run, Garble::NotJson, Interrupts(Reason::Protocol)),
        garbled(Run, Garble::HugeFrame, Interrupts(Reason::Protocol)),
        garbled(Run, Garble::InvalidUtf8, Interrupts(Reason::Protocol)),
    ]);
    check_all(Provider::Daytona, rows).await;
}

#[tokio::test]
async fn daytona_that_cannot_destroy_a_sandbox_is_asked_until_it_has() {
    check_all(Provider::Daytona, of_any_delete()).await;
}
