//! A guest under Wasmtime: settings, limits, one run. Which process this happens in is not known here.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::component::{Component, ResourceTable};
use wasmtime::{
    Config, Engine, Error, InstanceAllocationStrategy, Module, Store, StoreLimits,
    StoreLimitsBuilder, Trap, UpdateDeadline,
};
use wasmtime_wasi::{I32Exit, WasiCtxBuilder};

use super::frames::{End, cut};
use super::outlet::{Outlet, Pipe};
use super::{Language, Stream};

mod javascript;
mod python;

/// What a guest may use of the stack; with less, Python's own guard against recursion never acts.
const WASM_STACK_BYTES: usize = 8 * 1024 * 1024;
/// The same and what our own functions need.
const FIBER_STACK_BYTES: usize = WASM_STACK_BYTES + 1024 * 1024;
/// How often a busy guest is asked whether its time is over.
const TICK: Duration = Duration::from_millis(10);
/// What one call of a guest may make us allocate.
const HOSTCALL_FUEL: usize = 8 * 1024 * 1024;
/// Streams, clocks and the like that a guest may hold.
const MAX_RESOURCES: usize = 1000;
/// What a guest may ask of the random numbers at once.
const MAX_RANDOM_BYTES: u64 = 64 * 1024;
/// The Python guest consists of a good dozen instances; the rest are a multiple of what is needed.
const MAX_INSTANCES: usize = 64;
const MAX_MEMORIES: usize = 8;
const MAX_TABLES: usize = 64;
const MAX_TABLE_ELEMENTS: usize = 200_000;

/// The settings that a compiled guest depends on.
pub fn engine() -> Result<Engine, Error> {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .max_wasm_stack(WASM_STACK_BYTES)
        .async_stack_size(FIBER_STACK_BYTES)
        // A pool gains a tenth, and a worker has one guest only.
        .allocation_strategy(InstanceAllocationStrategy::OnDemand);
    Engine::new(&config)
}

/// Translates a guest into machine code of this computer. Takes seconds and every core.
pub fn compile(engine: &Engine, language: Language, wasm: &[u8]) -> Result<Vec<u8>, Error> {
    match language {
        Language::Python => engine.precompile_component(wasm),
        Language::JavaScript => engine.precompile_module(wasm),
    }
}

/// Whether a file is a compiled guest that this program can run.
pub fn loads(engine: &Engine, language: Language, compiled: &Path) -> bool {
    Code::load(engine, language, compiled).is_ok()
}

/// The machine code of a guest, mapped from its file.
enum Code {
    Python(Component),
    JavaScript(Module),
}

impl Code {
    #[expect(unsafe_code, reason = "mapping machine code is what the cache is for")]
    fn load(engine: &Engine, language: Language, compiled: &Path) -> Result<Self, Error> {
        // SAFETY: the file was written by `compile` of this user's own program into a folder that nobody else can
        // write to, and is replaced by renaming, never changed in place. Wasmtime refuses what another version, target
        // or setting has compiled.
        Ok(unsafe {
            match language {
                Language::Python => Self::Python(Component::deserialize_file(engine, compiled)?),
                Language::JavaScript => {
                    Self::JavaScript(Module::deserialize_file(engine, compiled)?)
                }
            }
        })
    }
}

/// A guest that is loaded but not yet started.
pub struct Guest {
    engine: Engine,
    code: Code,
    memory_bytes: u64,
}

impl Guest {
    /// Maps a compiled guest.
    pub fn load(language: Language, compiled: &Path, memory_bytes: u64) -> Result<Self, Error> {
        let engine = engine()?;
        let code = Code::load(&engine, language, compiled)?;
        Ok(Self { engine, code, memory_bytes })
    }

