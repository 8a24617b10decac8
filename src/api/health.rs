//! `/api/v1/health`: how the providers have done lately, from the attempts of this instance.

use axum::Json;
use axum::extract::State;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::problem::Problem;
use crate::moment::stamp;
use crate::runs::health::{Health, Sample, WINDOWS, health, worked};
use crate::runs::store::{self, StoreError};
use crate::state::AppState;

/// How a provider did in a window.
#[derive(Debug, Serialize, ToSchema)]
pub struct WindowView {
    /// `5_min`, `30_min` or `1_day`.
    pub window: &'static str,
    /// Attempts that say something of the platform: not those that were cancelled or that we asked wrongly or too often.
    pub samples: u64,
    /// The part of them in which the platform did its part, decimal; null without samples.
    pub success_ratio: Option<String>,
    /// How many of them had a sandbox.
    pub starts: u64,
    /// From asking for a sandbox until it was there; null without samples.
    pub start_ms_p50: Option<u64>,
    /// The same for 95 of a hundred.
    pub start_ms_p95: Option<u64>,
    /// The same for 99 of a hundred.
    pub start_ms_p99: Option<u64>,
}

impl WindowView {
    fn new(window: &'static str, health: &Health) -> Self {
        let ratio = |parts: u64| format!("{}.{:04}", parts / 10_000, parts % 10_000);
        Self {
            window,
            samples: health.samples,
            success_ratio: health.worked_per_10000.map(ratio),
            starts: health.starts,
            start_ms_p50: health.start_ms_p50,
            start_ms_p95: health.start_ms_p95,
            start_ms_p99: health.start_ms_p99,
        }
    }
}

/// How a provider has done lately.
#[derive(Debug, Serialize, ToSchema)]
pub struct HealthView {
    /// Its slug.
    pub provider: String,
    /// The windows, the shortest first.
    pub windows: Vec<WindowView>,
}

/// How the providers that this instance can run code at have done lately, from its own attempts alone.
#[utoipa::path(get, path = "/api/v1/health", responses(
    (status = 200, body = Vec<HealthView>),
    (status = 503, body = Problem, content_type = "application/problem+json"),
))]
pub async fn find_health(State(state): State<AppState>) -> Result<Json<Vec<HealthView>>, Problem> {
    let now = Timestamp::now();
    let since = |window: std::time::Duration| {
        let window = SignedDuration::try_from(window).unwrap_or(SignedDuration::MAX);
        let since = now.saturating_sub(window).unwrap_or(Timestamp::MIN);
        stamp(since)
    };
    let longest = WINDOWS.map(|(_, window)| window).into_iter().max().unwrap_or_default();
    let rows = store::samples(&state.pool, &since(longest)).await.map_err(StoreError::from)?;
    let of = |slug: &str| {
        let windows = WINDOWS.map(|(name, window)| {
            let since = since(window);
            let samples: Vec<Sample> = rows
                .iter()
                .filter(|row| row.provider == slug && row.started_at >= since)
                .filter_map(|row| {
                    let worked = worked(&row.outcome, row.reason.as_deref())?;
                    let start_ms = row.start_ms.and_then(|ms| u64::try_from(ms).ok());
                    Some(Sample { worked, start_ms })
                })
                .collect();
            WindowView::new(name, &health(&samples))
        });
        HealthView { provider: slug.to_owned(), windows: windows.into() }
    };
    Ok(Json(state.sandboxes.providers().into_iter().map(of).collect()))
}
