//! Revisions of the catalog in SQLite: appended, never edited.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::civil::Date;
use sqlx::{SqliteConnection, SqlitePool};

use super::Provider;
use super::change::{ProviderChange, between};
use super::load::{CatalogFile, digest, load};
use crate::moment::second;

/// Hex digits of the digest that name a revision.
pub const REVISION_DIGITS: usize = 12;
/// Revisions whose changes are told, at most; the newest.
pub const REVISIONS_TOLD_MAX: u32 = 50;

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

    /// Whether it is the first that this site published: nothing is there to compare it with.
    pub fn is_first(&self) -> bool {
        self.number == 1
    }

    /// Its place on the page of changes. A catalog that was put back has an old name again, but never an old number.
    pub fn anchor(&self) -> String {
        format!("revision-{}", self.number)
    }
}

/// A revision with what changed in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The revision.
    pub revision: Revision,
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
    let published_at = second(now);
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

/// The newest revisions, with the files in which each differs from the one before.
pub struct History {
    revisions: Vec<RevisionRow>,
    files: Vec<ChangedFileRow>,
}

/// Reads the newest revisions, the newest first.
pub async fn history(pool: &SqlitePool) -> Result<History, sqlx::Error> {
    let revisions: Vec<RevisionRow> = sqlx::query_as(
        "select number, digest, published_at from catalog_revision order by number desc limit ?",
    )
    .bind(REVISIONS_TOLD_MAX)
    .fetch_all(pool)
    .await?;
    let oldest = revisions.last().map_or(0, |row| row.number);
    let files = changed_files(pool, oldest).await?;
    Ok(History { revisions, files })
}

impl History {
    /// What changed in each revision. `today` is the last day that a file may name. It takes some milliseconds for each
    /// file that ever changed.
    pub fn told(self, today: Date) -> Vec<Published> {
        Reader { today, read: HashMap::new() }.told(self.revisions, &self.files)
    }
}

/// Reads files, each text once: what one revision ends with the next one begins with.
struct Reader<'a> {
    today: Date,
    read: HashMap<&'a str, Option<Provider>>,
}

impl<'a> Reader<'a> {
    /// What each revision changed, from the files in which it differs from the one before.
    fn told(mut self, revisions: Vec<RevisionRow>, files: &'a [ChangedFileRow]) -> Vec<Published> {
        let told = revisions.into_iter().map(|row| {
            let files = files.iter().filter(|file| file.revision == row.number);
            let mut changes = Vec::new();
            let mut unreadable = Vec::new();
            for file in files {
                match (
                    self.provider(&file.slug, file.before.as_ref()),
                    self.provider(&file.slug, file.after.as_ref()),
                ) {
                    (Ok(before), Ok(after)) => {
                        let position =
                            after.as_ref().or(before.as_ref()).map_or(0, |one| one.position);
                        let change = between(before.as_ref(), after.as_ref());
                        changes.extend(change.map(|change| (position, change)));
                    }
                    _ => unreadable.push(file.slug.clone()),
                }
            }
            changes.sort_by_key(|(position, _)| *position);
            let changes = changes.into_iter().map(|(_, change)| change).collect();
            Published { revision: row.into(), changes, unreadable }
        });
        told.collect()
    }

    /// The provider of a text; none where there is no text, an error where it cannot be read.
    fn provider(&mut self, slug: &str, text: Option<&'a String>) -> Result<Option<Provider>, ()> {
        let Some(text) = text else { return Ok(None) };
        let today = self.today;
        let read = self.read.entry(text.as_str()).or_insert_with(|| {
            let file = CatalogFile { slug: slug.to_owned(), text: text.clone() };
            let catalog = load(&[file], today).ok()?;
            catalog.providers().first().cloned()
        });
        read.clone().map(Some).ok_or(())
    }
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
