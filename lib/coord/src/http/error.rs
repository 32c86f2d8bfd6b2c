//! The one place that turns errors into responses.

use axum::http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use coord_protocol::ErrorCode;
use serde::Serialize;

use crate::error::ApiError;
use crate::http::json::Json;

/// The status of an error with this code.
pub(super) fn status_of(code: ErrorCode) -> StatusCode {
    StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

impl ApiError {
    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        status_of(self.code())
    }

    /// The response with this body and the headers that belong to the status.
    pub(super) fn respond(&self, body: impl Serialize) -> Response {
        let mut response = (self.status(), Json(body)).into_response();
        let header = match self {
            ApiError::MethodNotAllowed { allowed } => Some((ALLOW, HeaderValue::from_static(allowed))),
            ApiError::Unauthorized(_) => Some((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"coord\""))),
            error => error.retry_after().map(|seconds| (RETRY_AFTER, seconds.into())),
        };
        if let Some((name, value)) = header {
            response.headers_mut().insert(name, value);
        }
        response
    }

    /// The response for an agent: with an orchestration command.
    pub fn respond_to_agent(&self) -> Response {
        self.respond(self.for_agent())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        self.respond(self.body())
    }
}

/// The response after a panic in a handler.
pub(super) fn panicked(cause: Box<dyn std::any::Any + Send + 'static>) -> Response {
    let text = cause
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| cause.downcast_ref::<&str>().copied());
    tracing::error!(cause = text.unwrap_or("unknown"), "a handler panicked");
    ApiError::Internal.respond_to_agent()
}
