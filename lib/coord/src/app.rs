//! What every operation works with.

use std::sync::Arc;

use secrecy::SecretString;

use crate::auth::{Authenticator, Credentials, People};
use crate::builds::graph_cache::GraphCache;
use crate::builds::head_observer::HeadObserver;
use crate::heads::HeadAges;
use crate::settings::edge::Edge;
use crate::settings::{LockConfig, Settings};
use crate::source::Source;
use crate::source::github::webhook::Webhook;
use crate::store::scripts::Rates;
use crate::store::{Store, TimedStore};

/// What every operation works with: made of the [`Settings`], a store, and what verifies callers; the rest is added where there
/// is any.
#[derive(Clone)]
pub struct App {
    /// The state.
    pub store: Arc<dyn Store>,
    /// Where repositories are read; without one, heads and graphs are those that the store has.
    pub source: Option<Arc<dyn Source>>,
    /// Verifies callers.
    pub authenticator: Arc<Authenticator>,
    /// How locks behave.
    pub locks: LockConfig,
    /// How old a head may be that is kept in the store.
    pub head_ages: HeadAges,
    /// How often may be asked.
    pub rates: Rates,
    /// What deliveries of GitHub's webhook are held to; without, none is taken.
    pub webhook: Option<Arc<Webhook>>,
    /// What the cron sends.
    pub cron_secret: Option<SecretString>,
    /// Is told of heads.
    pub head_observer: Option<Arc<dyn HeadObserver>>,
    /// How the service meets its callers.
    pub edge: Edge,
    /// Graphs as last read from the store.
    pub graph_cache: Arc<GraphCache>,
}

/// Credentials as `settings` verify them, and tokens whose holders `people` know.
pub fn credentials(settings: &Settings, people: Option<Arc<dyn People>>) -> Credentials {
    Credentials {
        jwt: settings.jwt.clone(),
        people,
        is_graph_public: settings.is_graph_public,
        ..Credentials::default()
    }
}

impl App {
    /// Over `store`, whose calls are timed, with no source of repositories.
    pub fn new(settings: &Settings, store: Arc<dyn Store>, authenticator: Authenticator) -> Self {
        App {
            store: TimedStore::over(store),
            source: None,
            authenticator: Arc::new(authenticator),
            locks: settings.locks,
            head_ages: settings.head_ages,
            rates: settings.rates,
            webhook: None,
            cron_secret: settings.cron_secret.clone(),
            head_observer: None,
            edge: settings.edge.clone(),
            graph_cache: Arc::default(),
        }
    }
}
