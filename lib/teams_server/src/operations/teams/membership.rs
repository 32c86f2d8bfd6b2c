//! Creates, shows, changes and removes teams. Lets agents join and leave them, and shuts them down.

use coord_protocol::bounds::RESPOND_SECONDS;
use coord_protocol::teams::{
    EditTeamRequest, JoinTeamRequest, LeaveTeamRequest, MemberFields, NewTeamRequest, ShutdownProgress as WireProgress,
    ShutdownRequest, ShutdownStep as Step, TeamChangeResponse, TeamResponse, TeamsResponse, UnpushedFile,
};
use coord_protocol::{Action, Orchestration, Waiting};

use super::caller::{CallerContext, TeamAgent};
use super::calls::{
    AnswerShutdown, CreateTeam, DeleteTeam, ForceShutdown, HandOver, JoinTeam, LeaveTeam, PRICE_OF_TEAM,
    RequestShutdown, ShowTeam, run, run_part,
};
use super::team_selection::{SelectedTeam, team_name};
use super::texts::long_text;
use super::view;
use coord_domain::Holder;
use coord_domain::team::Handle;
use coord_server::admission::{Right, admit_as_holder};
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::fields::{line, parse_optional, parse_required, require, seconds};
use coord_server::operations::memberships;
use coord_server::operations::sentences::list_paths;
use coord_teams_state::departures::{ShutdownProgress, ShutdownStep};
use coord_teams_state::teams::{self, JoinKind, NewMember};

/// Most characters of the name and the kind of an agent, and of a reason.
const MAX_LINE_CHARS: usize = 500;

const DEFAULT_KIND: &str = "agent";

/// How long members have to respond to a shutdown if the request does not say.
const DEFAULT_RESPOND_SECONDS: u32 = 60;

/// Lists the teams of a repository.
///
/// # Errors
/// When a field is not valid, the caller is denied, or the store does not respond.
pub async fn list_teams(
    app: &App,
    repo_url: &Option<String>,
    context: CallerContext<'_>,
) -> Result<TeamsResponse, ApiError> {
    let agent = TeamAgent::parse(repo_url, None, context)?;
    let (caller, agent_id) = agent.identity();
    let query = |holder: &Holder| teams::list_teams(&agent.repo).and(teams::memberships(&agent.repo, holder));
    let (_, (teams, own)) = admit_as_holder(app, &agent.repo, None, caller, agent_id, query).await?;
    Ok(TeamsResponse {
        teams: teams.into_iter().map(view::summary).collect(),
        your_teams: memberships(&own),
    })
}

/// Shows the team `name`.
///
/// # Errors
/// Those of [`list_teams`], and when there is no such team.
pub async fn show_team(
    app: &App,
    name: &str,
    repo_url: &Option<String>,
    context: CallerContext<'_>,
) -> Result<TeamResponse, ApiError> {
    let agent = TeamAgent::parse(repo_url, None, context)?;
    let team = SelectedTeam::named(team_name("team", name)?);
    let mut admission = agent.begin(app, Right::Read).await?;
    let (record, waiting) = run_part(&mut admission, &mut ShowTeam { team }, PRICE_OF_TEAM).await?;
    Ok(TeamResponse {
        team: view::team(record, admission.holder().user_id.as_str()),
        waiting,
    })
}

/// Creates a team that the caller leads.
///
/// # Errors
/// When a field is not valid, the caller is denied or may not push, the rules refuse it, or the store does not respond.
pub async fn new_team(
    app: &App,
    request: &NewTeamRequest,
    context: CallerContext<'_>,
) -> Result<TeamChangeResponse, ApiError> {
    let agent = TeamAgent::parse(&request.caller.repo_url, request.caller.agent_id.as_deref(), context)?;
    let team = SelectedTeam::named(team_name("name", require("name", &request.name)?)?);
    let member = Member::parse(&agent, &request.member)?;
    let description = long_text("description", request.description.as_deref())?;
    let mut admission = agent.begin(app, Right::Push).await?;
    let mut call = CreateTeam {
        team: team.clone(),
        leader: &member.fields(),
        is_strict: request.strict == Some(true),
        description,
    };
    let ((), waiting) = run(&mut admission, &mut call).await?;
    let handle = member.handle.as_str().to_owned();
    let mut response = proceed(&team, format!("You lead team {} as \"{handle}\"", team.name().as_str()));
    response.handle = Some(handle);
    response.waiting = waiting;
    Ok(response)
}

