//! Holders of callers' tokens, and their rights in a repository. Requests use only that token, never the credential of
//! the service, and rate limits count only for that token.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;
use url::Url;

use super::GithubSource;
use super::address::{Slug, renamed};
use super::client::Client;
use super::error::GithubError;
use super::rate_limit::{Account, TokenHash, graphql_limit};
use super::token_scope::{Scope, has_scopes};
use super::transport::{ApiRequest, JSON, bearer};
use coord_auth::{AuthError, TokenVerifier, Verdict, is_github_token};
use coord_domain::{Member, RepoId, UserId, plain_text};
use coord_runtime::retry;

/// Maximum size of a response about a person or a repository; real ones have about 20 KB.
const MAX_BYTES: u64 = 1 << 20;
/// Maximum length of a display name in characters.
const MAX_NAME_CHARACTERS: usize = 128;
/// The query for an installation token, which belongs to no user, but has a login.
const VIEWER_QUERY: &str = r#"{"query":"query{viewer{login}}"}"#;
/// The login of callers without a credential.
const ANONYMOUS: &str = "anonymous";

#[derive(Debug, Deserialize)]
struct Person {
    login: String,
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Repository {
    full_name: Option<String>,
    private: bool,
    visibility: Option<String>,
    #[serde(default)]
    archived: bool,
    permissions: Option<Permissions>,
}

/// The rights of the user who holds the token. The token itself may have been granted fewer, which this does not show.
/// For an installation token, which belongs to no user, all are `false`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Permissions {
    push: bool,
    maintain: bool,
    admin: bool,
}

#[derive(Debug, Deserialize)]
struct GraphqlResponse {
    data: Option<GraphqlData>,
    #[serde(default)]
    errors: Vec<GraphqlError>,
}

#[derive(Debug, Deserialize)]
struct GraphqlData {
    viewer: Option<Person>,
}

#[derive(Debug, Deserialize)]
struct GraphqlError {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    message: String,
}

#[async_trait]
impl TokenVerifier for GithubSource {
    async fn verify(&self, token: &SecretString, repo: &RepoId) -> Result<Verdict, AuthError> {
        let text = token.expose_secret();
        let Some(authorization) = bearer(text).filter(|_| is_github_token(text)) else {
            return Ok(Verdict::Refused(
                "this is not a GitHub token; send one that begins with ghp_, github_pat_, gho_, ghu_ or ghs_"
                    .to_owned(),
            ));
        };
        let Ok(slug) = self.slug(repo) else {
            return Ok(no_access(repo));
        };
        let hash = TokenHash::of(text);
        let verification = TokenVerification {
            client: Arc::clone(&self.client),
            repo: repo.clone(),
            slug,
            authorization,
            account: Account::Caller(hash),
            is_installation: text.starts_with("ghs_"),
            required_scope: self.scope.filter(|_| has_scopes(text)),
        };
        let verify = || async move { verification.verdict().await };
        let verdict = self.verifications.join((hash, repo.clone()), verify).await;
        verdict.unwrap_or_else(|error| {
            tracing::error!(%error, "a token was not verified");
            Err(AuthError::Unavailable(
                "callers cannot be verified at the moment".to_owned(),
            ))
        })
    }

    fn authorization_server(&self) -> Option<String> {
        Some(format!("https://{}/login/oauth", self.host()))
    }

    async fn verify_without_token(&self, repo: &RepoId) -> Result<Verdict, AuthError> {
        let Ok(slug) = self.slug(repo) else {
            return Ok(no_access(repo));
        };
        let is_public = match self.is_public(&slug).await {
            Err(GithubError::Renamed(full_name)) => {
                // The new name of a private repository stays private.
                let new_slug = renamed(repo, &full_name).and_then(|new_repo| self.slug(&new_repo).ok());
                let is_public = match new_slug {
                    Some(slug) => self.is_public(&slug).await,
                    None => Ok(false),
                };
                if is_public.map_err(|error| unavailable(&error, repo))? {
                    return Ok(renamed_verdict(repo, &full_name));
                }
                false
            }
            is_public => is_public.map_err(|error| unavailable(&error, repo))?,
        };
        if !is_public {
            return Ok(Verdict::NoRight(format!(
                "there is no public repository {repo}; send a token that may read it: Authorization: Bearer TOKEN"
            )));
        }
        let user_id = UserId::parse(ANONYMOUS).map_err(|error| AuthError::Unavailable(error.to_string()))?;
        Ok(Verdict::Member(Member {
            user_id,
            user_name: ANONYMOUS.to_owned(),
            can_push: false,
            is_owner: false,
        }))
    }
}

