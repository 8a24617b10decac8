//! Runs from their beginning to their end: the chain of attempts, what it costs, what is left behind. Providers follow a
//! script.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use jiff::Timestamp;
use sqlx::SqlitePool;

use crate::access::{self, Caller, Token};
use crate::catalog::Catalog;
use crate::catalog::claim::Tier;
use crate::catalog::load::{embedded_files, load};
use crate::catalog::shape::Shape;
use crate::database;
use crate::hash::{hexadecimal, sha256};
use crate::moment::today;
use crate::money::Usd;
use crate::router::adapter::Adapter;
use crate::router::{Limits, Refusal, Report, SandboxRouter};
use crate::runs::draft::Draft;
use crate::runs::events::{Cursor, Event};
use crate::runs::{
    AttemptOutcome, Egress, Next, Omission, Outcome, Reason, Receipt, Request, Run, RunState,
    Stage, TeardownState,
};
use crate::standins::scripted::{Script, Scripted};

/// How long a test waits for what comes by itself.
const PATIENCE: Duration = Duration::from_secs(30);

/// A router over scripted providers with a database of its own.
struct Bench {
    router: SandboxRouter,
    pool: SqlitePool,
    catalog: Arc<Catalog>,
    _folder: tempfile::TempDir,
}

impl Bench {
    async fn new(providers: &[&Scripted]) -> Self {
        Self::within(Limits::default(), providers).await
    }

    async fn within(limits: Limits, providers: &[&Scripted]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pool = database::open(&folder.path().join("thud.sqlite")).await.unwrap();
        let catalog = Arc::new(load(&embedded_files(), today()).unwrap());
        let router = router(&pool, &catalog, limits, providers);
        Self { router, pool, catalog, _folder: folder }
    }

    /// The same database under a new process.
    async fn restarted(&self, providers: &[&Scripted]) -> SandboxRouter {
        let router = router(&self.pool, &self.catalog, Limits::default(), providers);
        router.start().await.unwrap();
        router
    }

    async fn token(&self, budget: &str) -> Caller {
        let budget = Usd::parse(budget).unwrap();
        let text =
            access::create(&self.pool, "test", budget, None, Timestamp::now()).await.unwrap();
        Caller::Token(access::verify(&self.pool, &text).await.unwrap().unwrap())
    }

    async fn run(&self, draft: Draft) -> Receipt {
        let caller = self.token("1000").await;
        self.run_by(&caller, draft).await
    }

    async fn run_by(&self, caller: &Caller, draft: Draft) -> Receipt {
        let request = self.request(&draft);
        let id = self.router.submit(request, caller, None).await.unwrap().id;
        self.router.wait(&id).await;
        self.settled(&id).await
    }

    fn request(&self, draft: &Draft) -> Request {
        draft.read(&self.router.providers()).unwrap()
    }

    /// The receipt once every sandbox of the run is gone.
    async fn settled(&self, id: &str) -> Receipt {
        let settled = tokio::time::timeout(PATIENCE, self.until_settled(id)).await;
        settled.unwrap_or_else(|_| panic!("{id}: a sandbox is owed that nobody destroys"))
    }

    async fn until_settled(&self, id: &str) -> Receipt {
        loop {
            let receipt = self.router.receipt(id).await.unwrap().unwrap();
            let is_pending = |state| state == TeardownState::Pending;
            let pending = receipt.run.attempts.iter().any(|one| is_pending(one.teardown.state));
            if receipt.run.is_final() && !pending {
                return receipt;
            }
            tokio::task::yield_now().await;
        }
    }

    async fn taken(&self, token: &Token) -> i64 {
        let mut connection = self.pool.acquire().await.unwrap();
        access::taken(&mut connection, &token.id, &today().to_string()).await.unwrap()
    }
}

fn router(
    pool: &SqlitePool,
    catalog: &Arc<Catalog>,
    limits: Limits,
    providers: &[&Scripted],
) -> SandboxRouter {
    let adapters = providers.iter().map(|one| -> Arc<dyn Adapter> { Arc::new((*one).clone()) });
    SandboxRouter::new(pool.clone(), catalog.clone(), adapters.collect(), limits)
}

