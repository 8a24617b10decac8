//! The SQLite file: opened, checked, migrated, or refused and left untouched.
//!
//! Not here: what is stored. Each noun has its own `store.rs`.

use std::path::Path;
use std::time::Duration;

use sqlx::SqlitePool;
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use thiserror::Error;

/// Every migration, in order.
pub static MIGRATOR: Migrator = sqlx::migrate!();
/// How long a statement waits for another writer.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Connections at most: readers beside the one writer.
const CONNECTIONS_MAX: u32 = 8;
/// The first bytes of every SQLite file.
const SQLITE_HEADER: &[u8] = b"SQLite format 3\0";

/// Why a database cannot be used. The file is left as it was.
#[derive(Debug, Error)]
pub enum DatabaseError {
    /// The folder cannot be made, or the file cannot be opened.
    #[error("{path} cannot be opened or written: choose another folder with THUD_DATA_DIR")]
    Unreachable {
        /// The file or folder.
        path: String,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// Not an SQLite file, or one that fails its own check.
    #[error("{path} is damaged or no SQLite database: move it away or restore a backup")]
    Damaged {
        /// The file.
        path: String,
    },
    /// Written by a newer Thud.
    #[error("{path} was written by a newer version of Thud: use that version, or another folder")]
    Newer {
        /// The file.
        path: String,
    },
    /// An SQLite database of another program.
    #[error("{path} is a database of another program: name another folder with THUD_DATA_DIR")]
    Foreign {
        /// The file.
        path: String,
    },
    /// A statement or migration failed.
    #[error("{path} cannot be prepared")]
    Sql {
        /// The file.
        path: String,
        /// What SQLite says.
        #[source]
        source: sqlx::Error,
    },
}

/// Opens the file, making it and its folder where they are missing, and brings it to this version.
pub async fn open(path: &Path) -> Result<SqlitePool, DatabaseError> {
    let shown = path.display().to_string();
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|source| DatabaseError::Unreachable {
            path: folder.display().to_string(),
            source,
        })?;
    }
    let exists = std::fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0);
    if exists {
        refuse_damaged_or_newer(path).await?;
    } else {
        // Says early and plainly that a folder is not writable.
        std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(|source| DatabaseError::Unreachable { path: shown.clone(), source })?;
    }
    let options = SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT);
    let sql = |source| DatabaseError::Sql { path: shown.clone(), source };
    let pool = SqlitePoolOptions::new()
        .max_connections(CONNECTIONS_MAX)
        .connect_with(options)
        .await
        .map_err(sql)?;
    MIGRATOR.run(&pool).await.map_err(|error| sql(error.into()))?;
    Ok(pool)
}

/// A database of this version that is gone when the program ends.
pub async fn in_memory() -> Result<SqlitePool, DatabaseError> {
    let sql = |source| DatabaseError::Sql { path: "a database in memory".to_owned(), source };
    let pool = SqlitePoolOptions::new()
        // Each connection would have a memory of its own, and loses it when it is closed.
        .max_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_with(SqliteConnectOptions::new().in_memory(true).foreign_keys(true))
        .await
        .map_err(sql)?;
    MIGRATOR.run(&pool).await.map_err(|error| sql(error.into()))?;
    Ok(pool)
}

/// Looks at an existing file without writing a byte to it.
async fn refuse_damaged_or_newer(path: &Path) -> Result<(), DatabaseError> {
    let shown = path.display().to_string();
    let damaged = || DatabaseError::Damaged { path: shown.clone() };
    let unreachable = |source| DatabaseError::Unreachable { path: shown.clone(), source };
    let mut header = [0; SQLITE_HEADER.len()];
    let mut file = std::fs::File::open(path).map_err(unreachable)?;
    if std::io::Read::read_exact(&mut file, &mut header).is_err() || header != SQLITE_HEADER {
        return Err(damaged());
    }
    let options = SqliteConnectOptions::new().filename(path).read_only(true);
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .connect_with(options)
        .await
        .map_err(|_| damaged())?;
    let check: Result<String, _> =
        sqlx::query_scalar("pragma quick_check(1)").fetch_one(&pool).await;
    if check.ok().as_deref() != Some("ok") {
        return Err(damaged());
    }
    let tables: Result<Vec<String>, _> =
        sqlx::query_scalar("select name from sqlite_schema where type = 'table'")
            .fetch_all(&pool)
            .await;
    let tables = tables.map_err(|_| damaged())?;
    // An empty database becomes ours; somebody else's does not.
    let ours = tables.iter().any(|table| table == "_sqlx_migrations");
    if !ours && !tables.is_empty() {
        return Err(DatabaseError::Foreign { path: shown });
    }
    let newest: Option<i64> = if ours {
        sqlx::query_scalar("select max(version) from _sqlx_migrations")
            .fetch_one(&pool)
            .await
            .map_err(|_| damaged())?
    } else {
        None
    };
    pool.close().await;
    let known = MIGRATOR.iter().map(|migration| migration.version).max();
    if newest > known {
        return Err(DatabaseError::Newer { path: shown });
    }
    Ok(())
}
