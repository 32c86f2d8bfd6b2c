//! A call of a tool of teams, run as the operation that it names.

use coord_auth::Caller;
use coord_protocol::team_tools::{TeamCall, TeamCallResponse};
use futures::FutureExt;
use futures::future::BoxFuture;

use super::{
    CallerContext, HistoryRequest, TasksRequest, claim_task, complete_task, edit_task, join_team, leave_team,
    list_tasks, list_teams, message_history, new_tasks, new_team, next_task, read_messages, release_task, send_message,
    show_task, show_team, shut_down,
};
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_teams_state::tasks::Readiness;

/// Answers `call` for `caller`. `agent` is the header `X-Coord-Agent`, if sent.
///
/// The future is boxed, so that the crates of tools do not compile all operations again.
///
/// # Errors
/// When the call is refused.
pub fn answer_call<'a>(
    app: &'a App,
    caller: &'a Caller,
    agent: Option<&'a str>,
    call: &'a TeamCall,
) -> BoxFuture<'a, Result<TeamCallResponse, ApiError>> {
    run_call(app, caller, agent, call).boxed()
}

async fn run_call(
    app: &App,
    caller: &Caller,
    agent: Option<&str>,
    call: &TeamCall,
) -> Result<TeamCallResponse, ApiError> {
    let mut call = call.clone();
    let (repo_url, named_agent) = call.caller_mut();
    let (repo_url, agent) = (
        repo_url.clone(),
        named_agent.clone().or_else(|| agent.map(str::to_owned)),
    );
    let context = || CallerContext {
        caller: caller.clone(),
        agent: agent.as_deref(),
    };
    if call.lacks_team() {
        let teams = list_teams(app, &repo_url, context()).await?;
        let team = teams.only_team();
        let team = team.map_err(|problem| ApiError::invalid_field("team", problem))?;
        call = call.in_team(team.to_owned());
    }
    let context = context();
    Ok(match &call {
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