fn draft() -> Draft {
    Draft { language: "python".to_owned(), code: "print(1)".to_owned(), ..Draft::default() }
}

fn of(providers: &[&str]) -> Draft {
    let providers = providers.iter().map(|slug| (*slug).to_owned()).collect();
    Draft { providers: Some(providers), ..draft() }
}

type Step = (AttemptOutcome, Option<Reason>, Next, TeardownState);

fn chain(run: &Run) -> Vec<Step> {
    let step = |attempt: &crate::runs::Attempt| {
        (attempt.outcome.unwrap(), attempt.reason, attempt.next.unwrap(), attempt.teardown.state)
    };
    run.attempts.iter().map(step).collect()
}

#[tokio::test]
async fn a_provider_that_refuses_is_followed_by_one_that_runs() {
    let (first, second) =
        (Scripted::new("e2b", Script::Refuses), Scripted::new("daytona", Script::Runs));
    let bench = Bench::new(&[&first, &second]).await;
    let receipt = bench.run(of(&["e2b", "daytona"])).await;
    let run = &receipt.run;
    assert_eq!((run.outcome, run.exit_code), (Some(Outcome::Completed), Some(0)));
    assert_eq!(run.provider.as_deref(), Some("daytona"));
    assert_eq!(
        chain(run),
        [
            (
                AttemptOutcome::Unavailable,
                Some(Reason::Capacity),
                Next::FailedOver,
                TeardownState::NothingCreated
            ),
            (AttemptOutcome::Completed, None, Next::Final, TeardownState::Confirmed),
        ]
    );
    assert_eq!(run.attempts[0].http_status, Some(503));
    assert_eq!((run.attempts[0].stage, run.attempts[1].stage), (Stage::Create, Stage::Done));
    assert!(receipt.output.unwrap().stdout.starts_with("daytona: 8 bytes of Python"));
    assert_eq!((first.left(), second.left(), second.executions()), (0, 0, 1));
}

#[tokio::test]
async fn a_provider_that_hangs_does_not_take_the_time_of_others_and_its_sandbox_is_destroyed() {
    let mut first = Scripted::new("e2b", Script::Hangs);
    first.start_slice = Duration::from_millis(50);
    let second = Scripted::new("daytona", Script::Runs);
    let bench = Bench::new(&[&first, &second]).await;
    let receipt = bench.run(of(&["e2b", "daytona"])).await;
    let steps = chain(&receipt.run);
    assert_eq!(steps[0].1, Some(Reason::StartTimeout));
    assert_eq!(steps[0].3, TeardownState::Confirmed, "it was made, although nobody heard of it");
    assert_eq!(steps[1].0, AttemptOutcome::Completed);
    assert_eq!((first.left(), second.left()), (0, 0));
}

#[tokio::test]
async fn code_that_may_have_run_is_never_run_again() {
    let (first, second) =
        (Scripted::new("e2b", Script::Loses), Scripted::new("daytona", Script::Runs));
    let bench = Bench::new(&[&first, &second]).await;
    let receipt = bench.run(of(&["e2b", "daytona"])).await;
    let run = &receipt.run;
    assert_eq!(run.outcome, Some(Outcome::Interrupted));
    assert_eq!((first.executions(), second.executions()), (1, 0));
    assert_eq!(run.attempts.len(), 1);
    assert!(run.attempts[0].code_started);
    let not_tried: Vec<_> =
        run.not_tried.iter().map(|one| (one.provider.as_str(), one.reason)).collect();
    assert_eq!(not_tried, [("daytona", Omission::NotNeeded)]);
    assert!(receipt.output.unwrap().stdout.starts_with("e2b"), "what came before is kept");
}

#[tokio::test]
async fn a_connection_lost_before_any_code_was_sent_is_followed_by_another_provider() {
    let (first, second) =
        (Scripted::new("e2b", Script::LosesBefore), Scripted::new("daytona", Script::Runs));
    let bench = Bench::new(&[&first, &second]).await;
    let run = bench.run(of(&["e2b", "daytona"])).await.run;
    assert_eq!(run.outcome, Some(Outcome::Completed));
    assert_eq!((first.executions(), second.executions()), (0, 1));
    assert_eq!(chain(&run)[0].3, TeardownState::Confirmed);
}

