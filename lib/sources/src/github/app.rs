//! A GitHub App: signs a short-lived JWT with its private key, finds its installation for a repository, and fetches a
//! token of that installation. It caches the token until shortly before it expires.
//!
//! <https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app>

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use chrono::DateTime;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use quick_cache::sync::Cache;
use reqwest::header::HeaderMap;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::address::Slug;
use super::error::GithubError;
use super::rate_limit::{Account, server_time};
use super::transport::{ApiRequest, JSON, Transport, bearer};
use coord_settings::environment::ConfigError;
use coord_settings::variables::env_vars;

/// How far a JWT is backdated, because clocks differ. GitHub recommends it.
const BACKDATE_SECONDS: u64 = 60;
/// How long a JWT is valid from now. GitHub allows ten minutes from its date.
const JWT_SECONDS: u64 = 540;
/// How long before its expiry a token is no longer used: longer than any request takes.
const EXPIRY_MARGIN: Duration = Duration::from_secs(300);
/// Maximum lifetime of a token, whatever its expiry says. GitHub documents an hour.
const MAX_TOKEN_LIFETIME: Duration = Duration::from_secs(3_600);
/// How long the installation of a repository is cached.
const INSTALLATION_LIFETIME: Duration = Duration::from_secs(3_600);
/// Maximum number of installations, and of tokens, in the caches.
const MAX_CACHED: usize = 4_096;
/// The permissions of a token: to read. The app may have more.
const PERMISSIONS: &str = r#"{"permissions":{"contents":"read"}}"#;
/// Maximum size of a response about the app itself.
const MAX_BYTES: u64 = 1 << 20;

pub struct App {
    id: String,
    key: EncodingKey,
    /// Installations, and until when they are cached.
    installations: Cache<Slug, (u64, Instant)>,
    /// Tokens by installation, and until when they are used.
    tokens: Cache<u64, (Arc<SecretString>, Instant)>,
}

impl std::fmt::Debug for App {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "App({})", self.id)
    }
}

#[derive(Serialize)]
struct Claims<'a> {
    iat: u64,
    exp: u64,
    iss: &'a str,
}

#[derive(Deserialize)]
struct Installation {
    id: u64,
}

#[derive(Deserialize)]
struct AccessToken {
    token: SecretString,
    expires_at: String,
}

impl App {
    /// The app with this id and this private key in PEM; newlines may be written as `\n`.
    ///
    /// # Errors
    /// When either is invalid. The error never contains the key.
    pub fn new(id: &str, private_key: &SecretString) -> Result<Self, ConfigError> {
        let is_id = id.len() <= 64
            && id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        if !is_id {
            let problem = "must be the app's id, a number, or its client id";
            return Err(ConfigError::new(env_vars::GITHUB_APP_ID, problem));
        }
        let pem = private_key.expose_secret().replace("\\n", "\n");
        let key = EncodingKey::from_rsa_pem(pem.trim().as_bytes()).map_err(|_| {
            let problem = "must be the app's RSA private key in PEM, from BEGIN to END; newlines may be written as \\n";
            ConfigError::new(env_vars::GITHUB_APP_PRIVATE_KEY, problem)
        })?;
        Ok(App {
            id: id.to_owned(),
            key,
            installations: Cache::new(MAX_CACHED),
            tokens: Cache::new(MAX_CACHED),
        })
    }

    /// A token that can read `slug`, and its installation. One caller fetches it; concurrent callers wait for the
    /// result. If the fetch fails, the next of them fetches.
    pub(super) async fn token(
        &self,
        transport: &Transport,
        slug: &Slug,
    ) -> Result<(Arc<SecretString>, u64), GithubError> {
        self.installations.remove_if(slug, |(_, until)| is_past(*until));
        let fetch = self.fetch_installation(transport, slug);
        let (installation, _) = self.installations.get_or_insert_async(slug, fetch).await?;
        self.tokens.remove_if(&installation, |(_, until)| is_past(*until));
        let fetch = self.fetch_token(transport, installation);
        let (token, _) = self.tokens.get_or_insert_async(&installation, fetch).await?;
        Ok((token, installation))
    }

    /// Drops the token for `slug` and its installation. A fetch in progress is not affected.
    pub(super) fn forget(&self, slug: &Slug) {
        if let Some((_, (installation, _))) = self.installations.remove_if(slug, |_| true) {
            self.tokens.remove_if(&installation, |_| true);
        }
    }

