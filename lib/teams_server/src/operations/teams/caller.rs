//! The caller of an operation on teams.

use coord_auth::{Caller, CallerIdentity};
use coord_domain::team::Handle;
use coord_domain::{AgentId, Branch, RepoId};
use coord_protocol::teams::TeamCaller;
use coord_server::admission::{Admission, Right};
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::fields::{agent_of, in_field, parse_repository};

/// Teams do not belong to a branch. Admission reads the head of this one.
const ADMISSION_BRANCH: &str = "main";

/// A caller with its credentials. `agent` is the header `X-Coord-Agent`, if sent.
#[derive(Debug)]
pub struct CallerContext<'a> {
    pub caller: Caller,
    pub agent: Option<&'a str>,
}

/// The caller in a repository.
#[derive(Debug)]
pub(super) struct TeamAgent {
    pub repo: RepoId,
    branch: Branch,
    caller: CallerIdentity,
    agent_id: Option<AgentId>,
}

impl TeamAgent {
    /// The caller of a request with these fields.
    pub fn parse(
        repo_url: &Option<String>,
        agent_id: Option<&str>,
        context: CallerContext<'_>,
    ) -> Result<Self, ApiError> {
        let (repo, caller) = parse_repository(repo_url, context.caller)?;
        Ok(TeamAgent {
            repo,
            branch: Branch::parse(ADMISSION_BRANCH).map_err(in_field("branch"))?,
            caller,
            agent_id: agent_of(agent_id, context.agent)?,
        })
    }

    pub fn of(caller: &TeamCaller, context: CallerContext<'_>) -> Result<Self, ApiError> {
        Self::parse(&caller.repo_url, caller.agent_id.as_deref(), context)
    }

    pub fn identity(&self) -> (CallerIdentity, Option<AgentId>) {
        (self.caller.clone(), self.agent_id.clone())
    }

    pub async fn begin<'a>(&'a self, app: &'a App, right: Right) -> Result<Admission<'a>, ApiError> {
        let (caller, agent_id) = self.identity();
        Admission::begin(app, &self.repo, &self.branch, caller, agent_id, right, None).await
    }

    /// The handle `text`, or else the agent's id as a handle.
    pub fn handle(&self, text: Option<&str>) -> Result<Handle, ApiError> {
        match (text, &self.agent_id) {
            (Some(text), _) => Handle::parse(text).map_err(in_field("handle")),
            (None, Some(agent)) => Handle::parse(agent.as_str())
                .map_err(|_| ApiError::invalid_field("handle", "is required: your agent_id is not a handle")),
            (None, None) => Err(ApiError::invalid_field("handle", "is required without an agent_id")),
        }
    }
}
