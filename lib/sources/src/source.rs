//! The trait [`Source`], its results and its errors.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;

use coord_domain::file_path::to_nfc;
use coord_domain::{Branch, CommitSha, FilePath, RepoId};
use coord_graph::{Blob, EntryKind, TreeEntry};
use coord_runtime::single_flight::Unfinished;

use crate::health::SourceHealth;

/// Maximum number of files and folders in a tree. A few nested trees can contain billions of files, and a build over
/// 980,000 paths took 323 MiB; real repositories are far below.
pub const MAX_TREE_ENTRIES: usize = 750_000;

/// Maximum bytes of the paths of a tree. Folders with long names take much memory with few objects.
pub const MAX_TREE_PATH_BYTES: usize = 64 << 20;

/// Why a source failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SourceError {
    /// This source does not serve that repository. `known` lists those that it serves.
    #[error("repository {repo} is not served here")]
    UnknownRepository {
        /// The repository in the request.
        repo: RepoId,
        /// Repositories that are served.
        known: Vec<RepoId>,
        /// The current name, if it was renamed.
        renamed_to: Option<RepoId>,
    },
    /// The repository has no such branch. `suggestions` lists branches with a similar name, the most similar first.
    #[error("branch {branch} does not exist in {repo}{}", if *.is_empty { ": it has no commits yet" } else { "" })]
    UnknownBranch {
        repo: RepoId,
        /// The branch in the request.
        branch: Branch,
        /// Up to five branches with a similar name, or the default branch.
        suggestions: Vec<String>,
        /// The repository has no commits yet, and so no branches.
        is_empty: bool,
        /// A sentence for the caller: why the branch is missing, and the fix.
        hint: Option<String>,
    },
    /// The repository could not be read. The text is for the log, not for callers.
    #[error("the repository cannot be read: {0}")]
    Unreachable(String),
    /// The rate limit of the source is used up.
    #[error(
        "the {} rate limit is reached; the next request is allowed in {retry_after_seconds} s",
        if *.is_secondary { "secondary" } else { "primary" }
    )]
    RateLimited {
        /// Seconds until the next attempt; at least 1.
        retry_after_seconds: u64,
        /// Whether a secondary limit is used up (too many requests at once), not the hourly one.
        is_secondary: bool,
    },
    /// The settings of the source are missing or wrong. The text is for the caller: it names the setting.
    #[error("{0}")]
    NotConfigured(String),
}

impl From<Unfinished> for SourceError {
    fn from(unfinished: Unfinished) -> Self {
        SourceError::Unreachable(unfinished.to_string())
    }
}

/// The result of [`Source::hold`].
pub type Hold = Arc<dyn std::any::Any + Send + Sync>;

/// Whether one commit is reachable from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reachable {
    /// It is an ancestor, or the same commit.
    Yes,
    No,
    /// An object is missing (not fetched, or cut off in a shallow clone), or the time did not suffice.
    Unknown,
}

/// How a commit relates to an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Whether the earlier commit is reachable from the later.
    pub descends: Reachable,
    /// Whether it is the other way round: the "later" commit is an ancestor of the earlier one.
    pub precedes: Reachable,
    /// For each requested file, whether it is equal in both commits, or missing in both; `None` if unknown.
    pub same: Vec<Option<bool>>,
    /// For each requested file that differs, its blob in the later commit, empty if it is gone; `None` if unknown.
    pub blobs: Vec<Option<String>>,
}

impl Comparison {
    /// The relation of two commits, without a comparison of `count` files.
    pub fn of_commits(descends: Reachable, precedes: Reachable, count: usize) -> Self {
        Comparison {
            descends,
            precedes,
            same: vec![None; count],
            blobs: vec![None; count],
        }
    }

    /// Whether the file with this index is certainly equal in both.
    pub fn is_same(&self, index: usize) -> bool {
        self.same.get(index).copied().flatten() == Some(true)
    }
}

