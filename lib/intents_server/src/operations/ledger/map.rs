//! The files that intents own or have changed.

use coord_intents::intent::Status;
use coord_intents::intent_map::{self, LastHash, Row};
use coord_protocol::{MapResponse, MappedFile};

use crate::registered::Intents;
use coord_auth::CallerIdentity;
use coord_domain::{AgentId, Branch, Holder, RepoId};
use coord_intents_state::intents::{Owners, Registry, owned_paths, registry};
use coord_server::admission::admit_as_holder;
use coord_server::app::App;
use coord_server::error::ApiError;

/// The map, and the caller.
#[derive(Debug)]
pub struct MapRequest {
    pub repo: RepoId,
    /// Of intents about this branch alone.
    pub branch: Option<Branch>,
    /// The caller in the repository.
    pub caller: CallerIdentity,
    /// Which agent of the caller's asks.
    pub caller_agent: Option<AgentId>,
}

/// The map that `request` asks for.
///
/// # Errors
/// When the caller is denied, or the store gives no answer.
pub async fn map(app: &App, request: MapRequest) -> Result<MapResponse, ApiError> {
    let MapRequest {
        repo,
        branch,
        caller,
        caller_agent,
    } = request;
    let read = |holder: &Holder| registry(&repo, holder).and(owned_paths(&repo));
    let (_, (registry, owned)) = admit_as_holder(app, &repo, branch.as_ref(), caller, caller_agent, read).await?;
    let owners = owned.owners(&*app.store, &repo).await?;
    let heard_since = registry
        .now_ms
        .saturating_sub(Intents::of(app).config.idle_seconds.saturating_mul(1000));
    Ok(MapResponse {
        files: rows(owners, &registry, branch.as_ref(), heard_since),
    })
}

fn rows(owners: Owners, registry: &Registry, branch: Option<&Branch>, heard_since: u64) -> Vec<MappedFile> {
    let Registry { records, uses, .. } = registry;
    let is_locked = |intent: &str| {
        let is_active = |status| matches!(status, Status::InProgress | Status::Blocked);
        records.get(intent).is_some_and(|record| is_active(record.status))
            && uses.get(intent).is_some_and(|used| used.heard_ms >= heard_since)
    };
    let mut files = Vec::new();
    for (path, owners) in owners {
        // Entries without an intent are in the ledger alone.
        for owner in owners.into_iter().filter(|owner| !owner.intent.is_empty()) {
            let pair = owner.branch.as_deref().zip(branch);
            if pair.is_none_or(|(own, requested)| own == requested.as_str()) {
                files.push(MappedFile {
                    file_path: path.clone(),
                    is_locked: is_locked(&owner.intent),
                    intent_id: owner.intent,
                    hash: owner.hash,
                    branch: owner.branch,
                });
            }
        }
    }
    files
}

/// The map as `intent_map.md` has it.
pub fn markdown(map: &MapResponse) -> String {
    let row = |file: &MappedFile| Row {
        path: file.file_path.clone(),
        intent_id: file.intent_id.clone(),
        hash: LastHash::parse(file.hash.as_deref().unwrap_or_default()),
        is_locked: file.is_locked,
    };
    let rows: Vec<Row> = map.files.iter().map(row).collect();
    intent_map::write("", &rows)
}
