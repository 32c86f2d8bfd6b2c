//! Requests about one team, as one agent.

use coord_protocol::ErrorCode;
use coord_protocol::opencode_tools::InTeam;
use coord_protocol::team_tools::{TeamCall, TeamCallResponse, ToolCaller};
use coord_protocol::teams::{TeamActor, TeamCaller, TeamView};

use super::refusal::invalid_team_name;
use coord_domain::team::{Handle, TeamName};
use coord_server::error::ApiError;
use coord_server::operations::fields::{in_field, require};

/// An error of a request.
pub trait Refused: From<ApiError> {
    fn code(&self) -> ErrorCode;
}

impl Refused for ApiError {
    fn code(&self) -> ErrorCode {
        ApiError::code(self)
    }
}

/// Makes requests. A server runs its own operations, and `coord mcp` asks its server.
pub trait Requests {
    type Error: Refused;

    fn make(&self, call: TeamCall) -> impl Future<Output = Result<TeamCallResponse, Self::Error>>;
}

/// Default values of arguments.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    pub agent_id: Option<String>,
    /// The display name of the agent.
    pub agent_name: Option<String>,
    /// The kind of the agent, for display.
    pub agent_type: Option<String>,
}

/// Makes requests about one team as one agent.
pub(super) struct TeamClient<'a, R> {
    requests: &'a R,
    repo_url: Option<String>,
    pub team: String,
    /// The agent that acts. In the plugin's tools, an agent has one name, which is both its handle and its `agent_id`.
    /// The server looks up that handle among those of the caller's login, so a caller cannot act for another login.
    pub agent: Option<String>,
}

/// Takes the response of one kind from an answer.
macro_rules! answer_of {
    ($answer:expr, $kind:ident) => {
        match $answer {
            TeamCallResponse::$kind(response) => response,
            _ => return Err(ApiError::Internal.into()),
        }
    };
}
pub(super) use answer_of;

impl<'a, R: Requests> TeamClient<'a, R> {
    /// The team at `place`, as `agent`, or else as the agent of `defaults`.
    pub fn new(requests: &'a R, place: &InTeam, agent: &Option<String>, defaults: &Defaults) -> Result<Self, R::Error> {
        let team = require("teamName", &place.team)?;
        TeamName::parse(team).map_err(invalid_team_name)?;
        if let Some(agent) = agent {
            Handle::parse(agent).map_err(in_field("agentId"))?;
        }
        Ok(TeamClient {
            requests,
            repo_url: place.place.repo_url.clone(),
            team: team.clone(),
            agent: agent.clone().or_else(|| defaults.agent_id.clone()),
        })
    }

    pub async fn ask(&self, call: TeamCall) -> Result<TeamCallResponse, R::Error> {
        self.requests.make(call).await
    }

    pub fn tool_caller(&self) -> ToolCaller {
        ToolCaller {
            repo_url: self.repo_url.clone(),
            team: Some(self.team.clone()),
            agent_id: self.agent.clone(),
        }
    }

    pub fn actor(&self) -> TeamActor {
        TeamActor {
            repo_url: self.repo_url.clone(),
            agent_id: self.agent.clone(),
        }
    }

    pub fn member(&self) -> TeamCaller {
        self.tool_caller().member()
    }

    pub async fn team(&self) -> Result<TeamView, R::Error> {
        let answer = self.ask(TeamCall::Team(self.tool_caller())).await?;
        Ok(answer_of!(answer, Team).team)
    }
}
