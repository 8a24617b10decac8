//! The hosted providers, each as the environment sets it up or says nothing of it.

use std::sync::Arc;

use thud::causes::chain;
use thud::router::adapter::Adapter;
use thud::router::daytona::{self, Daytona};
use thud::router::e2b::{self, E2b};
use thud::router::not_set_up::NotSetUp;
use thud::server::config::Config;

/// Each of them, for a site of this name.
pub fn adapters(config: &Config, instance: &str) -> Result<Vec<Arc<dyn Adapter>>, String> {
    let Config { e2b: of_e2b, daytona: of_daytona, .. } = config;
    let e2b: Arc<dyn Adapter> = if let Some(settings) = of_e2b.settings.clone() {
        Arc::new(E2b::new(settings, instance.to_owned()).map_err(|error| chain(&error))?)
    } else {
        let terms = e2b::terms(of_e2b.shape, of_e2b.start_slice);
        Arc::new(NotSetUp::new(e2b::SLUG, terms, "E2B_API_KEY"))
    };
    let daytona: Arc<dyn Adapter> = if let Some(settings) = of_daytona.settings.clone() {
        Arc::new(Daytona::new(settings, instance.to_owned()).map_err(|error| chain(&error))?)
    } else {
        let terms = daytona::terms(of_daytona.tier, of_daytona.shape, of_daytona.start_slice);
        Arc::new(NotSetUp::new(daytona::SLUG, terms, "DAYTONA_API_KEY"))
    };
    Ok(vec![e2b, daytona])
}
