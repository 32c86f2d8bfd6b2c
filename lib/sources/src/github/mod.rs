//! Repositories on GitHub, or on a GitHub Enterprise Server, read through the REST API.
//!
//! - `config`, `credential`, `app`: the API and the service's own credential
//! - `address`: URLs that may be requested
//! - `transport`, `client`, `limits`: one request; its retries; the limits of both
//! - `rate_limit`, `error`: rate limits, which stop further requests; errors
//! - `heads`, `refresh`, `condition`, `history`, `tree`: the requests
//! - `people`, `token_scope`: holders of callers' tokens, verified with those tokens
//! - `blobs`, `download`, `archive`, `known_tree`, `blob_id`: contents, one by one or from the archive of a commit
//! - [`webhook`]: deliveries from GitHub
//!
//! Responses are not trusted: each is limited in bytes and time, and contents count only if they have the requested
//! hash. A credential, the service's or a caller's, is sent only to the configured API.

mod address;
mod app;
mod archive;
mod blob_id;
mod blobs;
mod client;
mod condition;
mod config;
mod credential;
mod download;
mod error;
mod heads;
mod history;
mod known_tree;
mod limits;
mod people;
mod rate_limit;
mod refresh;
mod token_scope;
mod transport;
mod tree;
pub mod webhook;

use std::sync::Arc;

use async_trait::async_trait;
use tokio::time::timeout;

pub use address::ApiBase;
pub use app::App;
pub use config::GithubConfig;
pub use credential::Credential;
pub use limits::Limits;

use super::{BlobSink, Comparison, KnownHead, Reachable, RefreshedHead, Source, SourceError, TreeEntry};
use address::{Slug, renamed};
use client::Client;
use coord_auth::{AuthError, Verdict};
use coord_domain::{Branch, CommitSha, FilePath, RepoId};
use coord_runtime::single_flight::SingleFlight;
use error::GithubError;
use heads::Heads;
use history::History;
use known_tree::{KnownTree, KnownTrees};
use rate_limit::TokenHash;
use transport::Transport;

/// Verifications in progress.
type Verifications = SingleFlight<(TokenHash, RepoId), Result<Verdict, AuthError>>;

/// Repositories behind one GitHub API.
#[derive(Debug)]
pub struct GithubSource {
    client: Arc<Client>,
    /// The repositories that are served; `None` for all.
    only: Option<Vec<RepoId>>,
    heads: Arc<Heads>,
    history: Arc<History>,
    trees: KnownTrees,
    downloads: download::Downloads,
    verifications: Verifications,
    scope: Option<token_scope::Scope>,
}

impl GithubSource {
    /// A source with these settings. It connects at the first request.
    ///
    /// # Errors
    /// When the HTTP client cannot be built; a text for the operator.
    pub fn new(config: GithubConfig) -> Result<Self, String> {
        let transport = Transport::new(config.api, config.limits)?;
        Ok(GithubSource {
            client: Arc::new(Client::new(transport, config.credential)),
            only: config.only,
            heads: Arc::new(Heads::new(config.head_max_age)),
            history: Arc::new(History::new()),
            trees: KnownTrees::default(),
            downloads: download::Downloads::default(),
            verifications: Verifications::default(),
            scope: config.scope,
        })
    }

    /// The default branch of the repository.
    ///
    /// # Errors
    /// As [`Source::head`].
    pub async fn default_branch(&self, repo: &RepoId) -> Result<Branch, SourceError> {
        let slug = self.slug(repo)?;
        let name = heads::default_branch(&self.client, &slug)
            .await
            .map_err(|error| error.into_source_error(repo))?;
        Branch::parse(&name)
            .map_err(|_| SourceError::Unreachable(format!("{repo}: its default branch has no valid name")))
    }

    /// The host in the URLs of its repositories.
    pub fn host(&self) -> &str {
        self.client.transport.api.served_host()
    }

    /// Owner and name of `repo`, if it is on this API and is served.
    fn slug(&self, repo: &RepoId) -> Result<Slug, SourceError> {
        let is_served = self.only.as_ref().is_none_or(|only| only.contains(repo));
        let slug = self.client.transport.api.slug(repo).filter(|_| is_served);
        slug.ok_or_else(|| SourceError::UnknownRepository {
            repo: repo.clone(),
            known: self.repositories(),
            renamed_to: None,
        })
    }
}

