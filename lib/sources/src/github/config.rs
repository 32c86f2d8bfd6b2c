//! Settings of the GitHub source.

use std::time::Duration;

use super::address::{ApiBase, PUBLIC_API};
use super::credential::Credential;
use super::limits::Limits;
use super::token_scope::Scope;
use coord_domain::RepoId;
use coord_settings::environment::{ConfigError, Environment, value_of};
use coord_settings::variables::env_vars;

/// Age after which a head is fetched again. With a credential, an unchanged head (304) does not count against the
/// primary limit.
const HEAD_MAX_AGE: Duration = Duration::from_secs(5);
/// The same without a credential, because GitHub then allows only 60 requests per hour.
const HEAD_MAX_AGE_WITHOUT_CREDENTIAL: Duration = Duration::from_secs(120);

impl ApiBase {
    /// The API in the environment, or else that of github.com.
    ///
    /// # Errors
    /// When it is not the address of an API.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let address = value_of(environment, env_vars::GITHUB_API_URL);
        ApiBase::parse(address.as_deref().unwrap_or(PUBLIC_API))
            .map_err(|problem| ConfigError::new(env_vars::GITHUB_API_URL, problem))
    }
}

/// The settings of a [`GithubSource`](super::GithubSource).
#[derive(Debug)]
pub struct GithubConfig {
    pub api: ApiBase,
    /// The credential of the service.
    pub credential: Credential,
    /// The repositories that are served; `None` for all that the credential can read.
    pub only: Option<Vec<RepoId>>,
    /// The scope that callers' OAuth tokens and classic personal tokens must have; `None` for any.
    pub(super) scope: Option<Scope>,
    /// Age after which a head is fetched again.
    pub head_max_age: Duration,
    pub limits: Limits,
}

impl GithubConfig {
    /// # Errors
    /// When a variable has an invalid value.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let api = ApiBase::from_env(environment)?;
        let scope = value_of(environment, env_vars::COORD_GITHUB_SCOPE).map(|name| {
            let problem = "must be repo or public_repo";
            Scope::parse(&name).ok_or_else(|| ConfigError::new(env_vars::COORD_GITHUB_SCOPE, problem))
        });
        let scope = scope.transpose()?;
        Ok(GithubConfig {
            scope,
            ..GithubConfig::new(api, Credential::from_env(environment)?)
        })
    }

    /// A configuration with defaults for the rest.
    pub fn new(api: ApiBase, credential: Credential) -> Self {
        GithubConfig {
            api,
            head_max_age: if credential.is_some() {
                HEAD_MAX_AGE
            } else {
                HEAD_MAX_AGE_WITHOUT_CREDENTIAL
            },
            credential,
            only: None,
            scope: None,
            limits: Limits::default(),
        }
    }

    /// Whether the environment has any setting of GitHub.
    pub fn is_configured(environment: Environment<'_>) -> bool {
        [
            env_vars::GITHUB_API_URL,
            env_vars::GITHUB_TOKEN,
            env_vars::GITHUB_APP_ID,
            env_vars::GITHUB_APP_PRIVATE_KEY,
        ]
        .into_iter()
        .any(|name| value_of(environment, name).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(pairs: &[(&str, &str)]) -> Result<GithubConfig, ConfigError> {
        GithubConfig::from_env(&|name| {
            let pair = pairs.iter().find(|(variable, _)| *variable == name);
            pair.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn an_empty_or_undefined_value_is_no_credential() {
        for value in ["", "  ", "undefined", "null"] {
            let pairs = [
                ("GITHUB_TOKEN", value),
                ("GITHUB_APP_ID", value),
                ("GITHUB_APP_PRIVATE_KEY", value),
                ("GITHUB_API_URL", value),
            ];
            let config = config(&pairs).unwrap();
            assert!(!config.credential.is_some(), "{value:?}");
            assert_eq!(config.api.as_str(), PUBLIC_API);
            assert!(!GithubConfig::is_configured(&|_| Some(value.to_owned())));
        }
    }

    #[test]
    fn an_unusable_setting_names_its_variable_and_shows_no_secret() {
        for (pairs, variable) in [
            (&[("GITHUB_API_URL", "http://example.com")][..], "GITHUB_API_URL"),
            (&[("COORD_GITHUB_SCOPE", "admin")], "COORD_GITHUB_SCOPE"),
            (&[("GITHUB_APP_ID", "7")], "GITHUB_APP_PRIVATE_KEY"),
            (&[("GITHUB_APP_PRIVATE_KEY", "hunter2")], "GITHUB_APP_ID"),
            (
                &[("GITHUB_APP_ID", "7"), ("GITHUB_APP_PRIVATE_KEY", "hunter2")],
                "GITHUB_APP_PRIVATE_KEY",
            ),
            (&[("GITHUB_TOKEN", "hunter2\u{7f}")], "GITHUB_TOKEN"),
        ] {
            let error = config(pairs).unwrap_err();
            assert_eq!(error.variable, variable);
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_token_is_in_no_text_of_the_settings() {
        let config = config(&[("GITHUB_TOKEN", "ghp_hunter2")]).unwrap();
        assert!(config.credential.is_some());
        assert!(!format!("{config:?} {config:#?}").contains("hunter2"));
    }
}