#[tokio::test]
async fn a_weaker_wall_or_an_open_way_out_fails_the_attempt_before_any_code() {
    for (script, reason) in [
        (Script::Weakens, Reason::IsolationNotConfirmed),
        (Script::Opens, Reason::EgressNotConfirmed),
    ] {
        let (first, second) =
            (Scripted::new("e2b", script), Scripted::new("daytona", Script::Runs));
        let bench = Bench::new(&[&first, &second]).await;
        let run = bench.run(of(&["e2b", "daytona"])).await.run;
        assert_eq!(run.attempts[0].reason, Some(reason));
        assert_eq!((first.executions(), first.left()), (0, 0), "{script:?}");
        assert_eq!(run.outcome, Some(Outcome::Completed));
    }
}

#[tokio::test]
async fn without_fallback_the_first_failure_is_the_end() {
    let (first, second) =
        (Scripted::new("e2b", Script::Refuses), Scripted::new("daytona", Script::Runs));
    let bench = Bench::new(&[&first, &second]).await;
    let draft = Draft { fallback: Some(false), ..of(&["e2b", "daytona"]) };
    let run = bench.run(draft).await.run;
    assert_eq!(run.outcome, Some(Outcome::Unavailable));
    assert_eq!((run.attempts.len(), second.executions()), (1, 0));
    assert_eq!(run.attempts[0].next, Some(Next::FallbackOff));
    assert_eq!(run.not_tried[0].reason, Omission::NotNeeded);
}

#[tokio::test]
async fn a_run_that_nobody_may_run_is_refused_with_every_reason() {
    let (first, second) =
        (Scripted::new("e2b", Script::Runs), Scripted::new("local", Script::Runs));
    let bench = Bench::new(&[&first, &second]).await;
    let anonymous = Caller::Anonymous(None);
    let hosted = bench.run_by(&anonymous, of(&["e2b"])).await.run;
    assert_eq!(hosted.outcome, Some(Outcome::Refused));
    assert_eq!(hosted.not_tried[0].reason, Omission::NotPermitted);
    assert!(hosted.refusal.is_some() && hosted.deadline_at.is_none());
    assert_eq!(hosted.asked.isolation_at_least, Tier::Wasm);
    let open = bench.run_by(&anonymous, draft()).await.run;
    assert_eq!(open.provider.as_deref(), Some("local"));
    let long = Draft { timeout_ms: Some(10_001), ..draft() };
    let refused = bench.router.submit(bench.request(&long), &anonymous, None).await;
    assert!(matches!(refused, Err(Refusal::NotAllowed(_))));
}

#[tokio::test]
async fn a_run_costs_its_sandboxes_and_never_more_than_its_quote() {
    let first = Scripted::of_shape("e2b", Script::Loses, Shape::default());
    let second = Scripted::of_shape("daytona", Script::Runs, Shape::default());
    let bench = Bench::new(&[&first, &second]).await;
    let caller = bench.token("1").await;
    let token = caller.token().unwrap();
    let draft = Draft { timeout_ms: Some(5_000), ..of(&["daytona"]) };
    let run = bench.run_by(&caller, draft).await.run;
    // 5 s of code and 15 s more, at 0.0000276 a second.
    assert_eq!(run.quote.routed_usd.to_string(), "0.000552");
    assert_eq!(run.quote.list_usd.to_string(), "0.00046");
    let cost = run.cost();
    assert_eq!(cost.routed_usd.to_string(), "0.0000276", "a second at least");
    assert_eq!(bench.taken(token).await, cost.routed_usd.picodollars());
    // Of an interrupted run nobody knows what it did: all that was reserved is kept.
    let lost = bench.run_by(&caller, of(&["e2b"])).await.run;
    assert_eq!(lost.outcome, Some(Outcome::Interrupted));
    assert_eq!(
        bench.taken(token).await,
        cost.routed_usd.picodollars() + lost.quote.routed_usd.picodollars()
    );
}

