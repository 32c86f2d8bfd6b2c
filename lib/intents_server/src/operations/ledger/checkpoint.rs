//! A checkpoint of the ledger, to be kept outside the store.

use coord_intents::ledger::{Checkpoint, Timestamp};

use super::newest_seal::{newest_seal, seal_status};
use crate::registered::Intents;
use coord_auth::CallerIdentity;
use coord_domain::{AgentId, RepoId};
use coord_server::admission::admit_to_repository;
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_state::store_time;

#[derive(Debug)]
pub struct CheckpointRequest {
    pub repo: RepoId,
    /// The caller in the repository.
    pub caller: CallerIdentity,
    pub caller_agent: Option<AgentId>,
}

/// The text of a checkpoint of all lines, signed if the operator has set a key.
///
/// # Errors
/// When the caller is denied, or the store does not respond.
pub async fn checkpoint(app: &App, request: CheckpointRequest) -> Result<String, ApiError> {
    let CheckpointRequest {
        repo,
        caller,
        caller_agent,
    } = request;
    let query = seal_status(&repo).and(store_time());
    let (_, (status, now_ms)) = admit_to_repository(app, &repo, None, caller, caller_agent, query).await?;
    let seal = newest_seal(app, &repo, status).await;
    let checkpoint = Checkpoint {
        repository: repo.as_str().to_owned(),
        point: seal.sealed.point,
        time: Timestamp::from_millis(now_ms),
    };
    Ok(match &Intents::of(app).config.ledger_key {
        Some(key) => checkpoint.sign(key),
        None => checkpoint.text(),
    })
}
