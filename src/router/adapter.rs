//! The contract that every adapter meets, and nothing else.
//!
//! An adapter makes one sandbox for one run, runs code in it and destroys it. It decides nothing: what follows a failure is
//! the router's, by what [`Failure`] and [`Ended`] say for certain.

use std::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use jiff::Timestamp;

use crate::catalog::claim::Tier;
use crate::catalog::shape::Shape;
use crate::runs::{Applied, Egress, Language, OutputMode, Reason, Stage, Stream};

/// One provider, as the router uses it.
#[async_trait]
pub trait Adapter: Send + Sync + 'static {
    /// The provider's slug in the catalog.
    fn slug(&self) -> &'static str;

    /// What it offers under its configuration.
    fn terms(&self) -> Terms;

    /// What people should know of its wall, in words, where the catalog does not say it.
    fn about(&self) -> Option<String> {
        None
    }

    /// Whether a sandbox can be asked for now.
    fn readiness(&self) -> Readiness {
        Readiness::Ready
    }

    /// Waits until it is no longer warming up, or for an instant.
    async fn ready_by(&self, _deadline: Instant) -> Readiness {
        self.readiness()
    }

    /// Makes a fresh sandbox before an instant. No code is sent. The router may drop the future, then not knowing
    /// whether a sandbox was made: [`Adapter::destroy`] must find it by the lease.
    async fn create(&self, order: &Order) -> Result<Created, Failure>;

    /// Destroys a sandbox and waits until it is certainly gone.
    async fn destroy(&self, owed: &Owed) -> Result<Gone, Failure>;

    /// Every sandbox that carries our tag and is still there, for the reaper.
    async fn tagged(&self) -> Result<Vec<Owed>, Failure>;
}

/// A sandbox that was made for one run.
#[async_trait]
pub trait Sandbox: Send {
    /// Runs the code, at most once. [`Watch::code_starts`] is called before any of it is sent. Never takes much longer than
    /// the wall clock.
    async fn run(&mut self, code: &Snippet<'_>, watch: &dyn Watch) -> Ended;
}

/// What the router is told while a sandbox works.
#[async_trait]
pub trait Watch: Send + Sync {
    /// How far the attempt is, for the record.
    fn stage(&self, stage: Stage);

    /// The code is about to be sent: from here on it may have been executed. Must be awaited before sending; an error means
    /// that it could not be recorded, and then nothing may be sent.
    async fn code_starts(&self) -> Result<(), Unrecorded>;

    /// Some output, as it was read.
    fn output(&self, stream: Stream, bytes: &[u8]);

    /// Output that was counted and dropped before it came here, bytes.
    fn dropped(&self, stream: Stream, bytes: u64);
}

/// That code is about to run could not be written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unrecorded;

/// What an adapter offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// Languages that it runs.
    pub languages: Vec<Language>,
    /// The wall that its sandboxes have.
    pub tier: Tier,
    /// What can be asked for.
    pub egress: Vec<Egress>,
    /// When output arrives.
    pub output_mode: OutputMode,
    /// Its share of a run's time to start in.
    pub start_slice: Duration,
    /// Its longest wall clock.
    pub timeout_max: Duration,
    /// How long after the wall clock it may still take to say how the code ended.
    pub answer_grace: Duration,
    /// The platform ends a sandbox at a multiple of this.
    pub kill_step: Duration,
    /// From when on it counts that.
    pub kill_from: KillFrom,
    /// The size that its sandboxes have; `None` where they cost nothing.
    pub shape: Option<Shape>,
    /// The variant of the catalog whose prices hold; `None` for the default.
    pub variant: Option<&'static str>,
}

/// From when on a platform counts the life that a sandbox was ordered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KillFrom {
    /// From when it was asked for: the time to start in passes too.
    Asked,
    /// From when it was there.
    Started,
}

/// Whether a sandbox can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// It can.
    Ready,
    /// Soon.
    WarmingUp,
    /// Not under this configuration.
    NotConfigured,
}

