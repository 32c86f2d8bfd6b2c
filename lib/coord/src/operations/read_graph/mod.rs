//! The import graph of a branch with its locks: first what the store says of it in one round trip ([`read_overview`]), then, where
//! the caller does not have it already, the graph ([`load_graph`]).

mod overview;

use std::sync::Arc;

use crate::admission::{Admission, AdmittedCall, Right};
use crate::app::App;
use crate::auth::CallerIdentity;
use crate::builds::graph_cache::CachedGraph;
use crate::domain::{Branch, CommitSha, RepoId};
use crate::error::ApiError;
use crate::store::scripts::{AdmissionTerms, Admitted, SeenHead, admit, discard_graph, touch_graph};
use crate::store::{Store, StoreError, Value, keys};
pub(crate) use overview::{BuildProgress, Overview};

/// The head of `branch`, and what the store says of its graph and its locks. Where there is no graph, one is built.
///
/// # Errors
/// When the caller is denied, or store or source give no answer.
pub(crate) async fn read_overview(
    app: &App,
    repo: &RepoId,
    branch: &Branch,
    caller: CallerIdentity,
) -> Result<(CommitSha, Overview), ApiError> {
    let mut admission = Admission::begin(app, repo, branch, caller, None, Right::Read, Some(Vec::new())).await?;
    let (head, replies) = admission.run(&OverviewCall { repo, branch }).await?;
    admission.note(&head, &mut Vec::new());
    let overview = Overview::read(branch, &replies)?;
    if overview.is_to_be_kept
        && let Err(error) = touch_graph(&*app.store, repo, branch).await
    {
        tracing::debug!(%error, %repo, %branch, "the graph could not be kept for longer");
    }
    if overview.version.is_none() {
        admission.misses_graph(&head.commit);
    }
    Ok((head.commit, overview))
}

struct OverviewCall<'a> {
    repo: &'a RepoId,
    branch: &'a Branch,
}

impl AdmittedCall for OverviewCall<'_> {
    type Outcome = (SeenHead, Vec<Value>);

    async fn make(&self, store: &dyn Store, terms: &AdmissionTerms<'_>) -> Result<Admitted<Self::Outcome>, StoreError> {
        admit(store, terms, Overview::requests(self.repo, self.branch)).await
    }
}

/// The graph that `overview` speaks of. One that cannot be read counts as missing, there and in the store, and is built again.
///
/// # Errors
/// When the store gives no answer.
pub(crate) async fn load_graph(
    app: &App,
    repo: &RepoId,
    branch: &Branch,
    head: &CommitSha,
    overview: &mut Overview,
) -> Result<Arc<CachedGraph>, ApiError> {
    let Some(version) = &overview.version else {
        return Ok(Arc::default());
    };
    let key = keys::graph_json(repo, branch);
    match app.graph_cache.load(&*app.store, key, version).await? {
        Ok(graph) => Ok(graph),
        Err(error) => {
            tracing::warn!(%error, %repo, %branch, "the import graph is built again");
            discard_graph(&*app.store, repo, branch, version).await?;
            overview.version = None;
            overview.generated_at = None;
            if let Some(observer) = &app.head_observer {
                observer.misses_graph(repo, branch, head);
            }
            Ok(Arc::default())
        }
    }
}
