//! Tools of teams and their shutdown.

use coord_protocol::ErrorCode;
use coord_protocol::opencode_tools::{AgentInfo, InRepository};
use coord_protocol::team_tools::{TeamCall, TeamCallResponse, ToolCaller};
use coord_protocol::teams::{
    JoinTeamRequest, MemberFields, NewTeamRequest, ShutdownProgress, ShutdownRequest, ShutdownStep, TeamChangeResponse,
};
use coord_teams::answers;
use coord_teams::texts::shutdown_requested;
use serde::Serialize;

use super::records;
use super::refusal::refused_by_rules;
use super::team_client::{Defaults, Refused, Requests, TeamClient, answer_of};
use super::tool_answer::OpenCodeAnswer;
use coord_server::error::ApiError;
use coord_teams_state::teams::TeamRefusal;

/// The kind of the leader, and its handle if the call has none.
const LEADER: &str = "leader";
/// The kind of other members.
const WORKER: &str = "worker";

/// A team in the plugin's list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    name: String,
    leader: String,
    member_count: u32,
    created: String,
}

/// `discover-teams`
pub(super) async fn discover<R: Requests>(requests: &R, place: &InRepository) -> Result<OpenCodeAnswer, R::Error> {
    let caller = ToolCaller {
        repo_url: place.repo_url.clone(),
        ..ToolCaller::default()
    };
    let teams = answer_of!(requests.make(TeamCall::Teams(caller)).await?, Teams).teams;
    let summaries: Vec<Summary> = teams
        .into_iter()
        .map(|team| Summary {
            name: team.name,
            leader: team.leader,
            member_count: team.member_count,
            created: team.created,
        })
        .collect();
    let json = serde_json::to_string(&summaries).map_err(|_| ApiError::Internal)?;
    Ok(OpenCodeAnswer::new(json))
}

fn member_fields(handle: Option<String>, info: &AgentInfo, defaults: &Defaults, kind: &str) -> MemberFields {
    let or = |text: &Option<String>, default: &Option<String>| text.clone().or_else(|| default.clone());
    MemberFields {
        agent_name: or(&info.agent_name, &defaults.agent_name),
        agent_type: or(&info.agent_type, &defaults.agent_type).or_else(|| Some(kind.to_owned())),
        handle,
    }
}

impl<R: Requests> TeamClient<'_, R> {
    /// `spawn-team`
    pub async fn spawn(&self, info: &AgentInfo, defaults: &Defaults) -> Result<OpenCodeAnswer, R::Error> {
        let handle = self.agent.clone().unwrap_or_else(|| LEADER.to_owned());
        let request = NewTeamRequest {
            caller: self.actor(),
            name: Some(self.team.clone()),
            member: member_fields(Some(handle), info, defaults, LEADER),
            ..NewTeamRequest::default()
        };
        self.ask(TeamCall::NewTeam(request)).await?;
        self.info().await
    }

    /// `join-team`
    pub async fn join(&self, info: &AgentInfo, defaults: &Defaults) -> Result<OpenCodeAnswer, R::Error> {
        let request = JoinTeamRequest {
            caller: self.actor(),
            member: member_fields(self.agent.clone(), info, defaults, WORKER),
        };
        let change = answer_of!(self.ask(TeamCall::Join(self.team.clone(), request)).await?, Change);
        let handle = change.handle.unwrap_or_default();
        let team = self.team().await?;
        let member = team.members.iter().find(|member| member.agent_id == handle);
        let member = records::member(member.ok_or(ApiError::Internal)?)?;
        let is_taken_over = change.taken_over_from.is_some();
        let note = is_taken_over.then(|| "You continue with the inbox and the tasks of this member.".to_owned());
        Ok(OpenCodeAnswer::new(answers::record(&member)).with(note))
    }

    /// `get-team-info`
    pub async fn info(&self) -> Result<OpenCodeAnswer, R::Error> {
        let team = self.team().await?;
        let closed = team.closed_at.as_ref();
        let note = closed.map(|time| format!("The team was closed at {time}: it takes no writes, and can be read."));
        Ok(OpenCodeAnswer::new(answers::team(records::team(&team)?)).with(note))
    }

    /// `request-shutdown`
    pub async fn request_shutdown(&self) -> Result<OpenCodeAnswer, R::Error> {
        let author = self.agent.as_deref().unwrap_or(LEADER);
        let request = ShutdownRequest {
            caller: self.actor(),
            step: Some(ShutdownStep::Request),
            reason: Some(shutdown_requested(author)),
            ..ShutdownRequest::default()
        };
        self.take_step(request).await
    }

    /// `approve-shutdown`: approves the shutdown that is open.
    pub async fn approve_shutdown(&self) -> Result<OpenCodeAnswer, R::Error> {
        let Some(shutdown) = self.team().await?.shutdown else {
            let (id, team) = (String::new(), self.team.clone());
            return Err(refused_by_rules(TeamRefusal::NoShutdown { id, team }).into());
        };
        let request = ShutdownRequest {
            caller: self.actor(),
            step: Some(ShutdownStep::Approve),
            shutdown_id: Some(shutdown.id),
            ..ShutdownRequest::default()
        };
        match self.take_step(request).await {
            // The plugin answers a second approval like the first one.
            Err(error) if error.code() == ErrorCode::ShutdownAnswered => self.info().await,
            result => result,
        }
    }

    async fn take_step(&self, request: ShutdownRequest) -> Result<OpenCodeAnswer, R::Error> {
        let answer = self.ask(TeamCall::Shutdown(self.team.clone(), request)).await?;
        let change = answer_of!(answer, Change);
        Ok(self.info().await?.with(step_note(&change)))
    }
}

/// The effects of a step of a shutdown that the plugin's record does not show.
fn step_note(change: &TeamChangeResponse) -> Option<String> {
    let progress = match change.shutdown_state {
        Some(ShutdownProgress::Open) => Some("The team closes once its leader and all live members have approved."),
        Some(ShutdownProgress::Rejected) => Some("A member has rejected the shutdown: it is over."),
        _ => None,
    };
    let tasks = &change.given_back;
    let released = (!tasks.is_empty()).then(|| format!("Released tasks: {}.", tasks.join(", ")));
    let sentences: Vec<String> = progress.map(str::to_owned).into_iter().chain(released).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}
