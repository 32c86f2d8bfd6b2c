//! Git repositories on this machine. Their content is read from the object database, or from a checkout if that
//! certainly has the same content.
//!
//! - `open`, `open_error`: from paths on the command line to repositories, with sentences for a terminal
//! - `special_files`: refuses repositories with named pipes in place of git's own files
//! - `repository`: one repository on disk
//! - `identity`, `local_name`: the [`RepoId`] of a repository on disk
//! - `clones`: the clones of one repository
//! - `upstream`: the reference that is the head of a branch
//! - `references`: the target of a reference, read on every call; `external_git`: what only git can read
//! - `recent_tips`: heads that a server read a moment ago
//! - `pushed`: pushes that no reference shows
//! - `branch_names`, `missing_branch`: suggestions for a branch that does not exist
//! - `objects`: the object database, while `git gc` replaces it
//! - `history`, `ancestry`: commits and their parents, reachability
//! - `comparison`: which files two commits have in common
//! - `tree`, `blobs`, `checkout`, `index_prefetch`: files
//! - `working_copy`, `working_copy_files`, `working_copy_pushes`: what an agent needs to know of a worktree
//! - `deadline`: a time limit for work that may wait for a disk
//!
//! This crate never runs anything that a repository configures: no hooks, filters, credential helpers or fsmonitors. It
//! ignores the caller's environment (`GIT_DIR` and the like, set inside a hook); only the given paths decide.

mod ancestry;
mod blobs;
mod branch_names;
mod checkout;
mod clones;
mod comparison;
mod deadline;
mod external_git;
mod history;
mod identity;
mod index_prefetch;
mod local_name;
mod missing_branch;
mod objects;
mod open;
mod open_error;
mod pushed;
mod recent_tips;
mod references;
mod repository;
mod special_files;
mod tree;
mod upstream;
mod working_copy;
mod working_copy_files;
mod working_copy_pushes;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use coord_domain::{Branch, CommitSha, FilePath, RepoId};
use coord_files::PathState;
use coord_sources::{BlobSink, Comparison, Hold, Reachable, Source, SourceError, SourceHealth, Tip, TreeEntry};
use parking_lot::RwLock;

use clones::Clones;
pub use external_git::{GitRunner, register_git};
pub use open::OpenedRepository;
use open::{Purpose, open};
pub use open_error::{OpenError, display_path};
pub use pushed::RecordedPush;
use recent_tips::RecentTips;
use repository::Repository;
pub use working_copy::{WorkingCopy, without_symbolic_links};
pub use working_copy_pushes::UnfinishedOperation;

/// Time limit for finding out that a branch is missing, and why, on a busy machine or disk.
const MISSING_LIMIT: Duration = Duration::from_secs(5);
/// Time limit of one walk for reachability; after it the result is [`Reachable::Unknown`].
const WALK_LIMIT: Duration = Duration::from_secs(2);
/// Time limit for listing commits.
const HISTORY_LIMIT: Duration = Duration::from_secs(5);
/// Time limit for listing all files of a commit.
const TREE_LIMIT: Duration = Duration::from_secs(60);
/// Time limit of one call of [`Source::read_blobs`].
const BLOBS_LIMIT: Duration = Duration::from_secs(300);

/// The settings with which a clone is fetched.
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
    opened: Vec<OpenedRepository>,
    /// Further clones of these repositories, added while the server runs.
    joined: RwLock<Vec<Arc<Repository>>>,
    /// The recent tips that requests share, if they do ([`Self::sharing_heads`]).
    recent: Option<RecentTips>,
}

impl GitSource {
    /// Lets requests within the same millisecond share one read of a head.
    #[must_use]
    pub fn sharing_heads(self) -> GitSource {
        GitSource {
            recent: Some(RecentTips::default()),
            ..self
        }
    }

    fn open_for(paths: &[PathBuf], purpose: Purpose, machine: Option<&str>) -> Result<GitSource, OpenError> {
        let (repositories, opened) = open(paths, purpose, machine)?;
        Ok(GitSource {
            repositories,
            opened,
            joined: RwLock::default(),
            recent: None,
        })
    }

    /// Opens the repositories that contain `paths`. A path is a repository, a worktree, a folder inside one, or a bare
    /// repository. A bare repository counts only if the path names it: a folder inside one finds nothing. Several paths
    /// into one repository, such as several of its worktrees or clones, count as that repository.
    ///
    /// Blocks on the disk: call it before serving, or outside the threads of the runtime.
    ///
    /// # Errors
    /// When a path cannot be served, or two repositories without a remote have the same id. Nothing is opened then.
    pub fn open(paths: &[PathBuf]) -> Result<GitSource, OpenError> {
        GitSource::open_for(paths, Purpose::Serving, None)
    }

