//! The caller of an operation on intents or the ledger, and the common parts of its request.

use coord_auth::{Caller, CallerIdentity};
use coord_domain::{AgentId, Branch, RepoId};
use coord_server::admission::{Admission, Right};
use coord_server::app::App;
use coord_server::error::ApiError;
pub(super) use coord_server::operations::fields::id_in;
use coord_server::operations::fields::{agent_of, in_field, parse_repository};

/// The branch of requests that name none.
const DEFAULT_BRANCH: &str = "main";

#[derive(Debug)]
pub(crate) struct IntentCaller {
    pub repo: RepoId,
    pub branch: Branch,
    pub caller: CallerIdentity,
    pub agent_id: Option<AgentId>,
}

impl IntentCaller {
    /// The caller of a request with these fields. `header` is `X-Coord-Agent`, if sent.
    pub fn parse(
        repo_url: &Option<String>,
        branch: Option<&str>,
        agent_id: Option<&str>,
        caller: Caller,
        header: Option<&str>,
    ) -> Result<Self, ApiError> {
        let (repo, caller) = parse_repository(repo_url, caller)?;
        Ok(IntentCaller {
            repo,
            branch: Branch::parse(branch.unwrap_or(DEFAULT_BRANCH)).map_err(in_field("branch"))?,
            caller,
            agent_id: agent_of(agent_id, header)?,
        })
    }

    /// Begins the admission of a change.
    pub async fn begin<'a>(&'a self, app: &'a App) -> Result<Admission<'a>, ApiError> {
        let (caller, agent_id) = (self.caller.clone(), self.agent_id.clone());
        Admission::begin(app, &self.repo, &self.branch, caller, agent_id, Right::Push, None).await
    }
}

/// Whether the admitted caller acts as a person.
pub(super) fn is_person(admission: &Admission<'_>) -> bool {
    let holder = admission.holder();
    holder.agent_id.is_none() && admission.app.approvers.includes(&holder.user_id)
}

/// The error for a caller that does not act as a person. `act` is a verb phrase.
pub(super) fn person_required(app: &App, act: &str) -> ApiError {
    let with_login = match app.approvers.logins() {
        [] => String::new(),
        approvers => format!(" with the login of one of {}", approvers.join(", ")),
    };
    ApiError::PersonRequired(format!(
        "only a person may {act}: ask your user to send the request without agent_id{with_login}"
    ))
}
