//! Runs the operations for the tools and resources of teams.

use coord_protocol::team_tools::{TeamCall, TeamCallResponse};
use futures::future::BoxFuture;

use coord_http::Session;
use coord_server::error::ApiError;
use coord_teams_server::operations::teams::{CallerContext, answer_call};

/// Answers `call` for the caller of `session`.
///
/// # Errors
/// When the call is refused.
pub fn answer<'a>(session: &'a Session, call: &'a TeamCall) -> BoxFuture<'a, Result<TeamCallResponse, ApiError>> {
    answer_call(&session.app, &session.caller, session.agent.as_deref(), call)
}

/// The caller of an operation that reads a resource.
pub(super) fn context_of(session: &Session) -> CallerContext<'_> {
    CallerContext {
        caller: session.caller.clone(),
        agent: session.agent.as_deref(),
    }
}
