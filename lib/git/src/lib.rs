//! Git repositories on this machine, read from their object databases, and from a checkout where it is certainly the same.
//!
//! - `open`, `open_error`: from paths on the command line to repositories, with sentences for a terminal
//! - `identity`: which [`RepoId`] a repository on disk has
//! - `upstream`: which reference is the head of a branch
//! - `references`: what a reference leads to, read fresh on every call
//! - `branch_names`: all of them, for suggestions in place of one that does not exist
//! - `objects`: the object database, while `git gc` replaces it
//! - `history`, `ancestry`: commits and their parents, reachability
//! - `comparison`: files that two commits have alike
//! - `tree`, `file_names`, `blobs`, `checkout`, `index_prefetch`: files
//! - `deadline`: nothing here waits for a disk without an end
//!
//! Nothing configured in a repository is ever run: no hooks, filters, credential helpers or fsmonitors. The environment of
//! the caller (`GIT_DIR` and the like, set inside a hook) is ignored; the paths that were given decide.

mod ancestry;
mod blobs;
mod branch_names;
mod checkout;
mod comparison;
mod deadline;
mod file_names;
mod history;
mod identity;
mod index_prefetch;
mod objects;
mod open;
mod open_error;
mod references;
mod repository;
mod tree;
mod upstream;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use coord::domain::{Branch, CommitSha, FilePath, RepoId};
use coord::source::{BlobSink, Comparison, Hold, Reachable, Source, SourceError, SourceHealth, Tip, TreeEntry};

use open::Purpose;
pub use open_error::OpenError;
use repository::Repository;

/// How long names to suggest for a missing branch are looked for. Those not seen by then are not listed.
const SUGGESTIONS_LIMIT: Duration = Duration::from_millis(300);
/// How long the answer that a branch is missing may take altogether, on a machine or a disk that is busy.
const MISSING_LIMIT: Duration = Duration::from_secs(5);
/// How long one question of reachability may walk before its answer is [`Reachable::Unknown`].
const WALK_LIMIT: Duration = Duration::from_secs(2);
/// How long listing commits may take.
const HISTORY_LIMIT: Duration = Duration::from_secs(5);
/// How long listing all files of a commit may take.
const TREE_LIMIT: Duration = Duration::from_secs(60);
/// How long one call of [`Source::read_blobs`] may take.
const BLOBS_LIMIT: Duration = Duration::from_secs(300);

/// Where one of the given paths led, as it was when it was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The repository.
    pub repo: RepoId,
    /// The root of the worktree that the path is in; the repository folder where there is none (bare). Absolute.
    pub path: PathBuf,
    /// The folder that all worktrees of the repository share, absolute: `.git` of the main worktree, mostly.
    pub git_folder: PathBuf,
    /// The branch that is checked out in this worktree. Where HEAD is detached, names no branch, or one that was not pushed:
    /// what `origin/HEAD` names, else `main`, else `master`, else the only branch, if it has a head.
    pub default_branch: Option<Branch>,
    /// The commit that is checked out in this worktree, full length. `None` where it has no commit yet.
    pub head: Option<CommitSha>,
    /// The head of `default_branch`. `None` where that has none: it has no commit yet, or has not been pushed.
    pub tip: Option<Tip>,
    /// The branch that is checked out, where it has a commit and no head: nobody has pushed it.
    pub unpushed: Option<Branch>,
    /// HEAD names a commit and no branch.
    pub detached: bool,
    /// History is cut off: the repository is a shallow clone.
    pub shallow: bool,
    /// There is no branch with a commit, and HEAD has none either.
    pub is_empty: bool,
}

/// How a clone is fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchSettings {
    /// The remotes that heads are read from, by name.
    pub remotes: Vec<String>,
    /// `core.sshCommand`.
    pub ssh_command: Option<String>,
}

/// One or several repositories on this machine.
#[derive(Debug)]
pub struct GitSource {
    repositories: Vec<Arc<Repository>>,
    opened: Vec<Opened>,
}

impl GitSource {
    /// Opens the repositories that `paths` are in: a repository, a worktree, a folder inside one, or a bare repository.
    /// Paths into one repository, such as several of its worktrees, count as that repository.
    ///
    /// Reads the disk and waits for it: call it before serving, or off the runtime's threads.
    ///
    /// # Errors
    /// When one of them cannot be served, or two repositories would have the same id. Nothing is opened then.
    pub fn open(paths: &[PathBuf]) -> Result<GitSource, OpenError> {
        open::open(paths, Purpose::Serving, None)
    }

    /// The same for a store that others use as well: `machine` tells repositories without a remote from theirs.
    ///
    /// # Errors
    /// As those of [`Self::open`].
    pub fn open_shared(paths: &[PathBuf], machine: &str) -> Result<GitSource, OpenError> {
        open::open(paths, Purpose::Serving, Some(machine))
    }

    /// Opens the repository that `path` is in as [`Self::open`] does, to read the files of one commit, now and once: what
    /// that begins with is read on a blocking thread of the runtime meanwhile, where there is one.
    ///
    /// # Errors
    /// As those of [`Self::open`].
    pub fn open_once(path: &Path) -> Result<GitSource, OpenError> {
        open::open(&[path.to_owned()], Purpose::OneCommit, None)
    }

    /// What was opened: one entry for each worktree or bare repository among the given paths, in the order given.
    pub fn opened(&self) -> Vec<Opened> {
        self.opened.clone()
    }

