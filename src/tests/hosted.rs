//! The hosted providers' adapters in a chain, against stand-in servers: what they do when all is well (`behaviour.rs`) and
//! under every fault (`faults.rs`).

mod behaviour;
mod faults;

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use secrecy::SecretString;
use sqlx::SqlitePool;
use tokio::net::TcpSocket;

use crate::access::{self, Caller};
use crate::catalog::Catalog;
use crate::catalog::claim::Tier;
use crate::catalog::load::{embedded_files, load};
use crate::catalog::shape::Shape;
use crate::database;
use crate::moment::today;
use crate::money::Usd;
use crate::router::adapter::Adapter;
use crate::router::daytona::{self, Daytona};
use crate::router::e2b::{self, E2b};
use crate::router::{Limits, SandboxRouter};
use crate::runs::Receipt;
use crate::runs::draft::Draft;
use crate::standins::daytona::Pace;
use crate::standins::runner::Echo;
use crate::standins::scripted::{Script, Scripted};
use crate::standins::{Standin, daytona as daytona_standin, e2b as e2b_standin};

/// What a provider under test has to start in.
const START_SLICE: Duration = Duration::from_millis(1_500);
/// The wall clock of the code.
const TIMEOUT: Duration = Duration::from_millis(1_200);
/// How long a sandbox whose order was never answered may still come.
const LATE: Duration = Duration::from_secs(4);
/// How long a try to destroy a sandbox may take.
const TEARDOWN_TRY: Duration = Duration::from_millis(800);
/// How long a test waits for what comes by itself.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a sandbox takes to start where that takes a while.
const SLOW_START: Duration = Duration::from_millis(250);
/// What the faulty provider is in the chain with.
const OTHER: &str = "scripted-other";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Provider {
    E2b,
    Daytona,
    /// One whose sandboxes take a while to start.
    SlowDaytona,
}

/// How the faulty provider is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Address {
    Its,
    Refused,
    Unknown,
    NoTls,
}

fn shape(vcpu: u64, memory_gib: u64, disk_gib: u64) -> Shape {
    Shape { vcpu: vcpu.into(), memory_gib: memory_gib.into(), disk_gib: disk_gib.into() }
}

fn catalog() -> Arc<Catalog> {
    Arc::new(load(&embedded_files(), today()).unwrap())
}

/// A chain of two with its database.
struct Chain {
    router: SandboxRouter,
    pool: SqlitePool,
    standin: Standin,
    other: Scripted,
    providers: Vec<&'static str>,
    _reserved: TcpSocket,
    _folder: tempfile::TempDir,
}

impl Chain {
    /// The provider under test first, or last behind one that refuses.
    async fn new(
        provider: Provider,
        is_first: bool,
        address: Address,
        catalog: &Arc<Catalog>,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pool = database::open(&folder.path().join("thud.sqlite")).await.unwrap();
        let standin = standin(provider).await;
        // A port that is taken, and at which nobody listens.
        let reserved = TcpSocket::new_v4().unwrap();
        reserved.bind(([127, 0, 0, 1], 0).into()).unwrap();
        let url = match address {
            Address::Its => standin.url(),
            Address::Refused => format!("http://{}", reserved.local_addr().unwrap()),
            Address::Unknown => "http://nobody.invalid:1".to_owned(),
            Address::NoTls => standin.url().replace("http://", "https://"),
        };
        let adapter = adapter(provider, &url, standin.key(), "site-a");
        let other = Scripted::new(OTHER, if is_first { Script::Runs } else { Script::Refuses });
        let slug = adapter.slug();
        let providers = if is_first { vec![slug, OTHER] } else { vec![OTHER, slug] };
        let limits = Limits { teardown_try: TEARDOWN_TRY, late_sandbox: LATE, ..Limits::default() };
        let adapters: Vec<Arc<dyn Adapter>> = vec![adapter, Arc::new(other.clone())];
        let router = SandboxRouter::new(pool.clone(), catalog.clone(), adapters, limits);
        Self { router, pool, standin, other, providers, _reserved: reserved, _folder: folder }
    }

    async fn token(&self) -> Caller {
        let budget = Usd::from(1_000);
        let text =
            access::create(&self.pool, "test", budget, None, Timestamp::now()).await.unwrap();
        Caller::Token(access::verify(&self.pool, &text).await.unwrap().unwrap())
    }

    async fn run(&self, language: &str, code: &str) -> (Receipt, Duration) {
        let draft = Draft {
            language: language.to_owned(),
            code: code.to_owned(),
            timeout_ms: Some(u64::try_from(TIMEOUT.as_millis()).unwrap()),
            providers: Some(self.providers.iter().map(|slug| (*slug).to_owned()).collect()),
            ..Draft::default()
        };
        let request = draft.read(&self.router.providers()).unwrap();
        let begun = Instant::now();
        let id = self.router.submit(request, &self.token().await, None).await.unwrap().id;
        let waited = tokio::time::timeout(PATIENCE, self.router.wait(&id)).await;
        assert!(waited.is_ok(), "no answer");
        (self.router.receipt(&id).await.unwrap().unwrap(), begun.elapsed())
    }

    /// Lets the platform work again and the reaper look, until nothing is owed.
    async fn paid(&self, name: &str) {
        self.standin.script(Vec::new());
        let nothing_left = async {
            loop {
                self.router.reap().await.unwrap();
                let is_owed: bool =
                    sqlx::query_scalar("select exists (select 1 from lease where state = 'open')")
                        .fetch_one(&self.pool)
                        .await
                        .unwrap();
                if !is_owed && self.standin.sandboxes().is_empty() && self.other.left() == 0 {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        let paid = tokio::time::timeout(PATIENCE, nothing_left).await;
        assert!(paid.is_ok(), "{name}: left {:?}", self.standin.sandboxes());
    }
}

async fn standin(provider: Provider) -> Standin {
    let started = match provider {
        Provider::E2b => e2b_standin::start(Arc::new(Echo)).await,
        Provider::Daytona => daytona_standin::start(Arc::new(Echo)).await,
        Provider::SlowDaytona => {
            let pace = Pace { start_delay: SLOW_START, ..Pace::default() };
            let keys = vec![daytona_standin::KEY.to_owned()];
            daytona_standin::start_at(([127, 0, 0, 1], 0).into(), keys, Arc::new(Echo), pace).await
        }
    };
    started.unwrap()
}

fn adapter(provider: Provider, url: &str, key: &str, site: &str) -> Arc<dyn Adapter> {
    let (api_key, start_slice) = (SecretString::from(key.to_owned()), START_SLICE);
    match provider {
        Provider::E2b => {
            let settings = e2b::Settings {
                api_key,
                domain: "e2b.test".to_owned(),
                api_url: url.to_owned(),
                sandbox_url: Some(url.to_owned()),
                template: "code-interpreter-v1".to_owned(),
                shape: shape(2, 2, 10),
                start_slice,
            };
            Arc::new(E2b::new(settings, site.to_owned()).unwrap())
        }
        Provider::Daytona | Provider::SlowDaytona => {
            let settings = daytona::Settings {
                api_key,
                api_url: url.to_owned(),
                toolbox_url: None,
                target: None,
                snapshot: "daytona-vm-small".to_owned(),
                tier: Tier::VirtualMachine,
                shape: shape(1, 1, 3),
                start_slice,
            };
            Arc::new(Daytona::new(settings, site.to_owned()).unwrap())
        }
    }
}
