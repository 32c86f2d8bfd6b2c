//! Authentication. A caller presents a credential; a local server also accepts the user of its machine.
//!
//! - `caller`: identities, and where they count
//! - `error`: why authentication failed
//! - `jwt`: JWTs; `jwt_config`: their settings
//! - `presented`: the headers in which a request has its credential
//! - `people`: GitHub tokens and their rights
//! - `known`, `unverified`: remembered verdicts; the unverified-caller limit
//! - `verification_key`, `key_set`, `issuer_keys`: keys that verify signatures

mod caller;
mod error;
mod issuer_keys;
mod jwt;
mod jwt_config;
mod key_set;
mod known;
mod people;
mod presented;
mod repo_limit;
mod unverified;
mod verification_key;

pub use caller::{Caller, CallerIdentity, Credential, Identity};
pub use error::AuthError;
pub use issuer_keys::{IssuerKeys, KeySetUrl, KeyTiming};
pub use jwt::{AUDIENCE, JwtVerifier};
pub use known::{Freshness, KnownCredentials, RememberedVerdict, VERIFIED_LIFETIME};
pub use people::{TokenVerifier, Verdict, is_github_token, is_well_formed};
pub use presented::{CREDENTIAL_HEADERS, has_bearer_secret, presents_credential};
pub use repo_limit::RepoLimit;
pub use unverified::UnverifiedLimit;

use std::sync::Arc;

use axum::http::HeaderMap;
use presented::presented_token;

use coord_domain::UserId;
use coord_settings::environment::ConfigError;

/// Prefix of JWT logins on a deployment that also accepts GitHub tokens. No GitHub login contains it.
const JWT_NAMESPACE: &str = "jwt:";

/// The credentials that callers may present.
#[derive(Clone, Default)]
pub struct Credentials {
    /// Verifies JWTs of a trusted proxy.
    pub jwt: Option<JwtVerifier>,
    /// Verifies GitHub tokens.
    pub people: Option<Arc<dyn TokenVerifier>>,
    /// Whether graphs of public repositories may be read without a credential; `people` says which ones are public.
    pub is_graph_public: bool,
    /// Remembered verdicts on GitHub tokens.
    pub known: Arc<KnownCredentials>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kinds = (self.jwt.is_some(), self.people.is_some(), self.is_graph_public);
        write!(formatter, "Credentials{kinds:?}")
    }
}

impl Credentials {
    /// Whether they can verify any caller.
    pub fn can_verify(&self) -> bool {
        self.jwt.is_some() || self.people.is_some()
    }

    async fn verify(&self, token: &str) -> Result<Caller, AuthError> {
        if self.people.is_some() && is_github_token(token) {
            return Ok(Caller::unverified(Credential::token(token)));
        }
        match &self.jwt {
            // The same login at GitHub may be another person.
            Some(verifier) if self.people.is_some() => verifier.verify(token).await?.with_namespace(JWT_NAMESPACE),
            Some(verifier) => verifier.verify(token).await,
            None => Err(self.credential_error("the credential is not a GitHub token")),
        }
    }

    /// The error that states `problem` and the credentials to send instead.
    fn credential_error(&self, problem: &str) -> AuthError {
        let accepted = match (&self.people, &self.jwt) {
            (Some(_), Some(_)) => "a GitHub token or a JWT",
            (Some(_), None) => "a GitHub token",
            (None, Some(_)) => "a JWT",
            (None, None) => {
                return AuthError::refused(
                    "this deployment cannot verify callers: its operator must set GITHUB_TOKEN, GITHUB_APP_ID, \
                     COORD_JWT_SECRET, COORD_JWT_PUBLIC_KEY or COORD_JWT_JWKS_URL",
                );
            }
        };
        AuthError::Refused(format!("{problem}; send Authorization: Bearer with {accepted}"))
    }
}

/// How callers are verified.
#[derive(Clone, Debug)]
pub enum Authenticator {
    /// By their credential. If none can be verified, every caller is refused.
    ByCredential(Credentials),
    /// Not at all: the configuration is invalid.
    Misconfigured(ConfigError),
    /// On a loopback address: by a token that can be verified; else by the user in `X-Coord-User`, so that a test can
    /// act for several people; else by the user of the operating system.
    Local {
        /// User of the operating system.
        user: UserId,
        /// Verifies tokens that callers send anyway.
        credentials: Credentials,
    },
}

impl Authenticator {
    /// By JWTs alone.
    pub fn by_jwt(jwt: Option<JwtVerifier>) -> Self {
        Authenticator::ByCredential(Credentials {
            jwt,
            ..Credentials::default()
        })
    }

