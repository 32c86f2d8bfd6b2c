//! Where repositories are read. One trait, [`Source`]; GitHub in [`github`], repositories on this machine in the crate
//! `coord_git`. [`Sources`] is all of a deployment. [`name_suggestions`] finds names like that of a branch that does not exist.

pub mod github;
mod health;
pub mod name_suggestions;
mod registry;

use std::sync::Arc;

use async_trait::async_trait;

use crate::domain::{Branch, CommitSha, FilePath, RepoId};
pub use coord_graph::{Blob, EntryKind, TreeEntry};
pub use health::SourceHealth;
pub use registry::Sources;

/// Why a source could not answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SourceError {
    /// This source does not have that repository. `known` lists those that it has.
    #[error("repository {repo} is not served here")]
    UnknownRepository {
        /// What was asked for.
        repo: RepoId,
        /// What there is.
        known: Vec<RepoId>,
    },
    /// The repository has no such branch. `suggestions` lists branches of a similar name, nearest first.
    #[error("branch {branch} does not exist in {repo}{}", if *.is_empty { ": it has no commits yet" } else { "" })]
    UnknownBranch {
        /// Where.
        repo: RepoId,
        /// What was asked for.
        branch: Branch,
        /// Up to five branches with a similar name: first what differs in case only, then, with the name of the remote
        /// before it (`origin/feature`), the same branch where it exists as a remote-tracking branch only and has to be
        /// created (`git branch feature origin/feature`). The default branch, where no name is similar.
        suggestions: Vec<String>,
        /// The repository has no commits yet, and so no branches.
        is_empty: bool,
        /// A sentence for the caller: why it is not there, and what to do.
        hint: Option<String>,
    },
    /// The repository could not be read. The text is for the log, not for callers.
    #[error("the repository cannot be read: {0}")]
    Unreachable(String),
    /// Where the repository is read, no more questions are taken for now.
    #[error("the {} rate limit is met; to be asked again in {retry_after_seconds} s", if *.is_secondary { "secondary" } else { "primary" })]
    RateLimited {
        /// When to ask again; at least 1.
        retry_after_seconds: u64,
        /// Whether it is for asking too much at once, and not for the number of questions in an hour.
        is_secondary: bool,
    },
    /// The source cannot be used as it is set up. The text is for the caller: it names the setting.
    #[error("{0}")]
    NotConfigured(String),
}

/// What [`Source::hold`] gives.
pub type Hold = Arc<dyn std::any::Any + Send + Sync>;

/// Whether one commit is reachable from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reachable {
    /// It is an ancestor, or the same commit.
    Yes,
    /// It is not.
    No,
    /// It cannot be told: an object is missing (not fetched, or cut off in a shallow clone).
    Unknown,
}

/// How one commit stands to an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Whether the earlier is reachable from the later.
    pub descends: Reachable,
    /// Of each file that was asked about, whether both have it alike, or neither; `None` where that cannot be told.
    pub same: Vec<Option<bool>>,
}

impl Comparison {
    /// Whether it is known that both have the file at `place` alike.
    pub fn is_same(&self, place: usize) -> bool {
        self.same.get(place).copied().flatten() == Some(true)
    }
}

/// Receives blobs: index into the slice of wanted ids, and what came of reading that one. Called from several threads at
/// once, in any order, once for each wanted id.
pub type BlobSink = Arc<dyn Fn(usize, Blob<'_>) + Send + Sync>;

/// What is known of a head from before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KnownHead {
    /// The commit, full length.
    pub commit: CommitSha,
    /// The ETag of the answer that named it.
    pub etag: Option<String>,
}

/// A head as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefreshedHead {
    /// The commit, full length.
    pub commit: CommitSha,
    /// To ask again with.
    pub etag: Option<String>,
    /// It was answered in whole, and not by saying that it is what is known already.
    pub is_whole: bool,
}

