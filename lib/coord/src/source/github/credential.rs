//! What the service shows to GitHub: a token, a GitHub App, or nothing. It is the service's own, never a caller's.

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

use super::address::Slug;
use super::app::App;
use super::error::GithubError;
use super::rate_limit::Account;
use super::transport::{Transport, bearer};
use crate::settings::environment::{ConfigError, Environment, secret, value_of};
use crate::settings::variables::env_vars;

/// The credential of the service.
#[derive(Debug)]
pub enum Credential {
    /// None: public repositories, 60 requests an hour.
    Nobody,
    /// A token of any of GitHub's kinds.
    Token(SecretString),
    /// A GitHub App.
    App(Box<App>),
}

impl Credential {
    /// A GitHub App where `GITHUB_APP_ID` and `GITHUB_APP_PRIVATE_KEY` are set, else the token of `GITHUB_TOKEN`, else
    /// nobody. The app comes first because build machines set a token without being asked.
    ///
    /// # Errors
    /// When one half of the app is missing, or a value cannot be used. The error never holds a secret.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let id = value_of(environment, env_vars::GITHUB_APP_ID);
        let key = secret(environment, env_vars::GITHUB_APP_PRIVATE_KEY);
        match (id, key) {
            (Some(id), Some(key)) => Ok(Credential::App(Box::new(App::new(&id, &key)?))),
            (Some(_), None) => Err(ConfigError {
                variable: env_vars::GITHUB_APP_PRIVATE_KEY,
                problem: format!("must be set together with {}", env_vars::GITHUB_APP_ID),
            }),
            (None, Some(_)) => Err(ConfigError {
                variable: env_vars::GITHUB_APP_ID,
                problem: format!("must be set together with {}", env_vars::GITHUB_APP_PRIVATE_KEY),
            }),
            (None, None) => match secret(environment, env_vars::GITHUB_TOKEN) {
                None => Ok(Credential::Nobody),
                Some(token) if bearer(token.expose_secret()).is_some() => Ok(Credential::Token(token)),
                Some(_) => Err(ConfigError {
                    variable: env_vars::GITHUB_TOKEN,
                    problem: "holds a character that no HTTP header can carry".to_owned(),
                }),
            },
        }
    }

    /// Whether there is any.
    pub fn is_some(&self) -> bool {
        !matches!(self, Credential::Nobody)
    }

    /// What to show for a request about `slug`, and whose limits it counts against.
    pub(super) async fn show(
        &self,
        transport: &Transport,
        slug: &Slug,
    ) -> Result<(Option<HeaderValue>, Account), GithubError> {
        match self {
            Credential::Nobody => Ok((None, Account::Service)),
            Credential::Token(token) => Ok((bearer(token.expose_secret()), Account::Service)),
            Credential::App(app) => {
                let (token, installation) = app.token(transport, slug).await?;
                Ok((bearer(token.expose_secret()), Account::Installation(installation)))
            }
        }
    }

    /// Drops what GitHub did not accept. Whether a fresh one can be had.
    pub(super) fn renew(&self, slug: &Slug) -> bool {
        let Credential::App(app) = self else { return false };
        app.forget(slug);
        true
    }
}