    /// Does what can be done before the code is known.
    pub async fn instantiate(self, outlet: &Arc<Outlet>) -> Result<Instance, Error> {
        let kind = match &self.code {
            Code::Python(component) => {
                let instance =
                    python::instantiate(&self.engine, component, self.memory_bytes, outlet).await?;
                Kind::Python(instance)
            }
            Code::JavaScript(module) => {
                Kind::JavaScript(javascript::link(&self.engine, module, self.memory_bytes, outlet)?)
            }
        };
        Ok(Instance { engine: self.engine, kind })
    }
}

/// A fresh guest that waits for its code.
pub struct Instance {
    engine: Engine,
    kind: Kind,
}

enum Kind {
    Python(python::Waiting),
    JavaScript(javascript::Waiting),
}

impl Instance {
    /// Runs the code to its end or the deadline. Must be called in a Tokio runtime that knows the time.
    pub async fn run(self, code: &str, deadline: Instant) -> End {
        tick(self.engine);
        let run = async {
            match self.kind {
                Kind::Python(waiting) => waiting.run(code, deadline).await,
                Kind::JavaScript(waiting) => waiting.run(code, deadline).await,
            }
        };
        // A guest that sleeps reaches no check of the epoch; one that computes keeps the timer from being looked at.
        match tokio::time::timeout_at(deadline.into(), run).await {
            Err(_) => End::TimedOut,
            Ok(Ok(exit_code)) => End::Exited(exit_code),
            Ok(Err(error)) => end(&error),
        }
    }
}

/// The text of the error that ends a guest at its deadline.
#[derive(Debug, thiserror::Error)]
#[error("the deadline has passed")]
struct DeadlinePassed;

fn end(error: &Error) -> End {
    if let Some(I32Exit(exit_code)) = error.downcast_ref() {
        End::Exited(*exit_code)
    } else if error.is::<DeadlinePassed>() {
        End::TimedOut
    } else if let Some(trap) = error.downcast_ref::<Trap>() {
        End::Crashed(trap.to_string())
    } else {
        End::Crashed(cut(error.root_cause().to_string()))
    }
}

/// Makes time pass for the guest, from a thread that ends with the process.
fn tick(engine: Engine) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(TICK);
            engine.increment_epoch();
        }
    });
}

/// A store with all limits but the deadline.
fn store<T: Send>(engine: &Engine, data: T, limits: fn(&mut T) -> &mut StoreLimits) -> Store<T> {
    let mut store = Store::new(engine, data);
    store.limiter(move |data| limits(data));
    store.set_hostcall_fuel(HOSTCALL_FUEL);
    store.set_epoch_deadline(1);
    // Before the run nothing ticks.
    store.epoch_deadline_callback(|_| Ok(UpdateDeadline::Yield(1)));
    store
}

/// From now on the guest is asked at each tick whether its time is over.
fn set_deadline<T>(store: &mut Store<T>, deadline: Instant) {
    store.epoch_deadline_callback(move |_| {
        if Instant::now() >= deadline {
            return Err(DeadlinePassed.into());
        }
        // So that timers of the guest's own and ours fire meanwhile.
        Ok(UpdateDeadline::Yield(1))
    });
}

fn limits(memory_bytes: u64) -> StoreLimits {
    StoreLimitsBuilder::new()
        .memory_size(usize::try_from(memory_bytes).unwrap_or(usize::MAX))
        .memories(MAX_MEMORIES)
        .instances(MAX_INSTANCES)
        .tables(MAX_TABLES)
        .table_elements(MAX_TABLE_ELEMENTS)
        .build()
}

/// WASI with nothing behind it: no arguments, environment, files, sockets or names.
fn deny_all(outlet: &Arc<Outlet>) -> WasiCtxBuilder {
    let mut builder = WasiCtxBuilder::new();
    builder
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .max_random_size(MAX_RANDOM_BYTES)
        .stdout(Pipe::new(outlet, Stream::Stdout))
        .stderr(Pipe::new(outlet, Stream::Stderr));
    builder
}

fn table() -> ResourceTable {
    let mut table = ResourceTable::new();
    table.set_max_capacity(MAX_RESOURCES);
    table
}