/// The head of a branch, and where it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tip {
    /// The commit, full length.
    pub commit: CommitSha,
    /// The full name of the reference: `refs/heads/main`, or `refs/remotes/origin/main` in a clone that has fetched it.
    pub reference: String,
}

/// A place where repositories are read. Every call is bounded in time by the source.
#[async_trait]
pub trait Source: Send + Sync + 'static {
    /// The repositories that this source has, where they can be listed.
    fn repositories(&self) -> Vec<RepoId>;

    /// Whether `repo` may be served, as far as that is known without asking anybody.
    ///
    /// # Errors
    /// [`SourceError::UnknownRepository`] where it may not.
    fn serves(&self, repo: &RepoId) -> Result<(), SourceError> {
        let _ = repo;
        Ok(())
    }

    /// How it is, without asking anybody: it may look at the disk, and sends nothing.
    fn health(&self) -> SourceHealth {
        SourceHealth::Unknown
    }

    /// The commit at the tip of `branch`, full length.
    async fn head(&self, repo: &RepoId, branch: &Branch) -> Result<CommitSha, SourceError>;

    /// The same, and the reference that was read.
    async fn tip(&self, repo: &RepoId, branch: &Branch) -> Result<Tip, SourceError> {
        let commit = self.head(repo, branch).await?;
        Ok(Tip {
            commit,
            reference: format!("refs/heads/{branch}"),
        })
    }

    /// Whether heads of `repo` are dear to ask for, and so are kept in the store with their age. Where not, they are asked for
    /// with every question.
    fn keeps_heads_in_store(&self, repo: &RepoId) -> bool {
        let _ = repo;
        false
    }

    /// The head of `branch` as it is now at its origin, whatever this process remembers. `known`, with the ETag of the last
    /// answer, is for a conditional request. An origin whose ETags lie is found out by asking without one, as a caller does
    /// now and then.
    async fn refresh_head(
        &self,
        repo: &RepoId,
        branch: &Branch,
        known: Option<&KnownHead>,
    ) -> Result<RefreshedHead, SourceError> {
        let _ = known;
        let commit = self.head(repo, branch).await?;
        Ok(RefreshedHead {
            commit,
            etag: None,
            is_whole: true,
        })
    }

    /// Whether `ancestor` is reachable from `descendant`. Either may be an abbreviated id.
    async fn is_ancestor(
        &self,
        repo: &RepoId,
        ancestor: &CommitSha,
        descendant: &CommitSha,
    ) -> Result<Reachable, SourceError>;

    /// How `tip` stands to `base`, and whether it has `paths` as that has them.
    async fn compare(
        &self,
        repo: &RepoId,
        base: &CommitSha,
        tip: &CommitSha,
        paths: &[FilePath],
    ) -> Result<Comparison, SourceError> {
        Ok(Comparison {
            descends: self.is_ancestor(repo, base, tip).await?,
            same: vec![None; paths.len()],
        })
    }

    /// Up to `limit` commits reachable from `tip`, newest first, full length.
    async fn recent_commits(&self, repo: &RepoId, tip: &CommitSha, limit: usize)
    -> Result<Vec<CommitSha>, SourceError>;

    /// All files of the tree of `commit`, sorted by path.
    async fn tree(&self, repo: &RepoId, commit: &CommitSha) -> Result<Vec<TreeEntry>, SourceError>;

    /// Something that keeps, until it is dropped, what every call of [`Self::read_blobs`] would begin with: whoever calls it
    /// several times holds this meanwhile. `None` where there is nothing to keep.
    fn hold(&self, repo: &RepoId) -> Option<Hold> {
        let _ = repo;
        None
    }

    /// Reads `blobs` (hex ids) and hands each to `sink`. One over `max_bytes` is not read.
    async fn read_blobs(
        &self,
        repo: &RepoId,
        blobs: Vec<String>,
        max_bytes: u64,
        sink: BlobSink,
    ) -> Result<(), SourceError>;
}