/// Makes the caller a member of the team `name`.
///
/// # Errors
/// Those of [`new_team`].
pub async fn join_team(
    app: &App,
    name: &str,
    request: &JoinTeamRequest,
    context: CallerContext<'_>,
) -> Result<TeamChangeResponse, ApiError> {
    let agent = TeamAgent::parse(&request.caller.repo_url, request.caller.agent_id.as_deref(), context)?;
    let team = SelectedTeam::named(team_name("team", name)?);
    let member = Member::parse(&agent, &request.member)?;
    let mut admission = agent.begin(app, Right::Push).await?;
    let mut call = JoinTeam {
        team: team.clone(),
        member: &member.fields(),
    };
    let (joined, waiting) = run(&mut admission, &mut call).await?;
    let (handle, from) = match joined {
        JoinKind::New { handle } => (handle, None),
        JoinKind::TakenOver { handle, from } => (handle, Some(from)),
    };
    let reason = match &from {
        None => format!("You are \"{handle}\" in team {}", team.name().as_str()),
        Some(_) => format!(
            "You continue as \"{handle}\" in team {}, with its inbox and its tasks",
            team.name().as_str()
        ),
    };
    let mut response = proceed(&team, reason);
    response.handle = Some(handle);
    response.taken_over_from = from;
    response.waiting = waiting;
    Ok(response)
}

/// Ends the caller's membership in the team `name`.
///
/// # Errors
/// Those of [`new_team`].
pub async fn leave_team(
    app: &App,
    name: &str,
    request: &LeaveTeamRequest,
    context: CallerContext<'_>,
) -> Result<TeamChangeResponse, ApiError> {
    let agent = TeamAgent::parse(&request.caller.repo_url, request.caller.agent_id.as_deref(), context)?;
    let team = SelectedTeam::named(team_name("team", name)?);
    let mut admission = agent.begin(app, Right::Push).await?;
    let (given_back, _) = run(&mut admission, &mut LeaveTeam { team: team.clone() }).await?;
    let mut response = proceed(&team, format!("You have left team {}", team.name().as_str()));
    response.given_back = given_back;
    Ok(response)
}

/// Hands the team `name` over to another member.
///
/// # Errors
/// Those of [`new_team`].
pub async fn edit_team(
    app: &App,
    name: &str,
    request: &EditTeamRequest,
    context: CallerContext<'_>,
) -> Result<TeamChangeResponse, ApiError> {
    let agent = TeamAgent::parse(&request.caller.repo_url, request.caller.agent_id.as_deref(), context)?;
    let team = SelectedTeam::named(team_name("team", name)?);
    let to = &parse_required("leader", &request.leader, Handle::parse)?;
    let mut admission = agent.begin(app, Right::Push).await?;
    let (leader, waiting) = run(&mut admission, &mut HandOver { team: team.clone(), to }).await?;
    let mut response = proceed(&team, format!("\"{leader}\" leads team {}", team.name().as_str()));
    response.waiting = waiting;
    Ok(response)
}

/// Removes the team `name`.
///
/// # Errors
/// Those of [`new_team`].
pub async fn delete_team(
    app: &App,
    name: &str,
    repo_url: &Option<String>,
    agent_id: Option<&str>,
    context: CallerContext<'_>,
) -> Result<TeamChangeResponse, ApiError> {
    let agent = TeamAgent::parse(repo_url, agent_id, context)?;
    let team = SelectedTeam::named(team_name("team", name)?);
    let mut admission = agent.begin(app, Right::Push).await?;
    run(&mut admission, &mut DeleteTeam { team: team.clone() }).await?;
    Ok(proceed(&team, format!("Team {} is deleted", team.name().as_str())))
}

