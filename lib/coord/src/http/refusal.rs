//! An error in the form that the callers of an endpoint expect.

use axum::response::{IntoResponse, Response};

use super::endpoint::{Audience, Endpoint};
use crate::error::ApiError;
use crate::operations::{offline_check, offline_post, refused_post};

/// `error` as `endpoint` answers it: agents get an orchestration command, and where nothing is known a whole response.
pub(super) fn refusal(endpoint: Endpoint, error: &ApiError) -> Response {
    match endpoint {
        Endpoint::CheckStatus if error.is_offline() => error.respond(offline_check(error, None)),
        Endpoint::PostStatus if error.is_offline() => error.respond(offline_post(error)),
        Endpoint::PostStatus if matches!(error, ApiError::TooManyLocks(_)) => error.respond(refused_post(error)),
        _ if endpoint.route().audience == Audience::Agent => error.respond_to_agent(),
        _ => error.clone().into_response(),
    }
}
