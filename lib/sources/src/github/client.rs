//! Requests about a repository: with the credential of the service, and retried after transient errors. GitHub
//! redirects requests about a repository that was renamed. Two names would allow two locks on one file, so the old name
//! is refused.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use quick_cache::sync::{Cache, EntryAction};
use reqwest::StatusCode;
use reqwest::header::{ETAG, HeaderValue, LOCATION};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::Url;

use super::address::Slug;
use super::condition::ETAG_BYTES;
use super::credential::Credential;
use super::error::GithubError;
use super::transport::{ApiRequest, ApiResponse, JSON, Transport, within};
use coord_runtime::retry;

/// How long the old name of a repository is refused without a request. Not forever, because another repository may take
/// that name.
const MOVE_LIFETIME: Duration = Duration::from_secs(600);
/// Maximum number of moved repositories remembered.
const MAX_MOVED: usize = 1_024;

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
    pub(super) time_limit: Duration,
    /// Whether the request is about the known head of a branch. The last requests of an hour are reserved for these.
    pub(super) is_about_known_head: bool,
}

#[derive(Debug)]
pub(super) enum FetchOutcome {
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
    /// New locations of repositories that have moved.
    moved: Cache<Slug, MovedRepository>,
}

/// The new location of a repository that has moved.
#[derive(Clone, Debug)]
struct MovedRepository {
    /// Segments of its path.
    path: Vec<String>,
    valid_until: Instant,
    /// Its name, `owner/name`, once it was fetched.
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
            moved: Cache::new(MAX_MOVED),
        }
    }

    /// A request with a small JSON response. Other requests differ from it in some fields.
    pub(super) fn small_request<'a>(
        &self,
        path: &'a [&'a str],
        query: &'a [(&'a str, &'a str)],
    ) -> RepositoryRequest<'a> {
        RepositoryRequest {
            path,
            query,
            accept: JSON,
            etag: None,
            max_bytes: self.transport.limits.json_bytes,
            time_limit: self.transport.limits.small,
            is_about_known_head: false,
        }
    }

    /// Sends a request whose response fits into memory.
    pub(super) async fn fetch<'a>(
        &'a self,
        slug: &'a Slug,
        request: &'a RepositoryRequest<'a>,
    ) -> Result<FetchOutcome, GithubError> {
        let attempt = || async move {
            let response = self.send(slug, request, false).await?.response;
            match response.status() {
                StatusCode::NOT_MODIFIED if request.etag.is_some() => Ok(FetchOutcome::NotModified),
                status if status.is_success() => {
                    let etag = response.headers().get(ETAG);
                    let etag = etag.filter(|etag| etag.len() <= ETAG_BYTES).cloned();
                    let body = self.transport.read(response, request.max_bytes).await?;
                    Ok(FetchOutcome::Body(body, etag))
                }
                status if status.is_redirection() && status != StatusCode::NOT_MODIFIED => {
                    Err(GithubError::BadRedirect("to an address outside its API"))
                }
                status => Err(GithubError::Unexpected(status.as_u16())),
            }
        };
        self.retry(request.time_limit, slug, || attempt().boxed()).await
    }

    /// Fetches JSON of the form `T`.
    pub(super) async fn fetch_json<T: DeserializeOwned>(
        &self,
        slug: &Slug,
        request: &RepositoryRequest<'_>,
    ) -> Result<T, GithubError> {
        match self.fetch(slug, request).await? {
            FetchOutcome::Body(body, _) => {
                serde_json::from_slice(&body).map_err(|error| GithubError::Malformed(error.to_string()))
            }
            FetchOutcome::NotModified => Err(GithubError::Unexpected(304)),
        }
    }

    /// Sends a request, and returns the response before its body is read. Only errors before the body are retried.
    pub(super) async fn open<'a>(
        &'a self,
        slug: &'a Slug,
        request: &'a RepositoryRequest<'a>,
    ) -> Result<reqwest::Response, GithubError> {
        let attempt = || async move {
            let response = self.send(slug, request, false).await?.response;
            match response.status() {
                status if status.is_success() => Ok(response),
                status => Err(GithubError::Unexpected(status.as_u16())),
            }
        };
        self.retry(request.time_limit, slug, || attempt().boxed()).await
    }

    /// Opens the archive of a commit. It is on another host, which gets no credential.
    pub(super) async fn open_archive<'a>(
        &'a self,
        slug: &'a Slug,
        request: &'a RepositoryRequest<'a>,
    ) -> Result<reqwest::Response, GithubError> {
        let attempt = || async move {
            let ApiResponse { response, url } = self.send(slug, request, true).await?;
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
        self.retry(request.time_limit, slug, || attempt().boxed()).await
    }

    /// Runs `attempt` until it succeeds, fails permanently, or `time_limit` has passed. Fails for a repository that has
    /// another name.
    async fn retry<'a, T>(
        &'a self,
        time_limit: Duration,
        slug: &'a Slug,
        attempt: impl Fn() -> BoxFuture<'a, Result<T, GithubError>>,
    ) -> Result<T, GithubError> {
        let attempts = async {
            let mut retries = 0;
            let mut is_renewed = false;
            let mut is_forgotten = false;
            if let Some(full_name) = self.new_name(slug) {
                return Err(GithubError::Renamed(full_name));
            }
            loop {
                let result = attempt().await;
                let name_check = match &result {
                    Ok(_) | Err(GithubError::NotFound | GithubError::NoSuchCommit | GithubError::Empty) => {
                        self.check_name(slug).await
                    }
                    Err(_) => Ok(()),
                };
                match name_check.and(result) {
                    Err(error) if error.is_transient() => {
                        let Some(pause) = retry::pause(&self.transport.limits.pauses, retries) else {
                            return Err(error);
                        };
                        retries += 1;
                        tracing::debug!(%error, "retrying a request to GitHub");
                        tokio::time::sleep(pause).await;
                    }
                    Err(GithubError::BadCredential) if !is_renewed && self.credential.renew(slug) => {
                        is_renewed = true;
                    }
                    Err(GithubError::NotFound) if !is_forgotten && self.forget_move(slug) => is_forgotten = true,
                    result => return result,
                }
            }
        };
        within(time_limit, "response, retries included,", attempts).await
    }

    async fn send(
        &self,
        slug: &Slug,
        request: &RepositoryRequest<'_>,
        is_download: bool,
    ) -> Result<ApiResponse, GithubError> {
        let (authorization, account) = self.credential.authorization(&self.transport, slug).await?;
        let api_request = ApiRequest {
            accept: request.accept,
            etag: request.etag,
            authorization,
            account,
            post: None,
            is_download,
            may_use_reserve: request.is_about_known_head,
        };
        let repository_path = self.repository_path(slug);
        let segments: Vec<&str> = repository_path
            .iter()
            .map(String::as_str)
            .chain(request.path.iter().copied())
            .collect();
        let url = self.transport.api.url(&segments, request.query);
        let mut moved_to = None;
        let response = self.transport.send(url, &api_request, &mut moved_to).await;
        if let Some(target) = moved_to {
            self.note_move(slug, &target, request.path);
        }
        response
    }

    /// The path of a repository: its new location, or the path of its name.
    fn repository_path(&self, slug: &Slug) -> Vec<String> {
        match self.valid_move(slug) {
            Some(moved) => moved.path,
            None => vec!["repos".to_owned(), slug.owner.clone(), slug.name.clone()],
        }
    }

    fn valid_move(&self, slug: &Slug) -> Option<MovedRepository> {
        self.moved.get(slug).filter(|moved| moved.valid_until > Instant::now())
    }

    /// Records the target of a permanent redirect: GitHub identifies a renamed repository by its number.
    fn note_move(&self, slug: &Slug, target: &Url, path: &[&str]) {
        let base = self.transport.api.url(&[], &[]);
        let depth = base
            .path_segments()
            .map_or(0, |segments| segments.filter(|part| !part.is_empty()).count());
        let Some(segments) = target.path_segments() else { return };
        let segments: Vec<&str> = segments.skip(depth).collect();
        let new_path = match segments.as_slice() {
            ["repositories", number, rest @ ..] if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                (rest.len() == path.len()).then(|| vec!["repositories".to_owned(), (*number).to_owned()])
            }
            _ => None,
        };
        if let Some(path) = new_path {
            tracing::info!(%slug, to = path.join("/"), "the repository has moved");
            let moved = MovedRepository {
                path,
                valid_until: Instant::now() + MOVE_LIFETIME,
                full_name: None,
            };
            self.moved.insert(slug.clone(), moved);
        }
    }

    /// The new name `owner/name` of the repository at `slug`, if this process knows that it was renamed.
    pub(super) fn new_name(&self, slug: &Slug) -> Option<String> {
        let full_name = self.valid_move(slug)?.full_name?;
        (!slug.has_name(&full_name)).then_some(full_name)
    }

    /// Records GitHub's name of the repository at `slug`, if it is a different one.
    pub(super) fn record_name(&self, slug: &Slug, full_name: &str) {
        if slug.has_name(full_name) {
            return;
        }
        let moved = MovedRepository {
            path: self.repository_path(slug),
            valid_until: Instant::now() + MOVE_LIFETIME,
            full_name: Some(full_name.to_owned()),
        };
        self.moved.insert(slug.clone(), moved);
    }

    /// Fetches the name of a repository that has moved, once, and fails if it is another one.
    async fn check_name(&self, slug: &Slug) -> Result<(), GithubError> {
        let moved = self.valid_move(slug);
        if moved.is_none_or(|moved| moved.full_name.is_some()) {
            return Ok(());
        }
        let request = self.small_request(&[], &[]);
        let response = self.send(slug, &request, false).await?.response;
        let body = self.transport.read(response, request.max_bytes).await?;
        let repository: RepositoryName =
            serde_json::from_slice(&body).map_err(|error| GithubError::Malformed(error.to_string()))?;
        let full_name = repository.full_name;
        drop(self.moved.entry(slug, None, |_, moved| {
            moved.full_name = Some(full_name.clone());
            EntryAction::Retain(())
        }));
        if slug.has_name(&full_name) {
            Ok(())
        } else {
            Err(GithubError::Renamed(full_name))
        }
    }

    /// Forgets the new location of a repository. Returns whether there was one.
    fn forget_move(&self, slug: &Slug) -> bool {
        self.moved.remove(slug).is_some()
    }
}
