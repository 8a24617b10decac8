//! Who may run code, and for how much: tokens, their daily budgets, and the limits of callers without one.
//!
//! Not here: what a run costs. That is the router's to say.

use std::net::IpAddr;
use std::num::NonZeroU32;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use jiff::Timestamp;
use sqlx::{SqliteConnection, SqlitePool};
use subtle::ConstantTimeEq;
use thiserror::Error;

use crate::hash::{hexadecimal, sha256};
use crate::moment::second;
use crate::money::Usd;

/// How a token begins: people and scanners recognise it.
const TOKEN_PREFIX: &str = "thud_";
/// Hexadecimal digits of a token's id.
const ID_DIGITS: usize = 16;
/// Bytes of a secret.
const SECRET_BYTES: usize = 32;
/// Runs a minute of one address without a token, if nothing else is said.
pub const RUNS_PER_MINUTE: u32 = 20;
/// Bits of an IPv6 address that belong to one subscriber.
const IPV6_SUBSCRIBER_BITS: u32 = 64;

/// Random bytes as hexadecimal digits.
pub fn random_hex<const BYTES: usize>() -> Result<String, RandomError> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|_| RandomError)?;
    Ok(hexadecimal(&bytes))
}

/// The system has no randomness to give.
#[derive(Debug, Error)]
#[error("the system gives no random numbers")]
pub struct RandomError;

/// Whether a secret is the one of a hash, in a time that tells nothing.
pub fn is_secret(secret: &str, hash: &[u8]) -> bool {
    sha256(secret).ct_eq(hash).into()
}

/// A token without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Public: stands in lists and logs.
    pub id: String,
    /// What it is for.
    pub name: String,
    /// What its runs may cost in a UTC day, with the fee.
    pub daily_budget_usd: Usd,
    /// The providers that it may use; `None` for all.
    pub providers: Option<Vec<String>>,
    /// When it was made, RFC 3339, UTC.
    pub created_at: String,
    /// When it was revoked.
    pub revoked_at: Option<String>,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// Somebody without a token, by address where that is known.
    Anonymous(Option<IpAddr>),
    /// Somebody with one.
    Token(Token),
}

impl Caller {
    /// The token, where there is one.
    pub fn token(&self) -> Option<&Token> {
        match self {
            Self::Anonymous(_) => None,
            Self::Token(token) => Some(token),
        }
    }
}

#[derive(sqlx::FromRow)]
struct TokenRow {
    id: String,
    name: String,
    secret_sha256: Vec<u8>,
    daily_budget_picousd: i64,
    providers: Option<String>,
    created_at: String,
    revoked_at: Option<String>,
}

impl From<TokenRow> for Token {
    fn from(row: TokenRow) -> Self {
        Self {
            id: row.id,
            name: row.name,
            daily_budget_usd: Usd::of_picodollars(row.daily_budget_picousd),
            providers: row.providers.map(|slugs| slugs.split(',').map(str::to_owned).collect()),
            created_at: row.created_at,
            revoked_at: row.revoked_at,
        }
    }
}

/// Why there is no new token.
#[derive(Debug, Error)]
pub enum TokenError {
    /// No secret could be made.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The database.
    #[error("the token could not be written")]
    Sql(#[from] sqlx::Error),
}

/// Makes a token. What is returned is shown once: only its hash is kept.
pub async fn create(
    pool: &SqlitePool,
    name: &str,
    daily_budget_usd: Usd,
    providers: Option<&[String]>,
    now: Timestamp,
) -> Result<String, TokenError> {
    let id = random_hex::<{ ID_DIGITS / 2 }>()?;
    let secret = random_hex::<SECRET_BYTES>()?;
    sqlx::query(
        "insert into token (id, name, secret_sha256, daily_budget_picousd, providers, created_at) values (?, ?, ?, ?, ?, ?)",
    )
    .bind(&id)
    .bind(name)
    .bind(&sha256(&secret)[..])
    .bind(daily_budget_usd.picodollars())
    .bind(providers.map(|slugs| slugs.join(",")))
    .bind(second(now))
    .execute(pool)
    .await?;
    Ok(format!("{TOKEN_PREFIX}{id}_{secret}"))
}

/// Every token, the oldest first.
pub async fn list(pool: &SqlitePool) -> Result<Vec<Token>, sqlx::Error> {
    let rows: Vec<TokenRow> =
        sqlx::query_as("select * from token order by created_at, id").fetch_all(pool).await?;
    Ok(rows.into_iter().map(Token::from).collect())
}

/// Revokes a token for ever; `false` where there is none of that id that still counts.
pub async fn revoke(pool: &SqlitePool, id: &str, now: Timestamp) -> Result<bool, sqlx::Error> {
    let done = sqlx::query("update token set revoked_at = ? where id = ? and revoked_at is null")
        .bind(second(now))
        .bind(id)
        .execute(pool)
        .await?;
    Ok(done.rows_affected() > 0)
}

/// The token that a text is, where it is one that counts.
pub async fn verify(pool: &SqlitePool, text: &str) -> Result<Option<Token>, sqlx::Error> {
    let parts = text.strip_prefix(TOKEN_PREFIX).and_then(|rest| rest.split_once('_'));
    let Some((id, secret)) = parts else { return Ok(None) };
    let row: Option<TokenRow> =
        sqlx::query_as("select * from token where id = ?").bind(id).fetch_optional(pool).await?;
    Ok(row
        .filter(|row| is_secret(secret, &row.secret_sha256) && row.revoked_at.is_none())
        .map(Token::from))
}

/// What of a token's budget of a day is taken, in picodollars: what is settled, and all that is reserved and not yet settled.
pub async fn taken(
    connection: &mut SqliteConnection,
    token_id: &str,
    day: &str,
) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(
        "select coalesce(sum(coalesce(settled_picousd, reserved_picousd)), 0) from reservation \
         where token_id = ? and day = ?",
    )
    .bind(token_id)
    .bind(day)
    .fetch_one(connection)
    .await
}