#[tokio::test]
async fn a_budget_holds_for_runs_that_are_asked_for_at_the_same_time() {
    let provider = Scripted::of_shape("e2b", Script::Loops, Shape::default());
    let bench = Bench::new(&[&provider]).await;
    // A run of this kind may cost 16 s of 0.0000276 each: two exceed the budget.
    let caller = bench.token("0.0008").await;
    let request = bench.request(&Draft { timeout_ms: Some(1_000), ..of(&["e2b"]) });
    let one = bench.router.submit(request.clone(), &caller, None);
    let two = bench.router.submit(request.clone(), &caller, None);
    let (one, two) = tokio::join!(one, two);
    let (accepted, refused) = if one.is_ok() { (one, two) } else { (two, one) };
    let id = accepted.unwrap().id;
    let Err(Refusal::OverBudget { needed, left }) = refused else { panic!("{refused:?}") };
    assert_eq!(needed.to_string(), "0.0004416");
    assert_eq!(left.to_string(), "0.0003584");
    // Once the first is settled, there is room again.
    bench.settled(&id).await;
    assert!(bench.router.submit(request, &caller, None).await.is_ok());
    assert!(
        bench.taken(caller.token().unwrap()).await <= Usd::parse("0.0008").unwrap().picodollars()
    );
}

#[tokio::test]
async fn a_cap_leaves_out_whom_it_does_not_hold() {
    let first = Scripted::of_shape("e2b", Script::Refuses, Shape::default());
    let second = Scripted::of_shape("daytona", Script::Runs, Shape::default());
    let bench = Bench::new(&[&first, &second]).await;
    let capped = Draft { max_cost_usd: Some("0.001".to_owned()), ..of(&["e2b", "daytona"]) };
    let run = bench.run(capped).await.run;
    assert_eq!(run.outcome, Some(Outcome::Unavailable));
    assert_eq!(run.not_tried[0].reason, Omission::OverCostCap);
    let none = Draft { max_cost_usd: Some("0".to_owned()), ..of(&["e2b"]) };
    assert_eq!(bench.run(none).await.run.outcome, Some(Outcome::Refused));
}

#[tokio::test]
async fn a_key_stands_for_one_request_of_one_token() {
    let provider = Scripted::new("e2b", Script::Runs);
    let bench = Bench::new(&[&provider]).await;
    let (caller, other) = (bench.token("1").await, bench.token("1").await);
    let request = bench.request(&of(&["e2b"]));
    let first = bench.router.submit(request.clone(), &caller, Some("k")).await.unwrap();
    bench.settled(&first.id).await;
    let again = bench.router.submit(request.clone(), &caller, Some("k")).await.unwrap();
    assert_eq!((again.id.as_str(), again.cancel_secret), (first.id.as_str(), None));
    assert_eq!(provider.executions(), 1);
    let changed = Request { code: "print(2)".to_owned(), ..request.clone() };
    let conflict = bench.router.submit(changed, &caller, Some("k")).await;
    assert!(matches!(conflict, Err(Refusal::KeyConflict)));
    let others = bench.router.submit(request.clone(), &other, Some("k")).await.unwrap();
    assert_ne!(others.id, first.id);
    let anonymous = Caller::Anonymous(None);
    let refused = bench.router.submit(request, &anonymous, Some("k")).await;
    assert!(matches!(refused, Err(Refusal::KeyWithoutToken)));
}

