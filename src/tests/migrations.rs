//! The database file: made, kept, refused; its migrations, one by one over rows that are there.

use jiff::Timestamp;
use sqlx::sqlite::SqlitePoolOptions;
use sqlx::{AssertSqlSafe, SqlitePool};

use crate::catalog::load::CatalogFile;
use crate::catalog::store;
use crate::database::{DatabaseError, MIGRATOR, open};

/// What is in the tables when the migration after this one comes: at least a row in each table.
const SAMPLES: &[(i64, &str)] = &[
    (
        1,
        "insert into catalog_revision values (1, printf('%064d', 1), '2026-11-30T00:00:00Z');
         insert into catalog_revision values (2, printf('%064d', 2), '2026-11-30T00:00:01Z');
         insert into catalog_file values (1, 'one', 'a'), (2, 'one', 'b'), (2, 'two', '');",
    ),
    (
        2,
        "insert into token values (printf('%016d', 1), 'ci', zeroblob(32), 5, null, '2026-11-30T00:00:00Z', null);",
    ),
    (
        3,
        "insert into run (id, state, request_sha256, cancel_sha256, language, code_sha256, code_bytes, timeout_ms, fallback, \
         isolation_at_least, isolation_from, egress, requested_at, quote_list_picousd, quote_routed_picousd, token_id) \
         values (printf('%032d', 1), 'running', zeroblob(32), zeroblob(32), 'python', printf('%064d', 1), 8, 100, 1, \
         'wasm', 'default', 'none', '2026-11-30T00:00:00.000Z', 5, 6, printf('%016d', 1));
         insert into attempt (run_id, number, provider, stage, code_started, tier, tier_evidence, egress, egress_evidence, \
         started_at) values (printf('%032d', 1), 1, 'local', 'run', 1, 'wasm', 'confirmed', 'none', 'confirmed', \
         '2026-11-30T00:00:00.000Z');
         insert into output (run_id, code, delete_at) values (printf('%032d', 1), 'print(1)', '2026-12-01T00:00:00.000Z');",
    ),
    (
        4,
        "insert into lease (id, run_id, attempt, provider, state, created_at, kill_at, vcpu, memory_gib, disk_gib) \
         values (printf('%032d', 1), printf('%032d', 1), 1, 'local', 'open', '2026-11-30T00:00:00.000Z', \
         '2026-11-30T00:01:00.000Z', '1', '2', '0');",
    ),
    (
        5,
        "insert into reservation values (printf('%032d', 1), printf('%016d', 1), '2026-11-30', 6, null);",
    ),
    (6, "insert into instance values (1, printf('%016d', 1), '2026-11-30T00:00:00Z');"),
    (7, "update run set drill = 'refuses';"),
];

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

/// A database of its own, in memory.
async fn empty() -> SqlitePool {
    SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await.unwrap()
}

async fn tables(pool: &SqlitePool) -> Vec<(String, bool)> {
    let sql = "select name, strict from pragma_table_list \
               where schema = 'main' and type = 'table' and name not like 'sqlite_%' \
               and name <> '_sqlx_migrations' order by name";
    sqlx::query_as(sql).fetch_all(pool).await.unwrap()
}

async fn rows(pool: &SqlitePool, table: &str) -> i64 {
    let sql = AssertSqlSafe(format!("select count(*) from {table}"));
    sqlx::query_scalar(sql).fetch_one(pool).await.unwrap()
}

#[tokio::test]
async fn migrations_apply_in_order_over_rows_that_are_there() {
    let pool = empty().await;
    for migration in MIGRATOR.iter() {
        let version = migration.version;
        MIGRATOR.run_to(version, &pool).await.unwrap();
        let sample = SAMPLES.iter().find(|(sampled, _)| *sampled == version);
        let (_, sql) =
            sample.unwrap_or_else(|| panic!("add rows for migration {version} to SAMPLES"));
        sqlx::raw_sql(*sql).execute(&pool).await.unwrap();
        for (table, _) in tables(&pool).await {
            assert!(rows(&pool, &table).await > 0, "{table} has no row in SAMPLES of {version}");
        }
    }
    let loose = sqlx::query("pragma foreign_key_check").fetch_all(&pool).await.unwrap();
    assert!(loose.is_empty(), "{} rows refer to nothing", loose.len());
    let check: String =
        sqlx::query_scalar("pragma integrity_check").fetch_one(&pool).await.unwrap();
    assert_eq!(check, "ok");
}

#[test]
fn migrations_are_numbered_from_one_without_a_gap() {
    let versions: Vec<i64> = MIGRATOR.iter().map(|migration| migration.version).collect();
    assert_eq!(versions, (1..).take(versions.len()).collect::<Vec<i64>>());
    let sampled: Vec<i64> = SAMPLES.iter().map(|(version, _)| *version).collect();
    assert_eq!(sampled, versions, "SAMPLES has one entry a migration");
}

#[tokio::test]
async fn every_table_is_strict() {
    let pool = empty().await;
    MIGRATOR.run(&pool).await.unwrap();
    let tables = tables(&pool).await;
    assert!(!tables.is_empty());
    for (table, is_strict) in tables {
        assert!(is_strict, "{table} is not strict");
    }
}

#[tokio::test]
async fn a_table_that_is_not_strict_is_seen() {
    let pool = empty().await;
    sqlx::raw_sql("create table loose (a); create table firm (a text) strict")
        .execute(&pool)
        .await
        .unwrap();
    let expected = [("firm".to_owned(), true), ("loose".to_owned(), false)];
    assert_eq!(tables(&pool).await, expected);
}

/// What is wrong in the text of a migration.
fn slips(sql: &str) -> Vec<String> {
    let mut slips = Vec::new();
    let sql = sql.to_lowercase();
    for (above, line) in std::iter::once("").chain(sql.lines()).zip(sql.lines()) {
        if line.starts_with("create table") && !above.starts_with("--") {
            slips.push(format!("no comment above `{line}`"));
        }
    }
    let bare: Vec<&str> = sql.lines().map(|line| line.split("--").next().unwrap()).collect();
    for statement in bare.join(" ").split(';') {
        let words = statement.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_added = words.starts_with("alter table") && words.contains(" add ");
        if is_added && words.contains("not null") && !words.contains("default") {
            slips.push(format!("the rows that are there have no value: `{words}`"));
        }
    }
    slips
}

#[test]
fn every_table_has_a_comment_and_every_new_column_a_value_for_old_rows() {
    for migration in MIGRATOR.iter() {
        assert_eq!(slips(migration.sql.as_str()), Vec::<String>::new(), "{}", migration.version);
    }
}

#[test]
fn a_bare_table_and_a_new_column_without_a_value_are_refused() {
    for (sql, count) in [
        ("create table one (a text) strict;", 1),
        ("-- Ones.\n\ncreate table one (a text) strict;", 1),
        ("-- Ones.\ncreate table one (a text not null) strict;", 0),
        ("alter table one add column b text not null;", 1),
        ("ALTER TABLE one\n    ADD b TEXT -- default\n NOT NULL;", 1),
        ("alter table one add column b text not null default '';", 0),
        ("alter table one add column b text;", 0),
    ] {
        assert_eq!(slips(sql).len(), count, "{sql}");
    }
}
