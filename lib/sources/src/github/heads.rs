//! Heads of branches: fetched by conditional request, in a single flight, and cached for a short time.

use std::sync::Arc;
use std::time::Duration;

use quick_cache::sync::{Cache, EntryAction, EntryResult};
use reqwest::header::HeaderValue;
use serde::Deserialize;
use tokio::time::Instant;

use super::address::Slug;
use super::client::{Answer, Client, RepositoryRequest, SHA};
use super::condition::Condition;
use super::error::GithubError;
use crate::name_suggestions::NameSuggestions;
use crate::{RefreshedHead, SourceError};
use coord_domain::{Branch, CommitSha, RepoId};
use coord_runtime::single_flight::SingleFlight;

/// Maximum of branches remembered.
const MOST: usize = 4_096;
/// Maximum of repositories whose branch names are remembered.
const MOST_NAMES: usize = 128;
/// How long an ETag is trusted. After that the full response is fetched, in case the ETag is wrong.
const ETAG_FOR: Duration = Duration::from_secs(300);
/// How long the names of a repository's branches are used for suggestions.
const NAMES_FOR: Duration = Duration::from_secs(60);
/// One page of branches: GitHub's maximum.
const PAGE: &str = "100";
/// An id, perhaps with a newline.
const ID_BYTES: u64 = 256;

#[derive(Debug)]
pub(super) struct Heads {
    max_age: Duration,
    known: Cache<(RepoId, Branch), KnownBranchHead>,
    asking: SingleFlight<(RepoId, Branch), Result<CommitSha, SourceError>>,
    /// The condition is part of the key: a caller that sends no ETag needs a full response.
    pub(super) refreshing: SingleFlight<(RepoId, Branch, Option<Condition>), Result<RefreshedHead, SourceError>>,
    names: Cache<RepoId, Names>,
}

/// Suggestions for a missing branch. They are cached, so that an invented branch name costs one request.
#[derive(Clone, Debug)]
struct Names {
    requested_at: Instant,
    branches: Arc<Vec<String>>,
    /// Known once no other name was near.
    default_branch: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct KnownBranchHead {
    /// The head, or that there is no such branch or repository.
    pub(super) answer: Result<CommitSha, SourceError>,
    pub(super) etag: Option<HeaderValue>,
    /// Time of the last response.
    pub(super) requested_at: Instant,
    /// Time of the last full response.
    pub(super) read: Instant,
}

/// GitHub's response about a head.
#[derive(Debug)]
pub(super) enum HeadResponse {
    /// The head of the ETag is current (304).
    NotModified,
    /// The head, and its ETag.
    Head(CommitSha, Option<HeaderValue>),
    /// There is no such branch or repository.
    Failed(SourceError),
}

#[derive(Deserialize)]
struct Named {
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
            known: Cache::new(MOST),
            asking: SingleFlight::default(),
            refreshing: SingleFlight::default(),
            names: Cache::new(MOST_NAMES),
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
        if let Some(known) = self
            .known_head(&key)
            .filter(|known| known.requested_at.elapsed() < self.max_age)
        {
            return known.answer;
        }
        let (heads, client, slug) = (Arc::clone(self), Arc::clone(client), slug.clone());
        let question = key.clone();
        let ask = move || async move { heads.ask(&client, &slug, question).await };
        self.asking.join(key, ask).await?
    }

    pub(super) fn known_head(&self, key: &(RepoId, Branch)) -> Option<KnownBranchHead> {
        self.known.get(key)
    }

    /// Remembers a response, unless the response to a later request is already known.
    pub(super) fn remember(&self, key: (RepoId, Branch), answer: KnownBranchHead) {
        let replaced = self.known.entry(&key, None, |_, known| {
            if known.requested_at <= answer.requested_at {
                known.clone_from(&answer);
            }
            EntryAction::Retain(())
        });
        if let EntryResult::Vacant(place) = replaced {
            // Fails if another request has inserted one meanwhile, which is as good.
            let _ = place.insert(answer);
        }
    }