#[tokio::test]
async fn a_run_is_cancelled_by_its_secret_or_token_and_by_nobody_else() {
    let provider = Scripted::new("e2b", Script::Loops);
    let bench = Bench::new(&[&provider]).await;
    let (caller, other) = (bench.token("1").await, bench.token("1").await);
    let request = bench.request(&of(&["e2b"]));
    let started = bench.router.submit(request, &caller, None).await.unwrap();
    let (id, secret) = (started.id.as_str(), started.cancel_secret.unwrap());
    assert_eq!(bench.router.cancel_by(id, &other, Some("x")).await.unwrap(), Some(false));
    assert_eq!(bench.router.cancel_by("none", &other, None).await.unwrap(), None);
    let nobody = Caller::Anonymous(None);
    assert_eq!(bench.router.cancel_by(id, &nobody, Some(&secret)).await.unwrap(), Some(true));
    let run = bench.settled(id).await.run;
    assert_eq!(run.outcome, Some(Outcome::Cancelled));
    assert_eq!(provider.left(), 0);
    // What is final stays as it is.
    assert_eq!(bench.router.cancel_by(id, &caller, None).await.unwrap(), Some(true));
    assert_eq!(bench.settled(id).await.run.outcome, Some(Outcome::Cancelled));
}

#[tokio::test]
async fn a_sandbox_that_cannot_be_destroyed_is_tried_again_and_then_left_to_the_reaper() {
    let provider = Scripted::new("e2b", Script::Runs);
    let bench = Bench::new(&[&provider]).await;
    provider.destroy_failures.store(2, Ordering::SeqCst);
    let run = bench.run(of(&["e2b"])).await.run;
    assert_eq!(run.outcome, Some(Outcome::Completed), "the answer does not wait for it");
    provider.destroy_failures.store(0, Ordering::SeqCst);
    while provider.left() > 0 {
        tokio::task::yield_now().await;
    }
    provider.destroy_failures.store(3, Ordering::SeqCst);
    let stuck = bench.run(of(&["e2b"])).await.run;
    while provider.destroy_failures.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(provider.left(), 1);
    let receipt = bench.router.receipt(&stuck.id).await.unwrap().unwrap();
    assert_eq!(receipt.run.attempts[0].teardown.state, TeardownState::Failed);
    // The reaper does it once nobody else does.
    while bench.router.reap().await.unwrap() == Report::default() {
        tokio::task::yield_now().await;
    }
    assert_eq!(provider.left(), 0);
    let receipt = bench.router.receipt(&stuck.id).await.unwrap().unwrap();
    assert_eq!(receipt.run.attempts[0].teardown.state, TeardownState::Confirmed);
    assert_eq!(bench.router.reap().await.unwrap(), Report::default(), "it is idempotent");
}

#[tokio::test]
async fn the_reaper_destroys_what_carries_our_tag_without_a_lease() {
    let provider = Scripted::new("e2b", Script::Runs);
    let bench = Bench::new(&[&provider]).await;
    provider.leave_behind("0123456789abcdef0123456789abcdef");
    let report = bench.router.reap().await.unwrap();
    assert_eq!(report, Report { found: 1, destroyed: 1, already_gone: 0, failed: 0 });
    assert_eq!(provider.left(), 0);
}

#[tokio::test]
async fn a_provider_that_fails_in_a_row_is_left_out_for_a_while() {
    let (first, second) =
        (Scripted::new("e2b", Script::Refuses), Scripted::new("daytona", Script::Runs));
    let bench = Bench::new(&[&first, &second]).await;
    for _ in 0..3 {
        assert_eq!(bench.run(of(&["e2b", "daytona"])).await.run.attempts.len(), 2);
    }
    let run = bench.run(of(&["e2b", "daytona"])).await.run;
    assert_eq!(run.attempts.len(), 1);
    assert_eq!(run.not_tried[0].reason, Omission::BreakerOpen);
    // It may be there again in a minute: that is no refusal.
    assert_eq!(bench.run(of(&["e2b"])).await.run.outcome, Some(Outcome::Unavailable));
}

#[tokio::test]
async fn what_a_former_process_left_is_ended_by_what_it_had_written_down() {
    let provider = Scripted::of_shape("e2b", Script::Loops, Shape::default());
    let bench = Bench::new(&[&provider]).await;
    let caller = bench.token("1").await;
    let request = bench.request(&of(&["e2b"]));
    let id = bench.router.submit(request, &caller, None).await.unwrap().id;
    while provider.executions() == 0 {
        tokio::task::yield_now().await;
    }
    // The old process goes on in this test, but the new one knows nothing of it.
    let router = bench.restarted(&[&provider]).await;
    router.reap().await.unwrap();
    let run = router.receipt(&id).await.unwrap().unwrap().run;
    assert_eq!((run.state, run.outcome), (RunState::Final, Some(Outcome::Interrupted)));
    assert_eq!(run.attempts[0].outcome, Some(AttemptOutcome::Interrupted));
    assert_eq!(run.attempts[0].teardown.state, TeardownState::Confirmed);
    assert_eq!(provider.left(), 0);
    let reserved = run.quote.routed_usd.picodollars();
    assert!(reserved > 0);
    assert_eq!(bench.taken(caller.token().unwrap()).await, reserved, "nobody knows what it did");
}

