//! Calls of the tools of teams, by their operations.

use coord_protocol::tasks::TaskResponse;
use coord_protocol::team_tools::{TeamAnswer, TeamCall};
use coord_protocol::teams::{TeamCaller, TeamResponse};

use coord_http::Session;
use coord_mcp::only_team;
use coord_server::error::ApiError;
use coord_teams_server::operations::teams::{
    CallerContext, HistoryRequest, TasksRequest, claim_task, complete_task, edit_task, join_team, leave_team,
    list_tasks, list_teams, message_history, new_tasks, new_team, next_task, read_messages, release_task, send_message,
    show_task, show_team, shut_down,
};
use coord_teams_state::tasks::Readiness;

/// The answer to `call`, made by the caller of `session`.
///
/// # Errors
/// When it is refused.
pub async fn answer(session: &Session, call: &TeamCall) -> Result<TeamAnswer, ApiError> {
    let app = &session.app;
    let mut named = call.clone();
    let (repo_url, agent) = named.caller_mut();
    let (repo_url, agent) = (repo_url.clone(), agent.take().or_else(|| session.agent.clone()));
    let context = || CallerContext {
        caller: session.caller.clone(),
        agent: agent.as_deref(),
    };
    let found;
    let call = if call.lacks_team() {
        let listed = list_teams(app, &repo_url, context()).await?;
        found = call.clone().in_team(only_team(&listed)?);
        &found
    } else {
        call
    };
    let context = context();
    Ok(match call {
        TeamCall::Teams(caller) => list_teams(app, &caller.repo_url, context).await?.into(),
        TeamCall::Team(caller) => {
            let team = caller.team.as_deref().unwrap_or_default();
            show_team(app, team, &caller.repo_url, context).await?.into()
        }
        TeamCall::NewTeam(request) => new_team(app, request, context).await?.into(),
        TeamCall::Join(team, request) => join_team(app, team, request, context).await?.into(),
        TeamCall::Leave(team, request) => leave_team(app, team, request, context).await?.into(),
        TeamCall::Shutdown(team, request) => shut_down(app, team, request, context).await?.into(),
        TeamCall::Tasks(list) => {
            let request = TasksRequest {
                caller: &list.caller.member(),
                status: list.status,
                owner: list.owner.as_deref(),
                readiness: list.is_unclaimed.then_some(Readiness::Unclaimed),
                file: None,
                text: list.text.as_deref(),
                after: list.after.unwrap_or_default(),
                limit: list.limit.map(|limit| limit as usize),
                has_descriptions: list.has_descriptions,
            };
            list_tasks(app, request, context).await?.into()
        }
        TeamCall::Task(id, caller) => show_task(app, id, &caller.member(), context).await?.into(),
        TeamCall::NewTasks(request) => new_tasks(app, request, context).await?.into(),
        TeamCall::Next(request) => next_task(app, request, context).await?.into(),
        TeamCall::Claim(id, request) => claim_task(app, id, request, context).await?.into(),
        TeamCall::Edit(id, request) => edit_task(app, id, request, context).await?.into(),
        TeamCall::Complete(id, request) => complete_task(app, id, request, context).await?.into(),
        TeamCall::Release(id, request) => release_task(app, id, request, context).await?.into(),
        TeamCall::Send(request) => send_message(app, request, context).await?.into(),
        TeamCall::Read(request) => read_messages(app, request, context).await?.into(),
        TeamCall::History(history) => {
            let request = HistoryRequest {
                caller: &history.caller.member(),
                member: None,
                task: None,
                before: history.before,
                limit: history.limit.map(|limit| limit as usize),
            };
            message_history(app, request, context).await?.into()
        }
    })
}

/// The team of a resource.
pub(super) async fn team(session: &Session, name: &str, repo_url: &Option<String>) -> Result<TeamResponse, ApiError> {
    show_team(&session.app, name, repo_url, context_of(session)).await
}

/// The task of a resource.
pub(super) async fn task(session: &Session, id: &str, sent: &TeamCaller) -> Result<TaskResponse, ApiError> {
    show_task(&session.app, id, sent, context_of(session)).await
}

fn context_of(session: &Session) -> CallerContext<'_> {
    CallerContext {
        caller: session.caller.clone(),
        agent: session.agent.as_deref(),
    }
}
