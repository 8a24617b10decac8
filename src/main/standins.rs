//! The providers that follow a script, in a program that was built with them.

use std::sync::Arc;

use thud::router::adapter::Adapter;
use thud::standins::scripted::Scripted;

/// All that are offered.
pub fn offered() -> Result<Vec<Arc<dyn Adapter>>, String> {
    Ok(Scripted::offered())
}
