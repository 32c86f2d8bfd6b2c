use super::keys;
use super::scripts::SETTLE_LAPSES;
use crate::domain::RepoId;
use crate::domain::team::TeamName;
use crate::state::reply::{arguments, call};
use crate::state::{events, teams};
use crate::store::{Store, StoreError};

/// Announces up to `most` claims of tasks of `team` that have lapsed, and puts the tasks back. Returns how many had.
///
/// # Errors
/// When the store gives no reply, or none that is understood.
pub async fn settle_lapses(store: &dyn Store, repo: &RepoId, team: &TeamName, most: usize) -> Result<u64, StoreError> {
    let keys = vec![
        events::keys::status_log(repo),
        events::keys::events(repo),
        teams::keys::team(repo, team),
        keys::tasks(repo, team),
        keys::unmet(repo, team),
        keys::ready(repo, team),
        keys::leases(repo, team),
        keys::lapses(repo),
        teams::keys::members(repo),
        keys::edges(repo, team),
    ];
    let args = arguments([team.key(), &most.to_string()]);
    let mut reply = call(store, &SETTLE_LAPSES, keys, args).await?;
    Ok(reply.number()?.unsigned_abs())
}
