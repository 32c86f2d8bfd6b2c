//! Heads of branches: fetched by conditional request, in a single flight, and cached for a short time.

use std::sync::Arc;
use std::time::Duration;

use quick_cache::sync::{Cache, EntryAction, EntryResult};
use reqwest::header::HeaderValue;
use serde::Deserialize;
use tokio::time::Instant;

use super::address::Slug;
use super::client::{Client, FetchOutcome, RepositoryRequest, SHA};
use super::condition::Condition;
use super::error::GithubError;
use crate::name_suggestions::NameSuggestions;
use crate::{RefreshedHead, SourceError};
use coord_domain::{Branch, CommitSha, RepoId};
use coord_runtime::single_flight::SingleFlight;

/// Maximum number of branches remembered.
const MAX_HEADS: usize = 4_096;
/// Maximum number of repositories whose branch names are remembered.
const MAX_NAMES: usize = 128;
/// How long an ETag is trusted. After that the full response is fetched, in case the ETag is wrong.
const ETAG_LIFETIME: Duration = Duration::from_secs(300);
/// How long the names of a repository's branches are used for suggestions.
const NAMES_LIFETIME: Duration = Duration::from_secs(60);
/// The size of a page of branches: GitHub's maximum.
const PAGE_SIZE: &str = "100";
/// Maximum size of a response with an id, perhaps with a newline.
const MAX_ID_BYTES: u64 = 256;

#[derive(Debug)]
pub(super) struct Heads {
    max_age: Duration,
    cache: Cache<(RepoId, Branch), CachedHead>,
    fetches: SingleFlight<(RepoId, Branch), Result<CommitSha, SourceError>>,
    /// The condition is part of the key: a caller that sends no ETag needs a full response.
    pub(super) refreshes: SingleFlight<(RepoId, Branch, Option<Condition>), Result<RefreshedHead, SourceError>>,
    names: Cache<RepoId, Names>,
}

/// Suggestions for a missing branch. They are cached, so that an invented branch name costs only one request.
#[derive(Clone, Debug)]
struct Names {
    requested_at: Instant,
    branches: Arc<Vec<String>>,
    /// Fetched only when no branch has a similar name.
    default_branch: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct CachedHead {
    /// The head, or that there is no such branch or repository.
    pub(super) result: Result<CommitSha, SourceError>,
    pub(super) etag: Option<HeaderValue>,
    /// Time of the request for the last response.
    pub(super) requested_at: Instant,
    /// Time of the request for the last full response.
    pub(super) read_at: Instant,
}

/// GitHub's response about a head.
#[derive(Debug)]
pub(super) enum HeadResponse {
    /// The head that the ETag is from is current (304).
    NotModified,
    /// The head, and its ETag.
    Head(CommitSha, Option<HeaderValue>),
    /// There is no such branch or repository.
    Missing(SourceError),
}

#[derive(Deserialize)]
struct ListedBranch {
    name: String,
}

#[derive(Deserialize)]
struct Repository {
    default_branch: String,
}

impl Heads {
    pub(super) fn new(max_age: Duration) -> Self {
        Heads {
            max_age,
            cache: Cache::new(MAX_HEADS),
            fetches: SingleFlight::default(),
            refreshes: SingleFlight::default(),
            names: Cache::new(MAX_NAMES),
        }
    }

    /// The commit at the tip of `branch`.
    pub(super) async fn head(
        self: &Arc<Self>,
        client: &Arc<Client>,
        slug: &Slug,
        repo: &RepoId,
        branch: &Branch,
    ) -> Result<CommitSha, SourceError> {
        let key = (repo.clone(), branch.clone());
        if let Some(cached) = self
            .cached_head(&key)
            .filter(|cached| cached.requested_at.elapsed() < self.max_age)
        {
            return cached.result;
        }
        let (heads, client, slug) = (Arc::clone(self), Arc::clone(client), slug.clone());
        let flight = key.clone();
        let fetch = move || async move { heads.fetch(&client, &slug, key).await };
        self.fetches.join(flight, fetch).await?
    }

    pub(super) fn cached_head(&self, key: &(RepoId, Branch)) -> Option<CachedHead> {
        self.cache.get(key)
    }

    /// Caches a response, unless the response to a later request is already cached.
    pub(super) fn remember(&self, key: (RepoId, Branch), head: CachedHead) {
        let entry = self.cache.entry(&key, None, |_, cached| {
            if cached.requested_at <= head.requested_at {
                cached.clone_from(&head);
            }
            EntryAction::Retain(())
        });
        if let EntryResult::Vacant(slot) = entry {
            // Fails if another request has inserted a response meanwhile, which serves as well.
            let _ = slot.insert(head);
        }
    }

    async fn fetch(&self, client: &Client, slug: &Slug, key: (RepoId, Branch)) -> Result<CommitSha, SourceError> {
        let requested_at = Instant::now();
        let cached = self.cached_head(&key);
        let cached = cached.filter(|cached| cached.result.is_ok() && cached.read_at.elapsed() < ETAG_LIFETIME);
        let etag = cached.as_ref().and_then(|cached| cached.etag.as_ref());
        let (result, etag, read_at) = match (self.fetch_conditional(client, slug, &key, etag, true).await?, cached) {
            (HeadResponse::NotModified, Some(cached)) => (cached.result, cached.etag, cached.read_at),
            (HeadResponse::NotModified, None) => return Err(GithubError::Unexpected(304).into_source_error(&key.0)),
            (HeadResponse::Head(commit, etag), _) => (Ok(commit), etag, requested_at),
            (HeadResponse::Missing(error), _) => (Err(error), None, requested_at),
        };
        let head = CachedHead {
            result: result.clone(),
            etag,
            requested_at,
            read_at,
        };
        self.remember(key, head);
        result
    }

