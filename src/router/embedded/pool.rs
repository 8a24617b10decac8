//! Which workers there are: the guests made ready in the background, places for so many runs as cores and memory bear,
//! and some workers started beforehand.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use thiserror::Error;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{timeout, timeout_at};

use super::frames::{FrameError, Message, Request};
use super::locked::{Isolation, Lock};
use super::process::{Process, Worker};
use super::{Language, Options};
use crate::causes::chain;

/// How long compiling one guest may take; ten seconds are usual.
const PREPARE_LIMIT: Duration = Duration::from_mins(10);
/// How long a worker may take to load its guest; ten milliseconds are usual.
const HIRE_LIMIT: Duration = Duration::from_secs(30);

/// Whether runs can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Guests are being compiled.
    WarmingUp,
    /// A worker of every language has loaded its guest.
    Ready,
    /// A guest cannot be compiled or loaded, and why.
    Failed(String),
}

/// Why there is no worker. Nothing of the user's code was sent.
#[derive(Debug, Error)]
pub enum StartError {
    /// The guest is still being compiled.
    #[error("the sandbox is still warming up")]
    WarmingUp,
    /// All places were taken until the deadline.
    #[error("every place in the sandbox is taken")]
    Busy,
    /// The sandbox does not work on this machine, or not now.
    #[error("no worker could be started")]
    Broken(#[source] WorkerError),
}

/// What is wrong with a worker process.
#[derive(Debug, Error)]
pub enum WorkerError {
    /// It cannot be started.
    #[error("the worker program cannot be started")]
    Spawn(#[source] io::Error),
    /// It ended or said what cannot be read.
    #[error("the worker broke off")]
    BrokeOff(#[source] FrameError),
    /// It said that it failed; the text is its own.
    #[error("the worker failed: {0}")]
    Failed(String),
    /// It said something that was not asked for.
    #[error("the worker gave another answer than was asked for")]
    Unasked,
    /// It said nothing in time.
    #[error("the worker took too long")]
    TooSlow,
}

/// The sandbox. Clones are the same sandbox; with the last one its processes end.
#[derive(Clone)]
pub struct Embedded {
    shared: Arc<Shared>,
}

struct Shared {
    options: Options,
    /// One for each run that may be under way.
    places: Arc<Semaphore>,
    rooms: [Room; Language::ALL.len()],
    lock: OnceLock<Lock>,
    background: Mutex<JoinSet<()>>,
}

/// What belongs to one language.
struct Room {
    state: watch::Sender<State>,
    idle: Mutex<Idle>,
}

#[derive(Clone)]
enum State {
    WarmingUp,
    /// The compiled guest.
    Ready(PathBuf),
    Failed(String),
}

#[derive(Default)]
struct Idle {
    waiting: Vec<Process>,
    /// How many are being started.
    coming: usize,
}

impl Embedded {
    /// Sets the sandbox up and begins to compile the guests in the background, by a child process. Must be called in a
    /// Tokio runtime.
    pub fn open(mut options: Options) -> Self {
        // A worker stands elsewhere.
        for path in [Some(&mut options.cache_dir), options.guest_dir.as_mut()] {
            if let Some(path) = path
                && let Ok(absolute) = std::path::absolute(&*path)
            {
                *path = absolute;
            }
        }
        let shared = Arc::new(Shared {
            places: Arc::new(Semaphore::new(options.places())),
            rooms: Language::ALL.map(|_| Room {
                state: watch::Sender::new(State::WarmingUp),
                idle: Mutex::default(),
            }),
            lock: OnceLock::new(),
            background: Mutex::default(),
            options,
        });
        shared.in_background(warm_up(Arc::downgrade(&shared), Language::ALL.to_vec()));
        Self { shared }
    }

    /// Whether runs can be started now.
    pub fn readiness(&self) -> Readiness {
        let mut readiness = Readiness::Ready;
        for room in &self.shared.rooms {
            match &*room.state.borrow() {
                State::Failed(text) => return Readiness::Failed(text.clone()),
                State::WarmingUp => readiness = Readiness::WarmingUp,
                State::Ready(_) => {}
            }
        }
        readiness
    }

    /// Waits until the sandbox is no longer warming up, or for the deadline.
    pub async fn ready_by(&self, deadline: Instant) -> Readiness {
        for language in Language::ALL {
            self.shared.settled(language, deadline).await;
        }
        self.readiness()
    }

    /// What one run may use of memory.
    pub fn memory_bytes_per_run(&self) -> u64 {
        self.shared.options.memory_bytes()
    }

    /// What keeps the code in, as the first worker told; nothing while the sandbox is warming up.
    pub fn isolation(&self) -> Option<Isolation> {
        self.shared.lock.get().map(|lock| (*lock).into())
    }

    /// Waits for a place and gives a worker that is ready to run code of this language.
    pub async fn start(&self, language: Language, deadline: Instant) -> Result<Worker, StartError> {
        let shared = &self.shared;
        let compiled = match shared.settled(language, deadline).await {
            State::WarmingUp => return Err(StartError::WarmingUp),
            State::Failed(text) => return Err(StartError::Broken(WorkerError::Failed(text))),
            State::Ready(compiled) => compiled,
        };
        let place = timeout_at(deadline.into(), Arc::clone(&shared.places).acquire_owned()).await;
        // The semaphore is never closed.
        let Ok(Ok(place)) = place else { return Err(StartError::Busy) };
        let process = match shared.take_idle(language) {
            Some(process) => process,
            None => match timeout_at(deadline.into(), shared.hire(language, compiled)).await {
                Err(_) => return Err(StartError::Broken(WorkerError::TooSlow)),
                Ok(Ok(process)) => process,
                Ok(Err(error)) => {
                    if let WorkerError::Failed(_) = error {
                        // Perhaps the compiled guest was damaged or removed: look, and compile it anew.
                        shared.warm_up_again(language);
                    }
                    return Err(StartError::Broken(error));
                }
            },
        };
        shared.fill(language);
        Ok(Worker { process, output_bytes: shared.options.output_bytes, place })
    }
}

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedded").field("readiness", &self.readiness()).finish_non_exhaustive()
    }
}

/// Makes guests ready, one after the other: compiling takes all cores. Holds the sandbox only weakly, so that whoever
/// drops it ends this too.
async fn warm_up(shared: Weak<Shared>, languages: Vec<Language>) {
    for language in languages {
        let Some(options) = shared.upgrade().map(|shared| shared.options.clone()) else { return };
        let prepared = timeout(PREPARE_LIMIT, prepare(&options, language)).await;
        let Some(shared) = shared.upgrade() else { return };
        let state = match prepared.unwrap_or(Err(WorkerError::TooSlow)) {
            Err(error) => State::Failed(chain(&error)),
            // Ready is what a real worker has loaded.
            Ok(compiled) => match shared.hire(language, compiled.clone()).await {
                Err(error) => State::Failed(chain(&error)),
                Ok(process) => {
                    if shared.options.idle_workers > 0 {
                        shared.idle(language).waiting.push(process);
                    }
                    State::Ready(compiled)
                }
            },
        };
        shared.room(language).state.send_replace(state);
        shared.fill(language);
    }
}

async fn prepare(options: &Options, language: Language) -> Result<PathBuf, WorkerError> {
    let mut process = Process::spawn(options).map_err(WorkerError::Spawn)?;
    let request = Request::Prepare {
        language,
        cache: options.cache_dir.clone(),
        guests: options.guest_dir.clone(),
    };
    match process.ask(&request).await.map_err(WorkerError::BrokeOff)? {
        Message::Prepared(compiled) => Ok(compiled),
        Message::Failed(text) => Err(WorkerError::Failed(text)),
        _ => Err(WorkerError::Unasked),
    }
}

impl Shared {
    fn room(&self, language: Language) -> &Room {
        &self.rooms[language as usize]
    }

