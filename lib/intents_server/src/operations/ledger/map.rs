//! The files that intents own or have changed.

use coord_intents::intent::have_common_branch;
use coord_intents::intent_map;
use coord_protocol::{MapResponse, MappedFile};

use crate::registered::Intents;
use coord_auth::CallerIdentity;
use coord_domain::{AgentId, Branch, Holder, RepoId};
use coord_intents_state::intents::{Owners, Registry, owned_paths, registry};
use coord_server::admission::admit_as_holder;
use coord_server::app::App;
use coord_server::error::ApiError;

#[derive(Debug)]
pub struct MapRequest {
    pub repo: RepoId,
    /// Only intents for this branch, or for every branch.
    pub branch: Option<Branch>,
    /// The caller in the repository.
    pub caller: CallerIdentity,
    pub caller_agent: Option<AgentId>,
}

/// The map that `request` asks for.
///
/// # Errors
/// When the caller is denied, or the store does not respond.
pub async fn map(app: &App, request: MapRequest) -> Result<MapResponse, ApiError> {
    let MapRequest {
        repo,
        branch,
        caller,
        caller_agent,
    } = request;
    let query = |holder: &Holder| registry(&repo, holder).and(owned_paths(&repo));
    let (_, (registry, owned)) = admit_as_holder(app, &repo, branch.as_ref(), caller, caller_agent, query).await?;
    let owners = owned.owners(&*app.store, &repo).await?;
    let idle_since_ms = registry
        .now_ms
        .saturating_sub(Intents::of(app).config.idle_seconds.saturating_mul(1000));
    Ok(MapResponse {
        files: mapped_files(owners, &registry, branch.as_ref(), idle_since_ms),
    })
}

/// The files of the map. Intents that were last used before `idle_since_ms` do not lock theirs.
fn mapped_files(owners: Owners, registry: &Registry, branch: Option<&Branch>, idle_since_ms: u64) -> Vec<MappedFile> {
    let Registry { records, uses, .. } = registry;
    let is_locked = |intent: &str| {
        records.get(intent).is_some_and(|record| record.status.is_active())
            && uses.get(intent).is_some_and(|cost| cost.last_call_ms >= idle_since_ms)
    };
    let mut files = Vec::new();
    for (path, owners) in owners {
        // Entries without an intent belong to the ledger only.
        for owner in owners.into_iter().filter(|owner| !owner.intent.is_empty()) {
            if have_common_branch(owner.branch.as_deref(), branch.map(Branch::as_str)) {
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

/// The map in the form of `intent_map.md`.
pub fn markdown(map: &MapResponse) -> String {
    intent_map::write("", &intent_map::rows(&map.files))
}
