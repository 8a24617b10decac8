//! What every request shares: the catalog, its revision, the database, and what the site is built from.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;
use sqlx::SqlitePool;

use crate::catalog::Catalog;
use crate::catalog::store::Revision;

/// Shared by all requests; cheap to clone.
#[derive(Clone)]
pub struct AppState {
    /// The catalog that is served.
    pub catalog: Arc<Catalog>,
    /// Its revision as this site published it.
    pub revision: Arc<Revision>,
    /// The database.
    pub pool: SqlitePool,
    /// What the site is built from.
    pub site: Arc<Site>,
}

/// What the site is built from, and where it is reached.
#[derive(Debug, Clone, Default)]
pub struct Site {
    /// The folder of files that are served as they are.
    pub root: PathBuf,
    /// The paths of its files, such as `/pkg/thud.css`, as they were at the start.
    pub files: BTreeSet<String>,
    /// Names this build and its files: what was cached from another one is stale.
    pub build: String,
    /// Scheme and host by which the world reaches the site, without a slash at the end, where that is known.
    pub public_url: Option<String>,
    /// Scheme and host for examples: the public ones, else those that the server listens on.
    pub base_url: String,
    /// The OpenAPI document.
    pub api_document: serde_json::Value,
}

impl Site {
    /// The whole address of a path: by the public name where that is known, never by what a client
    /// calls us.
    pub fn absolute(&self, path: &str) -> String {
        format!("{}{path}", self.public_url.as_ref().unwrap_or(&self.base_url))
    }
}

/// The day in UTC at an instant.
pub fn day_of(instant: Timestamp) -> Date {
    Offset::UTC.to_datetime(instant).date()
}

/// Today in UTC.
pub fn today() -> Date {
    day_of(Timestamp::now())
}