    /// [`Self::open`] for a shared store: `machine` distinguishes repositories without a remote from those of other
    /// machines.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_shared(paths: &[PathBuf], machine: &str) -> Result<GitSource, OpenError> {
        GitSource::open_for(paths, Purpose::Serving, Some(machine))
    }

    /// Opens the repository that contains `path`, to read the files of one commit, once. Meanwhile, the first reads
    /// start on a blocking thread of the runtime, if there is a runtime.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_once(path: &Path) -> Result<GitSource, OpenError> {
        GitSource::open_for(&[path.to_owned()], Purpose::OneCommit, None)
    }

    /// Whether the clone with git's own folder `common_dir` is open, and is still the one that was opened.
    pub fn has_clone(&self, common_dir: &Path) -> bool {
        let joined = self.joined.read();
        let mut clones = self.repositories.iter().chain(joined.iter());
        clones.any(|clone| clone.common_dir() == common_dir && clone.path_state() == PathState::Same)
    }

    /// Reads another clone of `repo` as well, the one with git's own folder `common_dir`.
    ///
    /// # Errors
    /// When it cannot be read, or is another repository.
    pub fn add_clone(&self, repo: &RepoId, common_dir: &Path) -> Result<(), OpenError> {
        let clone = open::clone(common_dir)?;
        if clone.id() != repo {
            return Err(OpenError::Unsupported {
                path: common_dir.to_owned(),
                why: "it is another repository",
            });
        }
        let mut joined = self.joined.write();
        joined.retain(|other| other.common_dir() != clone.common_dir());
        joined.push(Arc::new(clone));
        if let Some(recent) = &self.recent {
            recent.clear();
        }
        Ok(())
    }

    /// Writes down the names of repositories without a remote, so that they keep them.
    pub fn keep_names(&self) {
        for repository in &self.repositories {
            if identity::is_local(repository.id())
                && let Err(error) = local_name::keep(repository.common_dir())
            {
                tracing::debug!(%error, "the name of the repository cannot be written");
            }
        }
    }

    /// Why these repositories cannot be served anymore, in a sentence: a folder was replaced, or all of them are gone.
    pub fn lost_reason(&self) -> Option<String> {
        let repositories = &self.repositories;
        let replaced = repositories.iter().find(|one| one.path_state() == PathState::Replaced);
        let are_all_lost = repositories.iter().all(|one| one.path_state() != PathState::Same);
        let lost = replaced.or_else(|| repositories.first().filter(|_| are_all_lost));
        lost.map(|repository| {
            format!(
                "the repository at {} was deleted or replaced",
                repository.common_dir().display()
            )
        })
    }

    /// The opened worktrees and bare repositories, one entry each, in the order of the given paths.
    pub fn opened(&self) -> Vec<OpenedRepository> {
        self.opened.clone()
    }

    /// The id of the repository with git's own folder `common_dir`; `None` if it cannot be read.
    pub fn id_at(common_dir: &Path) -> Option<RepoId> {
        open::clone(common_dir).ok().map(|clone| clone.id().clone())
    }

    /// The commit that `revision` names in the worktree at `path`: anything that `git rev-parse` accepts, such as
    /// `HEAD~3`, a branch, a tag, or an abbreviated id.
    ///
    /// # Errors
    /// When the worktree cannot be opened, or the revision does not name exactly one commit.
    pub fn revision(path: &Path, revision: &str) -> Result<CommitSha, OpenError> {
        open::revision(path, revision)
    }

    /// The remotes of `repo` that heads are read from, by name.
    ///
    /// # Errors
    /// When the repository is not served, or its configuration cannot be read.
    pub fn remotes(&self, repo: &RepoId) -> Result<Vec<String>, SourceError> {
        self.find(repo)?.first.upstream_remotes()
    }

    /// Number of files in the tree listed last whose names cannot be served: not UTF-8, too long, or not valid as file
    /// names.
    pub fn names_left_out(&self, repo: &RepoId) -> usize {
        self.find(repo).map_or(0, |clones| {
            clones.all().map(|clone| clone.names_left_out()).max().unwrap_or(0)
        })
    }

    /// The settings with which `repo` is fetched.
    ///
    /// # Errors
    /// As [`Self::remotes`].
    pub fn fetch_settings(&self, repo: &RepoId) -> Result<FetchSettings, SourceError> {
        let repository = self.find(repo)?.first;
        let handle = repository.objects.handle();
        Ok(FetchSettings {
            remotes: repository.upstream_remotes()?,
            ssh_command: handle
                .config_snapshot()
                .string("core.sshCommand")
                .map(|command| command.to_string()),
        })
    }

    fn find(&self, repo: &RepoId) -> Result<Clones, SourceError> {
        let clones = Clones::of(self.repositories.iter().chain(self.joined.read().iter()), repo);
        clones.ok_or_else(|| SourceError::UnknownRepository {
            repo: repo.clone(),
            known: self.repositories(),
            renamed_to: None,
        })
    }
}

