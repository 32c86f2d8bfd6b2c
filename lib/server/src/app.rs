//! The parts that every operation works with: [`App`].

use std::sync::Arc;

use secrecy::SecretString;

use crate::admission::{LongReads, Lookups, UserLookups};
use crate::extension::Extensions;
use crate::settings::Settings;
use coord_auth::{Authenticator, Credentials, RepoLimit, TokenVerifier};
use coord_builds::graph_cache::GraphCache;
use coord_builds::head_observer::HeadObserver;
use coord_domain::RepoId;
use coord_events::EventHub;
use coord_settings::edge::Edge;
use coord_settings::policy::cache::PolicyCache;
use coord_settings::{Approvers, ConfigError, HeadAges, LockConfig, Rates};
use coord_sources::github::webhook::Webhook;
use coord_sources::{Source, SourceError};
use coord_state::admission::RememberedUses;
use coord_state::locks::ClaimedRepositories;
use coord_store::{Store, TimedStore};

/// The parts that every operation works with, built from [`Settings`], a store and an [`Authenticator`]. The rest is
/// optional.
#[derive(Clone)]
pub struct App {
    pub store: Arc<dyn Store>,
    /// Reads repositories. Without one, heads and graphs come from the store.
    pub source: Option<Arc<dyn Source>>,
    /// The only repositories that are served; `None` for all repositories of the source.
    pub repositories: Option<RepoLimit>,
    /// Verifies callers.
    pub authenticator: Arc<Authenticator>,
    /// Verdicts of other processes on credentials.
    pub lookups: Arc<Lookups>,
    /// Lookups at the source, by person.
    pub user_lookups: Arc<UserLookups>,
    /// Long reads, by person.
    pub long_reads: Arc<LongReads>,
    /// Settings of locks.
    pub locks: LockConfig,
    /// The logins that act as persons.
    pub approvers: Approvers,
    /// The extensions of this server.
    pub extensions: Extensions,
    /// Maximum ages of heads that are kept in the store.
    pub head_ages: HeadAges,
    /// Rate limits.
    pub rates: Rates,
    /// Verifies deliveries of GitHub's webhook; without one, deliveries are not accepted.
    pub webhook: Option<Arc<Webhook>>,
    /// The secret that the cron job sends.
    pub cron_secret: Option<SecretString>,
    /// An invalid setting of this deployment: every request is refused because of it.
    pub misconfigured: Option<ConfigError>,
    /// Observes the heads that requests find.
    pub head_observer: Option<Arc<dyn HeadObserver>>,
    /// Settings of the HTTP edge.
    pub edge: Edge,
    /// Graphs that were read from the store.
    pub graph_cache: Arc<GraphCache>,
    /// Live events.
    pub events: Arc<EventHub>,
    /// The repositories' policies that this process knows.
    pub policies: Arc<PolicyCache>,
    /// Repositories in which this process has seen a claim.
    pub claimed: Arc<ClaimedRepositories>,
    /// The features that repositories are known to use.
    pub uses: Arc<RememberedUses>,
}

/// The credentials that `settings` and `people` can verify.
pub fn credentials(settings: &Settings, people: Option<Arc<dyn TokenVerifier>>) -> Credentials {
    Credentials {
        jwt: settings.jwt.clone(),
        people,
        is_graph_public: settings.is_graph_public,
        ..Credentials::default()
    }
}

impl App {
    /// An app over `store`, whose calls are timed, without a source of repositories.
    pub fn new(settings: &Settings, store: Arc<dyn Store>, authenticator: Authenticator) -> Self {
        App {
            events: EventHub::new(Arc::clone(&store)),
            store: TimedStore::over(store),
            source: None,
            repositories: settings.repositories.clone(),
            authenticator: Arc::new(authenticator),
            lookups: Arc::default(),
            user_lookups: Arc::default(),
            long_reads: Arc::default(),
            locks: settings.locks,
            approvers: settings.approvers.clone(),
            extensions: settings.extensions.clone(),
            head_ages: settings.head_ages,
            rates: settings.rates,
            webhook: None,
            cron_secret: settings.cron_secret.clone(),
            misconfigured: None,
            head_observer: None,
            edge: settings.edge.clone(),
            graph_cache: Arc::default(),
            policies: Arc::default(),
            claimed: Arc::default(),
            uses: Arc::default(),
        }
    }

    /// Checks that `repo` may be served, as far as that is known without a request.
    ///
    /// # Errors
    /// [`SourceError::UnknownRepository`] if the settings do not list it, or the source does not have it.
    pub fn serves(&self, repo: &RepoId) -> Result<(), SourceError> {
        let source = self.source.as_deref();
        if self.repositories.as_ref().is_some_and(|limit| !limit.includes(repo)) {
            return Err(SourceError::UnknownRepository {
                repo: repo.clone(),
                known: source.map(Source::repositories).unwrap_or_default(),
                renamed_to: None,
            });
        }
        source.map_or(Ok(()), |source| source.serves(repo))
    }
}
