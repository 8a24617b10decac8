//! What the doctor sees at providers that follow a script, and that it leaves nothing behind.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::router::adapter::Readiness;
use crate::router::doctor::{Check, Verdict, examine};
use crate::standins::scripted::{Script, Scripted};

/// What the snippet says where every way out is shut.
const SHUT: Script = Script::Says(
    r#"{"connect": {"reached": false, "said": "OSError: no"}, "lookup": {"reached": false, "said": "no"}, "inside": "Python 3.14"}"#,
);
/// What it says where none is.
const OPEN: Script = Script::Says(
    r#"{"connect": {"reached": true, "said": "connected"}, "lookup": {"reached": true, "said": "192.0.2.1"}, "inside": "a\u001b[2Jb"}"#,
);

async fn seen(provider: &Scripted) -> Vec<Check> {
    examine(provider, &CancellationToken::new()).await
}

fn failures(checks: &[Check]) -> Vec<&'static str> {
    let failed = checks.iter().filter(|check| check.verdict == Verdict::Failed);
    failed.map(|check| check.name).collect()
}

fn words<'a>(checks: &'a [Check], name: &str) -> &'a str {
    checks.iter().find(|check| check.name == name).map_or("", |check| check.words.as_str())
}

#[tokio::test]
async fn a_provider_that_does_what_it_should_passes_every_check() {
    let provider = Scripted::new("e2b", SHUT);
    let checks = seen(&provider).await;
    assert_eq!(failures(&checks), Vec::<&str>::new(), "{checks:?}");
    let names: Vec<_> = checks.iter().map(|check| check.name).collect();
    let all = [
        "credentials",
        "create",
        "isolation",
        "egress",
        "size",
        "run",
        "1.1.1.1:443",
        "example.com",
        "inside",
        "destroy",
        "nothing left",
    ];
    assert_eq!(names, all);
    assert_eq!(words(&checks, "isolation"), "virtual machine, declared");
    assert_eq!(words(&checks, "inside"), "Python 3.14");
    assert_eq!((provider.left(), provider.executions()), (0, 1));
}

#[tokio::test]
async fn a_way_out_that_is_open_fails_whatever_the_platform_says() {
    let provider = Scripted::new("e2b", OPEN);
    let checks = seen(&provider).await;
    assert_eq!(failures(&checks), ["1.1.1.1:443", "example.com"]);
    assert!(words(&checks, "egress").contains("confirmed"));
    assert_eq!(words(&checks, "inside"), "a␛[2Jb", "what a sandbox says moves no cursor");
    assert_eq!(provider.left(), 0);
}

#[tokio::test]
async fn whatever_fails_is_named_and_leaves_nothing() {
    for (script, failed) in [
        (Script::Weakens, vec!["isolation", "run"]),
        (Script::Opens, vec!["egress", "run"]),
        (Script::Refuses, vec!["create"]),
        (Script::Loses, vec!["run"]),
        (Script::Says("{\"connect\":\n"), vec!["run"]),
        (Script::Says("{}"), vec!["run"]),
    ] {
        let provider = Scripted::new("e2b", script);
        let checks = seen(&provider).await;
        assert_eq!(failures(&checks), failed, "{script:?}: {checks:?}");
        assert_eq!(provider.left(), 0, "{script:?}");
    }
}

#[tokio::test]
async fn a_sandbox_whose_creation_was_not_answered_is_destroyed_too() {
    let mut provider = Scripted::new("e2b", Script::Hangs);
    provider.start_slice = Duration::from_millis(20);
    let checks = seen(&provider).await;
    assert_eq!(failures(&checks), ["create"]);
    assert!(words(&checks, "destroy").starts_with("destroyed and confirmed"));
    assert_eq!(provider.left(), 0);
}

#[tokio::test]
async fn a_look_that_is_broken_off_still_cleans_up() {
    let provider = Scripted::new("e2b", Script::Hangs);
    let stop = CancellationToken::new();
    let (checks, ()) = tokio::join!(examine(&provider, &stop), async {
        while provider.left() == 0 {
            tokio::task::yield_now().await;
        }
        stop.cancel();
    });
    assert_eq!(failures(&checks), ["create", "whole"]);
    assert_eq!(provider.left(), 0);
}

#[tokio::test]
async fn destroying_is_tried_again_and_what_is_left_in_the_end_is_named() {
    let provider = Scripted::new("e2b", SHUT);
    provider.destroy_failures.store(1, Ordering::SeqCst);
    assert_eq!(failures(&seen(&provider).await), Vec::<&str>::new());
    provider.destroy_failures.store(100, Ordering::SeqCst);
    let checks = seen(&provider).await;
    assert_eq!(failures(&checks), ["destroy", "nothing left"]);
    let told = words(&checks, "destroy");
    assert!(told.contains("Destroy it by hand: sandbox-") && told.contains("lease"), "{told}");
}

#[tokio::test]
async fn a_provider_that_is_not_configured_is_told_and_not_asked() {
    let mut provider = Scripted::new("e2b", Script::Runs);
    provider.readiness = Readiness::NotConfigured;
    let checks = seen(&provider).await;
    assert_eq!((checks.len(), checks[0].verdict), (1, Verdict::Told));
    assert_eq!(provider.executions(), 0);
}