    /// The caller of a request with these headers.
    ///
    /// # Errors
    /// When the credential is missing or invalid, or cannot be verified now.
    pub async fn authenticate(&self, headers: &HeaderMap) -> Result<Caller, AuthError> {
        match self {
            Authenticator::Misconfigured(error) => Err(AuthError::Unavailable(error.to_string())),
            Authenticator::ByCredential(credentials) => match presented_token(headers)? {
                Some(token) => credentials.verify(token).await,
                None => Err(credentials.credential_error("the request has no credential")),
            },
            Authenticator::Local { user, credentials } => {
                if let Some(token) = presented_token(headers)?
                    && (credentials.jwt.is_some() || (credentials.people.is_some() && is_github_token(token)))
                {
                    return credentials.verify(token).await;
                }
                let mut users = headers.get_all("x-coord-user").iter();
                let first_user = users.next();
                if users.next().is_some() {
                    return Err(AuthError::refused("X-Coord-User was sent twice; send it once"));
                }
                let user_id = match first_user {
                    Some(value) => value
                        .to_str()
                        .map_err(|_| AuthError::refused("X-Coord-User must be printable ASCII"))
                        .and_then(|text| {
                            UserId::parse(text).map_err(|error| AuthError::Refused(format!("X-Coord-User: {error}")))
                        })?,
                    None => user.clone(),
                };
                Ok(Caller::unlimited(Identity {
                    user_name: user_id.to_string(),
                    user_id,
                }))
            }
        }
    }

    /// The caller of a request that only reads a graph; anonymous callers where that is allowed.
    ///
    /// # Errors
    /// As [`Authenticator::authenticate`].
    pub async fn authenticate_reader(&self, headers: &HeaderMap) -> Result<Caller, AuthError> {
        match self {
            Authenticator::ByCredential(Credentials {
                people: Some(_),
                is_graph_public: true,
                ..
            }) if !presents_credential(headers) => Ok(Caller::unverified(Credential::none())),
            _ => self.authenticate(headers).await,
        }
    }

    /// The addresses of the authorization servers that issue credentials.
    pub fn authorization_servers(&self) -> Vec<String> {
        let Some(Credentials { jwt, people, .. }) = self.credentials() else {
            return Vec::new();
        };
        let jwt_issuer = jwt.as_ref().and_then(JwtVerifier::issuer);
        let jwt_server = jwt_issuer.filter(|issuer| issuer.starts_with("https://"));
        let github_server = people.as_ref().and_then(|people| people.authorization_server());
        let servers = github_server.into_iter().chain(jwt_server.map(str::to_owned));
        servers.collect()
    }

    /// The verifier of GitHub tokens, and the verdicts remembered of them.
    pub fn people(&self) -> Option<(&Arc<dyn TokenVerifier>, &Arc<KnownCredentials>)> {
        let credentials = self.credentials()?;
        Some((credentials.people.as_ref()?, &credentials.known))
    }

    fn credentials(&self) -> Option<&Credentials> {
        match self {
            Authenticator::ByCredential(credentials) | Authenticator::Local { credentials, .. } => Some(credentials),
            Authenticator::Misconfigured(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;

    use super::*;
    use coord_domain::RepoId;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect()
    }

    #[tokio::test]
    async fn an_authenticator_without_a_secret_refuses_every_caller() {
        let nobody = Authenticator::by_jwt(None);
        for request in [headers(&[]), headers(&[("authorization", "Bearer undefined")])] {
            let caller = nobody.authenticate(&request).await;
            assert!(matches!(caller, Err(AuthError::Refused(_))));
        }
    }

    #[tokio::test]
    async fn a_deployed_function_ignores_the_header_that_names_a_user() {
        let verifier = JwtVerifier::hs256(&SecretString::from("a secret of the test".to_owned()));
        let deployed = Authenticator::by_jwt(Some(verifier));
        let request = headers(&[("x-coord-user", "alice")]);
        assert!(deployed.authenticate(&request).await.is_err());
    }

    #[tokio::test]
    async fn on_one_machine_several_people_can_be_played() {
        let local = Authenticator::Local {
            user: UserId::parse("root").unwrap(),
            credentials: Credentials::default(),
        };
        let repo = RepoId::parse("https://github.com/acme/shop").unwrap();
        let user = async |pairs: &[(&'static str, &str)]| {
            let caller = local.authenticate(&headers(pairs)).await?;
            let caller = caller.in_repository(&repo)?;
            Ok::<_, AuthError>(caller.verified().unwrap().user_id.to_string())
        };
        assert_eq!(user(&[]).await.unwrap(), "root");
        assert_eq!(user(&[("x-coord-user", "alice")]).await.unwrap(), "alice");
        assert!(user(&[("x-coord-user", "")]).await.is_err());
        assert!(user(&[("x-coord-user", "al ice")]).await.is_err());
        let mut twice = headers(&[("x-coord-user", "alice")]);
        twice.append("x-coord-user", "bob".parse().unwrap());
        assert!(local.authenticate(&twice).await.is_err());
    }
}