#[tokio::test]
async fn a_run_whose_task_breaks_off_is_ended_and_its_sandbox_destroyed() {
    let provider = Scripted::new("e2b", Script::Breaks);
    let bench = Bench::new(&[&provider]).await;
    let caller = bench.token("1").await;
    let request = bench.request(&of(&["e2b"]));
    let id = bench.router.submit(request, &caller, None).await.unwrap().id;
    bench.router.wait(&id).await;
    let told = bench.router.receipt(&id).await.unwrap().unwrap().run;
    assert_eq!(told.outcome, Some(Outcome::Interrupted), "it is written down before it is told");
    bench.router.reap().await.unwrap();
    let run = bench.settled(&id).await.run;
    assert_eq!(run.outcome, Some(Outcome::Interrupted));
    assert_eq!((provider.executions(), provider.left()), (1, 0));
}

#[tokio::test]
async fn a_final_run_cannot_be_changed() {
    let provider = Scripted::new("e2b", Script::Runs);
    let bench = Bench::new(&[&provider]).await;
    let id = bench.run(of(&["e2b"])).await.run.id;
    for statement in [
        "update run set outcome = 'refused'",
        "update run set state = 'running', outcome = null, final_at = null",
        "delete from run",
        "update attempt set code_started = 0",
        "delete from attempt",
        "insert into attempt (run_id, number, provider, stage, code_started, tier, tier_evidence, egress, \
         egress_evidence, started_at) select run_id, 9, provider, stage, code_started, tier, tier_evidence, egress, \
         egress_evidence, started_at from attempt",
        "update lease set state = 'open', paid_at = null",
        "delete from lease",
    ] {
        assert!(sqlx::query(statement).execute(&bench.pool).await.is_err(), "{statement}");
    }
    assert_eq!(bench.settled(&id).await.run.outcome, Some(Outcome::Completed));
}

#[tokio::test]
async fn output_and_code_are_deleted_before_the_record_is() {
    let provider = Scripted::new("local", Script::Runs);
    let limits = Limits { anonymous_kept: Duration::ZERO, ..Limits::default() };
    let bench = Bench::within(limits, &[&provider]).await;
    let receipt = bench.run_by(&Caller::Anonymous(None), draft()).await;
    assert_eq!(receipt.code.as_deref(), Some("print(1)"));
    let now = "9999-01-01T00:00:00.000Z";
    assert_eq!(crate::runs::store::delete_old_output(&bench.pool, now).await.unwrap(), 1);
    let receipt = bench.router.receipt(&receipt.run.id).await.unwrap().unwrap();
    assert_eq!((receipt.code, receipt.output), (None, None));
    assert_eq!(receipt.run.asked.code_bytes, 8);
    assert_eq!(receipt.run.outcome, Some(Outcome::Completed));
}

