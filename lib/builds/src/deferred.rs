//! Keeps graphs up to date in functions: builds run after the response, in the process that met a head without a graph.

use std::sync::Arc;
use std::time::Duration;

use super::builder::{GraphBuilder, random_name};
use super::schedule::{BuildClaim, Pace};
use super::upkeep::{Driver, RemainingWork, Upkeep};
use coord_graph::Limits;
use coord_runtime::after_response::defer;
use coord_sources::Source;
use coord_store::Store;

/// Maximum number of graphs in memory, for the next build of their branches.
const MAX_GRAPHS: usize = 2;

/// A function has no timer: the next request after a rest tries the branch again.
const PACE: Pace = Pace {
    max_claims: 8,
    current: Duration::from_secs(60),
    busy: Duration::from_secs(15),
    failed: Duration::from_secs(15),
};

/// Builds after responses; see the module.
pub struct DeferredBuilds(Arc<Upkeep>);

impl DeferredBuilds {
    /// Builds graphs of `source` into `store`.
    pub fn new(store: Arc<dyn Store>, source: Arc<dyn Source>, limits: Limits) -> Self {
        let builder = GraphBuilder::new(store, source, random_name(), limits, MAX_GRAPHS);
        DeferredBuilds(Arc::new(Upkeep::new(builder, PACE)))
    }
}

impl Driver for DeferredBuilds {
    fn upkeep(&self) -> &Upkeep {
        &self.0
    }

    fn start(&self, claim: BuildClaim) {
        let key = claim.branch().clone();
        let upkeep = Arc::clone(&self.0);
        let is_deferred = defer(|allotted| async move {
            let branch = claim.branch().clone();
            if upkeep.update(claim, Some(allotted)).await == RemainingWork::Unused {
                upkeep.drop_unused(&branch).await;
            }
        });
        if !is_deferred {
            self.0.schedule().forget(&key);
            tracing::debug!(repo = %key.0, branch = %key.1, "no runtime waits for this build after the response");
        }
    }
}
