//! All SQL about runs, their attempts and their output.
//!
//! Not here: leases (`router/lease.rs`), tokens and budgets (`access.rs`).

use sqlx::{SqliteConnection, SqlitePool};

use super::{
    Applied, Asked, Attempt, Choice, Cost, Drill, Egress, NotTried, Output, OutputMode, Proof, Run,
    Teardown, TeardownState,
};
use crate::catalog::claim::Tier;
use crate::money::Usd;

/// Why a record could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database.
    #[error("the database failed")]
    Sql(#[from] sqlx::Error),
    /// A row holds what this version does not know.
    #[error("a record cannot be read: {0}")]
    Unreadable(String),
}

/// What is written of a run besides its record, when it begins.
#[derive(Debug, Clone)]
pub struct Beginning<'a> {
    /// The record.
    pub run: &'a Run,
    /// Whose token.
    pub token_id: Option<&'a str>,
    /// Under which key of that token.
    pub idempotency_key: Option<&'a str>,
    /// SHA-256 of what was asked for.
    pub request_sha256: &'a [u8; 32],
    /// SHA-256 of the secret that cancels it.
    pub cancel_sha256: &'a [u8; 32],
    /// The code.
    pub code: &'a str,
    /// When code and output are deleted.
    pub delete_at: &'a str,
}

/// A run that is there already under a key.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Known {
    /// Its id.
    pub id: String,
    /// SHA-256 of what was asked for.
    pub request_sha256: Vec<u8>,
}

/// The output and code of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The code.
    pub code: String,
    /// The output; empty until the run is final.
    pub output: Output,
    /// When both are deleted.
    pub delete_at: String,
}

fn integer(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn count(integer: i64) -> u64 {
    u64::try_from(integer).unwrap_or(0)
}

fn list(slugs: Option<&[String]>) -> Option<String> {
    slugs.map(|slugs| slugs.join(","))
}

/// Writes a run that begins, with its code. What is final already is written as such.
pub async fn insert(
    connection: &mut SqliteConnection,
    beginning: &Beginning<'_>,
) -> Result<(), sqlx::Error> {
    let Beginning { run, .. } = beginning;
    let asked = &run.asked;
    sqlx::query(
        "insert into run (id, state, outcome, refusal, token_id, idempotency_key, request_sha256, cancel_sha256, \
         language, code_sha256, code_bytes, timeout_ms, providers, fallback, isolation_at_least, isolation_from, egress, \
         max_cost_picousd, drill, requested_at, deadline_at, final_at, quote_list_picousd, quote_routed_picousd, not_tried) \
         values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(&run.id)
    .bind(run.state.word())
    .bind(run.outcome.map(super::Outcome::word))
    .bind(&run.refusal)
    .bind(beginning.token_id)
    .bind(beginning.idempotency_key)
    .bind(&beginning.request_sha256[..])
    .bind(&beginning.cancel_sha256[..])
    .bind(asked.language.word())
    .bind(&asked.code_sha256)
    .bind(integer(asked.code_bytes))
    .bind(integer(asked.timeout_ms))
    .bind(list(asked.providers.as_deref()))
    .bind(asked.fallback)
    .bind(asked.isolation_at_least.word())
    .bind(asked.isolation_from.word())
    .bind(asked.egress.word())
    .bind(asked.max_cost_usd.map(Usd::picodollars))
    .bind(asked.drill.map(Drill::word))
    .bind(&run.requested_at)
    .bind(&run.deadline_at)
    .bind(&run.final_at)
    .bind(run.quote.list_usd.picodollars())
    .bind(run.quote.routed_usd.picodollars())
    .bind(json(&run.not_tried))
    .execute(&mut *connection)
    .await?;
    sqlx::query("insert into output (run_id, code, delete_at) values (?, ?, ?)")
        .bind(&run.id)
        .bind(beginning.code)
        .bind(beginning.delete_at)
        .execute(connection)
        .await?;
    Ok(())
}

fn json(not_tried: &[NotTried]) -> String {
    // Two words each: there is nothing in it that could not be written.
    serde_json::to_string(not_tried).unwrap_or_else(|_| "[]".to_owned())
}

/// The run of a token under a key, where there is one.
pub async fn known(
    connection: &mut SqliteConnection,
    token_id: &str,
    idempotency_key: &str,
) -> Result<Option<Known>, sqlx::Error> {
    sqlx::query_as("select id, request_sha256 from run where token_id = ? and idempotency_key = ?")
        .bind(token_id)
        .bind(idempotency_key)
        .fetch_optional(connection)
        .await
}

/// Says that a run is on its way.
pub async fn set_running(pool: &SqlitePool, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("update run set state = 'running' where id = ?")
        .bind(id)
        .execute(pool)
        .await
        .map(drop)
}

/// Writes an attempt that begins.
pub async fn insert_attempt(
    connection: &mut SqliteConnection,
    run_id: &str,
    attempt: &Attempt,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "insert into attempt (run_id, number, provider, stage, code_started, tier, tier_evidence, egress, \
         egress_evidence, started_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(run_id)
    .bind(attempt.number)
    .bind(&attempt.provider)
    .bind(attempt.stage.word())
    .bind(attempt.code_started)
    .bind(attempt.isolation.value.word())
    .bind(attempt.isolation.evidence.word())
    .bind(attempt.egress.value.word())
    .bind(attempt.egress.evidence.word())
    .bind(&attempt.started_at)
    .execute(connection)
    .await
    .map(drop)
}

/// Writes down that code may run from now on.
pub async fn set_code_started(
    pool: &SqlitePool,
    run_id: &str,
    number: u32,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "update attempt set code_started = 1, stage = 'run' where run_id = ? and number = ?",
    )
    .bind(run_id)
    .bind(number)
    .execute(pool)
    .await
    .map(drop)
}

/// Writes what became of an attempt.
pub async fn end_attempt(
    connection: &mut SqliteConnection,
    run_id: &str,
    attempt: &Attempt,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "update attempt set outcome = ?, stage = ?, code_started = ?, http_status = ?, reason = ?, next = ?, tier = ?, \
         tier_evidence = ?, egress = ?, egress_evidence = ?, start_ms = ?, duration_ms = ? where run_id = ? and number = ?",
    )
    .bind(attempt.outcome.map(super::AttemptOutcome::word))
    .bind(attempt.stage.word())
    .bind(attempt.code_started)
    .bind(attempt.http_status)
    .bind(attempt.reason.map(super::Reason::word))
    .bind(attempt.next.map(super::Next::word))
    .bind(attempt.isolation.value.word())
    .bind(attempt.isolation.evidence.word())
    .bind(attempt.egress.value.word())
    .bind(attempt.egress.evidence.word())
    .bind(attempt.start_ms.map(integer))
    .bind(attempt.duration_ms.map(integer))
    .bind(run_id)
    .bind(attempt.number)
    .execute(connection)
    .await
    .map(drop)
}

