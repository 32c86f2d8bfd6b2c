//! Converts errors into responses, only here.

use axum::http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use coord_protocol::ErrorCode;
use serde::Serialize;

use crate::json::Json;
use coord_server::error::ApiError;

/// The status of an error with this code.
pub fn status_of(code: ErrorCode) -> StatusCode {
    StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// An error as a response.
pub trait Respond {
    fn status(&self) -> StatusCode;

    /// The response with `body` and the headers that belong to the status.
    fn respond(&self, body: impl Serialize) -> Response;

    /// The response for an agent, with an orchestration command.
    fn respond_to_agent(&self) -> Response;

    /// The response for a person, without an orchestration command.
    fn respond_to_person(&self) -> Response;
}

impl Respond for ApiError {
    fn status(&self) -> StatusCode {
        status_of(self.code())
    }

    fn respond(&self, body: impl Serialize) -> Response {
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

    fn respond_to_agent(&self) -> Response {
        self.respond(self.for_agent())
    }

    fn respond_to_person(&self) -> Response {
        self.respond(self.body())
    }
}

/// The error of a handler, whose response has no orchestration command.
#[derive(Debug)]
pub struct HandlerError(ApiError);

impl<E: Into<ApiError>> From<E> for HandlerError {
    fn from(error: E) -> Self {
        HandlerError(error.into())
    }
}

impl IntoResponse for HandlerError {
    fn into_response(self) -> Response {
        self.0.respond_to_person()
    }
}

/// The response after a panic in a handler.
pub fn panic_response(cause: Box<dyn std::any::Any + Send + 'static>) -> Response {
    let text = cause
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| cause.downcast_ref::<&str>().copied());
    tracing::error!(cause = text.unwrap_or("unknown"), "a handler panicked");
    ApiError::Internal.respond_to_agent()
}
