//! What every request shares: the catalog of today and of any past day, the database, and what the site is built from.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;
use quick_cache::sync::Cache;
use sqlx::SqlitePool;
use thiserror::Error;

use crate::catalog::Catalog;
use crate::catalog::load::{CatalogFile, Problem, load};
use crate::catalog::store::{self, Published, Revision};

/// Past days whose catalog is kept in memory.
const DAYS_KEPT: usize = 32;

/// Shared by all requests; cheap to clone.
#[derive(Clone)]
pub struct AppState {
    /// The catalog that is served.
    pub catalog: Arc<Catalog>,
    /// The files that it was read from.
    pub files: Arc<Vec<CatalogFile>>,
    /// Its revision as this site published it.
    pub revision: Arc<Revision>,
    /// What each of the newest revisions changed, the newest first.
    pub published: Arc<Vec<Published>>,
    /// The database.
    pub pool: SqlitePool,
    /// What the site is built from.
    pub site: Arc<Site>,
    /// Past days that were asked about.
    past: Arc<Cache<Date, Edition>>,
}

words! {
    /// From what the catalog of a day is made.
    Origin {
        /// It is today's.
        Current = "current", "current";
        /// The revision that this site had published by that day, under the prices of that day.
        Revision = "revision", "revision of that day";
        /// No revision of that day is kept: what had been seen by then of today's catalog, under the prices of that day.
        Evidence = "evidence", "what had been seen by then";
    }
}

/// The catalog of a day.
#[derive(Clone)]
pub struct Edition {
    /// The day whose prices hold.
    pub day: Date,
    /// The catalog.
    pub catalog: Arc<Catalog>,
    /// The revision that it is made from.
    pub revision: Arc<Revision>,
    /// In which way.
    pub origin: Origin,
}

/// Why there is no catalog of a day.
#[derive(Debug, Error)]
pub enum EditionError {
    /// The database.
    #[error("the revision of the day could not be read")]
    Store(#[from] sqlx::Error),
    /// A file of the revision is in a form that is not read any more.
    #[error("the revision of the day is in a form that is not read any more: {0}")]
    Unreadable(String),
    /// The reading was cut off.
    #[error("the revision of the day could not be read to its end")]
    CutOff,
}

impl AppState {
    /// A state over a catalog that was just published.
    pub async fn open(
        files: Vec<CatalogFile>,
        catalog: Catalog,
        pool: SqlitePool,
        site: Site,
    ) -> Result<Self, sqlx::Error> {
        let revision = store::publish(&pool, &files, Timestamp::now()).await?;
        let published = store::published(&pool, today()).await?;
        Ok(Self {
            catalog: Arc::new(catalog),
            files: Arc::new(files),
            revision: Arc::new(revision),
            published: Arc::new(published),
            pool,
            site: Arc::new(site),
            past: Arc::new(Cache::new(DAYS_KEPT)),
        })
    }

    /// Today's edition.
    pub fn current(&self) -> Edition {
        Edition {
            day: today(),
            catalog: self.catalog.clone(),
            revision: self.revision.clone(),
            origin: Origin::Current,
        }
    }

    /// The catalog of a day: the revision of that day where this site has one, else what was known by then. Prices are
    /// those of the day by today's knowledge of their history.
    pub async fn edition(&self, day: Date) -> Result<Edition, EditionError> {
        if day >= today() {
            return Ok(self.current());
        }
        if let Some(kept) = self.past.get(&day) {
            return Ok(kept);
        }
        let edition = match store::revision_of(&self.pool, day).await? {
            None => Edition {
                day,
                catalog: Arc::new(self.catalog.known_by(day)),
                revision: self.revision.clone(),
                origin: Origin::Evidence,
            },
            Some(revision) => Edition {
                day,
                catalog: self.catalog_of(&revision).await?,
                revision: Arc::new(revision),
                origin: Origin::Revision,
            },
        };
        self.past.insert(day, edition.clone());
        Ok(edition)
    }

    async fn catalog_of(&self, revision: &Revision) -> Result<Arc<Catalog>, EditionError> {
        if revision.number == self.revision.number {
            return Ok(self.catalog.clone());
        }
        let files = store::files_of(&self.pool, revision.number).await?;
        // A whole catalog takes some milliseconds to read: not on a thread that others wait for.
        let read = tokio::task::spawn_blocking(move || load(&files, today()));
        let catalog = read.await.map_err(|_| EditionError::CutOff)?.map_err(|problems| {
            EditionError::Unreadable(problems.first().map(Problem::to_string).unwrap_or_default())
        })?;
        Ok(Arc::new(catalog.under_prices_of(&self.catalog)))
    }
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
    /// The web address of the repository that holds the catalog, where that is known.
    pub repository_url: Option<String>,
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
