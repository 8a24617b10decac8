//! Revisions of the catalog in SQLite: appended, never edited.

use jiff::Timestamp;
use sqlx::{SqliteConnection, SqlitePool};

use super::load::{CatalogFile, digest};

/// Hex digits of the digest that name a revision.
pub const REVISION_DIGITS: usize = 12;

/// A catalog as this site published it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// Counts from 1.
    pub number: i64,
    /// SHA-256 of its files, hexadecimal.
    pub digest: String,
    /// When this site first saw it, RFC 3339, UTC.
    pub published_at: String,
}

impl Revision {
    /// The name of the revision in answers: the first digits of its digest.
    pub fn name(&self) -> &str {
        self.digest.get(..REVISION_DIGITS).unwrap_or(&self.digest)
    }
}

#[derive(sqlx::FromRow)]
struct RevisionRow {
    number: i64,
    digest: String,
    published_at: String,
}

/// The newest revision becomes that of `files`: the same one if nothing changed, else a new one.
pub async fn publish(
    pool: &SqlitePool,
    files: &[CatalogFile],
    now: Timestamp,
) -> Result<Revision, sqlx::Error> {
    let digest = digest(files);
    let mut transaction = pool.begin_with("begin immediate").await?;
    if let Some(newest) = newest(&mut transaction).await?
        && newest.digest == digest
    {
        return Ok(newest);
    }
    let published_at = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let number = insert_revision(&mut transaction, &digest, &published_at).await?;
    for file in files {
        insert_file(&mut transaction, number, file).await?;
    }
    transaction.commit().await?;
    Ok(Revision { number, digest, published_at })
}

/// The newest revision, where there is one.
pub async fn newest(connection: &mut SqliteConnection) -> Result<Option<Revision>, sqlx::Error> {
    let row: Option<RevisionRow> = sqlx::query_as(
        "select number, digest, published_at from catalog_revision order by number desc limit 1",
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| Revision {
        number: row.number,
        digest: row.digest,
        published_at: row.published_at,
    }))
}

async fn insert_revision(
    connection: &mut SqliteConnection,
    digest: &str,
    published_at: &str,
) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(
        "insert into catalog_revision (digest, published_at) values (?, ?) returning number",
    )
    .bind(digest)
    .bind(published_at)
    .fetch_one(connection)
    .await
}

async fn insert_file(
    connection: &mut SqliteConnection,
    revision: i64,
    file: &CatalogFile,
) -> Result<(), sqlx::Error> {
    sqlx::query("insert into catalog_file (revision, slug, content) values (?, ?, ?)")
        .bind(revision)
        .bind(&file.slug)
        .bind(&file.text)
        .execute(connection)
        .await
        .map(|_| ())
}
