//! Revisions of the catalog in SQLite: appended, never edited.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use sqlx::{SqliteConnection, SqlitePool};

use super::Catalog;
use super::change::{ProviderChange, between};
use super::load::{CatalogFile, digest, load};

/// Hex digits of the digest that name a revision.
pub const REVISION_DIGITS: usize = 12;
/// Revisions whose changes are told, at most; the newest.
pub const REVISIONS_TOLD_MAX: u32 = 200;

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

/// A revision with what changed in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The revision.
    pub revision: Revision,
    /// Whether it is the first that this site published: nothing is there to compare it with.
    pub is_first: bool,
    /// What changed, by position.
    pub changes: Vec<ProviderChange>,
    /// Slugs of files that changed but that this version of the program cannot read any more.
    pub unreadable: Vec<String>,
}

#[derive(sqlx::FromRow)]
struct RevisionRow {
    number: i64,
    digest: String,
    published_at: String,
}

impl From<RevisionRow> for Revision {
    fn from(row: RevisionRow) -> Self {
        Self { number: row.number, digest: row.digest, published_at: row.published_at }
    }
}

/// A file of a revision that is not what it was in the revision before.
#[derive(sqlx::FromRow)]
struct ChangedFileRow {
    revision: i64,
    slug: String,
    before: Option<String>,
    after: Option<String>,
}

#[derive(sqlx::FromRow)]
struct FileRow {
    slug: String,
    content: String,
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
    Ok(row.map(Revision::from))
}

/// The revision that held at the end of a day, in UTC; `None` before the first one.
pub async fn revision_of(pool: &SqlitePool, day: Date) -> Result<Option<Revision>, sqlx::Error> {
    let Ok(next) = day.tomorrow() else { return newest(&mut *pool.acquire().await?).await };
    let row: Option<RevisionRow> = sqlx::query_as(
        "select number, digest, published_at from catalog_revision where published_at < ? \
         order by number desc limit 1",
    )
    .bind(next.to_string())
    .fetch_optional(pool)
    .await?;
    Ok(row.map(Revision::from))
}

/// The files of a revision, by slug.
pub async fn files_of(pool: &SqlitePool, number: i64) -> Result<Vec<CatalogFile>, sqlx::Error> {
    let rows: Vec<FileRow> =
        sqlx::query_as("select slug, content from catalog_file where revision = ? order by slug")
            .bind(number)
            .fetch_all(pool)
            .await?;
    Ok(rows.into_iter().map(|row| CatalogFile { slug: row.slug, text: row.content }).collect())
}

/// The newest revisions with what changed in each, the newest first. `today` is the last day that a file may name.
pub async fn published(pool: &SqlitePool, today: Date) -> Result<Vec<Published>, sqlx::Error> {
    let revisions: Vec<RevisionRow> = sqlx::query_as(
        "select number, digest, published_at from catalog_revision order by number desc limit ?",
    )
    .bind(REVISIONS_TOLD_MAX)
    .fetch_all(pool)
    .await?;
    let oldest = revisions.last().map_or(0, |row| row.number);
    let mut files: BTreeMap<i64, Vec<ChangedFileRow>> = BTreeMap::new();
    for row in changed_files(pool, oldest).await? {
        files.entry(row.revision).or_default().push(row);
    }
    Ok(revisions
        .into_iter()
        .map(|row| {
            let files = files.remove(&row.number).unwrap_or_default();
            told(row.into(), &files, today)
        })
        .collect())
}

/// What a revision changed, from the files in which it differs from the one before.
fn told(revision: Revision, files: &[ChangedFileRow], today: Date) -> Published {
    let mut changes = Vec::new();
    let mut unreadable = Vec::new();
    let is_first = revision.number == 1;
    for file in files.iter().filter(|_| !is_first) {
        let read = |text: &Option<String>| -> Option<Option<Catalog>> {
            let Some(text) = text else { return Some(None) };
            let file = CatalogFile { slug: file.slug.clone(), text: text.clone() };
            load(&[file], today).ok().map(Some)
        };
        let (Some(before), Some(after)) = (read(&file.before), read(&file.after)) else {
            unreadable.push(file.slug.clone());
            continue;
        };
        let old = before.as_ref().and_then(|catalog| catalog.providers().first());
        let new = after.as_ref().and_then(|catalog| catalog.providers().first());
        let position = new.or(old).map_or(0, |provider| provider.position);
        changes.extend(between(old, new).map(|change| (position, change)));
    }
    changes.sort_by_key(|(position, _)| *position);
    let changes = changes.into_iter().map(|(_, change)| change).collect();
    Published { revision, is_first, changes, unreadable }
}

/// Files that differ from what they were one revision before, from a revision on.
async fn changed_files(pool: &SqlitePool, from: i64) -> Result<Vec<ChangedFileRow>, sqlx::Error> {
    // The first revision is compared with nothing: its files need not be read.
    sqlx::query_as(
        "select new.revision, new.slug, old.content as before, new.content as after \
         from catalog_file new \
         left join catalog_file old on old.revision = new.revision - 1 and old.slug = new.slug \
         where new.revision >= ? and new.revision > 1 and new.content is not old.content \
         union all \
         select old.revision + 1, old.slug, old.content, null \
         from catalog_file old \
         join catalog_revision next on next.number = old.revision + 1 \
         left join catalog_file new on new.revision = next.number and new.slug = old.slug \
         where next.number >= ? and new.slug is null",
    )
    .bind(from)
    .bind(from)
    .fetch_all(pool)
    .await
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