/// Receives blobs: the index in the slice of requested ids, and the result of reading that blob. Several threads call
/// it concurrently, in any order, once for each id.
pub type BlobSink = Arc<dyn Fn(usize, Blob<'_>) + Send + Sync>;

/// A head that was recorded before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KnownHead {
    /// The commit, full length.
    pub commit: CommitSha,
    /// The ETag of the response that named it.
    pub etag: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefreshedHead {
    /// The commit, full length.
    pub commit: CommitSha,
    /// The ETag for the next conditional request.
    pub etag: Option<String>,
    /// Whether the response was full, and not a 304 that confirms the known head.
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

/// A source of repositories. It limits the time of every call itself.
#[async_trait]
pub trait Source: Send + Sync + 'static {
    /// The repositories of this source, if they can be listed.
    fn repositories(&self) -> Vec<RepoId>;

    /// Whether `repo` may be served, as far as is known without a request.
    ///
    /// # Errors
    /// [`SourceError::UnknownRepository`] if it may not.
    fn serves(&self, repo: &RepoId) -> Result<(), SourceError> {
        let _ = repo;
        Ok(())
    }

    /// The new name of `repo`, if the source already knows that it was renamed. Sends no request.
    fn renamed_to(&self, repo: &RepoId) -> Option<RepoId> {
        let _ = repo;
        None
    }

    /// Its health, without a request: this may read the disk, but sends nothing.
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

    /// Whether heads of `repo` are expensive, and are therefore kept in the store with their age. Other heads are
    /// fetched for every request.
    fn keeps_heads_in_store(&self, repo: &RepoId) -> bool {
        let _ = repo;
        false
    }

    /// The current head of `branch` at its origin, bypassing all caches. `known`, with the ETag of the last response,
    /// allows a conditional request. Callers omit the ETag now and then, to detect an origin with wrong ETags.
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

    /// Whether `ancestor` is reachable from `descendant`. Either may be an abbreviated id. The source may cache
    /// [`Reachable::Unknown`] for a short time.
    async fn is_ancestor(
        &self,
        repo: &RepoId,
        ancestor: &CommitSha,
        descendant: &CommitSha,
    ) -> Result<Reachable, SourceError>;

    /// How `tip` relates to `base`, and whether `paths` are equal in both. The source looks again for a commit that it
    /// did not have before, because the caller says that it was pushed.
    async fn compare(
        &self,
        repo: &RepoId,
        base: &CommitSha,
        tip: &CommitSha,
        paths: &[FilePath],
    ) -> Result<Comparison, SourceError> {
        let descends = self.is_ancestor(repo, base, tip).await?;
        let precedes = match descends {
            Reachable::Yes => Reachable::No,
            Reachable::No | Reachable::Unknown => self.is_ancestor(repo, tip, base).await?,
        };
        Ok(Comparison::of_commits(descends, precedes, paths.len()))
    }

    /// The differences of `copy`, the commit of a working copy, from `pushed` for `paths`. A file is the same if it is
    /// equal in both, or if it is equal in `copy` and in their newest common ancestor. The blobs are those of `copy`.
    async fn work_in_copy(
        &self,
        repo: &RepoId,
        pushed: &CommitSha,
        copy: &CommitSha,
        paths: &[FilePath],
    ) -> Result<Comparison, SourceError> {
        let comparison = self.compare(repo, copy, pushed, paths).await?;
        Ok(Comparison {
            blobs: vec![None; paths.len()],
            ..comparison
        })
    }

    /// Up to `limit` commits reachable from `tip`, newest first, full length.
    async fn recent_commits(&self, repo: &RepoId, tip: &CommitSha, limit: usize)
    -> Result<Vec<CommitSha>, SourceError>;

    /// All files of the tree of `commit`, sorted by path.
    async fn tree(&self, repo: &RepoId, commit: &CommitSha) -> Result<Vec<TreeEntry>, SourceError>;

    /// The blobs of `paths` in `commit`, in the order of `paths`; `None` for a path that is not a file there.
    async fn blobs_at(
        &self,
        repo: &RepoId,
        commit: &CommitSha,
        paths: &[FilePath],
    ) -> Result<Vec<Option<String>>, SourceError> {
        let tree = self.tree(repo, commit).await?;
        let converted = tree.iter().filter_map(|entry| match to_nfc(&entry.path) {
            Cow::Owned(path) => Some((path, entry)),
            Cow::Borrowed(_) => None,
        });
        let by_nfc_path: HashMap<String, &TreeEntry> = converted.collect();
        let blob = |path: &FilePath| {
            let index = tree.binary_search_by(|entry| entry.path.as_str().cmp(path.as_str()));
            let entry = index.ok().and_then(|index| tree.get(index));
            entry
                .or_else(|| by_nfc_path.get(path.as_str()).copied())
                .filter(|entry| entry.kind == EntryKind::File)
                .map(|entry| entry.blob.clone())
        };
        Ok(paths.iter().map(blob).collect())
    }

    /// Until it is dropped, the result keeps state alive that otherwise every call of [`Self::read_blobs`] would set
    /// up. Callers with several calls hold it meanwhile. `None` if there is no such state.
    fn hold(&self, repo: &RepoId) -> Option<Hold> {
        let _ = repo;
        None
    }

    /// Reads `blobs` (hex ids) and passes each to `sink`. Blobs larger than `max_bytes` are not read.
    async fn read_blobs(
        &self,
        repo: &RepoId,
        blobs: Vec<String>,
        max_bytes: u64,
        sink: BlobSink,
    ) -> Result<(), SourceError>;
}
