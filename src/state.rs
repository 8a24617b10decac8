//! What every request shares: the catalog, its revision, the database.

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
}

/// The day in UTC at an instant.
pub fn day_of(instant: Timestamp) -> Date {
    Offset::UTC.to_datetime(instant).date()
}

/// Today in UTC.
pub fn today() -> Date {
    day_of(Timestamp::now())
}
