//! Thud: the open catalog of code sandboxes for AI agents.
//!
//! Provider files (`catalog/*.toml`) are read into an in-memory [`catalog`], every price an exact decimal of
//! [`money`]; one function each prices a shape and a runaway; the API answers from them, and SQLite keeps every
//! revision that was ever published. Modules in reading order below.
//!
//! Invariants, held by tests: no float touches money; a price is never ranked unless it is exact; unknown is never
//! zero; a revision is never edited.

pub mod money;

#[macro_use]
pub mod catalog;

pub mod calculator;

pub mod comparison;

#[cfg(feature = "ssr")]
pub mod database;

#[cfg(feature = "ssr")]
pub mod state;

#[cfg(feature = "ssr")]
pub mod query;

#[cfg(feature = "ssr")]
pub mod api;

pub mod islands;

#[cfg(feature = "ssr")]
pub mod parts;

#[cfg(feature = "ssr")]
pub mod pages;

#[cfg(feature = "ssr")]
pub mod server;

#[cfg(all(test, feature = "ssr"))]
mod tests;

/// Wakes the islands of a page. The page's own script calls it once the browser half is there.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    leptos::mount::hydrate_islands();
}
