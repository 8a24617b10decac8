//! The database file: made, kept, refused.

use jiff::Timestamp;

use crate::catalog::load::CatalogFile;
use crate::catalog::store;
use crate::database::{DatabaseError, open};

fn files(text: &str) -> Vec<CatalogFile> {
    vec![CatalogFile { slug: "one".to_owned(), text: text.to_owned() }]
}

#[tokio::test]
async fn a_start_with_the_same_files_publishes_nothing_new() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/thud.sqlite");
    let pool = open(&path).await.unwrap();
    let now = Timestamp::now();
    let first = store::publish(&pool, &files("a"), now).await.unwrap();
    assert_eq!((first.number, first.name().len()), (1, 12));
    assert_eq!(store::publish(&pool, &files("a"), now).await.unwrap(), first);
    assert_eq!(store::publish(&pool, &files("b"), now).await.unwrap().number, 2);
    // A revert is a revision of its own.
    assert_eq!(store::publish(&pool, &files("a"), now).await.unwrap().number, 3);
}

#[tokio::test]
async fn a_revision_cannot_be_edited_or_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let pool = open(&folder.path().join("thud.sqlite")).await.unwrap();
    store::publish(&pool, &files("a"), Timestamp::now()).await.unwrap();
    for statement in [
        "update catalog_revision set published_at = '2020-01-01T00:00:00Z'",
        "delete from catalog_revision",
        "update catalog_file set content = ''",
        "delete from catalog_file",
    ] {
        assert!(sqlx::query(statement).execute(&pool).await.is_err(), "{statement}");
    }
}

#[tokio::test]
async fn a_damaged_file_is_refused_and_left_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("thud.sqlite");
    for bytes in [
        b"not a database at all, but text".to_vec(),
        [b"SQLite format 3\0".to_vec(), vec![7; 4096]].concat(),
    ] {
        std::fs::write(&path, &bytes).unwrap();
        assert!(matches!(open(&path).await, Err(DatabaseError::Damaged { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("thud.sqlite");
    let pool = open(&path).await.unwrap();
    sqlx::query(
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time) \
         values (9999, 'from tomorrow', true, x'00', 0)",
    )
    .execute(&pool)
    .await
    .unwrap();
    pool.close().await;
    assert!(matches!(open(&path).await, Err(DatabaseError::Newer { .. })));
}
