//! The site as tests see it: the real routes and middleware over the built-in catalog, a database and files of its own.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use serde_json::Value;
use sqlx::SqlitePool;
use tower::ServiceExt;

use crate::catalog::load::{embedded_files, load};
use crate::moment::today;
use crate::router::Limits;
use crate::router::adapter::Adapter;
use crate::state::{AppState, Site};
use crate::{api, database, server};

/// The largest answer that a test reads.
const ANSWER_BYTES_MAX: usize = 1 << 24;

/// The file of its database.
const DATABASE: &str = "thud.sqlite";

/// In what a site differs from a plain one.
#[derive(Default)]
struct Setting<'a> {
    providers: Vec<Arc<dyn Adapter>>,
    public_url: Option<&'a str>,
    repository_url: Option<&'a str>,
    files: &'a [(&'a str, &'a [u8])],
    limits: Limits,
}

/// A site of its own.
pub struct TestApp {
    router: axum::Router,
    _folder: tempfile::TempDir,
}

/// What it answered.
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as it came.
    pub body: Vec<u8>,
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// A header as text.
    pub fn header(&self, name: impl header::AsHeaderName) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl TestApp {
    /// A site that this machine reaches by its own names.
    pub async fn new() -> Self {
        Self::at(None).await
    }

    /// A site that the world reaches by an address.
    pub async fn at(public_url: Option<&str>) -> Self {
        Self::with(public_url, &[]).await
    }

    /// A site with files of its own, as path and content.
    pub async fn with(public_url: Option<&str>, files: &[(&str, &[u8])]) -> Self {
        Self::of(Setting { public_url, files, ..Setting::default() }, server::router).await
    }

    /// A site of other routes behind the real middleware.
    pub async fn behind_middleware(routes: axum::Router<AppState>) -> Self {
        Self::of(Setting::default(), |state| server::behind_middleware(routes, state)).await
    }

    /// A site, and what its requests share.
    pub async fn with_state() -> (Self, AppState) {
        Self::with_state_of(Setting::default()).await
    }

    /// A site that runs code at some providers, and what its requests share.
    pub async fn running(providers: Vec<Arc<dyn Adapter>>) -> (Self, AppState) {
        Self::running_at(None, providers).await
    }

    /// The same, reached by the world at an address.
    pub async fn running_at(
        public_url: Option<&str>,
        providers: Vec<Arc<dyn Adapter>>,
    ) -> (Self, AppState) {
        Self::with_state_of(Setting { providers, public_url, ..Setting::default() }).await
    }

    /// The same under some limits.
    pub async fn running_within(
        limits: Limits,
        providers: Vec<Arc<dyn Adapter>>,
    ) -> (Self, AppState) {
        Self::with_state_of(Setting { providers, limits, ..Setting::default() }).await
    }

    async fn with_state_of(setting: Setting<'_>) -> (Self, AppState) {
        let mut shared = None;
        let app = Self::of(setting, |state| {
            shared = Some(state.clone());
            server::router(state)
        })
        .await;
        (app, shared.unwrap())
    }

    /// A site whose catalog lies in a repository of the web.
    pub async fn of_repository(url: &str) -> Self {
        Self::of(Setting { repository_url: Some(url), ..Setting::default() }, server::router).await
    }

    /// A site whose database has seen something before it starts.
    pub async fn after(past: impl AsyncFnOnce(SqlitePool)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        past(database::open(&folder.path().join(DATABASE)).await.unwrap()).await;
        Self::in_folder(folder, Setting::default(), server::router).await
    }

    async fn of(setting: Setting<'_>, router: impl FnOnce(AppState) -> axum::Router) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), setting, router).await
    }

    async fn in_folder(
        folder: tempfile::TempDir,
        setting: Setting<'_>,
        router: impl FnOnce(AppState) -> axum::Router,
    ) -> Self {
        let Setting { providers, public_url, repository_url, files, limits } = setting;
        let root = folder.path().join("site");
        for (path, content) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let pool = database::open(&folder.path().join(DATABASE)).await.unwrap();
        let catalog_files = embedded_files();
        let catalog = load(&catalog_files, today()).unwrap();
        let site = Site {
            files: server::files_below(&root),
            root,
            build: "test".to_owned(),
            base_url: "http://127.0.0.1:3000".to_owned(),
            public_url: public_url.map(str::to_owned),
            repository_url: repository_url.map(str::to_owned),
            api_document: api::document(),
        };
        let state =
            AppState::open(catalog_files, catalog, pool, site, providers, limits).await.unwrap();
        Self { router: router(state), _folder: folder }
    }

    /// Sends a request.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let headers = response.headers().clone();
        let body = to_bytes(response.into_body(), ANSWER_BYTES_MAX).await.unwrap().to_vec();
        Answer { status, headers, body }
    }

    /// Asks for a path.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).body(Body::empty()).unwrap()).await
    }
}