#[tokio::test]
async fn events_tell_the_whole_run_and_go_on_from_where_they_broke_off() {
    let (first, second) =
        (Scripted::new("e2b", Script::Refuses), Scripted::new("daytona", Script::Runs));
    let bench = Bench::new(&[&first, &second]).await;
    let caller = bench.token("1").await;
    let request = bench.request(&of(&["e2b", "daytona"]));
    let id = bench.router.submit(request, &caller, None).await.unwrap().id;
    let told = async |mut at: Cursor| {
        let (mut events, mut kept) = (Vec::new(), None);
        while let Some((event, next)) = bench.router.next_event(&id, at, &mut kept).await.unwrap() {
            events.push((event, next));
            at = next;
        }
        events
    };
    let live = told(Cursor::default()).await;
    let kinds = |events: &[(Event, Cursor)]| -> Vec<&'static str> {
        let kind = |event: &Event| match event {
            Event::AttemptStarted(_) => "started",
            Event::Output { .. } => "output",
            Event::AttemptEnded(_) => "ended",
            Event::Teardown(_) => "teardown",
        };
        events.iter().map(|(event, _)| kind(event)).filter(|kind| *kind != "teardown").collect()
    };
    assert_eq!(kinds(&live), ["started", "ended", "started", "output", "ended"]);
    bench.settled(&id).await;
    // From the record it is the same, from wherever one goes on.
    let kept = told(Cursor::default()).await;
    assert_eq!(kinds(&kept), kinds(&live));
    let later = told(live[1].1).await;
    assert_eq!(kinds(&later), ["started", "output", "ended"]);
}

#[tokio::test]
async fn without_a_token_only_so_many_run_and_wait() {
    let provider = Scripted::new("local", Script::Loops);
    let limits = Limits {
        anonymous_running: 1,
        anonymous_waiting: 1,
        anonymous_wait: Duration::from_millis(50),
        ..Limits::default()
    };
    let bench = Bench::within(limits, &[&provider]).await;
    let anonymous = Caller::Anonymous(Some([192, 0, 2, 1].into()));
    let request = bench.request(&Draft { timeout_ms: Some(100), ..draft() });
    let first = bench.router.submit(request.clone(), &anonymous, None).await.unwrap().id;
    let waiting = bench.router.submit(request.clone(), &anonymous, None);
    let third = bench.router.submit(request.clone(), &anonymous, None);
    let (waiting, third) = tokio::join!(waiting, third);
    assert!(matches!(third, Err(Refusal::Busy { .. })), "{third:?}");
    assert!(matches!(waiting, Err(Refusal::Busy { .. })), "the one that runs takes longer");
    bench.settled(&first).await;
    assert!(bench.router.submit(request.clone(), &anonymous, None).await.is_ok());
    for _ in 0..20 {
        let _ = bench.router.submit(request.clone(), &anonymous, None).await;
    }
    let limited = bench.router.submit(request, &anonymous, None).await;
    assert!(matches!(limited, Err(Refusal::RateLimited { .. })), "{limited:?}");
}

#[tokio::test]
async fn a_site_that_stops_takes_no_runs_and_waits_for_those_on_their_way() {
    let provider = Scripted::new("local", Script::Loops);
    let bench = Bench::new(&[&provider]).await;
    let anonymous = Caller::Anonymous(None);
    let request = bench.request(&Draft { timeout_ms: Some(100), ..draft() });
    let id = bench.router.submit(request.clone(), &anonymous, None).await.unwrap().id;
    assert!(bench.router.drain(Duration::from_secs(10)).await);
    let run = bench.settled(&id).await.run;
    assert_eq!(run.outcome, Some(Outcome::TimedOut));
    assert!(matches!(bench.router.submit(request, &anonymous, None).await, Err(Refusal::Draining)));
}

#[tokio::test]
async fn what_is_asked_for_is_what_is_recorded() {
    let provider = Scripted::new("e2b", Script::Runs);
    let bench = Bench::new(&[&provider]).await;
    let asked = Draft {
        isolation_at_least: Some("process".to_owned()),
        egress: Some("open".to_owned()),
        max_cost_usd: Some("0.25".to_owned()),
        timeout_ms: Some(1_234),
        ..of(&["e2b"])
    };
    let run = bench.run(asked).await.run;
    assert_eq!((run.asked.isolation_at_least, run.asked.egress), (Tier::Process, Egress::Open));
    assert_eq!(run.asked.timeout_ms, 1_234);
    assert_eq!(run.asked.max_cost_usd, Some(Usd::parse("0.25").unwrap()));
    assert_eq!(run.asked.providers.as_deref(), Some(&["e2b".to_owned()][..]));
    assert_eq!(run.asked.code_sha256, hexadecimal(&sha256("print(1)")));
}