/// A sandbox that is asked for.
#[derive(Debug, Clone)]
pub struct Order {
    /// The lease: a name that no other sandbox has or had, by which this one is found again.
    pub lease: String,
    /// The run that it is for.
    pub run: String,
    /// What the code is written in.
    pub language: Language,
    /// The weakest wall that may be given.
    pub isolation_at_least: Tier,
    /// What the code may reach.
    pub egress: Egress,
    /// Wall clock of the code.
    pub timeout: Duration,
    /// After this the platform itself must have killed it, counted from now.
    pub kill_after: Duration,
    /// Until when it has to be there.
    pub start_by: Instant,
}

/// A sandbox that was made.
pub struct Created {
    /// The provider's name for it.
    pub handle: String,
    /// When the platform answered that it made it: from then on it costs.
    pub answered: Timestamp,
    /// The wall that applies.
    pub isolation: Applied<Tier>,
    /// The egress that applies.
    pub egress: Applied<Egress>,
    /// Its real size, where the answer says it.
    pub shape: Option<Shape>,
    /// What runs the code. Dropping it must not be relied upon to destroy anything.
    pub sandbox: Box<dyn Sandbox>,
}

/// The code and its limits.
#[derive(Debug, Clone, Copy)]
pub struct Snippet<'a> {
    /// What it is written in.
    pub language: Language,
    /// The code.
    pub code: &'a str,
    /// Its wall clock.
    pub timeout: Duration,
    /// What is kept of each output, bytes.
    pub output_bytes_max: usize,
}

/// How a run in a sandbox ended.
#[derive(Debug)]
pub enum Ended {
    /// By itself.
    Exited {
        /// Its exit code.
        exit_code: i32,
        /// How long the code ran.
        duration: Duration,
    },
    /// By the wall clock.
    TimedOut {
        /// How long the code ran.
        duration: Duration,
    },
    /// The platform said for certain that it ran none of the code, though that may have been sent: another provider may be
    /// tried.
    NotRun(Failure),
    /// It is not known how. Where no code was sent before, another provider may be tried.
    Lost(Failure),
}

/// Why an adapter did not do what it should. Its text is for the log; people see the reason.
#[derive(Debug)]
pub struct Failure {
    /// Of what kind.
    pub reason: Reason,
    /// The status of the answer, where that was HTTP.
    pub http_status: Option<u16>,
    /// For how long the platform wants to be left alone, where it refused because we asked too often.
    pub retry_after: Option<Duration>,
    /// Whether there is a sandbox now.
    pub remains: Remains,
    /// The provider's name for it, where that is known.
    pub handle: Option<String>,
    /// What went wrong.
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

/// What a failure leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remains {
    /// Certainly no sandbox.
    Nothing,
    /// Perhaps one, or certainly: it has to be looked for and destroyed.
    Perhaps,
}

impl Failure {
    /// A failure that certainly leaves no sandbox.
    pub fn leaving_nothing(reason: Reason) -> Self {
        Self {
            reason,
            http_status: None,
            retry_after: None,
            remains: Remains::Nothing,
            handle: None,
            source: None,
        }
    }

    /// A failure that may leave one.
    pub fn leaving_perhaps(reason: Reason) -> Self {
        Self { remains: Remains::Perhaps, ..Self::leaving_nothing(reason) }
    }

    /// The same of a sandbox that is certainly there, or was.
    #[must_use]
    pub fn of(self, handle: &str) -> Self {
        Self { remains: Remains::Perhaps, handle: Some(handle.to_owned()), ..self }
    }

    /// The same with what caused it.
    #[must_use]
    pub fn because(self, source: impl Error + Send + Sync + 'static) -> Self {
        Self { source: Some(Box::new(source)), ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.reason.label())
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| -> &(dyn Error + 'static) { source.as_ref() })
    }
}

/// A sandbox that has to be destroyed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owed {
    /// Its lease.
    pub lease: String,
    /// The provider's name for it, where that is known.
    pub handle: Option<String>,
}

/// That a sandbox is certainly gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gone {
    /// It was destroyed now.
    Destroyed,
    /// It was gone already, or had never been there.
    Already,
    /// It is not there, but the answer to its order was lost: it may still come.
    Unseen,
}
