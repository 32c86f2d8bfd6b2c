//! Runs the operations for the tools and resources of teams.

use coord_protocol::tasks::TaskResponse;
use coord_protocol::team_tools::{TeamCall, TeamCallResponse};
use coord_protocol::teams::{TeamCaller, TeamResponse};
use futures::future::BoxFuture;

use coord_http::Session;
use coord_server::error::ApiError;
use coord_teams_server::operations::teams::{CallerContext, answer_call, show_task, show_team};

/// Answers `call` for the caller of `session`.
///
/// # Errors
/// When the call is refused.
pub fn answer<'a>(session: &'a Session, call: &'a TeamCall) -> BoxFuture<'a, Result<TeamCallResponse, ApiError>> {
    answer_call(&session.app, &session.caller, session.agent.as_deref(), call)
}

/// Reads the team of a resource.
pub(super) async fn team(session: &Session, name: &str, repo_url: &Option<String>) -> Result<TeamResponse, ApiError> {
    show_team(&session.app, name, repo_url, context_of(session)).await
}

/// Reads the task of a resource.
pub(super) async fn task(session: &Session, id: &str, caller: &TeamCaller) -> Result<TaskResponse, ApiError> {
    show_task(&session.app, id, caller, context_of(session)).await
}

fn context_of(session: &Session) -> CallerContext<'_> {
    CallerContext {
        caller: session.caller.clone(),
        agent: session.agent.as_deref(),
    }
}
