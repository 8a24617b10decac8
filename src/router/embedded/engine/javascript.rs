//! The JavaScript guest: the command `qjs`, which takes the code as an argument.

use std::sync::Arc;
use std::time::Instant;

use wasmtime::{Engine, Error, InstancePre, Linker, Module, StoreLimits};
use wasmtime_wasi::p1::{self, WasiP1Ctx};

use crate::router::embedded::Stream;
use crate::router::embedded::outlet::Outlet;

/// The interpreter, and the script by which it runs the code, the argument that follows.
const COMMAND: [&str; 4] =
    ["qjs", "--std", "-e", include_str!("../../../../guests/javascript/prelude.js")];

struct Host {
    wasi: WasiP1Ctx,
    limits: StoreLimits,
}

/// An interpreter that is linked. It is instantiated with the code, its argument; that takes no time.
pub struct Waiting {
    engine: Engine,
    command: InstancePre<Host>,
    memory_bytes: u64,
    outlet: Arc<Outlet>,
}

/// Links the interpreter.
pub fn link(
    engine: &Engine,
    module: &Module,
    memory_bytes: u64,
    outlet: &Arc<Outlet>,
) -> Result<Waiting, Error> {
    let mut linker = Linker::<Host>::new(engine);
    p1::add_to_linker_async(&mut linker, |host| &mut host.wasi)?;
    let command = linker.instantiate_pre(module)?;
    Ok(Waiting { engine: engine.clone(), command, memory_bytes, outlet: Arc::clone(outlet) })
}

impl Waiting {
    /// Runs the code to its end and gives its exit code.
    pub async fn run(self, code: &str, deadline: Instant) -> Result<i32, Error> {
        if code.contains('\0') {
            // An argument ends there: the interpreter would see half of the code.
            self.outlet.take(Stream::Stderr, b"SyntaxError: the code contains a null character\n");
            return Ok(1);
        }
        let mut wasi = super::deny_all(&self.outlet);
        wasi.args(&COMMAND).arg(code);
        let data = Host { wasi: wasi.build_p1(), limits: super::limits(self.memory_bytes) };
        let mut store = super::store(&self.engine, data, |host| &mut host.limits);
        super::set_deadline(&mut store, deadline);
        let instance = self.command.instantiate_async(&mut store).await?;
        let start = instance.get_typed_func::<(), ()>(&mut store, "_start")?;
        start.call_async(&mut store, ()).await?;
        Ok(0)
    }
}
