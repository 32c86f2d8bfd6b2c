//! `GET /api/health`: whether the service works, for monitors. It needs no credential, costs the store one PING in two seconds
//! however many ask, and asks the source nothing.

use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use axum::Json;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tokio::sync::Mutex;

use super::{ApiError, AppState};
use crate::source::{Source, SourceHealth};
use crate::store::{Request, Store, StoreError, Value};

/// Longest time for the store to answer.
const PING_TIME: Duration = Duration::from_secs(2);

/// How long an answer counts.
const MAX_AGE: Duration = Duration::from_secs(2);

/// What is answered.
#[derive(Clone, Debug, Serialize)]
struct Report {
    status: Overall,
    version: &'static str,
    store: StoreReport,
    source: SourceReport,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Overall {
    Ok,
    /// Locks work, and repositories cannot be read.
    Degraded,
    /// Nothing works.
    Down,
}

#[derive(Clone, Debug, Serialize)]
struct StoreReport {
    status: StoreStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_ms: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum StoreStatus {
    Ok,
    Down,
    NotConfigured,
}

#[derive(Clone, Debug, Serialize)]
struct SourceReport {
    status: SourceStatus,
    /// Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    limited_until: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum SourceStatus {
    Ok,
    /// Not asked yet.
    Unknown,
    Limited,
    Unreachable,
    NotConfigured,
    /// There is none; heads and graphs are those that the store has.
    None,
}

/// Looks after the store and the source, once for all who ask.
pub(super) struct Health {
    store: Arc<dyn Store>,
    source: Option<Arc<dyn Source>>,
    last: Arc<Mutex<Option<(Instant, Report)>>>,
}

impl Health {
    pub(super) fn of(state: &AppState) -> Arc<Self> {
        Arc::new(Health {
            store: Arc::clone(&state.store),
            source: state.source.clone(),
            last: Arc::default(),
        })
    }

    async fn report(&self) -> Result<Report, ApiError> {
        let mut last = Arc::clone(&self.last).lock_owned().await;
        if let Some((_, report)) = last.as_ref().filter(|(at, _)| at.elapsed() < MAX_AGE) {
            return Ok(report.clone());
        }
        let (store, source) = (Arc::clone(&self.store), self.source.clone());
        // A task of its own, so that a caller who goes away does not take along what others wait for.
        let looking = tokio::spawn(async move {
            let report = look(&*store, source).await;
            *last = Some((Instant::now(), report.clone()));
            report
        });
        looking.await.map_err(|error| {
            tracing::error!(%error, "the state of the service could not be looked at");
            ApiError::Internal
        })
    }
}

/// `GET /api/health`
pub(super) async fn get_health(health: Arc<Health>) -> Result<Response, ApiError> {
    let report = health.report().await?;
    if report.status != Overall::Down {
        return Ok(Json(report).into_response());
    }
    let mut response = (StatusCode::SERVICE_UNAVAILABLE, Json(report)).into_response();
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from_static("5"));
    Ok(response)
}

async fn look(store: &dyn Store, source: Option<Arc<dyn Source>>) -> Report {
    let store = ping(store).await;
    let source = look_at_source(source).await;
    let status = match (store.status, source.status) {
        (StoreStatus::Down | StoreStatus::NotConfigured, _) => Overall::Down,
        (StoreStatus::Ok, SourceStatus::Ok | SourceStatus::Unknown | SourceStatus::None) => Overall::Ok,
        (StoreStatus::Ok, SourceStatus::Limited | SourceStatus::Unreachable | SourceStatus::NotConfigured) => {
            Overall::Degraded
        }
    };
    Report {
        status,
        version: env!("CARGO_PKG_VERSION"),
        store,
        source,
    }
}

/// Causes go to the log: they may name hosts.
async fn ping(store: &dyn Store) -> StoreReport {
    let started = Instant::now();
    let answer = tokio::time::timeout(PING_TIME, store.run(vec![Request::command(["PING"])])).await;
    let status = match answer {
        Ok(Ok(replies)) => match replies.first() {
            Some(Value::Error(error)) => {
                tracing::warn!(error, "the store refuses a PING");
                StoreStatus::Down
            }
            Some(_) => StoreStatus::Ok,
            None => StoreStatus::Down,
        },
        Ok(Err(StoreError::NotConfigured(message))) => {
            tracing::warn!(message, "no store is configured");
            StoreStatus::NotConfigured
        }
        Ok(Err(error)) => {
            tracing::warn!(%error, "the store gave no answer to a PING");
            StoreStatus::Down
        }
        Err(_) => {
            tracing::warn!("the store gave no answer to a PING within {PING_TIME:?}");
            StoreStatus::Down
        }
    };
    let elapsed = started.elapsed();
    StoreReport {
        status,
        latency_ms: (status == StoreStatus::Ok).then(|| elapsed.as_micros() as f64 / 1000.0),
    }
}

async fn look_at_source(source: Option<Arc<dyn Source>>) -> SourceReport {
    let Some(source) = source else {
        return SourceReport {
            status: SourceStatus::None,
            limited_until: None,
        };
    };
    // It may look at a disk that gives no answer.
    let looking = tokio::task::spawn_blocking(move || source.health());
    let health = match tokio::time::timeout(PING_TIME, looking).await {
        Ok(Ok(health)) => health,
        _ => SourceHealth::Unreachable,
    };
    let (status, until) = match health {
        SourceHealth::Ok => (SourceStatus::Ok, None),
        SourceHealth::Unknown => (SourceStatus::Unknown, None),
        SourceHealth::Limited { until } => (SourceStatus::Limited, Some(until)),
        SourceHealth::Unreachable => (SourceStatus::Unreachable, None),
        SourceHealth::NotConfigured => (SourceStatus::NotConfigured, None),
    };
    SourceReport {
        status,
        limited_until: until.and_then(|until| Some(until.duration_since(UNIX_EPOCH).ok()?.as_secs())),
    }
}
