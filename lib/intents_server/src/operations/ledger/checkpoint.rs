//! A checkpoint of the ledger, to be kept outside the store.

use coord_intents::ledger::{Checkpoint, Timestamp};

use super::newest_seal::{newest_seal, seal_status};
use crate::registered::Intents;
use coord_auth::Caller;
use coord_server::admission::admit_to_repository;
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::fields::{agent_of, parse_repository};
use coord_state::store_time;

/// The text of a checkpoint of all lines, signed if the operator has set a key. `agent` is the header `X-Coord-Agent`,
/// if sent.
///
/// # Errors
/// When a field is missing or invalid, the caller is denied, or the store does not respond.
pub async fn checkpoint(
    app: &App,
    repo_url: &Option<String>,
    caller: Caller,
    agent: Option<&str>,
) -> Result<String, ApiError> {
    let (repo, caller) = parse_repository(repo_url, caller)?;
    let caller_agent = agent_of(None, agent)?;
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