    /// The commit that `revision` names in the worktree at `path`: anything that `git rev-parse` takes, such as `HEAD~3`,
    /// a branch, a tag, or an abbreviated id.
    ///
    /// # Errors
    /// When the worktree cannot be opened, or the revision names no one commit there.
    pub fn revision(path: &Path, revision: &str) -> Result<CommitSha, OpenError> {
        open::revision(path, revision)
    }

    /// The remotes of `repo` that heads are read from, by name.
    ///
    /// # Errors
    /// When the repository is not served, or its configuration cannot be read.
    pub fn remotes(&self, repo: &RepoId) -> Result<Vec<String>, SourceError> {
        self.find(repo)?.upstream_remotes()
    }

    /// Number of files of the tree that was listed last whose names cannot be served: not UTF-8, too long, or no names of files.
    pub fn names_left_out(&self, repo: &RepoId) -> usize {
        self.find(repo).map_or(0, |repository| repository.names_left_out())
    }

    /// How `repo` is fetched.
    ///
    /// # Errors
    /// As those of [`Self::remotes`].
    pub fn fetch_settings(&self, repo: &RepoId) -> Result<FetchSettings, SourceError> {
        let repository = self.find(repo)?;
        let handle = repository.objects().handle();
        Ok(FetchSettings {
            remotes: repository.upstream_remotes()?,
            ssh_command: handle
                .config_snapshot()
                .string("core.sshCommand")
                .map(|command| command.to_string()),
        })
    }

    fn find(&self, repo: &RepoId) -> Result<&Arc<Repository>, SourceError> {
        self.repositories
            .iter()
            .find(|repository| repository.id() == repo)
            .ok_or_else(|| SourceError::UnknownRepository {
                repo: repo.clone(),
                known: self.repositories(),
            })
    }
}

#[async_trait]
impl Source for GitSource {
    fn repositories(&self) -> Vec<RepoId> {
        self.repositories
            .iter()
            .map(|repository| repository.id().clone())
            .collect()
    }

    fn serves(&self, repo: &RepoId) -> Result<(), SourceError> {
        self.find(repo).map(|_| ())
    }

    fn health(&self) -> SourceHealth {
        let is_readable =
            |repository: &Arc<Repository>| std::fs::File::open(repository.common_dir().join("HEAD")).is_ok();
        if self.repositories.iter().all(is_readable) {
            SourceHealth::Ok
        } else {
            SourceHealth::Unreachable
        }
    }

    async fn head(&self, repo: &RepoId, branch: &Branch) -> Result<CommitSha, SourceError> {
        self.tip(repo, branch).await.map(|tip| tip.commit)
    }

    /// Reads the reference on the calling thread: two or three system calls, a few microseconds, where handing the work
    /// to another thread would cost several times that.
    async fn tip(&self, repo: &RepoId, branch: &Branch) -> Result<Tip, SourceError> {
        let repository = self.find(repo)?;
        if let Some(tip) = repository.tip(branch)? {
            return Ok(tip);
        }
        let (repository, branch) = (Arc::clone(repository), branch.clone());
        deadline::run(MISSING_LIMIT, move |_| Err(repository.unknown_branch(&branch))).await
    }

    async fn is_ancestor(
        &self,
        repo: &RepoId,
        ancestor: &CommitSha,
        descendant: &CommitSha,
    ) -> Result<Reachable, SourceError> {
        let repository = self.find(repo)?;
        if let Some(answer) = repository.remembered(ancestor, descendant) {
            return Ok(answer);
        }
        let (repository, ancestor, descendant) = (Arc::clone(repository), ancestor.clone(), descendant.clone());
        deadline::run(WALK_LIMIT, move |deadline| {
            repository.is_ancestor(&ancestor, &descendant, deadline)
        })
        .await
    }

    async fn compare(
        &self,
        repo: &RepoId,
        base: &CommitSha,
        tip: &CommitSha,
        paths: &[FilePath],
    ) -> Result<Comparison, SourceError> {
        let repository = Arc::clone(self.find(repo)?);
        let (base, tip, paths) = (base.clone(), tip.clone(), paths.to_vec());
        deadline::run(WALK_LIMIT, move |deadline| {
            repository.compare(&base, &tip, &paths, deadline)
        })
        .await
    }

    async fn recent_commits(
        &self,
        repo: &RepoId,
        tip: &CommitSha,
        limit: usize,
    ) -> Result<Vec<CommitSha>, SourceError> {
        let (repository, tip) = (Arc::clone(self.find(repo)?), tip.clone());
        deadline::run(HISTORY_LIMIT, move |deadline| {
            repository.recent_commits(&tip, limit, deadline)
        })
        .await
    }

    async fn tree(&self, repo: &RepoId, commit: &CommitSha) -> Result<Vec<TreeEntry>, SourceError> {
        let (repository, commit) = (Arc::clone(self.find(repo)?), commit.clone());
        deadline::run(TREE_LIMIT, move |deadline| repository.tree(&commit, deadline)).await
    }

    fn hold(&self, repo: &RepoId) -> Option<Hold> {
        let hold = self.find(repo).ok()?.hold_checkouts();
        Some(hold)
    }

    async fn read_blobs(
        &self,
        repo: &RepoId,
        blobs: Vec<String>,
        max_bytes: u64,
        sink: BlobSink,
    ) -> Result<(), SourceError> {
        let repository = Arc::clone(self.find(repo)?);
        deadline::run(BLOBS_LIMIT, move |deadline| {
            repository.read_blobs(&blobs, max_bytes, &sink, deadline)
        })
        .await
    }
}
