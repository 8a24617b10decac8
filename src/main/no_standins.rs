//! No providers that follow a script: this program was built without them.

use std::sync::Arc;

use thud::router::adapter::Adapter;

/// None.
pub fn offered() -> Result<Vec<Arc<dyn Adapter>>, String> {
    Err("THUD_STANDINS is set, but this program was built without the feature standins".to_owned())
}
