//! Admission of requests that need no head of a branch.

use super::denial::denial_error;
use super::identity::identify;
use crate::app::App;
use crate::error::ApiError;
use coord_auth::CallerIdentity;
use coord_domain::{AgentId, Branch, Holder, RepoId};
use coord_state::Read;
use coord_state::admission::{AdmissionTerms, Admitted, HeadTerms, USES_EVERYTHING, admit_without_head};

/// The branch of requests that name none. Only its head is read.
const DEFAULT_BRANCH: &str = "main";

/// Admits a request that needs no head, and runs `read` in the same round trip. Returns the holder and the value read.
pub async fn admit_to_repository<T: Send + 'static>(
    app: &App,
    repo: &RepoId,
    branch: Option<&Branch>,
    caller: CallerIdentity,
    agent_id: Option<AgentId>,
    read: Read<T>,
) -> Result<(Holder, T), ApiError> {
    admit_as_holder(app, repo, branch, caller, agent_id, |_| read).await
}

/// As [`admit_to_repository`], for a read that depends on the holder.
pub async fn admit_as_holder<T: Send + 'static>(
    app: &App,
    repo: &RepoId,
    branch: Option<&Branch>,
    caller: CallerIdentity,
    agent_id: Option<AgentId>,
    read: impl FnOnce(&Holder) -> Read<T>,
) -> Result<(Holder, T), ApiError> {
    let member = identify(app, caller, repo).await?;
    let holder = Holder {
        user_id: member.user_id,
        user_name: member.user_name,
        agent_id,
    };
    let default_branch = Branch::parse(DEFAULT_BRANCH).map_err(|_| ApiError::Internal)?;
    let branch = branch.unwrap_or(&default_branch);
    let terms = AdmissionTerms {
        repo,
        branch,
        work_branch: None,
        holder: &holder,
        rates: app.rates,
        head: HeadTerms::Any,
        known_commits: &[],
        uses: &USES_EVERYTHING,
    };
    match admit_without_head(&*app.store, &terms, read(&holder)).await? {
        Admitted::Outcome(value) => Ok((holder, value)),
        Admitted::Denied(denial) => Err(denial_error(denial, repo, branch)),
    }
}
