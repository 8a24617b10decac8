//! The Python guest: a component that exports `run`, whose interface is `guests/python/runner.wit`.

use std::sync::Arc;
use std::time::Instant;

use wasmtime::component::{Component, Linker, ResourceTable, TypedFunc};
use wasmtime::{Engine, Error, Store, StoreContextMut, StoreLimits};
use wasmtime_wasi::{I32Exit, WasiCtx, WasiCtxView, WasiView};

use crate::router::embedded::Stream;
use crate::router::embedded::outlet::Outlet;

/// The interface by its name in `runner.wit`.
const HOST: &str = "thud:runner/host";

struct Host {
    wasi: WasiCtx,
    table: ResourceTable,
    limits: StoreLimits,
    outlet: Arc<Outlet>,
}

impl WasiView for Host {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

/// A fresh interpreter.
pub struct Waiting {
    store: Store<Host>,
    run: TypedFunc<(&'static str,), (i32,)>,
}

/// Makes a fresh interpreter out of the snapshot.
pub async fn instantiate(
    engine: &Engine,
    component: &Component,
    memory_bytes: u64,
    outlet: &Arc<Outlet>,
) -> Result<Waiting, Error> {
    let mut linker = Linker::<Host>::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    let mut host = linker.instance(HOST)?;
    host.func_wrap("emit", |store: StoreContextMut<'_, Host>, (stream, bytes): (u32, Vec<u8>)| {
        let stream = if stream == 2 { Stream::Stderr } else { Stream::Stdout };
        store.data().outlet.take(stream, &bytes);
        Ok(())
    })?;
    host.func_wrap("exit", |_: StoreContextMut<'_, Host>, (code,): (i32,)| {
        Err::<(), Error>(I32Exit(code).into())
    })?;
    let data = Host {
        wasi: super::deny_all(outlet).build(),
        table: super::table(),
        limits: super::limits(memory_bytes),
        outlet: Arc::clone(outlet),
    };
    let mut store = super::store(engine, data, |host| &mut host.limits);
    let instance = linker.instantiate_async(&mut store, component).await?;
    let run = instance.get_typed_func(&mut store, "run")?;
    Ok(Waiting { store, run })
}

impl Waiting {
    /// Runs the code to its end and gives its exit code.
    pub async fn run(mut self, code: &str, deadline: Instant) -> Result<i32, Error> {
        super::set_deadline(&mut self.store, deadline);
        let (exit_code,) = self.run.call_async(&mut self.store, (code,)).await?;
        Ok(exit_code)
    }
}
