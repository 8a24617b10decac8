//! `thud token`: makes, lists and revokes tokens in the site's database.

use clap::Subcommand;
use jiff::Timestamp;
use sqlx::SqlitePool;
use thud::access;
use thud::money::Usd;

/// The longest name.
const NAME_CHARS_MAX: usize = 100;

/// What is done with tokens.
#[derive(Subcommand)]
pub enum TokenCommand {
    /// Makes a token and prints it. It is shown this once: only its hash is kept.
    Create {
        /// What it is for, up to 100 characters.
        #[arg(long)]
        name: String,
        /// What its runs may cost in a UTC day, with the router's fee: a decimal such as 0.50.
        #[arg(long)]
        daily_budget_usd: String,
        /// The only providers that it may use, with commas between them; all if left out.
        #[arg(long, value_delimiter = ',')]
        providers: Option<Vec<String>>,
    },
    /// Lists every token, without its secret.
    List,
    /// Revokes a token for ever.
    Revoke {
        /// Its id, as `thud token list` shows it.
        id: String,
    },
}

/// Does it, and says what to print.
pub async fn run(
    pool: &SqlitePool,
    command: TokenCommand,
    known: &[&str],
) -> Result<String, String> {
    let failed = |error: sqlx::Error| format!("the database failed: {error}");
    match command {
        TokenCommand::Create { name, daily_budget_usd, providers } => {
            if name.trim().is_empty() || name.chars().count() > NAME_CHARS_MAX {
                return Err(format!("--name wants 1 to {NAME_CHARS_MAX} characters"));
            }
            let budget = Usd::parse(&daily_budget_usd)
                .map_err(|error| format!("--daily-budget-usd {error}: such as 0.50"))?;
            let unknown = providers.iter().flatten().find(|slug| !known.contains(&slug.as_str()));
            if let Some(slug) = unknown {
                return Err(format!("--providers names {slug}; there are {}", known.join(", ")));
            }
            access::create(pool, &name, budget, providers.as_deref(), Timestamp::now())
                .await
                .map_err(|error| error.to_string())
        }
        TokenCommand::List => {
            let tokens = access::list(pool).await.map_err(failed)?;
            let line = |token: &access::Token| {
                let providers =
                    token.providers.as_ref().map_or("all".to_owned(), |slugs| slugs.join(","));
                let state = token.revoked_at.as_deref().map_or("valid", |_| "revoked");
                format!(
                    "{}  {state}  {} USD a day  providers {providers}  made {}  {}",
                    token.id, token.daily_budget_usd, token.created_at, token.name
                )
            };
            let lines: Vec<String> = tokens.iter().map(line).collect();
            Ok(if lines.is_empty() { "no tokens".to_owned() } else { lines.join("\n") })
        }
        TokenCommand::Revoke { id } => {
            let revoked = access::revoke(pool, &id, Timestamp::now()).await.map_err(failed)?;
            if revoked {
                Ok(format!("{id} is revoked"))
            } else {
                Err(format!("there is no valid token {id}: thud token list names them"))
            }
        }
    }
}
