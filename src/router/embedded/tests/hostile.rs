//! A worker that is not ours any more: what it can do to the server.

use std::io::{stderr, stdin};

use super::*;
use crate::router::embedded::frames::{
    Message, Request, read_request, write_message, write_output,
};
use crate::router::embedded::locked::Lock;

/// Plays such a worker, as the test above it plays a good one. The code says how it behaves.
#[test]
fn plays_a_hostile_worker() {
    if std::env::vars_os().next().is_none() {
        let say = |message| write_message(&mut stderr(), &message).unwrap();
        match read_request(&mut stdin()).unwrap() {
            Request::Prepare { cache, .. } => say(Message::Prepared(cache)),
            Request::Load { .. } => {
                say(Message::Loaded(Lock::default()));
                if let Request::Run { code, .. } = read_request(&mut stdin()).unwrap() {
                    misbehave(&code);
                }
            }
            other => panic!("{other:?}"),
        }
        std::process::exit(0);
    }
}

fn misbehave(code: &str) {
    match code {
        "vanish" => {}
        "start and vanish" => write_message(&mut stderr(), &Message::Started).unwrap(),
        "talk nonsense" => write_output(&mut stderr(), Stream::Stdout, b"x")
            .and_then(|()| std::io::Write::write_all(&mut stderr(), &[9; 100]))
            .unwrap(),
        "flood" => {
            for _ in 0..48 {
                write_output(&mut stderr(), Stream::Stdout, "x".repeat(64 * 1024).as_bytes())
                    .unwrap();
                write_message(&mut stderr(), &Message::Started).unwrap();
            }
            loop {
                std::thread::park();
            }
        }
        other => panic!("{other}"),
    }
}

async fn run_by_hostile(code: &str) -> Run {
    let mut options = options();
    options.worker_arguments[0] = "router::embedded::tests::hostile::plays_a_hostile_worker".into();
    options.idle_workers = 0;
    run_in(&open(options), Python, code, Duration::from_millis(100)).await
}

#[test]
fn a_worker_that_vanishes_is_lost_and_what_it_did_is_known() {
    RUNTIME.block_on(async {
        let early = run_by_hostile("vanish").await.ended;
        assert_eq!((early.kind, early.code_started), (EndedKind::Lost, false));
        let late = run_by_hostile("start and vanish").await.ended;
        assert_eq!((late.kind, late.code_started), (EndedKind::Lost, true));
    });
}

#[test]
fn nonsense_is_not_listened_to() {
    let run = RUNTIME.block_on(run_by_hostile("talk nonsense"));
    assert_eq!((run.ended.kind, run.stdout), (EndedKind::Lost, b"x".to_vec()));
}

#[test]
fn a_worker_that_keeps_to_nothing_is_capped_and_killed() {
    const KEPT: usize = 1024 * 1024;
    let run = RUNTIME.block_on(run_by_hostile("flood"));
    assert_eq!(run.ended.kind, EndedKind::TimedOut);
    assert_eq!(run.stdout.len(), KEPT);
    assert_eq!(run.ended.stdout_dropped_bytes, 2 * KEPT as u64);
    assert!(run.ended.duration < Duration::from_secs(5), "{:?}", run.ended.duration);
}
