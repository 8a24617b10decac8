//! What the adapters do when all is well, and what must hold whatever the platform says.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::net::TcpListener;

use super::{Address, Chain, LATE, Provider, adapter, catalog, standin};
use crate::money::Usd;
use crate::router::adapter::{Adapter, Owed};
use crate::router::not_set_up::NotSetUp;
use crate::router::{Limits, SandboxRouter};
use crate::runs::{
    AttemptOutcome, Egress, Outcome, OutputMode, Proof, Reason, Receipt, TeardownState,
};
use crate::standins::faults::{Fault, Stage, What};

const BOTH: [Provider; 2] = [Provider::E2b, Provider::Daytona];

async fn first(provider: Provider) -> Chain {
    Chain::new(provider, true, Address::Its, &catalog()).await
}

#[tokio::test]
async fn code_runs_with_its_outputs_apart_and_its_exit_code() {
    for provider in [Provider::E2b, Provider::Daytona, Provider::SlowDaytona] {
        for language in ["python", "javascript"] {
            let chain = first(provider).await;
            let (Receipt { run, output, .. }, _) =
                chain.run(language, "say:hello;err:3;exit:3").await;
            let text = format!("{provider:?} {language} {run:#?}");
            assert_eq!(run.outcome, Some(Outcome::Completed), "{text}");
            assert_eq!(run.exit_code, Some(3), "{text}");
            let output = output.unwrap();
            assert_eq!(
                (output.stdout.as_str(), output.stderr.as_str()),
                ("hello\n", "xxx"),
                "{text}"
            );
            let [attempt] = run.attempts.as_slice() else { panic!("{text}") };
            assert_eq!(attempt.egress.value, Egress::None);
            assert_eq!(attempt.egress.evidence, Proof::Confirmed, "{text}");
            // E2B says nothing of its wall, Daytona names a class.
            let evidence =
                if provider == Provider::E2b { Proof::Declared } else { Proof::Confirmed };
            assert_eq!(attempt.isolation.evidence, evidence, "{text}");
            let mode = if provider == Provider::E2b { OutputMode::Live } else { OutputMode::AtEnd };
            assert_eq!(run.output_mode, Some(mode));
            chain.paid(&text).await;
        }
    }
}

#[tokio::test]
async fn a_shell_command_runs() {
    for provider in BOTH {
        let chain = first(provider).await;
        // Longer than one argument may be.
        let code = format!("echo hello # {}", "x".repeat(150 * 1024));
        let (Receipt { run, output, .. }, _) = chain.run("bash", &code).await;
        assert_eq!(run.exit_code, Some(0), "{provider:?} {run:#?}");
        assert_eq!(output.unwrap().stdout, "hello\n", "{provider:?}");
    }
}

#[tokio::test]
async fn the_wall_clock_ends_code_and_leaves_what_it_wrote() {
    for provider in BOTH {
        let chain = first(provider).await;
        let (Receipt { run, output, .. }, took) = chain.run("python", "say:before;loop").await;
        assert_eq!(run.outcome, Some(Outcome::TimedOut), "{provider:?} {run:#?}");
        assert_eq!(output.unwrap().stdout, "before\n", "{provider:?}");
        assert!(took < Duration::from_secs(6), "{provider:?} {took:?}");
        chain.paid("a loop").await;
    }
}

#[tokio::test]
async fn long_output_is_capped_and_the_rest_counted() {
    for provider in BOTH {
        let chain = first(provider).await;
        let (Receipt { run, output, .. }, _) = chain.run("python", "out:2000000").await;
        assert_eq!(run.outcome, Some(Outcome::Completed), "{provider:?} {run:#?}");
        let output = output.unwrap();
        assert_eq!(output.stdout.len(), 1024 * 1024, "{provider:?}");
        assert!(output.stdout_dropped_bytes >= 2_000_000 - 1024 * 1024, "{provider:?}");
    }
}

#[tokio::test]
async fn a_program_that_kills_its_interpreter_has_ended_badly_and_is_not_run_elsewhere() {
    let chain = first(Provider::E2b).await;
    let (Receipt { run, .. }, _) = chain.run("python", "die").await;
    assert_eq!((run.outcome, run.exit_code), (Some(Outcome::Completed), Some(1)), "{run:#?}");
    assert_eq!(run.attempts.len(), 1);
}