/// Writes what became of a run: from now on its record never changes.
pub async fn end(
    connection: &mut SqliteConnection,
    run: &Run,
    output: &Output,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "update output set stdout = ?, stderr = ?, stdout_dropped_bytes = ?, stderr_dropped_bytes = ? where run_id = ?",
    )
    .bind(&output.stdout)
    .bind(&output.stderr)
    .bind(integer(output.stdout_dropped_bytes))
    .bind(integer(output.stderr_dropped_bytes))
    .bind(&run.id)
    .execute(&mut *connection)
    .await?;
    sqlx::query(
        "update run set state = 'final', outcome = ?, provider = ?, exit_code = ?, output_mode = ?, duration_ms = ?, \
         final_at = ?, not_tried = ? where id = ?",
    )
    .bind(run.outcome.map(super::Outcome::word))
    .bind(&run.provider)
    .bind(run.exit_code)
    .bind(run.output_mode.map(OutputMode::word))
    .bind(run.duration_ms.map(integer))
    .bind(&run.final_at)
    .bind(json(&run.not_tried))
    .bind(&run.id)
    .execute(connection)
    .await
    .map(drop)
}

#[derive(sqlx::FromRow)]
struct RunRow {
    id: String,
    state: String,
    outcome: Option<String>,
    refusal: Option<String>,
    language: String,
    code_sha256: String,
    code_bytes: i64,
    timeout_ms: i64,
    providers: Option<String>,
    fallback: bool,
    isolation_at_least: String,
    isolation_from: String,
    egress: String,
    max_cost_picousd: Option<i64>,
    drill: Option<String>,
    provider: Option<String>,
    exit_code: Option<i32>,
    output_mode: Option<String>,
    duration_ms: Option<i64>,
    requested_at: String,
    deadline_at: Option<String>,
    final_at: Option<String>,
    quote_list_picousd: i64,
    quote_routed_picousd: i64,
    not_tried: String,
}

