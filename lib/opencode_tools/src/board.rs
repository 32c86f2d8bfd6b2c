//! Requests about one team, as one agent.

use coord_protocol::ErrorCode;
use coord_protocol::opencode_tools::InTeam;
use coord_protocol::team_tools::{TeamAnswer, TeamCall, ToolCaller};
use coord_protocol::teams::{TeamActor, TeamCaller, TeamView};

use coord_domain::team::{Handle, TeamName};
use coord_server::error::ApiError;

/// Why a request has no answer.
pub trait Refused: From<ApiError> {
    fn code(&self) -> ErrorCode;
}

impl Refused for ApiError {
    fn code(&self) -> ErrorCode {
        ApiError::code(self)
    }
}

/// An executor of requests: a server by its operations, or `coord mcp` by its server.
pub trait Requests {
    /// Why a request has no answer.
    type Error: Refused;

    /// The answer to the request `call`.
    fn make(&self, call: TeamCall) -> impl Future<Output = Result<TeamAnswer, Self::Error>>;
}

/// Default values of arguments.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    pub agent_id: Option<String>,
    /// Its name, to show.
    pub agent_name: Option<String>,
    /// Its kind, to show.
    pub agent_type: Option<String>,
}

/// A team, as an agent sees it.
pub(super) struct Board<'a, R> {
    requests: &'a R,
    repo_url: Option<String>,
    pub team: String,
    /// The agent that acts. In the tools of the plugin an agent has one name, which is both its handle and its `agent_id`: so the
    /// handle that a call names is looked up among those of the caller's login, and no other can be spoken for.
    pub agent: Option<String>,
}

/// `value`, or the error that `field` is missing.
pub(super) fn require<'a, T, E: Refused>(field: &'static str, value: &'a Option<T>) -> Result<&'a T, E> {
    Ok(coord_server::operations::fields::require(field, value)?)
}

/// Takes the answer of a kind.
macro_rules! answer_of {
    ($answer:expr, $kind:ident) => {
        match $answer {
            TeamAnswer::$kind(response) => response,
            _ => return Err(ApiError::Internal.into()),
        }
    };
}
pub(super) use answer_of;

impl<'a, R: Requests> Board<'a, R> {
    /// The team at `place`, as the agent that is `named`, or else as that of `defaults`.
    pub fn new(requests: &'a R, place: &InTeam, named: &Option<String>, defaults: &Defaults) -> Result<Self, R::Error> {
        let team = require::<_, R::Error>("teamName", &place.team)?;
        if TeamName::parse(team).is_err() {
            // Its sentence is the documented one, and a refusal as a whole.
            return Err(super::refusal::no_team_name(team).into());
        }
        if let Some(named) = named {
            Handle::parse(named).map_err(|invalid| ApiError::InvalidField {
                field: "agentId",
                problem: invalid.0,
            })?;
        }
        Ok(Board {
            requests,
            repo_url: place.place.repo_url.clone(),
            team: team.clone(),
            agent: named.clone().or_else(|| defaults.agent_id.clone()),
        })
    }

    pub async fn ask(&self, call: TeamCall) -> Result<TeamAnswer, R::Error> {
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

    /// The team as it is now.
    pub async fn team(&self) -> Result<TeamView, R::Error> {
        let answer = self.ask(TeamCall::Team(self.tool_caller())).await?;
        Ok(answer_of!(answer, Team).team)
    }
}