impl GithubSource {
    /// Whether the repository is public. Uses the credential of the service.
    async fn is_public(&self, slug: &Slug) -> Result<bool, GithubError> {
        let request = self.client.small_request(&[], &[]);
        match self.client.fetch_json(slug, &request).await {
            Ok(Repository {
                private, visibility, ..
            }) => Ok(!private && visibility.is_none_or(|visibility| visibility == "public")),
            Err(
                GithubError::NotFound | GithubError::Gone(_) | GithubError::NotInstalled | GithubError::Forbidden(_),
            ) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// A verification of one token in one repository.
struct TokenVerification {
    client: Arc<Client>,
    repo: RepoId,
    slug: Slug,
    /// Marked as sensitive.
    authorization: HeaderValue,
    account: Account,
    is_installation: bool,
    /// The scope that the token must have; `None` also for a kind of token that has no scopes.
    required_scope: Option<Scope>,
}

impl TokenVerification {
    async fn verdict(&self) -> Result<Verdict, AuthError> {
        let limit = self.client.transport.limits.small;
        let requests = async { tokio::join!(self.person(), self.repository()) };
        let Ok((person, repository)) = timeout(limit, requests).await else {
            let subject = "verdict on a token";
            return Err(unavailable(&GithubError::Timeout { subject, limit }, &self.repo));
        };
        let is_bad_token = |error: Option<&GithubError>| error == Some(&GithubError::BadCredential);
        if is_bad_token(person.as_ref().err()) || is_bad_token(repository.as_ref().err()) {
            return Ok(Verdict::Refused(
                "GitHub does not accept this token: it is wrong, expired or revoked; send a valid one".to_owned(),
            ));
        }
        let (person, scopes) = match person {
            Ok(person) => person,
            Err(GithubError::Forbidden(why)) => {
                return Ok(Verdict::Refused(format!(
                    "GitHub does not say whose token this is: {why}"
                )));
            }
            Err(error) => return Err(unavailable(&error, &self.repo)),
        };
        let repository = match repository {
            Ok(repository) => repository,
            Err(GithubError::NotFound | GithubError::Gone(_)) => return Ok(no_access(&self.repo)),
            Err(GithubError::Forbidden(why)) => {
                let repo = &self.repo;
                return Ok(Verdict::NoRight(format!(
                    "GitHub does not let this token read {repo}: {why}"
                )));
            }
            Err(error) => return Err(unavailable(&error, &self.repo)),
        };
        if let Some(scope) = self.required_scope
            && !scope.is_in(&scopes)
        {
            return Ok(Verdict::NoRight(format!(
                "this token lacks the scope {}, which this deployment requires; send one that has it",
                scope.as_str()
            )));
        }
        let Ok(user_id) = UserId::parse(&person.login) else {
            let malformed = GithubError::Malformed("a login".to_owned());
            return Err(unavailable(&malformed, &self.repo));
        };
        let new_name = repository.full_name.filter(|full_name| !self.slug.has_name(full_name));
        if let Some(full_name) = new_name {
            self.client.record_name(&self.slug, &full_name);
            return Ok(renamed_verdict(&self.repo, &full_name));
        }
        let Permissions { push, maintain, admin } = repository.permissions.unwrap_or_default();
        Ok(Verdict::Member(Member {
            user_name: display_name(person.name.as_deref()).unwrap_or_else(|| person.login.clone()),
            user_id,
            can_push: !repository.archived && (push || maintain || admin),
            is_owner: !repository.archived && (maintain || admin),
        }))
    }

    async fn repository(&self) -> Result<Repository, GithubError> {
        let path = ["repos", &self.slug.owner, &self.slug.name];
        let url = self.client.transport.api.url(&path, &[]);
        let (_, body) = self.fetch(&url, None).await?;
        decode("a repository", &body)
    }

    /// The holder, and the scopes of the token.
    async fn person(&self) -> Result<(Person, String), GithubError> {
        let url = self.client.transport.api.url(&["user"], &[]);
        match self.fetch(&url, None).await {
            Ok((headers, body)) => {
                let scopes = headers.get("x-oauth-scopes").and_then(|value| value.to_str().ok());
                Ok((decode("a person", &body)?, scopes.unwrap_or_default().to_owned()))
            }
            Err(GithubError::Forbidden(_)) if self.is_installation => Ok((self.viewer().await?, String::new())),
            Err(error) => Err(error),
        }
    }

    async fn viewer(&self) -> Result<Person, GithubError> {
        let url = self.client.transport.api.graphql();
        let (headers, body) = self.fetch(&url, Some(VIEWER_QUERY)).await?;
        let response: GraphqlResponse = decode("a viewer", &body)?;
        if let Some(viewer) = response.data.and_then(|data| data.viewer) {
            return Ok(viewer);
        }
        let errors = response.errors;
        let has_kind = |kind: &str| errors.iter().any(|error| error.kind.as_deref() == Some(kind));
        let is_limit = |error: &GraphqlError| error.message.to_ascii_lowercase().contains("rate limit");
        if has_kind("RATE_LIMITED") || errors.iter().any(is_limit) {
            let limit = graphql_limit(&headers);
            self.client.transport.block(self.account, limit);
            return Err(GithubError::RateLimited(limit));
        }
        Err(if has_kind("FORBIDDEN") || has_kind("INSUFFICIENT_SCOPES") {
            GithubError::Forbidden("it has no login".to_owned())
        } else {
            GithubError::Malformed("no viewer".to_owned())
        })
    }

    /// Fetches the response at `url`; transient errors are retried.
    async fn fetch(&self, url: &Url, post: Option<&'static str>) -> Result<(HeaderMap, Bytes), GithubError> {
        let mut retries = 0;
        loop {
            match self.fetch_once(url, post).await {
                Err(error) if error.is_transient() => {
                    let Some(pause) = retry::pause(&self.client.transport.limits.pauses, retries) else {
                        return Err(error);
                    };
                    retries += 1;
                    tokio::time::sleep(pause).await;
                }
                result => return result,
            }
        }
    }

    async fn fetch_once(&self, url: &Url, post: Option<&'static str>) -> Result<(HeaderMap, Bytes), GithubError> {
        let transport = &self.client.transport;
        let request = ApiRequest {
            accept: JSON,
            etag: None,
            authorization: Some(self.authorization.clone()),
            account: self.account,
            post,
            is_download: false,
            may_use_reserve: true,
        };
        let response = transport.send(url.clone(), &request, &mut None).await?.response;
        match response.status() {
            status if status.is_success() => {
                let headers = response.headers().clone();
                Ok((headers, transport.read(response, MAX_BYTES).await?))
            }
            status if status.is_redirection() => Err(GithubError::BadRedirect("to an address outside its API")),
            status => Err(GithubError::Unexpected(status.as_u16())),
        }
    }
}

fn decode<T: DeserializeOwned>(subject: &str, body: &[u8]) -> Result<T, GithubError> {
    // The cause could quote the response.
    serde_json::from_slice(body).map_err(|_| GithubError::Malformed(subject.to_owned()))
}

fn no_access(repo: &RepoId) -> Verdict {
    Verdict::NoRight(format!(
        "repository {repo} does not exist, or this token may not read it; send a token that may"
    ))
}

fn renamed_verdict(repo: &RepoId, full_name: &str) -> Verdict {
    match renamed(repo, full_name) {
        Some(new_repo) => Verdict::NoRight(format!("{repo} was renamed to {new_repo}; send that as repo_url")),
        None => no_access(repo),
    }
}

/// The error if GitHub gives no verdict now. The cause goes to the log, and the time of a retry to the caller.
fn unavailable(error: &GithubError, repo: &RepoId) -> AuthError {
    AuthError::Unavailable(match error {
        GithubError::RateLimited(limit) => format!(
            "GitHub's rate limit for this credential is used up, so it cannot be verified; try again in {} s",
            limit.seconds()
        ),
        error => {
            tracing::warn!(%error, %repo, "GitHub could not verify the token of a caller");
            "your token cannot be verified with GitHub at the moment; try again in a few seconds".to_owned()
        }
    })
}

/// A display name: one line, without characters that control a terminal or the direction of text.
fn display_name(name: Option<&str>) -> Option<String> {
    let plain: String = plain_text(name?).chars().take(MAX_NAME_CHARACTERS).collect();
    let plain = plain.trim();
    (!plain.is_empty()).then(|| plain.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_plain_line_of_some_length() {
        for (name, expected) in [
            (None, None),
            (Some(""), None),
            (Some(" \n\t\u{7} "), None),
            (Some("\u{202e}\u{200b}"), None),
            (Some(" Mona Lisa "), Some("Mona Lisa")),
            (Some("Mo\u{1b}[31mna\r\nLisa\0\u{85}"), Some("Mo[31mna Lisa")),
            (Some("a\u{202e}b\u{2066}c"), Some("abc")),
            (Some("größe 名前 👩‍💻"), Some("größe 名前 👩💻")),
        ] {
            assert_eq!(display_name(name).as_deref(), expected, "{name:?}");
        }
        assert_eq!(
            display_name(Some(&"é".repeat(9_000))).unwrap().chars().count(),
            MAX_NAME_CHARACTERS
        );
    }
}
