//! An adapter that follows a script: it refuses, hangs, loses the connection or runs, and keeps count of its sandboxes.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::catalog::claim::Tier;
use crate::catalog::shape::Shape;
use crate::router::adapter::{
    Adapter, Created, Ended, Failure, Gone, KillFrom, Order, Owed, Readiness, Sandbox, Snippet,
    Terms, Watch,
};
use crate::runs::{Applied, Egress, Language, OutputMode, Proof, Reason, Stage, Stream};

/// What a scripted provider does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    /// Says what it was given, and ends with exit code 0.
    Runs,
    /// Refuses every sandbox: it has no room.
    Refuses,
    /// Makes a sandbox and never says so.
    Hangs,
    /// Loses the connection after the code was sent.
    Loses,
    /// Loses the connection before any of it was sent.
    LosesBefore,
    /// Writes its own code, whatever stands in it.
    Echoes,
    /// Runs the code until somebody ends it.
    Loops,
    /// Breaks the very task of the run, after the code was sent.
    Breaks,
    /// Gives a container where a virtual machine was asked for.
    Weakens,
    /// Leaves the internet open where it was to be closed.
    Opens,
    /// Writes a text.
    Says(&'static str),
}

/// Every script that the site offers when it is started with them, by slug.
pub const OFFERED: [(&str, Script); 4] = [
    ("scripted-refuses", Script::Refuses),
    ("scripted-hangs", Script::Hangs),
    ("scripted-loses", Script::Loses),
    ("scripted-runs", Script::Runs),
];
/// How long it may take to start.
const START_SLICE: Duration = Duration::from_secs(2);

/// A provider that follows a script.
#[derive(Debug, Clone)]
pub struct Scripted {
    slug: &'static str,
    script: Script,
    shape: Option<Shape>,
    /// Its share of the time to start in.
    pub start_slice: Duration,
    sandboxes: Arc<Mutex<BTreeSet<String>>>,
    executions: Arc<AtomicU32>,
    /// So many times destroying a sandbox fails first.
    pub destroy_failures: Arc<AtomicU32>,
    /// Whether it can be asked.
    pub readiness: Readiness,
}

impl Scripted {
    /// A provider that costs nothing.
    pub fn new(slug: &'static str, script: Script) -> Self {
        Self {
            slug,
            script,
            shape: None,
            start_slice: START_SLICE,
            sandboxes: Arc::default(),
            executions: Arc::default(),
            destroy_failures: Arc::default(),
            readiness: Readiness::Ready,
        }
    }

    /// One whose sandboxes have a size, and so a price if the catalog has one under its slug.
    pub fn of_shape(slug: &'static str, script: Script, shape: Shape) -> Self {
        Self { shape: Some(shape), ..Self::new(slug, script) }
    }

    /// All that are offered.
    pub fn offered() -> Vec<Arc<dyn Adapter>> {
        let made = |(slug, script)| -> Arc<dyn Adapter> { Arc::new(Self::new(slug, script)) };
        OFFERED.into_iter().map(made).collect()
    }

    fn sandboxes(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.sandboxes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many sandboxes are there.
    pub fn left(&self) -> usize {
        self.sandboxes().len()
    }

    /// How often code was executed.
    pub fn executions(&self) -> u32 {
        self.executions.load(Ordering::SeqCst)
    }

    /// Makes a sandbox that nobody asked for, as one that a lost answer left behind.
    pub fn leave_behind(&self, lease: &str) {
        self.sandboxes().insert(lease.to_owned());
    }
}

#[async_trait]
impl Adapter for Scripted {
    fn slug(&self) -> &'static str {
        self.slug
    }

    fn terms(&self) -> Terms {
        Terms {
            languages: Language::ALL.to_vec(),
            tier: Tier::VirtualMachine,
            egress: Egress::ALL.to_vec(),
            output_mode: OutputMode::Live,
            start_slice: self.start_slice,
            timeout_max: Duration::from_hours(1),
            answer_grace: Duration::from_secs(1),
            kill_step: Duration::from_secs(1),
            kill_from: KillFrom::Started,
            shape: self.shape,
            variant: None,
        }
    }

    fn readiness(&self) -> Readiness {
        self.readiness
    }

    async fn create(&self, order: &Order) -> Result<Created, Failure> {
        if self.script == Script::Refuses {
            let failure = Failure::leaving_nothing(Reason::Capacity);
            return Err(Failure { http_status: Some(503), ..failure });
        }
        self.sandboxes().insert(order.lease.clone());
        if self.script == Script::Hangs {
            std::future::pending::<()>().await;
        }
        let tier =
            if self.script == Script::Weakens { Tier::Container } else { Tier::VirtualMachine };
        let egress = if self.script == Script::Opens { Egress::Open } else { order.egress };
        let evidence = Proof::Confirmed;
        Ok(Created {
            handle: format!("sandbox-{}", order.lease),
            answered: Timestamp::now(),
            isolation: Applied { value: tier, evidence: Proof::Declared },
            egress: Applied { value: egress, evidence },
            shape: None,
            sandbox: Box::new(Played { scripted: self.clone() }),
        })
    }

    async fn destroy(&self, owed: &Owed) -> Result<Gone, Failure> {
        let fails = |left: u32| left.checked_sub(1);
        let failed = self.destroy_failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fails);
        if failed.is_ok() {
            return Err(Failure::leaving_perhaps(Reason::Outage));
        }
        let was_there = self.sandboxes().remove(&owed.lease);
        Ok(if was_there { Gone::Destroyed } else { Gone::Already })
    }

    async fn tagged(&self) -> Result<Vec<Owed>, Failure> {
        let owed = |lease: &String| Owed { lease: lease.clone(), handle: None };
        Ok(self.sandboxes().iter().map(owed).collect())
    }
}

struct Played {
    scripted: Scripted,
}

#[async_trait]
impl Sandbox for Played {
    async fn run(&mut self, code: &Snippet<'_>, watch: &dyn Watch) -> Ended {
        let Scripted { script, slug, .. } = &self.scripted;
        watch.stage(Stage::Start);
        if *script == Script::LosesBefore {
            return Ended::Lost(Failure::leaving_perhaps(Reason::LostConnection));
        }
        if watch.code_starts().await.is_err() {
            return Ended::Lost(Failure::leaving_perhaps(Reason::Outage));
        }
        self.scripted.executions.fetch_add(1, Ordering::SeqCst);
        let (language, bytes) = (code.language.label(), code.code.len());
        let words = match script {
            Script::Echoes => code.code.to_owned(),
            Script::Says(text) => (*text).to_owned(),
            _ => format!("{slug}: {bytes} bytes of {language}\n"),
        };
        watch.output(Stream::Stdout, words.as_bytes());
        match script {
            Script::Breaks => std::panic::panic_any("as the script says"),
            Script::Loses => Ended::Lost(Failure::leaving_perhaps(Reason::LostConnection)),
            Script::Loops => {
                tokio::time::sleep(code.timeout).await;
                Ended::TimedOut { duration: code.timeout }
            }
            _ => Ended::Exited { exit_code: 0, duration: Duration::from_millis(1) },
        }
    }
}
