//! The extension of intents and their ledger that a server registers.

use std::sync::{Arc, LazyLock};

use coord_protocol::{Action, AgentError, ErrorBody, ErrorCode, Orchestration, Waiting};
use tokio::sync::watch;

use crate::config::IntentConfig;
use crate::ledger::Sealing;
use crate::scopes::ScopeCache;
use coord_domain::RepoId;
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_settings::{ConfigError, Environment};
use coord_store::Store;

/// Intents and their ledger in a server.
#[derive(Default)]
pub struct Intents {
    pub config: IntentConfig,
    pub(crate) scopes: ScopeCache,
    /// Seals ledgers after responses.
    sealing: Arc<Sealing>,
}

/// The extension of a server that has not registered one.
static DEFAULT: LazyLock<Intents> = LazyLock::new(Intents::default);

impl Intents {
    /// Intents with these settings.
    pub fn new(config: IntentConfig) -> Self {
        Intents {
            config,
            ..Intents::default()
        }
    }

    /// Intents with the settings of `environment`.
    ///
    /// # Errors
    /// When a variable has an invalid value.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        IntentConfig::from_env(environment).map(Intents::new)
    }

    /// The extension of `app`.
    pub fn of(app: &App) -> &Intents {
        app.extensions.get().unwrap_or(&DEFAULT)
    }

    /// Changes whenever this process has appended to a ledger.
    pub fn appended(&self) -> watch::Receiver<u64> {
        self.sealing.appended()
    }

    /// Seals the lines that a request has appended to the ledger of `repo`, after its response.
    pub(crate) fn seal_later(&self, store: &Arc<dyn Store>, repo: &RepoId) {
        self.sealing.seal_later(store, repo, self.config.ledger_max_lines);
    }
}

/// The error for an intent that the repository does not have.
pub(crate) fn unknown_intent(id: &str) -> ApiError {
    let message = format!("the repository has no intent {id}; list the intents, or write a new one");
    ApiError::Extension(Box::new(AgentError {
        orchestration: Orchestration::new(Action::Stop, message.clone()),
        error: ErrorBody {
            error: ErrorCode::UnknownIntent,
            message,
            field: Some("id".to_owned()),
        },
        waiting: Waiting::default(),
    }))
}
