//! `GET /api/health`: whether the service works, for monitors. It needs no credential. However many requests arrive, the
//! store gets one small write and a PING in two seconds, and the source nothing.

mod promise_keeper;

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use axum::Json;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use futures::future::{Either, select};
use serde::Serialize;
use tokio::sync::Mutex;
use utoipa::openapi::schema::OneOfBuilder;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response as Described};
use utoipa::{IntoResponses, OpenApi, ToSchema};

use self::promise_keeper::PromiseKeeper;
use crate::app::App;
use crate::error::ApiError;
use crate::http::openapi::errors::{Reader, errors, finish, retry_later};
use crate::http::openapi::examples;
use crate::http::openapi::responses::response;
use crate::source::{Source, SourceHealth};
use crate::store::scripts::probe;
use crate::store::{BrokenPromise, Promises, Request, Store, StoreError, Value};

/// Time limit of the store's reply.
const PROBE_TIME: Duration = Duration::from_secs(2);

/// How long a report is reused.
const MAX_AGE: Duration = Duration::from_secs(2);

/// What is answered.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct HealthReport {
    status: Overall,
    /// Of this server.
    version: &'static str,
    store: StoreReport,
    source: SourceReport,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Overall {
    Ok,
    /// Locks work, and repositories cannot be read.
    Degraded,
    /// No file can be claimed.
    Down,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
struct StoreReport {
    status: StoreStatus,
    /// What keeps it from working, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cause: Option<Cause>,
    /// Milliseconds that a small write took.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    latency_ms: Option<f64>,
    /// Whether it keeps what it is told, as far as it says so; asked once in ten minutes.
    promises: PromisesStatus,
    /// What it does not promise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    broken_promises: Option<BTreeSet<BrokenPromise>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum PromisesStatus {
    Kept,
    /// Locks work, and may be lost: see `broken_promises`.
    Broken,
    /// The store does not say, or has not been asked yet.
    Unknown,
}

impl StoreReport {
    fn with(mut self, promises: Promises) -> Self {
        (self.promises, self.broken_promises) = match promises {
            Promises::Kept => (PromisesStatus::Kept, None),
            Promises::Broken(broken) => (PromisesStatus::Broken, Some(broken)),
            Promises::Unknown => (PromisesStatus::Unknown, None),
        };
        self
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum StoreStatus {
    Ok,
    /// It can be read, and not be written: files can be checked, and not be claimed.
    ReadOnly,
    Down,
    NotConfigured,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Cause {
    /// Redis' `maxmemory` is reached, and nothing may be evicted (`OOM`).
    OutOfMemory,
    /// The Redis that was asked is a replica (`READONLY`).
    Replica,
    /// Redis cannot save, or has too few replicas, and so takes no writes (`MISCONF`, `NOREPLICAS`).
    NotSaved,
    /// A script holds up Redis (`BUSY`).
    Busy,
    /// Redis is loading its data (`LOADING`).
    Loading,
    /// Reads are answered, and writes are not: somebody has paused them (`CLIENT PAUSE`).
    Paused,
    /// The disk of the embedded store is full, or fails.
    Disk,
}

impl Cause {
    /// The cause in an error of the store.
    fn of(error: &str) -> Option<Cause> {
        // Redis puts the code first; in a script's error, the name of the script comes before it.
        let has = |code: &str| error.split(|c: char| !c.is_ascii_uppercase()).any(|word| word == code);
        let causes = [
            ("OOM", Cause::OutOfMemory),
            ("READONLY", Cause::Replica),
            ("MISCONF", Cause::NotSaved),
            ("NOREPLICAS", Cause::NotSaved),
            ("BUSY", Cause::Busy),
            ("LOADING", Cause::Loading),
        ];
        let told = causes.into_iter().find(|(code, _)| has(code)).map(|(_, cause)| cause);
        told.or_else(|| error.contains("the disk failed").then_some(Cause::Disk))
    }
}

#[derive(Clone, Debug, Serialize, ToSchema)]
struct SourceReport {
    status: SourceStatus,
    /// Until when no more questions are taken, Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    limited_until: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
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

/// Checks the store and the source, once for all concurrent requests.
pub(super) struct Health {
    store: Arc<dyn Store>,
    promises: Arc<PromiseKeeper>,
    source: Option<Arc<dyn Source>>,
    last: Arc<Mutex<Option<(Instant, HealthReport)>>>,
}

impl Health {
    pub(super) fn of(state: &App) -> Arc<Self> {
        Arc::new(Health {
            store: Arc::clone(&state.store),
            promises: Arc::default(),
            source: state.source.clone(),
            last: Arc::default(),
        })
    }

    async fn report(&self) -> Result<HealthReport, ApiError> {
        let mut last = Arc::clone(&self.last).lock_owned().await;
        if let Some((_, report)) = last.as_ref().filter(|(at, _)| at.elapsed() < MAX_AGE) {
            return Ok(report.clone());
        }
        let (store, promises, source) = (Arc::clone(&self.store), Arc::clone(&self.promises), self.source.clone());
        // Runs in its own task, so that a cancelled request does not cancel the check for the others.
        let looking = tokio::spawn(async move {
            let report = look(&store, &promises, source).await;
            *last = Some((Instant::now(), report.clone()));
            report
        });
        looking.await.map_err(|error| {
            tracing::error!(%error, "the state of the service could not be looked at");
            ApiError::Internal
        })
    }
}

/// Its methods, with what they remember of the last look.
pub(super) fn serve(app: &App) -> MethodRouter<App> {
    let health = Health::of(app);
    get(async move || get_health(Arc::clone(&health)).await)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(get_health), components(schemas(HealthReport)))]
pub(super) struct Document;

/// Whether the service works, for monitors.
///
/// Needs no credential, and is cheap enough to poll: the store is written once in two seconds however many ask, and the source
/// is not asked at all. `store.promises` says whether the store keeps what it is told, and changes nothing of the rest. `status` is `ok`, `degraded` (locks work, and repositories cannot be read) or `down` (no file can be
/// claimed; `store.status` says whether checks are answered).
#[utoipa::path(get, path = "/api/health", tag = "operation", responses(HealthAnswers), security(()))]
async fn get_health(health: Arc<Health>) -> Result<Response, ApiError> {
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

async fn look(store: &Arc<dyn Store>, promises: &PromiseKeeper, source: Option<Arc<dyn Source>>) -> HealthReport {
    let report = look_at_store(&**store).await;
    let is_answering = matches!(report.status, StoreStatus::Ok | StoreStatus::ReadOnly);
    let store = report.with(promises.told(store, is_answering).await);
    let source = look_at_source(source).await;
    let status = match (store.status, source.status) {
        (StoreStatus::Down | StoreStatus::ReadOnly | StoreStatus::NotConfigured, _) => Overall::Down,
        (StoreStatus::Ok, SourceStatus::Ok | SourceStatus::Unknown | SourceStatus::None) => Overall::Ok,
        (StoreStatus::Ok, SourceStatus::Limited | SourceStatus::Unreachable | SourceStatus::NotConfigured) => {
            Overall::Degraded
        }
    };
    HealthReport {
        status,
        version: env!("CARGO_PKG_VERSION"),
        store,
        source,
    }
}

/// Messages go only to the log: they may name hosts.
async fn look_at_store(store: &dyn Store) -> StoreReport {
    let started = Instant::now();
    let writing = async {
        let probing = async {
            tokio::select! {
                written = probe(store) => written,
                written = store.probe_beside_client_script() => written,
            }
        };
        let written = tokio::time::timeout(PROBE_TIME, probing).await;
        (written, started.elapsed())
    };
    // Both at once: only the read shows whether a store that cannot be written can be read.
    let mut pinging = pin!(ping(store));
    let ((written, elapsed), pinged) = match select(pin!(writing), pinging.as_mut()).await {
        Either::Left((written, _)) => (written, None),
        Either::Right((pinged, writing)) => (writing.await, Some(pinged)),
    };
    let report = |status, cause| StoreReport {
        status,
        cause,
        latency_ms: (status == StoreStatus::Ok).then(|| elapsed.as_micros() as f64 / 1000.0),
        promises: PromisesStatus::Unknown,
        broken_promises: None,
    };
    let (reason, mut cause) = match written {
        Ok(Ok(())) => return report(StoreStatus::Ok, None),
        Ok(Err(StoreError::NotConfigured(message))) => {
            tracing::warn!(message, "no store is configured");
            return report(StoreStatus::NotConfigured, None);
        }
        Ok(Err(StoreError::Failed(error))) => {
            let cause = Cause::of(&error);
            (error, cause)
        }
        Ok(Err(error @ StoreError::Timeout(_))) => (error.to_string(), Some(Cause::Paused)),
        Ok(Err(error)) => (error.to_string(), None),
        Err(_) => (format!("nothing within {PROBE_TIME:?}"), Some(Cause::Paused)),
    };
    let pinged = match pinged {
        Some(pinged) => pinged,
        None => pinging.await,
    };
    let status = match (&pinged, cause) {
        // While Redis is busy or paused, scripts that read have to wait as well.
        (Ok(()), Some(Cause::Busy | Cause::Loading | Cause::Paused)) => StoreStatus::Down,
        (Ok(()), _) => StoreStatus::ReadOnly,
        (Err(error), _) => {
            cause = cause
                .filter(|cause| *cause != Cause::Paused)
                .or_else(|| Cause::of(error));
            StoreStatus::Down
        }
    };
    tracing::warn!(%reason, ?status, ?cause, "the store cannot be written");
    report(status, cause)
}

/// Whether the store responds.
async fn ping(store: &dyn Store) -> Result<(), String> {
    let answer = tokio::time::timeout(PROBE_TIME, store.run(vec![Request::command(["PING"])])).await;
    match answer {
        Ok(Ok(replies)) => match replies.first() {
            Some(Value::Error(error)) => Err(error.clone()),
            Some(_) => Ok(()),
            None => Err("no answer".to_owned()),
        },
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("nothing within {PROBE_TIME:?}")),
    }
}

async fn look_at_source(source: Option<Arc<dyn Source>>) -> SourceReport {
    let Some(source) = source else {
        return SourceReport {
            status: SourceStatus::None,
            limited_until: None,
        };
    };
    // The source may read a disk that does not respond.
    let looking = tokio::task::spawn_blocking(move || source.health());
    let health = match tokio::time::timeout(PROBE_TIME, looking).await {
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

/// Its responses in the OpenAPI document.
enum HealthAnswers {}

impl IntoResponses for HealthAnswers {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let mut answers = errors(&[], Reader::Person, "GET, HEAD", None);
        let report = Ref::from_schema_name("HealthReport");
        let content = ContentBuilder::new()
            .schema(Some(report.clone()))
            .example(Some(examples::health()));
        answers.insert(
            200,
            response(
                "Locks work; where `status` is `degraded`, no repository can be read",
                content,
            ),
        );
        let either = OneOfBuilder::new()
            .item(report)
            .item(Ref::from_schema_name("ErrorBody"));
        let down = response(
            "The store cannot be reached, or is not configured",
            ContentBuilder::new().schema(Some(either)),
        );
        answers.insert(503, retry_later(down));
        finish(answers)
    }
}
