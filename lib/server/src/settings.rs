//! Settings from the environment, read once.

use crate::extension::Extensions;
use coord_auth::{JwtVerifier, RepoLimit};
use coord_graph::Limits;
use coord_settings::edge::Edge;
use coord_settings::environment::{ConfigError, Environment, long_secret, secret, value_of};
use coord_settings::variables::env_vars;
use coord_settings::{Approvers, HeadAges, LockConfig, Rates, graph_limits, is_graph_public};
use coord_sources::github::ApiBase;
use secrecy::SecretString;

/// Registers extensions, with their settings from the environment.
pub type Register = fn(Environment<'_>) -> Result<Extensions, ConfigError>;

/// Settings from the environment, except those of the store and of the source.
#[derive(Default)]
pub struct Settings {
    pub locks: LockConfig,
    /// Maximum ages of heads that are kept in the store.
    pub head_ages: HeadAges,
    /// Rate limits.
    pub rates: Rates,
    /// Settings of the HTTP edge.
    pub edge: Edge,
    /// Verifies callers' JWTs.
    pub jwt: Option<JwtVerifier>,
    /// The only repositories that are served; `None` for all.
    pub repositories: Option<RepoLimit>,
    /// Whether graphs of public repositories may be read without a credential.
    pub is_graph_public: bool,
    /// The secret that the cron job sends.
    pub cron_secret: Option<SecretString>,
    /// The secret that signs GitHub's webhook deliveries.
    pub webhook_secret: Option<SecretString>,
    pub graph_limits: Limits,
    /// The logins that act as persons.
    pub approvers: Approvers,
    /// The extensions that are registered, with their settings.
    pub extensions: Extensions,
}

impl Settings {
    /// Settings from `environment`. `register` reads the settings of the extensions.
    ///
    /// # Errors
    /// When a variable has an invalid value.
    pub fn from_env(environment: Environment<'_>, register: Register) -> Result<Self, ConfigError> {
        Ok(Settings {
            locks: LockConfig::from_env(environment)?,
            head_ages: HeadAges::from_env(environment)?,
            rates: Rates::from_env(environment)?,
            edge: Edge::from_env(environment)?,
            jwt: JwtVerifier::from_env(environment)?,
            repositories: repositories(environment)?,
            is_graph_public: is_graph_public(environment)?,
            cron_secret: long_secret(environment, env_vars::CRON_SECRET)?,
            webhook_secret: secret(environment, env_vars::GITHUB_WEBHOOK_SECRET),
            graph_limits: graph_limits(environment)?,
            approvers: Approvers::from_env(environment)?,
            extensions: register(environment)?,
        })
    }
}

/// The repositories in `COORD_REPOSITORIES`; `None` if it is unset. An entry without a host is on that of GitHub's API.
///
/// # Errors
/// When an entry is neither a repository nor an owner, or the address of the API is invalid.
fn repositories(environment: Environment<'_>) -> Result<Option<RepoLimit>, ConfigError> {
    let Some(list) = value_of(environment, env_vars::COORD_REPOSITORIES) else {
        return Ok(None);
    };
    let limit = RepoLimit::of_host(&list, ApiBase::from_env(environment)?.served_host());
    limit.map(Some).ok_or_else(|| ConfigError {
        variable: env_vars::COORD_REPOSITORIES,
        problem:
            "must be OWNER/NAME and OWNER/*, separated by commas; those of another host than GitHub's begin with it"
                .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use coord_domain::RepoId;

    use super::*;

    #[test]
    fn coord_repositories_is_a_list_of_names_and_owners() {
        let with = |list: &str| repositories(&|name| (name == env_vars::COORD_REPOSITORIES).then(|| list.to_owned()));
        let served = |list: &str, name: &str| {
            let repo = RepoId::parse(&format!("https://{name}")).unwrap();
            with(list).unwrap().is_none_or(|listed| listed.includes(&repo))
        };
        assert!(served("", "github.com/any/thing"));
        let list = "acme/shop, Umbrella/*,github.com/initech/tps,gitlab.com/acme/*";
        for name in ["acme/shop", "ACME/Shop", "umbrella/any", "initech/tps"] {
            assert!(served(list, &format!("github.com/{name}")), "{name}");
        }
        assert!(served(list, "gitlab.com/acme/web/shop"));
        for name in ["acme/other", "umbrellas/any", "initech/other"] {
            assert!(!served(list, &format!("github.com/{name}")), "{name}");
        }
        assert!(!served(list, "gitlab.com/umbrella/any"));
        for list in ["acme", "acme/shop,,", "*", "*/*", "acme/sh op", "acme/shop;umbrella/*"] {
            assert_eq!(with(list).unwrap_err().variable, env_vars::COORD_REPOSITORIES, "{list}");
        }
        let on = |api: &'static str| {
            repositories(&move |name| match name {
                env_vars::COORD_REPOSITORIES => Some("acme/*".to_owned()),
                env_vars::GITHUB_API_URL => Some(api.to_owned()),
                _ => None,
            })
        };
        let listed = on("https://git.example.com/api/v3").unwrap().unwrap();
        assert!(listed.includes(&RepoId::parse("https://git.example.com/acme/shop").unwrap()));
        assert_eq!(on("http://example.com").unwrap_err().variable, env_vars::GITHUB_API_URL);
    }
}
