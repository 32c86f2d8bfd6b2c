//! `GET /api/cron_cleanup`: the sweep, for Vercel's cron.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};

use super::openapi::SweepAnswers;
use crate::app::App;
use crate::auth::has_bearer_secret;
use crate::error::ApiError;
use crate::sweep::sweep_due;

/// Drop locks that have expired, and announce them.
///
/// For Vercel's cron, which sends the secret by itself. Nothing waits for it: an expired lock is free at that instant.
#[utoipa::path(
    get,
    path = "/api/cron_cleanup",
    tag = "operation",
    responses(SweepAnswers),
    security(("cron_secret" = []))
)]
pub(super) async fn run_sweep(State(state): State<App>, headers: HeaderMap) -> Result<Response, ApiError> {
    let Some(secret) = &state.cron_secret else {
        tracing::error!("CRON_SECRET is not set, so that the sweep refuses to run");
        return Err(ApiError::Unauthorized(
            "CRON_SECRET is not set in this deployment, so that nobody can be let in".to_owned(),
        ));
    };
    if !has_bearer_secret(&headers, secret) {
        return Err(ApiError::Unauthorized(
            "send Authorization: Bearer with the value of CRON_SECRET".to_owned(),
        ));
    }
    if let Some(observer) = &state.head_observer {
        observer.look_again();
    }
    Ok(Json(sweep_due(&*state.store).await?).into_response())
}
