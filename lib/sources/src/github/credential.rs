//! The service's own credential for GitHub: a token, a GitHub App, or nothing. It is never a caller's.

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

use super::address::Slug;
use super::app::App;
use super::error::GithubError;
use super::rate_limit::Account;
use super::transport::{Transport, bearer};
use coord_settings::environment::{ConfigError, Environment, secret, value_of};
use coord_settings::variables::env_vars;

/// The credential of the service.
#[derive(Debug)]
pub enum Credential {
    /// No credential: public repositories only, 60 requests per hour.
    Anonymous,
    /// A GitHub token of any kind.
    Token(SecretString),
    App(Box<App>),
}

impl Credential {
    /// A GitHub App if `GITHUB_APP_ID` and `GITHUB_APP_PRIVATE_KEY` are set, else the token in `GITHUB_TOKEN`, else
    /// none. The app comes first, because build machines set a token on their own.
    ///
    /// # Errors
    /// When one half of the app is missing, or a value is invalid. The error never contains a secret.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let id = value_of(environment, env_vars::GITHUB_APP_ID);
        let key = secret(environment, env_vars::GITHUB_APP_PRIVATE_KEY);
        match (id, key) {
            (Some(id), Some(key)) => Ok(Credential::App(Box::new(App::new(&id, &key)?))),
            (Some(_), None) => Err(ConfigError::new(
                env_vars::GITHUB_APP_PRIVATE_KEY,
                format!("must be set together with {}", env_vars::GITHUB_APP_ID),
            )),
            (None, Some(_)) => Err(ConfigError::new(
                env_vars::GITHUB_APP_ID,
                format!("must be set together with {}", env_vars::GITHUB_APP_PRIVATE_KEY),
            )),
            (None, None) => match secret(environment, env_vars::GITHUB_TOKEN) {
                None => Ok(Credential::Anonymous),
                Some(token) if bearer(token.expose_secret()).is_some() => Ok(Credential::Token(token)),
                Some(_) => {
                    let problem = "holds a character that an HTTP header cannot contain";
                    Err(ConfigError::new(env_vars::GITHUB_TOKEN, problem))
                }
            },
        }
    }

    pub fn is_some(&self) -> bool {
        !matches!(self, Credential::Anonymous)
    }

    /// The header for a request about `slug`, and the account whose limits it counts against.
    pub(super) async fn authorization(
        &self,
        transport: &Transport,
        slug: &Slug,
    ) -> Result<(Option<HeaderValue>, Account), GithubError> {
        match self {
            Credential::Anonymous => Ok((None, Account::Service)),
            Credential::Token(token) => Ok((bearer(token.expose_secret()), Account::Service)),
            Credential::App(app) => {
                let (token, installation) = app.token(transport, slug).await?;
                Ok((bearer(token.expose_secret()), Account::Installation(installation)))
            }
        }
    }

    /// Drops a token that GitHub did not accept. Returns whether a new one can be fetched.
    pub(super) fn renew(&self, slug: &Slug) -> bool {
        let Credential::App(app) = self else { return false };
        app.forget(slug);
        true
    }
}
