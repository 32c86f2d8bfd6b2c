//! The one place that turns errors into responses.

use axum::Json;
use axum::http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use coord_protocol::ErrorCode;
use serde::Serialize;

use crate::error::ApiError;

/// The status of an error with this code.
pub(super) fn status_of(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::InvalidField | ErrorCode::MalformedBody | ErrorCode::SlowBody => StatusCode::BAD_REQUEST,
        ErrorCode::Unauthorized => StatusCode::UNAUTHORIZED,
        ErrorCode::Forbidden
        | ErrorCode::ForbiddenRepository
        | ErrorCode::PersonRequired
        | ErrorCode::NotAMember
        | ErrorCode::NotLeader
        | ErrorCode::NotCreator => StatusCode::FORBIDDEN,
        ErrorCode::UnknownRoute
        | ErrorCode::UnknownRepository
        | ErrorCode::UnknownBranch
        | ErrorCode::UnknownFile
        | ErrorCode::UnknownIntent
        | ErrorCode::UnknownTeam
        | ErrorCode::UnknownTask => StatusCode::NOT_FOUND,
        ErrorCode::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        ErrorCode::LockConflict
        | ErrorCode::LockLost
        | ErrorCode::NotPushed
        | ErrorCode::StaleHead
        | ErrorCode::TooManyLocks
        | ErrorCode::IntentRequired
        | ErrorCode::IntentNotActive
        | ErrorCode::IntentBlocked
        | ErrorCode::ScopeViolation
        | ErrorCode::FileOwned
        | ErrorCode::BudgetExhausted
        | ErrorCode::CircuitOpen
        | ErrorCode::IntentExists
        | ErrorCode::IntentTransition
        | ErrorCode::ScopeFrozen
        | ErrorCode::ScopeTooBroad
        | ErrorCode::ScopeOverlap
        | ErrorCode::CriteriaUnmet
        | ErrorCode::TooManyIntents
        | ErrorCode::Superseded
        | ErrorCode::TeamClosed
        | ErrorCode::TeamExists
        | ErrorCode::TooMany
        | ErrorCode::AlreadyMember
        | ErrorCode::HandleTaken
        | ErrorCode::LeaderStays
        | ErrorCode::MembersLive
        | ErrorCode::UnknownRecipient
        | ErrorCode::InboxFull
        | ErrorCode::CursorAhead
        | ErrorCode::KeyReused
        | ErrorCode::TaskExists
        | ErrorCode::UnknownDependency
        | ErrorCode::CircularDependency
        | ErrorCode::InvalidTransition
        | ErrorCode::TaskUnavailable
        | ErrorCode::TaskTaken
        | ErrorCode::TaskHeldBack
        | ErrorCode::TaskReserved
        | ErrorCode::DependenciesUnmet
        | ErrorCode::ShuttingDown
        | ErrorCode::ClaimLost
        | ErrorCode::NotOwner
        | ErrorCode::NotesFull
        | ErrorCode::DependedOn
        | ErrorCode::ShutdownOpen
        | ErrorCode::UnknownShutdown
        | ErrorCode::ShutdownAnswered
        | ErrorCode::ShutdownTooEarly => StatusCode::CONFLICT,
        ErrorCode::TooMuchAtOnce | ErrorCode::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::UriTooLong => StatusCode::URI_TOO_LONG,
        ErrorCode::UnsupportedEncoding | ErrorCode::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorCode::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::Internal | ErrorCode::Unknown => StatusCode::INTERNAL_SERVER_ERROR,
        ErrorCode::TimedOut
        | ErrorCode::IdentityUnavailable
        | ErrorCode::StoreUnavailable
        | ErrorCode::SourceUnavailable
        | ErrorCode::SourceLimited => StatusCode::SERVICE_UNAVAILABLE,
    }
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
