//! No stand-ins: this program was built without them.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Subcommand;
use thud::router::adapter::Adapter;
use thud::router::embedded::Options;

/// Nothing besides.
#[derive(Subcommand)]
pub enum Command {}

/// None.
pub fn offered() -> Result<Vec<Arc<dyn Adapter>>, String> {
    Err("THUD_STANDINS is set, but this program was built without the feature standins".to_owned())
}

/// Never called.
pub fn run(
    command: Command,
    _: PathBuf,
    _: impl FnOnce(PathBuf) -> Options,
    _: impl Future<Output = ()>,
) -> Result<(), String> {
    match command {}
}