    async fn ask(&self, client: &Client, slug: &Slug, key: (RepoId, Branch)) -> Result<CommitSha, SourceError> {
        let requested_at = Instant::now();
        let before = self.known_head(&key);
        let before = before.filter(|known| known.answer.is_ok() && known.read.elapsed() < ETAG_FOR);
        let etag = before.as_ref().and_then(|known| known.etag.as_ref());
        let (answer, etag, read) = match (self.fetch_conditional(client, slug, &key, etag, true).await?, before) {
            (HeadResponse::NotModified, Some(before)) => (before.answer, before.etag, before.read),
            (HeadResponse::NotModified, None) => return Err(GithubError::Unexpected(304).about(&key.0)),
            (HeadResponse::Head(commit, etag), _) => (Ok(commit), etag, requested_at),
            (HeadResponse::Failed(error), _) => (Err(error), None, requested_at),
        };
        let known = KnownBranchHead {
            answer: answer.clone(),
            etag,
            requested_at,
            read,
        };
        self.remember(key, known);
        answer
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
        let ask = RepositoryRequest {
            path: &path,
            query: &[],
            accept: SHA,
            etag,
            max_bytes: ID_BYTES,
            within: client.transport.limits.small,
            is_about_known_head: is_known,
        };
        let error = match client.ask(slug, &ask).await {
            Ok(Answer::NotModified) => return Ok(HeadResponse::NotModified),
            Ok(Answer::Body(body, etag)) => {
                let commit = full_id(&body).map_err(|error| error.about(repo))?;
                return Ok(HeadResponse::Head(commit, etag));
            }
            Err(GithubError::Empty) => unknown_branch(repo, branch, Vec::new(), true),
            // GitHub responds 422 for a missing branch; 404 may mean the repository.
            Err(GithubError::NoSuchCommit | GithubError::NotFound) => self.missing(client, slug, repo, branch).await,
            Err(error) => error.about(repo),
        };
        let is_answer = matches!(
            error,
            SourceError::UnknownBranch { .. } | SourceError::UnknownRepository { .. }
        );
        if is_answer {
            Ok(HeadResponse::Failed(error))
        } else {
            Err(error)
        }
    }

    /// The error for a missing branch: name suggestions, or that the repository is missing too.
    async fn missing(&self, client: &Client, slug: &Slug, repo: &RepoId, branch: &Branch) -> SourceError {
        let names = match self.names(client, slug, repo).await {
            Ok(names) => names,
            Err(GithubError::Empty) => return unknown_branch(repo, branch, Vec::new(), true),
            Err(error) => return error.about(repo),
        };
        let mut suggestions = NameSuggestions::near(branch.as_str());
        for name in names.branches.iter() {
            suggestions.see(name);
        }
        let mut suggestions = suggestions.into_names();
        if suggestions.is_empty() {
            let known = match names.default_branch.clone() {
                Some(name) => Ok(name),
                None => default_branch(client, slug).await,
            };
            match known {
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

    /// Names of branches: the first page, which is enough for suggestions.
    async fn names(&self, client: &Client, slug: &Slug, repo: &RepoId) -> Result<Names, GithubError> {
        if let Some(names) = self
            .names
            .get(repo)
            .filter(|names| names.requested_at.elapsed() < NAMES_FOR)
        {
            return Ok(names);
        }
        let ask = client.small(&["branches"], &[("per_page", PAGE)]);
        let named: Vec<Named> = client.json(slug, &ask).await?;
        let names = Names {
            requested_at: Instant::now(),
            branches: Arc::new(named.into_iter().map(|named| named.name).collect()),
            default_branch: None,
        };
        self.names.insert(repo.clone(), names.clone());
        Ok(names)
    }
}

/// The default branch of the repository.
pub(super) async fn default_branch(client: &Client, slug: &Slug) -> Result<String, GithubError> {
    let repository: Repository = client.json(slug, &client.small(&[], &[])).await?;
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

/// A full id and nothing else.
fn full_id(body: &[u8]) -> Result<CommitSha, GithubError> {
    let text = std::str::from_utf8(body).ok().map(str::trim);
    let text = text.filter(|text| matches!(text.len(), 40 | 64));
    text.and_then(|text| CommitSha::parse(text).ok())
        .ok_or_else(|| GithubError::Malformed("a response without a commit id".to_owned()))
}
