//! Reads the import graph of a branch with its locks: first an overview from the store in one round trip
//! ([`read_overview`]), then the graph ([`load_graph`]), unless the caller already has it.

mod overview;

use std::sync::Arc;

use futures::FutureExt;

use crate::admission::{Admission, Right};
use crate::app::App;
use crate::error::ApiError;
use coord_auth::CallerIdentity;
use coord_builds::graph_cache::CachedGraph;
use coord_domain::{Branch, CommitSha, RepoId};
use coord_state as state;
use coord_state::admission::admit;
use coord_state::builds::{discard_graph, touch_graph};
pub use overview::{BuildProgress, Overview, PolicyView};

/// The head of `branch`, and the store's overview of its graph and locks. A missing graph is built.
///
/// # Errors
/// When the caller is denied, or store or source do not respond.
pub async fn read_overview(
    app: &App,
    repo: &RepoId,
    branch: &Branch,
    caller: CallerIdentity,
) -> Result<(CommitSha, Overview), ApiError> {
    let mut admission = Admission::begin(app, repo, branch, caller, None, Right::Read, Some(Vec::new())).await?;
    let (head, stored) = admission
        .run_plain(&(repo, branch), |store, terms, (repo, branch)| {
            admit(store, terms, Overview::read(repo, branch)).boxed()
        })
        .await?;
    admission.report_head(&head, &mut Vec::new());
    let overview = Overview::new(branch, stored, &app.locks);
    if overview.is_touch_due
        && let Err(error) = touch_graph(&*app.store, repo, branch).await
    {
        tracing::debug!(%error, %repo, %branch, "the lifetime of the graph could not be extended");
    }
    if overview.version.is_none() {
        admission.report_missing_graph(&head.commit);
    }
    Ok((head.commit, overview))
}

/// The graph of `overview`. An unreadable graph is removed from `overview` and from the store, and built again.
///
/// # Errors
/// When the store does not respond.
pub async fn load_graph(
    app: &App,
    repo: &RepoId,
    branch: &Branch,
    head: &CommitSha,
    overview: &mut Overview,
) -> Result<Arc<CachedGraph>, ApiError> {
    let Some(version) = &overview.version else {
        return Ok(Arc::default());
    };
    let key = state::builds::keys::graph_json(repo, branch);
    match app.graph_cache.load(&app.store, key, version).await? {
        Ok(graph) => Ok(graph),
        Err(error) => {
            tracing::warn!(%error, %repo, %branch, "rebuilding the import graph");
            discard_graph(&*app.store, repo, branch, version).await?;
            overview.version = None;
            overview.generated_at = None;
            if let Some(observer) = &app.head_observer {
                observer.report_missing_graph(repo, branch, head);
            }
            Ok(Arc::default())
        }
    }
}
