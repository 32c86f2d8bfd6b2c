use std::sync::Arc;

use secrecy::SecretString;

use crate::auth::Authenticator;
use crate::config::LockConfig;
use crate::domain::{Branch, CommitSha, RepoId};
use crate::heads::HeadAges;
use crate::http::{Edge, Webhook};
use crate::source::Source;
use crate::store::Store;
use crate::store::scripts::Rates;

/// Keeps what follows from heads up to date. All calls must return at once.
pub trait HeadObserver: Send + Sync + 'static {
    /// A request has learnt from the source that `branch` of `repo` is at `head`.
    fn saw_head(&self, repo: &RepoId, branch: &Branch, head: &CommitSha);

    /// The store has no graph of `branch`, which is at `head`, or none that can be read: it may have lost one that was built.
    fn misses_graph(&self, repo: &RepoId, branch: &Branch, head: &CommitSha);

    /// A sweep is under way: whatever should have been done by now is looked at again, should it have been lost.
    fn look_again(&self);
}

/// What every handler works with.
#[derive(Clone)]
pub struct AppState {
    /// The state.
    pub store: Arc<dyn Store>,
    /// Where repositories are read; without one, heads and graphs are those that the store has.
    pub source: Option<Arc<dyn Source>>,
    /// Who callers are.
    pub authenticator: Arc<Authenticator>,
    /// How locks behave.
    pub locks: LockConfig,
    /// How old a head may be that is kept in the store.
    pub head_ages: HeadAges,
    /// How often may be asked.
    pub rates: Rates,
    /// What deliveries of GitHub's webhook are held to; without, none is taken.
    pub webhook: Option<Arc<Webhook>>,
    /// What the cron shows.
    pub cron_secret: Option<SecretString>,
    /// Who is told of heads.
    pub head_observer: Option<Arc<dyn HeadObserver>>,
    /// How the service meets its callers.
    pub edge: Edge,
    /// Graphs as last read from the store.
    pub graph_cache: Arc<super::graph::GraphCache>,
}
