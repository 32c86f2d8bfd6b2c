use serde::{Deserialize, Serialize};

use super::scripts::SWEEP;
use crate::ledger::has_unsealed_lines;
use crate::reply::Reply;
use crate::request_keys::{Keys, NamedKey};
use crate::{events, expiry, locks, tasks};
use coord_domain::RepoId;
use coord_domain::team::TeamName;
use coord_store::{Request, Store, StoreError};

/// The kinds of expiring records, each by its keys, in the order in which `sweep.lua` includes them.
const KINDS: [fn(&RepoId) -> Vec<NamedKey>; 2] = [locks::keys::swept, tasks::keys::swept];

/// Arguments of `sweep.lua`.
#[derive(Serialize)]
struct SweepArgs {
    most: usize,
}

/// Its answer.
#[derive(Deserialize)]
struct SweepAnswer {
    expired: u64,
    next_expiry: Option<i64>,
    #[serde(default)]
    due_teams: Vec<String>,
}

/// Result of one run of the sweep script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepResult {
    /// The store's clock, Unix seconds.
    pub now: i64,
    /// How many had expired, all announced now.
    pub expired: u64,
    /// When the next expires here.
    pub next_expiry: Option<i64>,
    /// Teams in which claims of tasks may have expired: [`tasks::settle_lapses`] drops and announces those.
    pub due_teams: Vec<TeamName>,
    /// Whether the ledger has lines that are not sealed.
    pub has_unsealed_lines: bool,
}

/// Drops and announces the expired records in `repo`, of each kind up to `most`; of locks that is the number of files. One round
/// trip.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
pub async fn sweep(store: &dyn Store, repo: &RepoId, most: usize) -> Result<SweepResult, StoreError> {
    let mut keys = Keys::of([
        ("status_log", events::keys::status_log(repo)),
        ("events", events::keys::events(repo)),
        ("mark", expiry::keys::marked(repo)),
    ]);
    keys.add(KINDS.iter().flat_map(|keys_of| keys_of(repo)));
    let args = keys.request(&SweepArgs { most });
    let (reads, decode) = has_unsealed_lines(repo).into_parts();
    let mut batch = vec![Request::Script {
        script: &SWEEP,
        keys: keys.into(),
        args,
    }];
    batch.extend(reads);
    let mut replies = store.run(batch).await?.into_iter();
    let reply = Reply::open(&SWEEP, replies.next())?;
    let answer: SweepAnswer = reply.object()?;
    Ok(SweepResult {
        now: reply.now,
        expired: answer.expired,
        next_expiry: answer.next_expiry,
        due_teams: answer
            .due_teams
            .iter()
            .map(|name| TeamName::parse(name).map_err(|_| reply.malformed("a team that has no name")))
            .collect::<Result<_, _>>()?,
        has_unsealed_lines: decode(replies.collect())?,
    })
}