/// Takes a step of a shutdown in the team `name`.
///
/// # Errors
/// Those of [`new_team`].
pub async fn shut_down(
    app: &App,
    name: &str,
    request: &ShutdownRequest,
    context: CallerContext<'_>,
) -> Result<TeamChangeResponse, ApiError> {
    let agent = TeamAgent::parse(&request.caller.repo_url, request.caller.agent_id.as_deref(), context)?;
    let team = SelectedTeam::named(team_name("team", name)?);
    let step = *require("step", &request.step)?;
    let reason = request
        .reason
        .as_deref()
        .map(|text| line("reason", text, MAX_LINE_CHARS));
    let reason = reason.transpose()?;
    let target = parse_optional("target", request.target.as_deref(), Handle::parse)?;
    let respond_seconds = seconds(
        "respond_by_seconds",
        request.respond_by_seconds,
        RESPOND_SECONDS,
        DEFAULT_RESPOND_SECONDS,
    )?;
    let rejection = match step {
        Step::Reject if reason.is_none() => {
            return Err(ApiError::invalid_field("reason", "is required to reject a shutdown"));
        }
        Step::Reject => reason.as_deref(),
        _ => None,
    };
    let id: &str = match step {
        Step::Request => "",
        Step::Approve | Step::Reject | Step::Force => require("shutdown_id", &request.shutdown_id)?,
    };
    let mut admission = agent.begin(app, Right::Push).await?;
    let (shutdown, waiting) = match step {
        Step::Request => {
            let mut call = RequestShutdown {
                team: team.clone(),
                target: target.as_ref(),
                reason: reason.as_deref().unwrap_or_default(),
                respond_seconds,
            };
            run(&mut admission, &mut call).await?
        }
        Step::Approve | Step::Reject => {
            let mut call = AnswerShutdown {
                team: team.clone(),
                id,
                rejection,
            };
            run(&mut admission, &mut call).await?
        }
        Step::Force => {
            let mut call = ForceShutdown { team: team.clone(), id };
            run(&mut admission, &mut call).await?
        }
    };
    let mut response = shutdown_response(&team, shutdown);
    response.waiting = waiting;
    Ok(response)
}

fn shutdown_response(team: &SelectedTeam, step: ShutdownStep) -> TeamChangeResponse {
    let (state, reason) = match step.progress {
        ShutdownProgress::Open => (WireProgress::Open, "is open: members have yet to answer"),
        ShutdownProgress::Stopped => (WireProgress::Stopped, "is over: the member has stopped"),
        ShutdownProgress::Closed => (WireProgress::Closed, "is over: the team is closed"),
        ShutdownProgress::Rejected => (WireProgress::Rejected, "is rejected, and over"),
    };
    let reason = format!("Shutdown {} {reason}", step.id);
    let (action, reason) = match step.unpushed_count {
        0 => (Action::Proceed, reason),
        count => {
            let paths: Vec<&str> = step.unpushed.iter().map(|(_, path)| path.as_str()).collect();
            let reason = format!(
                "{reason}. You hold {count} files with work that is not pushed: push it, or release them (\"abandon\": true): {}",
                list_paths(&paths)
            );
            (Action::Push, reason)
        }
    };
    let mut response = change_response(team, action, reason);
    response.shutdown_id = Some(step.id);
    response.shutdown_state = Some(state);
    response.given_back = step.given_back;
    response.passed_over = step.passed_over;
    let file = |(branch, file_path)| UnpushedFile { branch, file_path };
    response.unpushed = step.unpushed.into_iter().map(file).collect();
    response.unpushed_count = step.unpushed_count;
    response.not_told = step.not_told;
    response
}

fn proceed(team: &SelectedTeam, reason: String) -> TeamChangeResponse {
    change_response(team, Action::Proceed, reason)
}

fn change_response(team: &SelectedTeam, action: Action, reason: String) -> TeamChangeResponse {
    TeamChangeResponse {
        team: team.name().as_str().to_owned(),
        handle: None,
        taken_over_from: None,
        shutdown_id: None,
        shutdown_state: None,
        given_back: Vec::new(),
        passed_over: Vec::new(),
        unpushed: Vec::new(),
        unpushed_count: 0,
        not_told: Vec::new(),
        waiting: Waiting::default(),
        orchestration: Orchestration::new(action, reason),
    }
}

/// The caller as a member of a team.
struct Member {
    handle: Handle,
    name: String,
    kind: String,
}

impl Member {
    fn parse(agent: &TeamAgent, fields: &MemberFields) -> Result<Self, ApiError> {
        let handle = agent.handle(fields.handle.as_deref())?;
        let line_or = |field, text: &Option<String>, default: &str| match text {
            Some(text) => line(field, text, MAX_LINE_CHARS),
            None => Ok(default.to_owned()),
        };
        Ok(Member {
            name: line_or("agent_name", &fields.agent_name, handle.as_str())?,
            kind: line_or("agent_type", &fields.agent_type, DEFAULT_KIND)?,
            handle,
        })
    }

    fn fields(&self) -> NewMember<'_> {
        NewMember {
            handle: &self.handle,
            name: &self.name,
            kind: &self.kind,
        }
    }
}
