//! What every request shares: the catalog of today and of any past day, the database, and what the site is built from.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use quick_cache::sync::Cache;
use sqlx::SqlitePool;
use thiserror::Error;

use crate::catalog::Catalog;
use crate::catalog::load::{CatalogFile, Readable, load_readable};
use crate::catalog::store::{self, Published, Revision};
use crate::moment::today;
use crate::router::adapter::Adapter;
use crate::router::{Limits, SandboxRouter};

/// Past revisions whose catalog is kept in memory.
const REVISIONS_KEPT: usize = 16;

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
    /// Where code runs.
    pub sandboxes: SandboxRouter,
    /// Past revisions that were asked about, by number.
    past: Arc<Cache<i64, Arc<Readable>>>,
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
    /// Slugs of files of that revision that are in a form which is not read any more.
    pub unreadable: Arc<Vec<String>>,
}

/// Why there is no catalog of a day.
#[derive(Debug, Error)]
pub enum EditionError {
    /// The database.
    #[error("the revision of the day could not be read")]
    Store(#[from] sqlx::Error),
    /// The reading was cut off.
    #[error("the revision of the day could not be read to its end")]
    CutOff(#[from] tokio::task::JoinError),
}

impl AppState {
    /// A state over a catalog; publishes it where its revision is not the newest already.
    pub async fn open(
        files: Vec<CatalogFile>,
        catalog: Catalog,
        pool: SqlitePool,
        site: Site,
        adapters: Vec<Arc<dyn Adapter>>,
        limits: Limits,
    ) -> Result<Self, sqlx::Error> {
        let revision = store::publish(&pool, &files, Timestamp::now()).await?;
        let history = store::history(&pool).await?;
        let told = tokio::task::spawn_blocking(move || history.told(today())).await;
        // A reading that was cut off leaves the changes untold, which the next start makes good.
        let published = told.unwrap_or_default();
        let catalog = Arc::new(catalog);
        let sandboxes = SandboxRouter::new(pool.clone(), catalog.clone(), adapters, limits);
        Ok(Self {
            sandboxes,
            catalog,
            files: Arc::new(files),
            revision: Arc::new(revision),
            published: Arc::new(published),
            pool,
            site: Arc::new(site),
            past: Arc::new(Cache::new(REVISIONS_KEPT)),
        })
    }

    /// Today's edition.
    pub fn current(&self) -> Edition {
        self.edition_of(today(), self.catalog.clone(), Origin::Current)
    }

    fn edition_of(&self, day: Date, catalog: Arc<Catalog>, origin: Origin) -> Edition {
        let revision = self.revision.clone();
        Edition { day, catalog, revision, origin, unreadable: Arc::default() }
    }

    /// The catalog of a day: the revision of that day where this site has one, else what was known by then. Prices are
    /// those of the day by today's knowledge of their history.
    pub async fn edition(&self, day: Date) -> Result<Edition, EditionError> {
        if day >= today() {
            return Ok(self.current());
        }
        let Some(revision) = store::revision_of(&self.pool, day).await? else {
            let known = Arc::new(self.catalog.known_by(day));
            return Ok(self.edition_of(day, known, Origin::Evidence));
        };
        let readable = self.readable(&revision).await?;
        Ok(Edition {
            unreadable: Arc::new(readable.refused.clone()),
            revision: Arc::new(revision),
            ..self.edition_of(
                day,
                Arc::new(readable.catalog.under_prices_of(&self.catalog, day)),
                Origin::Revision,
            )
        })
    }

    /// What can be read of a past revision; read once however many ask at the same time.
    async fn readable(&self, revision: &Revision) -> Result<Arc<Readable>, EditionError> {
        let number = revision.number;
        let read = async {
            let files = store::files_of(&self.pool, number).await?;
            // A whole catalog takes some milliseconds to read: not on a thread that others wait for.
            let read = tokio::task::spawn_blocking(move || load_readable(&files, today())).await?;
            Ok::<_, EditionError>(Arc::new(read))
        };
        self.past.get_or_insert_async(&number, read).await
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