    async fn fetch_token(
        &self,
        transport: &Transport,
        installation: u64,
    ) -> Result<(Arc<SecretString>, Instant), GithubError> {
        let id = installation.to_string();
        let url = transport.api.url(&["app", "installations", &id, "access_tokens"], &[]);
        let (headers, body) = self.send(transport, url, Some(PERMISSIONS)).await?;
        let AccessToken { token, expires_at } = serde_json::from_slice::<AccessToken>(&body)
            // The cause could contain the token.
            .map_err(|_| GithubError::Malformed("an access token".to_owned()))?;
        if bearer(token.expose_secret()).is_none() {
            return Err(GithubError::Malformed("an access token".to_owned()));
        }
        let lifetime = remaining_lifetime(&expires_at, &headers)
            .ok_or_else(|| GithubError::Malformed("the expiry of an access token".to_owned()))?;
        Ok((Arc::new(token), Instant::now() + usable_time(lifetime)))
    }

    async fn fetch_installation(&self, transport: &Transport, slug: &Slug) -> Result<(u64, Instant), GithubError> {
        let url = transport
            .api
            .url(&["repos", &slug.owner, &slug.name, "installation"], &[]);
        let (_, body) = self.send(transport, url, None).await.map_err(|error| match error {
            GithubError::NotFound => GithubError::NotInstalled,
            error => error,
        })?;
        let installation: Installation = serde_json::from_slice(&body)
            .map_err(|error| GithubError::Malformed(format!("an installation: {error}")))?;
        Ok((installation.id, Instant::now() + INSTALLATION_LIFETIME))
    }

    /// Sends a request as the app itself.
    async fn send(
        &self,
        transport: &Transport,
        url: url::Url,
        post: Option<&'static str>,
    ) -> Result<(HeaderMap, bytes::Bytes), GithubError> {
        let request = ApiRequest {
            accept: JSON,
            etag: None,
            authorization: Some(self.signed_authorization()?),
            account: Account::App,
            post,
            is_download: false,
            may_use_reserve: true,
        };
        let response = transport.send(url, &request, &mut None).await?.response;
        if !response.status().is_success() {
            return Err(GithubError::Unexpected(response.status().as_u16()));
        }
        let headers = response.headers().clone();
        let body = transport.read(response, MAX_BYTES).await?;
        Ok((headers, body))
    }

    fn signed_authorization(&self) -> Result<reqwest::header::HeaderValue, GithubError> {
        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs();
        let claims = Claims {
            iat: now.saturating_sub(BACKDATE_SECONDS),
            exp: now + JWT_SECONDS,
            iss: &self.id,
        };
        let jwt = jsonwebtoken::encode(&Header::new(Algorithm::RS256), &claims, &self.key);
        jwt.ok()
            .and_then(|jwt| bearer(&jwt))
            .ok_or_else(|| GithubError::Malformed("the key of the GitHub App cannot sign".to_owned()))
    }
}

/// The remaining lifetime of a token, by GitHub's clock if the response has it: the local clock may be wrong.
fn remaining_lifetime(expires_at: &str, headers: &HeaderMap) -> Option<Duration> {
    let expires_at = SystemTime::from(DateTime::parse_from_rfc3339(expires_at).ok()?);
    let remaining = expires_at.duration_since(server_time(headers)).unwrap_or_default();
    Some(remaining.min(MAX_TOKEN_LIFETIME))
}

/// The part of its lifetime in which a token is used.
fn usable_time(lifetime: Duration) -> Duration {
    lifetime.saturating_sub(EXPIRY_MARGIN).max(lifetime / 2)
}

fn is_past(until: Instant) -> bool {
    until <= Instant::now()
}

#[cfg(test)]
mod tests {
    use reqwest::header::{DATE, HeaderValue};

    use super::*;

    #[test]
    fn a_token_is_used_until_shortly_before_its_expiry() {
        let mut headers = HeaderMap::new();
        headers.insert(DATE, HeaderValue::from_static("Sun, 22 Nov 2026 01:00:00 GMT"));
        for (expires_at, seconds) in [
            ("2026-11-22T02:00:00Z", 3_300),
            ("2026-11-22T03:00:00+01:00", 3_300),
            ("2026-11-22T09:00:00Z", 3_300),
            ("2026-11-22T01:00:10Z", 5),
            ("2026-11-22T00:59:00Z", 0),
        ] {
            let lifetime = remaining_lifetime(expires_at, &headers).unwrap();
            assert_eq!(usable_time(lifetime).as_secs(), seconds, "{expires_at}");
        }
        assert_eq!(remaining_lifetime("tomorrow", &headers), None);
    }

    #[test]
    fn an_invalid_app_is_refused_without_showing_the_key() {
        let key = SecretString::from("-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----");
        let error = App::new("12", &key).unwrap_err();
        assert_eq!(error.variable, env_vars::GITHUB_APP_PRIVATE_KEY);
        assert!(!error.to_string().contains("hunter2"));
        assert_eq!(App::new("1 2", &key).unwrap_err().variable, env_vars::GITHUB_APP_ID);
    }
}
