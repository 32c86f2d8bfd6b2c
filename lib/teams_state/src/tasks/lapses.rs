use serde::Serialize;

use super::keys;
use super::scripts::SETTLE_LAPSES;
use crate::teams;
use coord_domain::RepoId;
use coord_domain::team::TeamName;
use coord_state::events;
use coord_state::reply::Counted;
use coord_state::request_keys::Keys;
use coord_store::{Store, StoreError};

/// Arguments of `settle_lapses.lua`.
#[derive(Serialize)]
struct SettleLapsesArgs<'a> {
    team: &'a str,
    most: usize,
}

/// Announces up to `most` expired claims of tasks of `team`, puts the tasks back into the queue, and returns their number.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn settle_lapses(store: &dyn Store, repo: &RepoId, team: &TeamName, most: usize) -> Result<u64, StoreError> {
    let keys = Keys::of([
        ("status_log", events::keys::status_log(repo)),
        ("events", events::keys::events(repo)),
        ("team", teams::keys::team(repo, team)),
        ("tasks", keys::tasks(repo, team)),
        ("unmet", keys::unmet(repo, team)),
        ("ready", keys::ready(repo, team)),
        ("leases", keys::leases(repo, team)),
        ("lapses", keys::lapses(repo)),
        ("members", teams::keys::members(repo)),
        ("edges", keys::edges(repo, team)),
    ]);
    let request = SettleLapsesArgs { team: team.key(), most };
    let reply = keys.call(store, &SETTLE_LAPSES, &request).await?;
    reply.object().map(|settled: Counted| settled.count)
}
