//! All SQL about leases: sandboxes that we owe a teardown, and the name of the site that they carry.

use jiff::Timestamp;
use sqlx::{SqliteConnection, SqlitePool};

use crate::access::random_hex;
use crate::catalog::shape::Shape;
use crate::moment::stamp;
use crate::money::{Quantity, Usd};
use crate::runs::store::StoreError;
use crate::runs::{Cost, Teardown, TeardownState};

/// Bytes of a site's name.
const INSTANCE_BYTES: usize = 8;

/// A sandbox that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Its name: no other sandbox has it.
    pub id: String,
    /// The run.
    pub run_id: String,
    /// The attempt of that run.
    pub attempt: u32,
    /// The provider.
    pub provider: String,
    /// The provider's name for it.
    pub handle: Option<String>,
    /// When it was asked for. RFC 3339, UTC, like the others.
    pub created_at: String,
    /// When that was answered.
    pub answered_at: Option<String>,
    /// When the attempt was over.
    pub ended_at: Option<String>,
    /// When the platform itself must have killed it.
    pub kill_at: String,
    /// The size that is billed.
    pub shape: Shape,
    /// How often destroying it failed.
    pub failures: u32,
}

/// What a receipt says of the sandbox of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paid {
    /// The attempt.
    pub attempt: u32,
    /// How far its teardown is.
    pub teardown: Teardown,
    /// What it cost, once that is known.
    pub cost: Option<Cost>,
}

#[derive(sqlx::FromRow)]
struct LeaseRow {
    id: String,
    run_id: String,
    attempt: u32,
    provider: String,
    handle: Option<String>,
    created_at: String,
    answered_at: Option<String>,
    ended_at: Option<String>,
    kill_at: String,
    vcpu: String,
    memory_gib: String,
    disk_gib: String,
    failures: u32,
}

impl From<LeaseRow> for Lease {
    fn from(row: LeaseRow) -> Self {
        // We wrote them ourselves; a size that cannot be read costs nothing.
        let size = |text: &str| Quantity::parse(text).unwrap_or(Quantity::ZERO);
        Self {
            shape: Shape {
                vcpu: size(&row.vcpu),
                memory_gib: size(&row.memory_gib),
                disk_gib: size(&row.disk_gib),
            },
            id: row.id,
            run_id: row.run_id,
            attempt: row.attempt,
            provider: row.provider,
            handle: row.handle,
            created_at: row.created_at,
            answered_at: row.answered_at,
            ended_at: row.ended_at,
            kill_at: row.kill_at,
            failures: row.failures,
        }
    }
}

/// Writes a lease, before anything is asked for.
pub async fn open(connection: &mut SqliteConnection, lease: &Lease) -> Result<(), sqlx::Error> {
    sqlx::query(
        "insert into lease (id, run_id, attempt, provider, state, created_at, kill_at, vcpu, memory_gib, disk_gib) \
         values (?, ?, ?, ?, 'open', ?, ?, ?, ?, ?)",
    )
    .bind(&lease.id)
    .bind(&lease.run_id)
    .bind(lease.attempt)
    .bind(&lease.provider)
    .bind(&lease.created_at)
    .bind(&lease.kill_at)
    .bind(lease.shape.vcpu.to_string())
    .bind(lease.shape.memory_gib.to_string())
    .bind(lease.shape.disk_gib.to_string())
    .execute(connection)
    .await
    .map(drop)
}

/// Writes that the sandbox is there, under which name, and how large it is.
pub async fn answer(pool: &SqlitePool, lease: &Lease) -> Result<(), sqlx::Error> {
    sqlx::query(
        "update lease set handle = ?, answered_at = ?, kill_at = ?, vcpu = ?, memory_gib = ?, disk_gib = ? where id = ?",
    )
    .bind(&lease.handle)
    .bind(&lease.answered_at)
    .bind(&lease.kill_at)
    .bind(lease.shape.vcpu.to_string())
    .bind(lease.shape.memory_gib.to_string())
    .bind(lease.shape.disk_gib.to_string())
    .bind(&lease.id)
    .execute(pool)
    .await
    .map(drop)
}

/// Writes the provider's name for a sandbox, once that is known.
pub async fn name(pool: &SqlitePool, lease: &mut Lease, handle: &str) -> Result<(), sqlx::Error> {
    lease.handle = Some(handle.to_owned());
    sqlx::query("update lease set handle = ? where id = ? and state = 'open'")
        .bind(handle)
        .bind(&lease.id)
        .execute(pool)
        .await
        .map(drop)
}

/// Writes that certainly nothing was made.
pub async fn close_empty(
    connection: &mut SqliteConnection,
    id: &str,
    now: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query("update lease set state = 'nothing', ended_at = ? where id = ? and state = 'open'")
        .bind(now)
        .bind(id)
        .execute(connection)
        .await
        .map(drop)
}

/// Writes that the attempt is over and the teardown begins.
pub async fn end(
    connection: &mut SqliteConnection,
    id: &str,
    now: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query("update lease set ended_at = ? where id = ? and state = 'open'")
        .bind(now)
        .bind(id)
        .execute(connection)
        .await
        .map(drop)
}

