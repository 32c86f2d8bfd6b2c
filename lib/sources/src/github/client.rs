//! Requests about a repository: with the credential of the service, and retried after transient errors. GitHub redirects those
//! about a repository that was renamed: two names would allow two locks on one file, so the old one is refused.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use quick_cache::sync::{Cache, EntryAction};
use reqwest::StatusCode;
use reqwest::header::{ETAG, HeaderValue, LOCATION};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;
use url::Url;

use super::address::Slug;
use super::condition::ETAG_BYTES;
use super::credential::Credential;
use super::error::GithubError;
use super::transport::{ApiRequest, ApiResponse, Transport};
use coord_runtime::retry;

/// How long the old name of a repository is refused without a request: another repository may take it.
const MOVED_FOR: Duration = Duration::from_secs(600);
/// Maximum of moved repositories remembered.
const MOST_MOVED: usize = 1_024;

/// JSON.
pub(super) const JSON: &str = "application/vnd.github+json";
/// The raw content of a blob.
pub(super) const RAW: &str = "application/vnd.github.raw+json";
/// The plain id of a commit.
pub(super) const SHA: &str = "application/vnd.github.sha";

/// A request about a repository.
#[derive(Clone, Debug)]
pub(super) struct RepositoryRequest<'a> {
    /// The path below the repository.
    pub(super) path: &'a [&'a str],
    pub(super) query: &'a [(&'a str, &'a str)],
    pub(super) accept: &'static str,
    /// The ETag of the known response.
    pub(super) etag: Option<&'a HeaderValue>,
    /// Maximum size of the response.
    pub(super) max_bytes: u64,
    /// Time limit, retries included.
    pub(super) within: Duration,
    /// Whether the request is about the known head of a branch: the last requests of an hour are reserved for those.
    pub(super) is_about_known_head: bool,
}

/// The outcome of a request.
#[derive(Debug)]
pub(super) enum Answer {
    /// A full response, and its ETag.
    Body(Bytes, Option<HeaderValue>),
    /// 304: the known response is current.
    NotModified,
}

/// The client of one API with the credential of the service.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) transport: Transport,
    credential: Credential,
    /// New places of repositories that have moved.
    moved: Cache<Slug, MovedRepository>,
}

/// The new place of a repository that has moved.
#[derive(Clone, Debug)]
struct MovedRepository {
    place: Vec<String>,
    /// The end of its use.
    until: Instant,
    /// Its name, `owner/name`, once known.
    full_name: Option<String>,
}

/// The name field of a repository.
#[derive(Deserialize)]
struct RepositoryName {
    full_name: String,
}

impl Client {
    pub(super) fn new(transport: Transport, credential: Credential) -> Self {
        Client {
            transport,
            credential,
            moved: Cache::new(MOST_MOVED),
        }
    }