#[async_trait]
impl Source for GithubSource {
    /// The configured repositories; all of GitHub cannot be listed.
    fn repositories(&self) -> Vec<RepoId> {
        self.only.clone().unwrap_or_default()
    }

    fn serves(&self, repo: &RepoId) -> Result<(), SourceError> {
        self.slug(repo).map(|_| ())
    }

    fn renamed_to(&self, repo: &RepoId) -> Option<RepoId> {
        let full_name = self.client.new_name(&self.slug(repo).ok()?)?;
        renamed(repo, &full_name)
    }

    async fn head(&self, repo: &RepoId, branch: &Branch) -> Result<CommitSha, SourceError> {
        let slug = self.slug(repo)?;
        self.heads.head(&self.client, &slug, repo, branch).await
    }

    fn keeps_heads_in_store(&self, _: &RepoId) -> bool {
        true
    }

    async fn refresh_head(
        &self,
        repo: &RepoId,
        branch: &Branch,
        known: Option<&KnownHead>,
    ) -> Result<RefreshedHead, SourceError> {
        let slug = self.slug(repo)?;
        self.heads.refresh(&self.client, &slug, repo, branch, known).await
    }

    async fn is_ancestor(
        &self,
        repo: &RepoId,
        ancestor: &CommitSha,
        descendant: &CommitSha,
    ) -> Result<Reachable, SourceError> {
        let slug = self.slug(repo)?;
        self.history
            .is_ancestor(&self.client, &slug, repo, ancestor, descendant)
            .await
    }

    async fn compare(
        &self,
        repo: &RepoId,
        base: &CommitSha,
        tip: &CommitSha,
        paths: &[FilePath],
    ) -> Result<Comparison, SourceError> {
        let slug = self.slug(repo)?;
        self.history
            .changes(&self.client, &slug, repo, (base, tip), paths)
            .await
    }

    async fn work_in_copy(
        &self,
        repo: &RepoId,
        pushed: &CommitSha,
        copy: &CommitSha,
        paths: &[FilePath],
    ) -> Result<Comparison, SourceError> {
        let slug = self.slug(repo)?;
        let pair = (repo.clone(), pushed.clone(), copy.clone());
        self.history.changes_since_fork(&self.client, &slug, pair, paths).await
    }

    async fn recent_commits(
        &self,
        repo: &RepoId,
        tip: &CommitSha,
        limit: usize,
    ) -> Result<Vec<CommitSha>, SourceError> {
        let slug = self.slug(repo)?;
        self.history.recent_commits(&self.client, &slug, repo, tip, limit).await
    }

    async fn tree(&self, repo: &RepoId, commit: &CommitSha) -> Result<Vec<TreeEntry>, SourceError> {
        let slug = self.slug(repo)?;
        let files = tree::tree(&self.client, &slug, commit)
            .await
            .map_err(|error| match error {
                GithubError::NotFound | GithubError::NoSuchCommit | GithubError::Empty => {
                    SourceError::Unreachable(format!("{repo} has no commit {commit}"))
                }
                error => error.into_source_error(repo),
            })?;
        self.trees.put(KnownTree::new(repo, commit, &files));
        Ok(files.into_iter().map(|file| file.entry).collect())
    }

    async fn read_blobs(
        &self,
        repo: &RepoId,
        blobs: Vec<String>,
        max_bytes: u64,
        sink: BlobSink,
    ) -> Result<(), SourceError> {
        let slug = self.slug(repo)?;
        let request = blobs::BlobRequest {
            repo: repo.clone(),
            slug,
            blobs,
            max_bytes,
            sink,
        };
        let limit = self.client.transport.limits.blobs;
        let timeout_error = || GithubError::Timeout {
            subject: "contents",
            limit,
        };
        timeout(limit, request.run(&self.client, &self.trees, &self.downloads))
            .await
            .unwrap_or_else(|_| Err(timeout_error().into_source_error(repo)))
    }
}
