//! Who this site is at the providers. Its sandboxes carry this name: the reaper looks for it, and two sites that share a key
//! leave each other's alone.

use jiff::Timestamp;
use sqlx::SqlitePool;

use crate::access::random_hex;
use crate::moment::stamp;
use crate::runs::store::StoreError;

/// Bytes of the name.
const ID_BYTES: usize = 8;

/// The name of the site that keeps its records in a database: 16 hexadecimal digits, made when it is first asked for.
pub async fn instance(pool: &SqlitePool) -> Result<String, StoreError> {
    let id = random_hex::<ID_BYTES>().map_err(|error| StoreError::Unreadable(error.to_string()))?;
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
        assert_eq!(first.len(), ID_BYTES * 2);
        assert_eq!(instance(&pool).await.unwrap(), first);
    }
}