    /// A request with a small JSON response.
    pub(super) fn small<'a>(&self, path: &'a [&'a str], query: &'a [(&'a str, &'a str)]) -> RepositoryRequest<'a> {
        RepositoryRequest {
            path,
            query,
            accept: JSON,
            etag: None,
            max_bytes: self.transport.limits.json_bytes,
            within: self.transport.limits.small,
            is_about_known_head: false,
        }
    }

    /// Sends a request whose response fits into memory.
    pub(super) async fn ask<'a>(
        &'a self,
        slug: &'a Slug,
        ask: &'a RepositoryRequest<'a>,
    ) -> Result<Answer, GithubError> {
        let attempt = || async move {
            let arrived = self.send(slug, ask, false).await?;
            match arrived.response.status() {
                StatusCode::NOT_MODIFIED if ask.etag.is_some() => Ok(Answer::NotModified),
                status if status.is_success() => {
                    let etag = arrived.response.headers().get(ETAG);
                    let etag = etag.filter(|etag| etag.len() <= ETAG_BYTES).cloned();
                    let body = self.transport.read(arrived.response, ask.max_bytes).await?;
                    Ok(Answer::Body(body, etag))
                }
                status if status.is_redirection() && status != StatusCode::NOT_MODIFIED => {
                    Err(GithubError::BadRedirect("out of its API"))
                }
                status => Err(GithubError::Unexpected(status.as_u16())),
            }
        };
        self.retry(ask.within, slug, || attempt().boxed()).await
    }

    /// Fetches JSON of the form `T`.
    pub(super) async fn json<T: DeserializeOwned>(
        &self,
        slug: &Slug,
        ask: &RepositoryRequest<'_>,
    ) -> Result<T, GithubError> {
        match self.ask(slug, ask).await? {
            Answer::Body(body, _) => {
                serde_json::from_slice(&body).map_err(|error| GithubError::Malformed(error.to_string()))
            }
            Answer::NotModified => Err(GithubError::Unexpected(304)),
        }
    }

    /// Sends a request and returns the response before its body is read; only errors before the body are retried.
    pub(super) async fn open<'a>(
        &'a self,
        slug: &'a Slug,
        ask: &'a RepositoryRequest<'a>,
    ) -> Result<reqwest::Response, GithubError> {
        let attempt = || async move {
            let response = self.send(slug, ask, false).await?.response;
            match response.status() {
                status if status.is_success() => Ok(response),
                status => Err(GithubError::Unexpected(status.as_u16())),
            }
        };
        self.retry(ask.within, slug, || attempt().boxed()).await
    }

    /// Opens the archive of a commit. It is on another host, which gets no credential.
    pub(super) async fn open_archive<'a>(
        &'a self,
        slug: &'a Slug,
        ask: &'a RepositoryRequest<'a>,
    ) -> Result<reqwest::Response, GithubError> {
        let attempt = || async move {
            let ApiResponse { response, url, .. } = self.send(slug, ask, true).await?;
            if response.status().is_success() {
                return Ok(response);
            }
            let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let target = location.and_then(|location| self.transport.api.download(&url, location));
            let target = target.ok_or(GithubError::BadRedirect(
                "of a download, to a host that is not GitHub's",
            ))?;
            self.transport.download(target).await
        };
        self.retry(ask.within, slug, || attempt().boxed()).await
    }

    /// Runs `attempt` until it succeeds, fails permanently, or `within` has passed. Fails for a repository that has another name.
    async fn retry<'a, T>(
        &'a self,
        within: Duration,
        slug: &'a Slug,
        attempt: impl Fn() -> BoxFuture<'a, Result<T, GithubError>>,
    ) -> Result<T, GithubError> {
        let attempts = async {
            let mut again = 0;
            let mut is_renewed = false;
            let mut is_forgotten = false;
            if let Some(full_name) = self.new_name(slug) {
                return Err(GithubError::Renamed(full_name));
            }
            loop {
                let answer = attempt().await;
                let named = match &answer {
                    Ok(_) | Err(GithubError::NotFound | GithubError::NoSuchCommit | GithubError::Empty) => {
                        self.check_name(slug).await
                    }
                    Err(_) => Ok(()),
                };
                match named.and(answer) {
                    Err(error) if error.is_passing() => {
                        let Some(pause) = retry::pause(&self.transport.limits.pauses, again) else {
                            return Err(error);
                        };
                        again += 1;
                        tracing::debug!(%error, "a request to GitHub is repeated");
                        tokio::time::sleep(pause).await;
                    }
                    Err(GithubError::BadCredential) if !is_renewed && self.credential.renew(slug) => {
                        is_renewed = true;
                    }
                    Err(GithubError::NotFound) if !is_forgotten && self.forget_move(slug) => is_forgotten = true,
                    answer => return answer,
                }
            }
        };
        let late = || GithubError::Timeout {
            subject: "response, retries included,",
            limit: within,
        };
        timeout(within, attempts).await.unwrap_or_else(|_| Err(late()))
    }

    async fn send(
        &self,
        slug: &Slug,
        ask: &RepositoryRequest<'_>,
        is_download: bool,
    ) -> Result<ApiResponse, GithubError> {
        let (authorization, account) = self.credential.show(&self.transport, slug).await?;
        let outgoing = ApiRequest {
            accept: ask.accept,
            etag: ask.etag,
            authorization,
            account,
            post: None,
            is_download,
            may_use_reserve: ask.is_about_known_head,
        };
        let place = self.place(slug);
        let segments: Vec<&str> = place
            .iter()
            .map(String::as_str)
            .chain(ask.path.iter().copied())
            .collect();
        let url = self.transport.api.url(&segments, ask.query);
        let mut moved_to = None;
        let arrived = self.transport.send(url, &outgoing, &mut moved_to).await;
        if let Some(target) = moved_to {
            self.note_move(slug, &target, ask.path);
        }
        arrived
    }

    /// The path of a repository: its new place, or the one of its name.
    fn place(&self, slug: &Slug) -> Vec<String> {
        match self.moved.get(slug) {
            Some(moved) if moved.until > Instant::now() => moved.place,
            _ => vec!["repos".to_owned(), slug.owner.clone(), slug.name.clone()],
        }
    }

    /// Records the target of a permanent redirect: GitHub identifies a renamed repository by its number.
    fn note_move(&self, slug: &Slug, target: &Url, path: &[&str]) {
        let base = self.transport.api.url(&[], &[]);
        let depth = base
            .path_segments()
            .map_or(0, |segments| segments.filter(|part| !part.is_empty()).count());
        let Some(segments) = target.path_segments() else { return };
        let segments: Vec<&str> = segments.skip(depth).collect();
        let place = match segments.as_slice() {
            ["repositories", number, rest @ ..] if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                (rest.len() == path.len()).then(|| vec!["repositories".to_owned(), (*number).to_owned()])
            }
            _ => None,
        };
        if let Some(place) = place {
            tracing::info!(%slug, to = place.join("/"), "the repository has moved");
            let moved = MovedRepository {
                place,
                until: Instant::now() + MOVED_FOR,
                full_name: None,
            };
            self.moved.insert(slug.clone(), moved);
        }
    }

    /// The new name `owner/name` of the repository at `slug`, if it is known to have another one.
    pub(super) fn new_name(&self, slug: &Slug) -> Option<String> {
        let moved = self.moved.get(slug).filter(|moved| moved.until > Instant::now())?;
        moved.full_name.filter(|full_name| !slug.is_called(full_name))
    }

    /// Records GitHub's name of the repository at `slug`, if it is a different one.
    pub(super) fn record_name(&self, slug: &Slug, full_name: &str) {
        if slug.is_called(full_name) {
            return;
        }
        let moved = MovedRepository {
            place: self.place(slug),
            until: Instant::now() + MOVED_FOR,
            full_name: Some(full_name.to_owned()),
        };
        self.moved.insert(slug.clone(), moved);
    }

    /// Asks for the name of a repository that has moved, once.
    async fn check_name(&self, slug: &Slug) -> Result<(), GithubError> {
        let moved = self.moved.get(slug).filter(|moved| moved.until > Instant::now());
        if moved.is_none_or(|moved| moved.full_name.is_some()) {
            return Ok(());
        }
        let arrived = self.send(slug, &self.small(&[], &[]), false).await?;
        let body = self
            .transport
            .read(arrived.response, self.transport.limits.json_bytes)
            .await?;
        let called: RepositoryName =
            serde_json::from_slice(&body).map_err(|error| GithubError::Malformed(error.to_string()))?;
        drop(self.moved.entry(slug, None, |_, moved| {
            moved.full_name = Some(called.full_name.clone());
            EntryAction::Retain(())
        }));
        match slug.is_called(&called.full_name) {
            true => Ok(()),
            false => Err(GithubError::Renamed(called.full_name)),
        }
    }

    /// Forgets the new place of a repository; returns whether there was one.
    fn forget_move(&self, slug: &Slug) -> bool {
        self.moved.remove(slug).is_some()
    }
}
