//! Workers come and go as they should: many at once, none left behind, nothing handed on to them.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::yield_now;

use super::*;
use crate::router::embedded::{Isolation, StartError};

/// Set where the test program plays a server that is to be killed.
const SERVER: &str = "THUD_TEST_SERVER";
const LOOP: &str = "print('looping')\nwhile True: pass";

/// Whether a process has ended; one that nobody has waited for yet counts.
fn is_gone(id: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat"));
    stat.map_or(true, |stat| stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z")))
}

#[track_caller]
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let limit = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < limit, "not so in time: {what}");
        yield_now();
    }
}

/// Runs code that loops until it has printed something, and gives the worker's number and the run that is under way.
async fn looping() -> (u32, impl Future) {
    let worker = SANDBOX.start(Python, Instant::now() + AMPLE).await.unwrap();
    let id = worker.id();
    let (sender, mut chunks) = tokio::sync::mpsc::unbounded_channel();
    let mut run = Box::pin(worker.run(LOOP, AMPLE, move |chunk| sender.send(chunk).unwrap()));
    tokio::select! {
        ended = &mut run => panic!("{ended:?}"),
        _ = chunks.recv() => {}
    }
    (id, async move {
        let _chunks = chunks;
        run.await
    })
}

#[test]
fn dropping_a_run_kills_and_reaps_its_worker() {
    let (id, run) = RUNTIME.block_on(looping());
    assert!(!is_gone(id));
    drop(run);
    wait_until("reaped", || !Path::new(&format!("/proc/{id}")).exists());
}

#[test]
fn dropping_a_worker_kills_and_reaps_it() {
    let start = SANDBOX.start(JavaScript, Instant::now() + AMPLE);
    let worker = RUNTIME.block_on(start).unwrap();
    let id = worker.id();
    drop(worker);
    wait_until("reaped", || !Path::new(&format!("/proc/{id}")).exists());
}

#[test]
fn a_run_is_over_when_its_worker_is_gone() {
    let (id, ended) = RUNTIME.block_on(async {
        let worker = SANDBOX.start(JavaScript, Instant::now() + AMPLE).await.unwrap();
        (worker.id(), worker.run("print(1)", AMPLE, |_| ()).await.unwrap())
    });
    assert_eq!(ended.kind, EndedKind::Exited(0));
    assert!(!Path::new(&format!("/proc/{id}")).exists());
}

#[test]
fn a_worker_that_is_killed_from_outside_is_lost() {
    let ended = RUNTIME.block_on(async {
        let worker = SANDBOX.start(Python, Instant::now() + AMPLE).await.unwrap();
        let id = rustix::process::Pid::from_raw(worker.id().cast_signed()).unwrap();
        let kill = |_| rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
        worker.run(LOOP, AMPLE, kill).await.unwrap()
    });
    assert_eq!((ended.kind, ended.code_started), (EndedKind::Lost, true));
}

#[test]
fn a_server_that_is_killed_leaves_no_worker() {
    let name = "router::embedded::tests::lifetime::plays_a_server_that_is_to_be_killed";
    let mut server = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env(SERVER, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines().map(Result::unwrap);
    let found = lines.find_map(|line| Some(line.split_once("workers: ")?.1.to_owned()));
    let workers: Vec<u32> = found.unwrap().split(' ').map(|id| id.parse().unwrap()).collect();
    assert!(workers.iter().all(|id| !is_gone(*id)));
    server.kill().unwrap();
    server.wait().unwrap();
    for id in workers {
        wait_until("the worker has ended", || is_gone(id));
    }
}

#[test]
fn plays_a_server_that_is_to_be_killed() {
    if std::env::var_os(SERVER).is_some() {
        RUNTIME.block_on(async {
            let (looping, run) = looping().await;
            let idle = SANDBOX.start(Python, Instant::now() + AMPLE).await.unwrap();
            writeln!(std::io::stdout(), "workers: {looping} {}", idle.id()).unwrap();
            run.await;
        });
    }
}

#[test]
fn a_worker_inherits_nothing() {
    // As a shell or a service manager might leave one open.
    let _inheritable = rustix::io::dup(std::io::stdin()).unwrap();
    let mut options = options();
    options.idle_workers = 0;
    let sandbox = open(options);
    let start = sandbox.start(Python, Instant::now() + AMPLE);
    let worker = RUNTIME.block_on(start).unwrap();
    let process = format!("/proc/{}", worker.id());
    assert_eq!(fs::read(format!("{process}/environ")).unwrap(), b"");
    assert_eq!(fs::read_link(format!("{process}/cwd")).unwrap(), Path::new("/"));
    let files = fs::read_dir(format!("{process}/fd")).unwrap();
    let mut files: Vec<_> =
        files.map(|file| fs::read_link(file.unwrap().path()).unwrap()).collect();
    // The guest itself is mapped from its file.
    files.retain(|file| file.extension().is_none_or(|kind| kind != "cwasm"));
    assert_eq!(files.len(), 3, "{files:?}");
}

#[test]
fn fifty_runs_at_once_all_end_well() {
    let runs = RUNTIME.block_on(async {
        let runs: Vec<_> = (0..50)
            .map(|number| {
                let language = if number % 2 == 0 { Python } else { JavaScript };
                tokio::spawn(async move {
                    let code = match language {
                        Python => format!("print({number})"),
                        JavaScript => format!("console.log({number})"),
                    };
                    (number, run_in(&SANDBOX, language, &code, AMPLE).await)
                })
            })
            .collect();
        let mut ended = Vec::new();
        for run in runs {
            ended.push(run.await.unwrap());
        }
        ended
    });
    for (number, run) in runs {
        assert_eq!(run.stdout(), format!("{number}\n"), "{run:?}");
    }
}

#[test]
fn a_run_waits_for_a_place_until_its_deadline() {
    let mut options = options();
    options.memory_total_bytes = options.memory_bytes_per_run;
    let sandbox = open(options);
    RUNTIME.block_on(async {
        let first = sandbox.start(JavaScript, Instant::now() + AMPLE).await.unwrap();
        let second = sandbox.start(JavaScript, Instant::now() + Duration::from_millis(50)).await;
        assert!(matches!(second, Err(StartError::Busy)));
        drop(first);
        assert!(sandbox.start(JavaScript, Instant::now() + AMPLE).await.is_ok());
    });
}

#[test]
fn a_sandbox_that_cannot_work_says_so() {
    let mut options = options();
    options.worker_program = "/nowhere/thud".into();
    RUNTIME.block_on(async {
        let sandbox = open(options);
        let soon = Instant::now() + AMPLE;
        assert!(matches!(sandbox.ready_by(soon).await, Readiness::Failed(_)));
        assert!(matches!(sandbox.start(Python, soon).await, Err(StartError::Broken(_))));
    });
}

#[test]
fn isolation_is_told_by_a_worker() {
    RUNTIME.block_on(SANDBOX.ready_by(Instant::now() + AMPLE));
    let isolation = SANDBOX.isolation().unwrap();
    if cfg!(target_os = "linux") {
        assert!(matches!(&isolation, Isolation::Locked | Isolation::Unlocked(_)));
    } else {
        assert!(matches!(isolation, Isolation::Unlocked(_)));
    }
}