#[async_trait]
impl Source for GitSource {
    fn repositories(&self) -> Vec<RepoId> {
        let mut ids: Vec<RepoId> = Vec::new();
        for repository in &self.repositories {
            if !ids.contains(repository.id()) {
                ids.push(repository.id().clone());
            }
        }
        ids
    }

    fn serves(&self, repo: &RepoId) -> Result<(), SourceError> {
        self.find(repo).map(|_| ())
    }

    fn health(&self) -> SourceHealth {
        let is_readable = |repository: &Arc<Repository>| {
            repository.path_state() == PathState::Same
                && std::fs::File::open(repository.common_dir().join("HEAD")).is_ok()
        };
        if self.repositories.iter().all(is_readable) {
            SourceHealth::Ok
        } else {
            SourceHealth::Unreachable
        }
    }

    async fn head(&self, repo: &RepoId, branch: &Branch) -> Result<CommitSha, SourceError> {
        self.tip(repo, branch).await.map(|tip| tip.commit)
    }

    /// Reads the reference on the calling thread: two or three system calls take a few microseconds, less than handing
    /// the work to another thread.
    async fn tip(&self, repo: &RepoId, branch: &Branch) -> Result<Tip, SourceError> {
        if let Some(recent) = &self.recent
            && let Some(tip) = recent.find(repo, branch)
        {
            return Ok(tip);
        }
        let (clones, began) = (self.find(repo)?, Instant::now());
        let mut tips = clones.tips(branch)?;
        if tips.len() < 2
            && let Some(tip) = tips.pop()
        {
            if let Some(recent) = &self.recent {
                recent.note(repo, branch, &tip, began);
            }
            return Ok(tip);
        }
        let branch = branch.clone();
        deadline::run(MISSING_LIMIT, move |deadline| {
            let newest = clones.newest(tips, deadline);
            newest.ok_or_else(|| clones.first.unknown_branch(&branch))
        })
        .await
    }

    async fn is_ancestor(
        &self,
        repo: &RepoId,
        ancestor: &CommitSha,
        descendant: &CommitSha,
    ) -> Result<Reachable, SourceError> {
        let clones = self.find(repo)?;
        if let Some(reachable) = clones.cached_ancestry(ancestor, descendant) {
            return Ok(reachable);
        }
        let (ancestor, descendant) = (ancestor.clone(), descendant.clone());
        deadline::run(WALK_LIMIT, move |deadline| {
            clones.is_ancestor(&ancestor, &descendant, deadline)
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
        let clones = self.find(repo)?;
        let (base, tip, paths) = (base.clone(), tip.clone(), paths.to_vec());
        deadline::run(WALK_LIMIT, move |deadline| {
            clones.compare(&base, &tip, &paths, deadline)
        })
        .await
    }

    async fn recent_commits(
        &self,
        repo: &RepoId,
        tip: &CommitSha,
        limit: usize,
    ) -> Result<Vec<CommitSha>, SourceError> {
        let (clones, tip) = (self.find(repo)?, tip.clone());
        deadline::run(HISTORY_LIMIT, move |deadline| {
            clones.clone_with_commit(&tip).recent_commits(&tip, limit, deadline)
        })
        .await
    }

    async fn tree(&self, repo: &RepoId, commit: &CommitSha) -> Result<Vec<TreeEntry>, SourceError> {
        let (clones, commit) = (self.find(repo)?, commit.clone());
        deadline::run(TREE_LIMIT, move |deadline| {
            clones.clone_with_commit(&commit).tree(&commit, deadline)
        })
        .await
    }

    async fn blobs_at(
        &self,
        repo: &RepoId,
        commit: &CommitSha,
        paths: &[FilePath],
    ) -> Result<Vec<Option<String>>, SourceError> {
        let (clones, commit, paths) = (self.find(repo)?, commit.clone(), paths.to_vec());
        deadline::run(WALK_LIMIT, move |deadline| {
            clones.clone_with_commit(&commit).blobs_at(&commit, &paths, deadline)
        })
        .await
    }

    fn hold(&self, repo: &RepoId) -> Option<Hold> {
        let holds: Vec<_> = self
            .find(repo)
            .ok()?
            .all()
            .map(|clone| clone.hold_checkouts())
            .collect();
        Some(Arc::new(holds))
    }

    async fn read_blobs(
        &self,
        repo: &RepoId,
        blobs: Vec<String>,
        max_bytes: u64,
        sink: BlobSink,
    ) -> Result<(), SourceError> {
        let clones = self.find(repo)?;
        deadline::run(BLOBS_LIMIT, move |deadline| {
            clones
                .clone_with_blobs(&blobs)
                .read_blobs(&blobs, max_bytes, &sink, deadline)
        })
        .await
    }
}