    fn idle(&self, language: Language) -> MutexGuard<'_, Idle> {
        self.room(language).idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn in_background(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.background.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// The state of a language once it is no longer warming up, or at the deadline.
    async fn settled(&self, language: Language, deadline: Instant) -> State {
        let mut state = self.room(language).state.subscribe();
        let is_settled = |state: &State| !matches!(state, State::WarmingUp);
        let waited = timeout_at(deadline.into(), state.wait_for(is_settled)).await;
        waited.ok().and_then(Result::ok).map_or(State::WarmingUp, |state| state.clone())
    }

    /// Starts a worker and has it load its guest.
    async fn hire(&self, language: Language, compiled: PathBuf) -> Result<Process, WorkerError> {
        let mut process = Process::spawn(&self.options).map_err(WorkerError::Spawn)?;
        let request = Request::Load {
            language,
            compiled,
            memory_bytes: self.options.memory_bytes(),
            output_bytes: self.options.output_bytes,
        };
        let answer = timeout(HIRE_LIMIT, process.ask(&request)).await;
        match answer.map_err(|_| WorkerError::TooSlow)?.map_err(WorkerError::BrokeOff)? {
            Message::Loaded(lock) => {
                self.lock.get_or_init(|| lock);
                Ok(process)
            }
            Message::Failed(text) => Err(WorkerError::Failed(text)),
            _ => Err(WorkerError::Unasked),
        }
    }

    /// A worker that waits and has not been killed from outside meanwhile.
    fn take_idle(&self, language: Language) -> Option<Process> {
        let mut idle = self.idle(language);
        while let Some(mut process) = idle.waiting.pop() {
            if process.is_alive() {
                return Some(process);
            }
        }
        None
    }

    /// Starts as many workers as should wait but do not.
    fn fill(self: &Arc<Self>, language: Language) {
        let State::Ready(compiled) = self.room(language).state.borrow().clone() else { return };
        let missing = {
            let mut idle = self.idle(language);
            let there = idle.waiting.len() + idle.coming;
            let missing = self.options.idle_workers.saturating_sub(there);
            idle.coming += missing;
            missing
        };
        for _ in 0..missing {
            let (shared, compiled) = (Arc::downgrade(self), compiled.clone());
            self.in_background(async move {
                let Some(shared) = shared.upgrade() else { return };
                let hired = shared.hire(language, compiled).await;
                let mut idle = shared.idle(language);
                idle.coming -= 1;
                // One that fails is tried again, and told of, by the next run.
                idle.waiting.extend(hired);
            });
        }
    }

    fn warm_up_again(self: &Arc<Self>, language: Language) {
        let is_first = self.room(language).state.send_if_modified(|state| {
            let is_first = matches!(state, State::Ready(_));
            if is_first {
                *state = State::WarmingUp;
            }
            is_first
        });
        if is_first {
            self.in_background(warm_up(Arc::downgrade(self), vec![language]));
        }
    }
}