#[derive(sqlx::FromRow)]
struct AttemptRow {
    number: u32,
    provider: String,
    outcome: Option<String>,
    stage: String,
    code_started: bool,
    http_status: Option<u16>,
    reason: Option<String>,
    next: Option<String>,
    tier: String,
    tier_evidence: String,
    egress: String,
    egress_evidence: String,
    started_at: String,
    start_ms: Option<i64>,
    duration_ms: Option<i64>,
}

#[derive(sqlx::FromRow)]
struct OutputRow {
    code: String,
    stdout: Option<String>,
    stderr: Option<String>,
    stdout_dropped_bytes: i64,
    stderr_dropped_bytes: i64,
    delete_at: String,
}

fn word<T>(text: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<T, StoreError> {
    parse(text).map_err(|error| StoreError::Unreadable(format!("{text} {error}")))
}

fn word_of<T>(
    text: Option<String>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, StoreError> {
    text.map(|text| word(&text, parse)).transpose()
}

impl RunRow {
    fn read(self, attempts: Vec<Attempt>) -> Result<Run, StoreError> {
        Ok(Run {
            state: word(&self.state, super::RunState::parse)?,
            outcome: word_of(self.outcome, super::Outcome::parse)?,
            refusal: self.refusal,
            asked: Asked {
                language: word(&self.language, super::Language::parse)?,
                code_sha256: self.code_sha256,
                code_bytes: count(self.code_bytes),
                timeout_ms: count(self.timeout_ms),
                providers: self
                    .providers
                    .map(|slugs| slugs.split(',').map(str::to_owned).collect()),
                fallback: self.fallback,
                isolation_at_least: word(&self.isolation_at_least, Tier::parse)?,
                isolation_from: word(&self.isolation_from, Choice::parse)?,
                egress: word(&self.egress, Egress::parse)?,
                max_cost_usd: self.max_cost_picousd.map(Usd::of_picodollars),
                drill: word_of(self.drill, Drill::parse)?,
            },
            provider: self.provider,
            exit_code: self.exit_code,
            output_mode: word_of(self.output_mode, OutputMode::parse)?,
            duration_ms: self.duration_ms.map(count),
            requested_at: self.requested_at,
            deadline_at: self.deadline_at,
            final_at: self.final_at,
            quote: Cost {
                list_usd: Usd::of_picodollars(self.quote_list_picousd),
                routed_usd: Usd::of_picodollars(self.quote_routed_picousd),
            },
            attempts,
            not_tried: serde_json::from_str(&self.not_tried)
                .map_err(|error| StoreError::Unreadable(error.to_string()))?,
            id: self.id,
        })
    }
}

impl AttemptRow {
    /// Cost and teardown are the lease's to say.
    fn read(self) -> Result<Attempt, StoreError> {
        Ok(Attempt {
            number: self.number,
            provider: self.provider,
            outcome: word_of(self.outcome, super::AttemptOutcome::parse)?,
            stage: word(&self.stage, super::Stage::parse)?,
            code_started: self.code_started,
            http_status: self.http_status,
            reason: word_of(self.reason, super::Reason::parse)?,
            next: word_of(self.next, super::Next::parse)?,
            isolation: Applied {
                value: word(&self.tier, Tier::parse)?,
                evidence: word(&self.tier_evidence, Proof::parse)?,
            },
            egress: Applied {
                value: word(&self.egress, Egress::parse)?,
                evidence: word(&self.egress_evidence, Proof::parse)?,
            },
            started_at: self.started_at,
            start_ms: self.start_ms.map(count),
            duration_ms: self.duration_ms.map(count),
            cost: Cost::ZERO,
            teardown: Teardown { state: TeardownState::NothingCreated, duration_ms: None },
        })
    }
}

/// The record of a run; cost and teardown of its attempts are left to the leases.
pub async fn find(pool: &SqlitePool, id: &str) -> Result<Option<Run>, StoreError> {
    let row: Option<RunRow> =
        sqlx::query_as("select * from run where id = ?").bind(id).fetch_optional(pool).await?;
    let Some(row) = row else { return Ok(None) };
    let attempts: Vec<AttemptRow> =
        sqlx::query_as("select * from attempt where run_id = ? order by number")
            .bind(id)
            .fetch_all(pool)
            .await?;
    let attempts: Result<Vec<Attempt>, StoreError> =
        attempts.into_iter().map(AttemptRow::read).collect();
    row.read(attempts?).map(Some)
}

/// Code and output of a run; `None` once they are deleted.
pub async fn text(pool: &SqlitePool, id: &str) -> Result<Option<Text>, sqlx::Error> {
    let row: Option<OutputRow> = sqlx::query_as("select * from output where run_id = ?")
        .bind(id)
        .fetch_optional(pool)
        .await?;
    Ok(row.map(|row| Text {
        code: row.code,
        output: Output {
            stdout: row.stdout.unwrap_or_default(),
            stderr: row.stderr.unwrap_or_default(),
            stdout_dropped_bytes: count(row.stdout_dropped_bytes),
            stderr_dropped_bytes: count(row.stderr_dropped_bytes),
        },
        delete_at: row.delete_at,
    }))
}

/// When code and output of a run are deleted; `None` once they are.
pub async fn kept_until(pool: &SqlitePool, id: &str) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar("select delete_at from output where run_id = ?")
        .bind(id)
        .fetch_optional(pool)
        .await
}

/// How far a run is, and what became of it; `None` where there is no such run.
pub async fn state(
    connection: &mut SqliteConnection,
    id: &str,
) -> Result<Option<(super::RunState, Option<super::Outcome>)>, StoreError> {
    let row: Option<(String, Option<String>)> =
        sqlx::query_as("select state, outcome from run where id = ?")
            .bind(id)
            .fetch_optional(connection)
            .await?;
    row.map(|(state, outcome)| {
        Ok((word(&state, super::RunState::parse)?, word_of(outcome, super::Outcome::parse)?))
    })
    .transpose()
}

/// Whose token a run is of, and the SHA-256 of the secret that cancels it; `None` where there is no such run.
pub async fn owner(
    pool: &SqlitePool,
    id: &str,
) -> Result<Option<(Option<String>, Vec<u8>)>, sqlx::Error> {
    sqlx::query_as("select token_id, cancel_sha256 from run where id = ?")
        .bind(id)
        .fetch_optional(pool)
        .await
}

/// The ids of a token's runs, the newest first, older than a cursor: when it was asked for, and its id.
pub async fn list_of_token(
    pool: &SqlitePool,
    token_id: &str,
    before: Option<(&str, &str)>,
    limit: u32,
) -> Result<Vec<(String, String)>, sqlx::Error> {
    let (at, id) = before.unwrap_or(("9999-12-31T23:59:59Z", ""));
    sqlx::query_as(
        "select requested_at, id from run where token_id = ? and (requested_at, id) < (?, ?) \
         order by requested_at desc, id desc limit ?",
    )
    .bind(token_id)
    .bind(at)
    .bind(id)
    .bind(limit)
    .fetch_all(pool)
    .await
}

/// The ids of runs that are not final: after a start, those that a former process left.
pub async fn under_way(pool: &SqlitePool) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar("select id from run where state <> 'final'").fetch_all(pool).await
}

/// Deletes the code and output of runs whose time is over. Returns how many.
pub async fn delete_old_output(pool: &SqlitePool, now: &str) -> Result<u64, sqlx::Error> {
    sqlx::query("delete from output where delete_at <= ?")
        .bind(now)
        .execute(pool)
        .await
        .map(|done| done.rows_affected())
}

/// One attempt as health counts it.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Sample {
    /// The provider.
    pub provider: String,
    /// When it began, RFC 3339.
    pub started_at: String,
    /// What became of it.
    pub outcome: String,
    /// Why it failed, where it did.
    pub reason: Option<String>,
    /// How long its sandbox took to be there, milliseconds.
    pub start_ms: Option<i64>,
}

/// The attempts since an instant whose end this or a former process saw: what a restart cut off says nothing of a provider.
pub async fn samples(pool: &SqlitePool, since: &str) -> Result<Vec<Sample>, sqlx::Error> {
    sqlx::query_as(
        "select provider, started_at, outcome, reason, start_ms from attempt where started_at >= ? and duration_ms is not null",
    )
    .bind(since)
    .fetch_all(pool)
    .await
}
