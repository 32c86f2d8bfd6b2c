//! Tools of teams and their shutdown.

use coord_protocol::ErrorCode;
use coord_protocol::opencode_tools::{AgentInfo, InRepository};
use coord_protocol::team_tools::{TeamAnswer, TeamCall, ToolCaller};
use coord_protocol::teams::{
    JoinTeamRequest, MemberFields, NewTeamRequest, ShutdownProgress, ShutdownRequest, ShutdownStep, TeamChangeResponse,
    TeamView,
};
use coord_teams::answers;
use coord_teams::texts::shutdown_requested;
use serde::Serialize;

use super::board::{Board, Defaults, Refused, Requests, answer_of};
use super::records;
use super::refusal::by_rules;
use super::tool_answer::OpenCodeAnswer;
use coord_server::error::ApiError;
use coord_teams_state::teams::TeamRefusal;

/// The plugin's leader, if no one is named; and the kinds of agents.
const LEADER: &str = "leader";
const WORKER: &str = "worker";

/// A team as the plugin lists it.
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
    let shown: Vec<Summary> = teams
        .into_iter()
        .map(|team| Summary {
            name: team.name,
            leader: team.leader,
            member_count: team.member_count,
            created: team.created,
        })
        .collect();
    let shown = serde_json::to_string(&shown).map_err(|_| ApiError::Internal)?;
    Ok(OpenCodeAnswer::new(shown))
}

fn fields(handle: Option<String>, info: &AgentInfo, defaults: &Defaults, kind: &str) -> MemberFields {
    let or = |sent: &Option<String>, default: &Option<String>| sent.clone().or_else(|| default.clone());
    MemberFields {
        agent_name: or(&info.agent_name, &defaults.agent_name),
        agent_type: or(&info.agent_type, &defaults.agent_type).or_else(|| Some(kind.to_owned())),
        handle,
    }
}

fn team_answer(team: &TeamView) -> Result<OpenCodeAnswer, ApiError> {
    let closed = team.closed_at.as_ref();
    let note = closed.map(|time| format!("The team was closed at {time}: it takes no writes, and can be read."));
    Ok(OpenCodeAnswer::new(answers::team(records::team(team)?)).with(note))
}

impl<R: Requests> Board<'_, R> {
    /// `spawn-team`
    pub async fn spawn(&self, info: &AgentInfo, defaults: &Defaults) -> Result<OpenCodeAnswer, R::Error> {
        let handle = self.agent.clone().unwrap_or_else(|| LEADER.to_owned());
        let request = NewTeamRequest {
            caller: self.actor(),
            name: Some(self.team.clone()),
            member: fields(Some(handle), info, defaults, LEADER),
            ..NewTeamRequest::default()
        };
        self.ask(TeamCall::NewTeam(request)).await?;
        self.info().await
    }

    /// `join-team`
    pub async fn join(&self, info: &AgentInfo, defaults: &Defaults) -> Result<OpenCodeAnswer, R::Error> {
        let request = JoinTeamRequest {
            caller: self.actor(),
            member: fields(self.agent.clone(), info, defaults, WORKER),
        };
        let joined = answer_of!(self.ask(TeamCall::Join(self.team.clone(), request)).await?, Change);
        let handle = joined.handle.unwrap_or_default();
        let team = self.team().await?;
        let member = team.members.iter().find(|member| member.agent_id == handle);
        let member = records::member(member.ok_or(ApiError::Internal)?)?;
        let taken_over = joined.taken_over_from.is_some();
        let note = taken_over.then(|| "You go on with the inbox and the tasks of this member.".to_owned());
        Ok(OpenCodeAnswer::new(answers::one(&member)).with(note))
    }

    /// `get-team-info`
    pub async fn info(&self) -> Result<OpenCodeAnswer, R::Error> {
        Ok(team_answer(&self.team().await?)?)
    }

    /// `request-shutdown`
    pub async fn request_shutdown(&self) -> Result<OpenCodeAnswer, R::Error> {
        let who = self.agent.as_deref().unwrap_or(LEADER);
        let request = ShutdownRequest {
            caller: self.actor(),
            step: Some(ShutdownStep::Request),
            reason: Some(shutdown_requested(who)),
            ..ShutdownRequest::default()
        };
        self.step(request).await
    }

    /// `approve-shutdown`: of whatever shutdown is open.
    pub async fn approve_shutdown(&self) -> Result<OpenCodeAnswer, R::Error> {
        let Some(open) = self.team().await?.shutdown else {
            let (id, team) = (String::new(), self.team.clone());
            return Err(by_rules(TeamRefusal::NoShutdown { id, team }).into());
        };
        let request = ShutdownRequest {
            caller: self.actor(),
            step: Some(ShutdownStep::Approve),
            shutdown_id: Some(open.id),
            ..ShutdownRequest::default()
        };
        match self.step(request).await {
            // It has approved before: the plugin answers as if it were the first time.
            Err(refused) if refused.code() == ErrorCode::ShutdownAnswered => self.info().await,
            answered => answered,
        }
    }

    async fn step(&self, request: ShutdownRequest) -> Result<OpenCodeAnswer, R::Error> {
        let change = self.ask(TeamCall::Shutdown(self.team.clone(), request)).await?;
        let change = answer_of!(change, Change);
        Ok(self.info().await?.with(note(&change)))
    }
}

/// A step's side effect.
fn note(change: &TeamChangeResponse) -> Option<String> {
    let given_back = &change.given_back;
    let waits = match change.shutdown_state {
        Some(ShutdownProgress::Open) => Some("The team closes once its leader and all live members have approved."),
        Some(ShutdownProgress::Rejected) => Some("A member has rejected the shutdown: it is over."),
        _ => None,
    };
    let given_back = (!given_back.is_empty()).then(|| format!("Released tasks: {}.", given_back.join(", ")));
    let sentences: Vec<String> = waits.map(str::to_owned).into_iter().chain(given_back).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}
