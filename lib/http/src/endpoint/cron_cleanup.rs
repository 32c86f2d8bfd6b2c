//! `GET /api/cron_cleanup`: the sweep, for Vercel's cron.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use serde_json::json;
use utoipa::openapi::{RefOr, Response as Described};
use utoipa::{IntoResponses, OpenApi};

use crate::error::HandlerError;
use crate::openapi::errors::{Cause, Reader, errors, finish};
use crate::openapi::responses::{content, response};
use coord_auth::has_bearer_secret;
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::sweep::{SweepReport, sweep_due};
use coord_settings::{ConfigError, env_vars};

pub(super) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    get(run_sweep)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(run_sweep), components(schemas(SweepReport)))]
pub(super) struct Document;

/// Remove expired locks, and publish their events.
///
/// For Vercel's cron, which sends the secret by itself. An expired lock is free even before a sweep removes it.
#[utoipa::path(
    get,
    path = "/api/cron_cleanup",
    tag = "operation",
    responses(SweepResponses),
    security(("cron_secret" = []))
)]
async fn run_sweep(State(state): State<Arc<App>>, headers: HeaderMap) -> Result<Response, HandlerError> {
    let Some(secret) = &state.cron_secret else {
        let is_short = |error: &&ConfigError| error.variable == env_vars::CRON_SECRET;
        let problem = match state.misconfigured.as_ref().filter(is_short) {
            Some(error) => format!("{error}; until then, the sweep is refused"),
            None => "CRON_SECRET is not set in this deployment, so the sweep is refused".to_owned(),
        };
        tracing::error!("{problem}");
        return Err(ApiError::Unauthorized(problem).into());
    };
    if !has_bearer_secret(&headers, secret) {
        return Err(
            ApiError::Unauthorized("send Authorization: Bearer with the value of CRON_SECRET".to_owned()).into(),
        );
    }
    if let Some(observer) = &state.head_observer {
        observer.recheck_all();
    }
    Ok(Json(sweep_due(&*state.store, &state.extensions).await?).into_response())
}

/// Its responses in the OpenAPI document.
enum SweepResponses {}

impl IntoResponses for SweepResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let mut answers = errors(&[Cause::Caller], Reader::Person, "GET, HEAD", None);
        let report = json!(SweepReport {
            is_complete: true,
            ..SweepReport::default()
        });
        answers.insert(200, response("What the sweep did", content("SweepReport", report)));
        finish(answers)
    }
}
