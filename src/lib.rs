//! Thud: the open catalog of code sandboxes for AI agents.
//!
//! Provider files (`catalog/*.toml`) are read into an in-memory [`catalog`], every price an exact decimal of
//! [`money`]. Pure functions price a shape, a runaway and a workload ([`calculator`]) and put providers side by side
//! ([`comparison`]). Pages, API and islands all call them: one function computes a figure. SQLite keeps every revision
//! of the catalog that was ever published.
//!
//! The [`router`] runs a snippet in one fresh sandbox per attempt, fails over only while certainly no code has run, and
//! leaves nothing behind: a lease is written before a sandbox is asked for, and a reaper pays what is owed. Providers are
//! adapters: `local` is the sandbox that the program brings along (`router/embedded.rs`, `guests/`), E2B and Daytona are
//! asked over the network (`router/outbound.rs`). SQLite keeps the [`runs`], their leases, tokens and budgets.
//!
//! ```text
//! main -> server -> pages -> parts, islands
//!                         -> actions -> router -> runs -> catalog
//!                -> api -----------------^
//!         pages, api, islands -> comparison, calculator -> catalog -> money
//! ```
//!
//! What is marked `ssr` exists on the server alone; the rest also runs in browsers. `cfg` stands on `mod` lines only.
//!
//! Invariants, held by tests: no float touches money; a price is never ranked unless it is exact; unknown is never
//! zero; a revision is never edited; pages never reach the browser; imports go one way (`tests/tidy.rs`); no sandbox
//! without a lease; code that may have run is never run again; a final run never
//! changes; a key goes to the hosts of its provider alone.

/// Exact decimals: amounts, quantities, rates.
pub mod money;

/// Providers, their claims, prices and plans; how files become a catalog, and what a shape costs.
#[macro_use]
pub mod catalog;

/// What a runaway costs, what a workload costs.
pub mod calculator;

/// Providers side by side: verdict, rows, cells.
pub mod comparison;

/// Figures as the shapes of pictures.
pub mod picture;

/// Instants and durations, one form each.
#[cfg(feature = "ssr")]
pub mod moment;

/// Hashes and hexadecimal digits.
#[cfg(feature = "ssr")]
pub mod hash;

/// Errors with their causes.
#[cfg(feature = "ssr")]
pub mod causes;

/// The SQLite file: opened, migrated or refused.
#[cfg(feature = "ssr")]
pub mod database;

/// A run: what is asked for, what became of it, what is kept of it.
pub mod runs;

/// Who may run code, and for how much.
#[cfg(feature = "ssr")]
pub mod access;

/// Where code runs: one request, a fresh sandbox for every attempt, none left behind.
#[cfg(feature = "ssr")]
pub mod router;

/// Providers that are not there: some follow a script, two are served as stand-ins for hosted ones.
#[cfg(all(feature = "ssr", any(test, feature = "standins")))]
pub mod standins;

/// What every request shares.
#[cfg(feature = "ssr")]
pub mod state;

/// JSON, CSV, Markdown: the forms of an answer.
#[cfg(feature = "ssr")]
pub mod form;

/// Query strings, read the same way for pages and API.
#[cfg(feature = "ssr")]
pub mod query;

/// `/api/v1` and its OpenAPI document.
#[cfg(feature = "ssr")]
pub mod api;

/// What a page can ask the server to do.
#[expect(missing_docs, reason = "the macro declares items of its own beside each function")]
pub mod actions;

/// What a browser runs.
pub mod islands;

/// Server-rendered pieces that several pages share.
#[cfg(feature = "ssr")]
pub mod parts;

/// Every page, one file an address.
#[cfg(feature = "ssr")]
pub mod pages;

/// All routes and all middleware, in order.
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
