//! Force-releases others' locks. Only a person who owns the repository, or an approver, may do that.

use coord_protocol::sentence::list_first;
use coord_protocol::{Action, Membership, Orchestration, PostResponse};
use futures::FutureExt;

use super::lock_views::memberships;
use super::sentences::{MAX_LISTED, list_paths};
use super::work_request::WorkRequest;
use crate::app::App;
use crate::error::ApiError;
use coord_domain::LockReason;
use coord_state as state;
use coord_state::locks::ForceReleasedLock;

/// Force-releases others' locks on the files of `request`.
///
/// # Errors
/// When the caller is denied or is no such person, or the store does not respond.
pub(super) async fn force_release(
    app: &App,
    request: &WorkRequest,
    reason: &LockReason,
) -> Result<PostResponse, ApiError> {
    let mut admission = request.begin_release(app, false).await?;
    if !admission.may_force() {
        return Err(ApiError::PersonRequired(format!(
            "only an owner of the repository can force-release a lock: ask your user to send the request without \
             agent_id, with a login that has admin or maintain at GitHub{}",
            match app.approvers.logins() {
                [] => String::new(),
                approvers => format!(", or is one of {}", approvers.join(", ")),
            }
        )));
    }
    let forced = admission
        .run_plain(&(reason, &*request.paths), |store, terms, (reason, paths)| {
            state::locks::force_release(store, terms, reason, paths).boxed()
        })
        .await?;
    let sentence = match forced.locks.as_slice() {
        [] => format!(
            "No other holder has {} on {}",
            list_paths(&request.paths),
            request.branch
        ),
        locks => {
            let mut descriptions: Vec<String> = locks.iter().map(describe_lock).collect();
            descriptions.sort();
            descriptions.dedup();
            format!(
                "Force-released {}; each holder is notified by its next call",
                list_first(&descriptions, MAX_LISTED)
            )
        }
    };
    let mut response = PostResponse::new(true, Orchestration::new(Action::Proceed, sentence));
    response.your_teams = memberships(&forced.waiting);
    response.warnings = response.your_teams.iter().flat_map(Membership::warnings).collect();
    response.repo_head_ref = admission.head_ref();
    Ok(response)
}

fn describe_lock(lock: &ForceReleasedLock) -> String {
    let ForceReleasedLock {
        file_path,
        user,
        agent_id,
    } = lock;
    let agent = agent_id.as_ref().map(|agent| format!(" (agent '{agent}')"));
    format!("'{file_path}' of user '{user}'{}", agent.unwrap_or_default())
}