/// Takes what a run may cost from the budget of a day. The caller holds an immediate transaction, in which it has seen that
/// there is enough.
pub async fn reserve(
    connection: &mut SqliteConnection,
    token_id: &str,
    run_id: &str,
    day: &str,
    picodollars: i64,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "insert into reservation (run_id, token_id, day, reserved_picousd) values (?, ?, ?, ?)",
    )
    .bind(run_id)
    .bind(token_id)
    .bind(day)
    .bind(picodollars)
    .execute(connection)
    .await
    .map(drop)
}

/// Gives back what a run did not cost.
pub async fn settle(
    connection: &mut SqliteConnection,
    run_id: &str,
    picodollars: i64,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "update reservation set settled_picousd = min(?, reserved_picousd) where run_id = ? and settled_picousd is null",
    )
    .bind(picodollars)
    .bind(run_id)
    .execute(connection)
    .await
    .map(drop)
}

/// How often an address without a token may start a run.
pub struct Rate(DefaultKeyedRateLimiter<IpAddr>);

impl Rate {
    /// So many runs a minute.
    pub fn per_minute(runs: NonZeroU32) -> Self {
        Self(RateLimiter::keyed(Quota::per_minute(runs)))
    }

    /// Counts a run of an address; seconds to wait where it is one too many.
    pub fn take(&self, address: IpAddr) -> Result<(), u32> {
        let subscriber = subscriber(address);
        self.0.check_key(&subscriber).map_err(|until| {
            let wait = until.wait_time_from(DefaultClock::default().now());
            u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1)
        })
    }

    /// Forgets addresses that have not asked for long.
    pub fn forget_idle(&self) {
        self.0.retain_recent();
        self.0.shrink_to_fit();
    }
}

/// What of an address names whoever pays for the line: all of IPv4, the first 64 bits of IPv6.
fn subscriber(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let mask = u128::MAX << IPV6_SUBSCRIBER_BITS;
            std::net::Ipv6Addr::from_bits(address.to_bits() & mask).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database;

    #[tokio::test]
    async fn a_token_is_known_by_its_secret_until_it_is_revoked() {
        let pool = database::in_memory().await.unwrap();
        let now = Timestamp::now();
        let text = create(&pool, "ci", Usd::from(1), None, now).await.unwrap();
        let token = verify(&pool, &text).await.unwrap().unwrap();
        assert_eq!((token.name.as_str(), token.daily_budget_usd), ("ci", Usd::from(1)));
        for wrong in ["", "thud_", "thud__", &text[..text.len() - 1], &format!("{text}0"), "x"] {
            assert_eq!(verify(&pool, wrong).await.unwrap(), None, "{wrong}");
        }
        let other = create(&pool, "other", Usd::from(1), None, now).await.unwrap();
        let mixed = format!("{}{}", &text[..22], &other[22..]);
        assert_eq!(verify(&pool, &mixed).await.unwrap(), None, "the secret of another");
        assert!(revoke(&pool, &token.id, now).await.unwrap());
        assert!(!revoke(&pool, &token.id, now).await.unwrap());
        assert_eq!(verify(&pool, &text).await.unwrap(), None);
        assert_eq!(list(&pool).await.unwrap().len(), 2);
    }

    #[tokio::test]
    async fn the_secret_is_not_in_the_database() {
        let pool = database::in_memory().await.unwrap();
        let text = create(&pool, "ci", Usd::from(1), None, Timestamp::now()).await.unwrap();
        let secret = text.rsplit('_').next().unwrap();
        let row: (Vec<u8>, String) = sqlx::query_as("select secret_sha256, id || name from token")
            .fetch_one(&pool)
            .await
            .unwrap();
        assert_eq!(row.0, sha256(secret));
        assert!(!row.1.contains(secret));
    }

    #[test]
    fn an_address_is_counted_by_its_subscriber() {
        let rate = Rate::per_minute(NonZeroU32::new(2).unwrap());
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        assert!(rate.take(address("2001:db8::1")).is_ok());
        assert!(rate.take(address("2001:db8::2")).is_ok());
        assert!(rate.take(address("2001:db8::3")).is_err_and(|wait| (1..=31).contains(&wait)));
        assert!(rate.take(address("2001:db8:0:1::1")).is_ok());
        assert!(rate.take(address("192.0.2.1")).is_ok());
        assert!(rate.take(address("::ffff:192.0.2.1")).is_ok());
        assert!(rate.take(address("192.0.2.1")).is_err());
        assert!(rate.take(address("192.0.2.2")).is_ok());
    }
}