#[tokio::test]
async fn a_wrong_key_is_told_apart_and_shown_nowhere() {
    for provider in BOTH {
        let standin = standin(provider).await;
        let key = format!("{}wrong", standin.key());
        let adapter = adapter(provider, &standin.url(), &key, "site-a");
        let failure = adapter.tagged().await.unwrap_err();
        assert_eq!(failure.reason, Reason::Auth, "{provider:?}");
        assert!(!format!("{failure:?}").contains(&key), "{provider:?}");
        // Not even where the platform repeats it.
        let echo = serde_json::json!({ "message": format!("{key} is not known") }).to_string();
        for stage in [Stage::List, Stage::Delete] {
            standin.script(vec![Fault::at(stage, What::answer(401, echo.clone()))]);
            let owed = Owed { lease: "a1".to_owned(), handle: Some("i1".to_owned()) };
            for failure in [adapter.tagged().await.err(), adapter.destroy(&owed).await.err()]
                .into_iter()
                .flatten()
            {
                let text = format!("{failure:?}");
                assert!(!text.contains(&key), "{provider:?} {text}");
            }
        }
    }
}

#[tokio::test]
async fn a_redirect_to_another_host_is_never_followed() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let to = format!("http://{}/", elsewhere.local_addr().unwrap());
    let visits = Arc::new(AtomicU32::new(0));
    let counted = visits.clone();
    let listening = tokio::spawn(async move {
        while elsewhere.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    for provider in BOTH {
        for stage in [Stage::Create, Stage::Detail, Stage::Run, Stage::List, Stage::Delete] {
            let chain = first(provider).await;
            let to = to.clone();
            chain.standin.script(vec![Fault::at(stage, What::Redirect { to })]);
            chain.run("python", "say:hello").await;
            chain.router.reap().await.unwrap();
            chain.paid("a redirect").await;
        }
    }
    listening.abort();
    assert_eq!(visits.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn two_sites_with_one_key_leave_each_others_sandboxes_alone() {
    for provider in BOTH {
        let chain = first(provider).await;
        chain.standin.script(vec![Fault::at(Stage::Delete, What::Hang {})]);
        chain.run("python", "say:hello").await;
        let (url, key) = (chain.standin.url(), chain.standin.key().to_owned());
        let other = adapter(provider, &url, &key, "site-b");
        assert_eq!(other.tagged().await.unwrap(), [], "{provider:?}");
        let own = adapter(provider, &url, &key, "site-a");
        assert_eq!(own.tagged().await.unwrap().len(), 1, "{provider:?}");
        chain.paid("a sandbox of another site").await;
    }
}

#[tokio::test]
async fn a_sandbox_that_comes_after_its_deadline_is_destroyed() {
    for provider in BOTH {
        let chain = first(provider).await;
        let late = What::DelayMs { ms: 2_200 };
        chain.standin.script(vec![Fault::at(Stage::Create, late).times(1)]);
        let (Receipt { run, .. }, _) = chain.run("python", "say:hello").await;
        assert_eq!(run.attempts[0].reason, Some(Reason::StartTimeout), "{provider:?}");
        // Until it may not come any more, the teardown is not said to be over.
        let state = run.attempts[0].teardown.state;
        assert_eq!(state, TeardownState::Pending, "{provider:?}");
        tokio::time::sleep(LATE).await;
        chain.paid("a late sandbox").await;
    }
}

#[tokio::test]
async fn a_sandbox_whose_order_and_whose_end_were_not_answered_costs_what_it_was_there_for() {
    for provider in BOTH {
        let chain = first(provider).await;
        chain.standin.script(vec![
            Fault::at(Stage::Create, What::HangAfter {}).times(1),
            Fault::at(Stage::Delete, What::CutAfter {}).times(1),
        ]);
        let (Receipt { run, .. }, _) = chain.run("python", "say:hello").await;
        chain.paid("a lost order and a lost end").await;
        let run = chain.router.receipt(&run.id).await.unwrap().unwrap().run;
        let attempt = &run.attempts[0];
        assert_eq!(attempt.teardown.state, TeardownState::Confirmed, "{provider:?}");
        assert!(attempt.cost.routed_usd > Usd::ZERO, "{provider:?} {:?}", attempt.cost);
        assert!(attempt.cost.routed_usd <= run.quote.routed_usd, "{provider:?}");
    }
}

#[tokio::test]
async fn a_sandbox_whose_key_was_taken_away_is_not_owed_for_ever() {
    let chain = first(Provider::E2b).await;
    chain.standin.script(vec![Fault::at(Stage::Delete, What::Hang {})]);
    let (Receipt { run, .. }, _) = chain.run("python", "say:hello").await;
    let terms = adapter(Provider::E2b, &chain.standin.url(), "e2b_1", "site-a").terms();
    let keyless: Arc<dyn Adapter> = Arc::new(NotSetUp::new("e2b", terms, "E2B_API_KEY"));
    let limits = Limits::default();
    let router = SandboxRouter::new(chain.pool.clone(), catalog(), vec![keyless], limits);
    assert_eq!(router.reap().await.unwrap().failed, 1, "its platform may not have killed it yet");
    let later = "update lease set kill_at = strftime('%Y-%m-%dT%H:%M:%fZ', kill_at, '-2 hours')";
    sqlx::query(later).execute(&chain.pool).await.unwrap();
    assert_eq!(router.reap().await.unwrap().already_gone, 1);
    let attempt = router.receipt(&run.id).await.unwrap().unwrap().run.attempts[0].clone();
    assert_eq!(attempt.teardown.state, TeardownState::Confirmed);
    chain.paid("a key that was taken away").await;
}

#[tokio::test]
async fn a_clock_that_jumps_keeps_no_sandbox() {
    for provider in BOTH {
        for jump in ["-1 day", "+1 day"] {
            let chain = first(provider).await;
            chain.standin.script(vec![Fault::at(Stage::Delete, What::answer(500, "{}"))]);
            chain.run("python", "say:hello").await;
            let moved = "update lease set created_at = strftime('%Y-%m-%dT%H:%M:%fZ', created_at, ?), \
                answered_at = strftime('%Y-%m-%dT%H:%M:%fZ', answered_at, ?), \
                kill_at = strftime('%Y-%m-%dT%H:%M:%fZ', kill_at, ?)";
            let moved = sqlx::query(moved).bind(jump).bind(jump).bind(jump);
            moved.execute(&chain.pool).await.unwrap();
            chain.paid(jump).await;
        }
    }
}

#[tokio::test]
async fn a_provider_that_wants_to_be_left_alone_is() {
    for (provider, header) in
        [(Provider::E2b, "Retry-After"), (Provider::Daytona, "Retry-After-sandbox-create")]
    {
        let chain = first(provider).await;
        let mut answer = What::answer(429, r#"{"message":"Rate limit exceeded"}"#);
        if let What::Answer(answer) = &mut answer {
            answer.headers.insert(header.to_owned(), "60".to_owned());
        }
        chain.standin.script(vec![Fault::at(Stage::Create, answer)]);
        let (Receipt { run, .. }, _) = chain.run("python", "say:hello").await;
        assert_eq!(run.attempts[0].reason, Some(Reason::RateLimited), "{provider:?}");
        let (Receipt { run, .. }, _) = chain.run("python", "say:hello").await;
        assert_eq!(run.attempts.len(), 1, "{provider:?}: it is not asked again");
        assert_eq!(run.not_tried.len(), 1, "{provider:?}");
    }
}

#[tokio::test]
async fn a_platform_that_fails_is_left_out_and_code_that_fails_leaves_nobody_out() {
    for provider in BOTH {
        let chain = first(provider).await;
        for code in ["raise", "exit:3", "loop", "exit:1"] {
            let (Receipt { run, .. }, _) = chain.run("python", code).await;
            assert_eq!(run.attempts.len(), 1, "{provider:?} {code}");
        }
        chain.standin.script(vec![Fault::at(Stage::Create, What::answer(500, "{}"))]);
        for _ in 0..3 {
            let (Receipt { run, .. }, _) = chain.run("python", "say:hello").await;
            assert_eq!(run.attempts[0].outcome, Some(AttemptOutcome::Unavailable));
        }
        chain.standin.script(Vec::new());
        let (Receipt { run, .. }, _) = chain.run("python", "say:hello").await;
        assert_eq!(run.attempts.len(), 1, "{provider:?}");
        assert_eq!(run.provider.as_deref(), Some(super::OTHER), "{provider:?}");
    }
}