/// Writes that the sandbox is certainly gone, and what it cost. Says whether it had been owed until now.
pub async fn pay(
    connection: &mut SqliteConnection,
    id: &str,
    now: &str,
    cost: Cost,
) -> Result<bool, sqlx::Error> {
    let done = sqlx::query(
        "update lease set state = 'paid', paid_at = ?, ended_at = coalesce(ended_at, ?), cost_list_picousd = ?, \
         cost_routed_picousd = ? where id = ? and state = 'open'",
    )
    .bind(now)
    .bind(now)
    .bind(cost.list_usd.picodollars())
    .bind(cost.routed_usd.picodollars())
    .bind(id)
    .execute(connection)
    .await?;
    Ok(done.rows_affected() > 0)
}

/// Counts that destroying it failed.
pub async fn fail(pool: &SqlitePool, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("update lease set failures = failures + 1 where id = ? and state = 'open'")
        .bind(id)
        .execute(pool)
        .await
        .map(drop)
}

/// Every lease that is still owed, the oldest first.
pub async fn owed(pool: &SqlitePool) -> Result<Vec<Lease>, sqlx::Error> {
    let rows: Vec<LeaseRow> = sqlx::query_as(
        "select id, run_id, attempt, provider, handle, created_at, answered_at, ended_at, kill_at, vcpu, memory_gib, \
         disk_gib, failures from lease where state = 'open' order by created_at",
    )
    .fetch_all(pool)
    .await?;
    Ok(rows.into_iter().map(Lease::from).collect())
}

/// Whether a name is that of a lease that is still owed. What carries another one of ours is destroyed by the reaper.
pub async fn is_owed(pool: &SqlitePool, id: &str) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("select exists (select 1 from lease where id = ? and state = 'open')")
        .bind(id)
        .fetch_one(pool)
        .await
}

#[derive(sqlx::FromRow)]
struct PaidRow {
    attempt: u32,
    state: String,
    failures: i64,
    teardown_ms: Option<i64>,
    cost_list_picousd: Option<i64>,
    cost_routed_picousd: Option<i64>,
}

/// What the leases say of the attempts of a run.
pub async fn of_run(pool: &SqlitePool, run_id: &str) -> Result<Vec<Paid>, sqlx::Error> {
    let rows: Vec<PaidRow> = sqlx::query_as(
        "select attempt, state, failures, cost_list_picousd, cost_routed_picousd, \
         cast(round((julianday(paid_at) - julianday(ended_at)) * 86400000) as integer) as teardown_ms \
         from lease where run_id = ? order by attempt",
    )
    .bind(run_id)
    .fetch_all(pool)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Paid {
            attempt: row.attempt,
            teardown: Teardown {
                state: match row.state.as_str() {
                    "nothing" => TeardownState::NothingCreated,
                    "paid" => TeardownState::Confirmed,
                    _ if row.failures > 0 => TeardownState::Failed,
                    _ => TeardownState::Pending,
                },
                duration_ms: row.teardown_ms.and_then(|ms| u64::try_from(ms).ok()),
            },
            cost: row.cost_list_picousd.zip(row.cost_routed_picousd).map(|(list, routed)| Cost {
                list_usd: Usd::of_picodollars(list),
                routed_usd: Usd::of_picodollars(routed),
            }),
        })
        .collect())
}

/// Whether every sandbox of a run is paid for, and what they cost together, routed, in picodollars.
pub async fn settled(
    connection: &mut SqliteConnection,
    run_id: &str,
) -> Result<(bool, i64), sqlx::Error> {
    let (open, cost): (i64, i64) = sqlx::query_as(
        "select coalesce(sum(state = 'open'), 0), coalesce(sum(cost_routed_picousd), 0) from lease where run_id = ?",
    )
    .bind(run_id)
    .fetch_one(connection)
    .await?;
    Ok((open == 0, cost))
}

/// The name of the site that keeps its records here: 16 hexadecimal digits, made when it is first asked for. Its sandboxes
/// carry it, so that two sites that share a key leave each other's alone.
pub async fn instance(pool: &SqlitePool) -> Result<String, StoreError> {
    let id = random_hex::<INSTANCE_BYTES>()
        .map_err(|error| StoreError::Unreadable(error.to_string()))?;
    let mut transaction = pool.begin_with("begin immediate").await?;
    sqlx::query("insert or ignore into instance (only, id, made_at) values (1, ?, ?)")
        .bind(&id)
        .bind(stamp(Timestamp::now()))
        .execute(&mut *transaction)
        .await?;
    let id = sqlx::query_scalar("select id from instance").fetch_one(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database;

    #[tokio::test]
    async fn a_site_keeps_its_name() {
        let pool = database::in_memory().await.unwrap();
        let first = instance(&pool).await.unwrap();
        assert_eq!(first.len(), INSTANCE_BYTES * 2);
        assert_eq!(instance(&pool).await.unwrap(), first);
    }
}
