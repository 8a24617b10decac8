//! The site as tests see it: the real routes and middleware over the built-in catalog, a database and files of its own.

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use serde_json::Value;
use tower::ServiceExt;

use crate::catalog::load::{embedded_files, load};
use crate::state::{AppState, Site, today};
use crate::{api, database, server};

/// The largest answer that a test reads.
const ANSWER_BYTES_MAX: usize = 1 << 24;

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
        Self::of(public_url, files, server::router).await
    }

    /// A site of other routes behind the real middleware.
    pub async fn behind_middleware(routes: axum::Router<AppState>) -> Self {
        Self::of(None, &[], |state| server::behind_middleware(routes, state)).await
    }

    async fn of(
        public_url: Option<&str>,
        files: &[(&str, &[u8])],
        router: impl FnOnce(AppState) -> axum::Router,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("site");
        for (path, content) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let pool = database::open(&folder.path().join("thud.sqlite")).await.unwrap();
        let catalog_files = embedded_files();
        let catalog = load(&catalog_files, today()).unwrap();
        let site = Site {
            files: server::files_below(&root),
            root,
            build: "test".to_owned(),
            base_url: "http://127.0.0.1:3000".to_owned(),
            public_url: public_url.map(str::to_owned),
            repository_url: None,
            api_document: api::document(),
        };
        let state = AppState::open(catalog_files, catalog, pool, site).await.unwrap();
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