    /// GitHub's current response for a head, conditional on `etag`. `is_known` says whether any head is known.
    pub(super) async fn fetch_conditional(
        &self,
        client: &Client,
        slug: &Slug,
        (repo, branch): &(RepoId, Branch),
        etag: Option<&HeaderValue>,
        is_known: bool,
    ) -> Result<HeadResponse, SourceError> {
        // With the prefix `heads/`, as documented: a plain name could also be a tag or the beginning of an id.
        let path: Vec<&str> = ["commits", "heads"]
            .into_iter()
            .chain(branch.as_str().split('/'))
            .collect();
        let request = RepositoryRequest {
            accept: SHA,
            etag,
            max_bytes: MAX_ID_BYTES,
            is_about_known_head: is_known,
            ..client.small_request(&path, &[])
        };
        let error = match client.fetch(slug, &request).await {
            Ok(FetchOutcome::NotModified) => return Ok(HeadResponse::NotModified),
            Ok(FetchOutcome::Body(body, etag)) => {
                let commit = full_id(&body).map_err(|error| error.into_source_error(repo))?;
                return Ok(HeadResponse::Head(commit, etag));
            }
            Err(GithubError::Empty) => unknown_branch(repo, branch, Vec::new(), true),
            // GitHub responds 422 for a missing branch; 404 may also mean the repository.
            Err(GithubError::NoSuchCommit | GithubError::NotFound) => {
                self.missing_branch(client, slug, repo, branch).await
            }
            Err(error) => error.into_source_error(repo),
        };
        let is_missing = matches!(
            error,
            SourceError::UnknownBranch { .. } | SourceError::UnknownRepository { .. }
        );
        if is_missing {
            Ok(HeadResponse::Missing(error))
        } else {
            Err(error)
        }
    }

    /// The error for a missing branch: name suggestions, or that the repository is missing too.
    async fn missing_branch(&self, client: &Client, slug: &Slug, repo: &RepoId, branch: &Branch) -> SourceError {
        let names = match self.names(client, slug, repo).await {
            Ok(names) => names,
            Err(GithubError::Empty) => return unknown_branch(repo, branch, Vec::new(), true),
            Err(error) => return error.into_source_error(repo),
        };
        let mut suggestions = NameSuggestions::new(branch.as_str());
        for name in names.branches.iter() {
            suggestions.add(name);
        }
        let mut suggestions = suggestions.into_names();
        if suggestions.is_empty() {
            let default_branch = match names.default_branch.clone() {
                Some(name) => Ok(name),
                None => default_branch(client, slug).await,
            };
            match default_branch {
                Ok(name) => {
                    let default_branch = Some(name.clone());
                    self.names.insert(
                        repo.clone(),
                        Names {
                            default_branch,
                            ..names
                        },
                    );
                    suggestions.extend(Some(name).filter(|name| name != branch.as_str()));
                }
                Err(error) => tracing::debug!(%error, %repo, "the default branch is not known"),
            }
        }
        unknown_branch(repo, branch, suggestions, false)
    }

    /// Names of branches: the first page, which suffices for suggestions.
    async fn names(&self, client: &Client, slug: &Slug, repo: &RepoId) -> Result<Names, GithubError> {
        if let Some(names) = self
            .names
            .get(repo)
            .filter(|names| names.requested_at.elapsed() < NAMES_LIFETIME)
        {
            return Ok(names);
        }
        let request = client.small_request(&["branches"], &[("per_page", PAGE_SIZE)]);
        let branches: Vec<ListedBranch> = client.fetch_json(slug, &request).await?;
        let names = Names {
            requested_at: Instant::now(),
            branches: Arc::new(branches.into_iter().map(|branch| branch.name).collect()),
            default_branch: None,
        };
        self.names.insert(repo.clone(), names.clone());
        Ok(names)
    }
}

/// The default branch of the repository.
pub(super) async fn default_branch(client: &Client, slug: &Slug) -> Result<String, GithubError> {
    let repository: Repository = client.fetch_json(slug, &client.small_request(&[], &[])).await?;
    Ok(repository.default_branch)
}

fn unknown_branch(repo: &RepoId, branch: &Branch, suggestions: Vec<String>, is_empty: bool) -> SourceError {
    SourceError::UnknownBranch {
        repo: repo.clone(),
        branch: branch.clone(),
        suggestions,
        is_empty,
        hint: None,
    }
}

/// The id in a body that consists of a full id and nothing else.
fn full_id(body: &[u8]) -> Result<CommitSha, GithubError> {
    let text = std::str::from_utf8(body).ok().map(str::trim);
    let text = text.filter(|text| matches!(text.len(), 40 | 64));
    text.and_then(|text| CommitSha::parse(text).ok())
        .ok_or_else(|| GithubError::Malformed("a response without a commit id".to_owned()))
}
