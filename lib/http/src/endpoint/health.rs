//! `GET /api/health`: whether the service works, for monitors. It needs no credential. However many requests arrive,
//! the store gets one small write and a PING in two seconds, and the source no request.

mod probes;
mod promise_keeper;
mod report;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use tokio::sync::Mutex;
use utoipa::openapi::schema::OneOfBuilder;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response as Described};
use utoipa::{IntoResponses, OpenApi};

use self::probes::check_health;
use self::promise_keeper::PromiseKeeper;
use self::report::{BadSetting, HealthReport, Overall};
use crate::error::HandlerError;
use crate::json::Json;
use crate::openapi::errors::{Reader, errors, finish, retry_later};
use crate::openapi::examples;
use crate::openapi::responses::{content, response};
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_sources::Source;
use coord_store::Store;
use tokio::time::Instant;

/// How long a report is reused.
const MAX_AGE: Duration = Duration::from_secs(2);

/// Checks the store and the source, once for all concurrent requests.
struct Health {
    store: Arc<dyn Store>,
    promises: Arc<PromiseKeeper>,
    source: Option<Arc<dyn Source>>,
    misconfigured: Option<BadSetting>,
    last_report: Arc<Mutex<Option<(Instant, HealthReport)>>>,
}

impl Health {
    fn new(state: &App) -> Arc<Self> {
        Arc::new(Health {
            store: Arc::clone(&state.store),
            promises: Arc::default(),
            source: state.source.clone(),
            misconfigured: state.misconfigured.as_ref().map(BadSetting::from),
            last_report: Arc::default(),
        })
    }

    async fn report(&self) -> Result<HealthReport, ApiError> {
        let mut last_report = Arc::clone(&self.last_report).lock_owned().await;
        if let Some((_, report)) = last_report.as_ref().filter(|(at, _)| at.elapsed() < MAX_AGE) {
            return Ok(report.clone());
        }
        let (store, promises, source) = (Arc::clone(&self.store), Arc::clone(&self.promises), self.source.clone());
        let misconfigured = self.misconfigured;
        // Runs in a separate task, so that a cancelled request does not cancel the check for the others.
        let check = tokio::spawn(async move {
            let report = check_health(&store, &promises, source, misconfigured).await;
            *last_report = Some((Instant::now(), report.clone()));
            report
        });
        check.await.map_err(|error| {
            tracing::error!(%error, "the health of the service could not be read");
            ApiError::Internal
        })
    }
}

/// The methods, which share the last report.
pub(super) fn serve(app: &App) -> MethodRouter<Arc<App>> {
    let health = Health::new(app);
    get(async move || get_health(Arc::clone(&health)).await)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(get_health), components(schemas(HealthReport)))]
pub(super) struct Document;

/// Whether the service works, for monitors.
///
/// Needs no credential, and is cheap enough to poll: the store gets one small write in two seconds at most, and the
/// source no request. `store.promises` says whether the store promises to keep its data, and does not affect `status`.
/// `status` is `ok`, `degraded` (locks work, but repositories cannot be read) or `down` (no file can be claimed;
/// `store.status` says whether checks work; `misconfigured` names a setting that the deployment cannot use).
#[utoipa::path(get, path = "/api/health", tag = "operation", responses(HealthResponses), security(()))]
async fn get_health(health: Arc<Health>) -> Result<Response, HandlerError> {
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

/// Its responses in the OpenAPI document.
enum HealthResponses {}

impl IntoResponses for HealthResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let mut answers = errors(&[], Reader::Person, "GET, HEAD", None);
        answers.insert(
            200,
            response(
                "Locks work; where `status` is `degraded`, no repository can be read",
                content("HealthReport", examples::health()),
            ),
        );
        let either = OneOfBuilder::new()
            .item(Ref::from_schema_name("HealthReport"))
            .item(Ref::from_schema_name("ErrorBody"));
        let down = response(
            "The store cannot be reached, or is not configured",
            ContentBuilder::new().schema(Some(either)),
        );
        answers.insert(503, retry_later(down));
        finish(answers)
    }
}
