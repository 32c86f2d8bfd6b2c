//! The extension of teams that a server registers.

use std::sync::LazyLock;

use futures::FutureExt;
use futures::future::BoxFuture;

use crate::config::TeamConfig;
use coord_domain::RepoId;
use coord_domain::team::TeamName;
use coord_server::app::App;
use coord_server::extension::Extension;
use coord_settings::{ConfigError, Environment};
use coord_state::extension::Extension as StoredExtension;
use coord_store::{Store, StoreError};
use coord_teams_state::tasks::settle_lapses;
use coord_teams_state::teams::OnlyTeams;

/// Teams in a server.
#[derive(Default)]
pub struct Teams {
    pub config: TeamConfig,
    /// The only teams of agents that omit the team.
    pub(crate) only_teams: OnlyTeams,
}

/// The extension of a server that has not registered one.
static DEFAULT: LazyLock<Teams> = LazyLock::new(Teams::default);

impl Teams {
    /// Teams with the settings of `environment`.
    ///
    /// # Errors
    /// When a variable has an invalid value.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        Ok(Teams {
            config: TeamConfig::from_env(environment)?,
            ..Teams::default()
        })
    }

    /// The extension of `app`.
    pub fn of(app: &App) -> &Teams {
        app.extensions.get().unwrap_or(&DEFAULT)
    }
}

impl Extension for Teams {
    fn state(&self) -> &'static StoredExtension {
        &coord_teams_state::EXTENSION
    }

    fn settle<'a>(
        &'a self,
        store: &'a dyn Store,
        repo: &'a RepoId,
        due: &'a [String],
        most: usize,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        async move {
            let mut expired = 0;
            for name in due {
                let team = TeamName::parse(name)
                    .map_err(|_| StoreError::Malformed("a sweep returned a team that has no name".to_owned()))?;
                expired += settle_lapses(store, repo, &team, most).await?;
            }
            Ok(expired)
        }
        .boxed()
    }
}
