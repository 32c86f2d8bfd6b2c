//! A working copy as the tools of an agent see it: which repository and branch its work is for, and its commits.
//!
//! It is opened at a file or folder that a tool works on, not at the folder of the process, because an agent edits in
//! several worktrees. Each call reads again, because the agent commits and pushes meanwhile.

use std::path::{Component, Path, PathBuf};

use coord_domain::{Branch, CommitSha, FilePath, RepoId};
use coord_sources::Tip;
use gix::bstr::ByteSlice;

use coord_files::RootedPath;

use super::open::Worktree;
use super::open_error::OpenError;
use super::repository::Repository;

/// A working copy: a clone or one of its worktrees.
pub struct WorkingCopy {
    pub(super) worktree: Worktree,
    pub(super) repository: Repository,
}

impl WorkingCopy {
    /// The working copy that `path` is in. A missing path counts by the nearest existing folder.
    ///
    /// # Errors
    /// When no repository contains the path, git does not trust it, or it is bare.
    pub fn containing(path: &Path) -> Result<WorkingCopy, OpenError> {
        let worktree = worktree_of(path)?;
        if worktree.handle.workdir().is_none() {
            return Err(OpenError::Unsupported {
                path: worktree.path,
                why: "it is bare, and has no files to work on; run this in a clone or a worktree",
            });
        }
        let repository = worktree.repository(None)?;
        Ok(WorkingCopy { worktree, repository })
    }

    /// The working copy that `path` is in, as [`WorkingCopy::containing`]. `None` if no repository contains the path,
    /// or if the repository is bare.
    ///
    /// # Errors
    /// When git does not trust the repository, or it cannot be read.
    pub fn find(path: &Path) -> Result<Option<WorkingCopy>, OpenError> {
        let worktree = match worktree_of(path) {
            Err(OpenError::NoRepository { .. }) => return Ok(None),
            worktree => worktree?,
        };
        if worktree.handle.workdir().is_none() {
            return Ok(None);
        }
        let repository = worktree.repository(None)?;
        Ok(Some(WorkingCopy { worktree, repository }))
    }

    /// The root of the working copy that `path` is in: the nearest folder above it that has a `.git`. `None` if there
    /// is none. `path` need not exist. This only looks for files, so it is fast.
    pub fn root_containing(path: &Path) -> Option<PathBuf> {
        let path = without_symbolic_links(&std::path::absolute(path).ok()?);
        let root = path.ancestors().find(|folder| folder.join(".git").exists());
        root.map(Path::to_owned)
    }

    /// Its root, absolute, without symbolic links.
    pub fn root(&self) -> &Path {
        &self.worktree.path
    }

    pub(super) fn handle(&self) -> &gix::Repository {
        &self.worktree.handle
    }

    /// Git's own folder of this working copy: `.git`, or `.git/worktrees/NAME` of the main one.
    pub fn git_folder(&self) -> &Path {
        self.worktree.handle.git_dir()
    }

    /// The folder that all worktrees of the repository share, mostly `.git` of the main one.
    pub fn shared_folder(&self) -> &Path {
        &self.worktree.common_dir
    }

    /// The id of the repository, from the remote `origin` or the only remote, or else from its stored name. A server
    /// with a shared store has another id for a repository without a remote ([`crate::GitSource::open_shared`]).
    pub fn repo(&self) -> &RepoId {
        self.repository.id()
    }

    /// Whether a remote gives the repository its name: without one, no other machine can mean the same repository.
    pub fn has_remote(&self) -> bool {
        !super::identity::is_local(self.repo())
    }

    /// The value of a setting of git, such as `coord.url`: the repository's own, or else the user's. `None` if it is
    /// empty.
    pub fn setting(&self, key: &str) -> Option<String> {
        let config = self.worktree.handle.config_snapshot();
        setting_value(&config.string(key)?)
    }

    /// The value of a setting, if the repository's own configuration sets it. The author of the repository, who may not
    /// be the user, may have written that. `None` if only the user's configuration sets it, or nothing does.
    pub fn own_setting(&self, key: &str) -> Option<String> {
        let config = self.worktree.handle.config_snapshot();
        config.plumbing().string_filter(key, is_from_repository)?;
        self.setting(key)
    }

    /// The value of a setting in the user's or the system's configuration, whatever the repository's own configuration
    /// says.
    pub fn user_setting(&self, key: &str) -> Option<String> {
        let config = self.worktree.handle.config_snapshot();
        let is_users = |section: &gix::config::file::Metadata| !is_from_repository(section);
        setting_value(&config.plumbing().string_filter(key, is_users)?)
    }

    /// The commit that is checked out. `None` before the first one.
    pub fn head(&self) -> Option<CommitSha> {
        let id = self.worktree.head_id()?;
        CommitSha::parse(&id.to_string()).ok()
    }

    /// The branch that is checked out or being rebased. `None` if HEAD is detached otherwise.
    pub fn checked_out(&self) -> Option<Branch> {
        let name = match self.worktree.head_name().ok()? {
            Some(name) => name,
            None => self.rebased_branch()?,
        };
        Branch::parse(name.strip_prefix("refs/heads/")?).ok()
    }

    /// The full name of the branch that is being rebased.
    fn rebased_branch(&self) -> Option<String> {
        let folders = ["rebase-merge", "rebase-apply"].map(|folder| RootedPath::new(self.git_folder(), folder));
        let text = folders
            .iter()
            .find_map(|folder| folder.join("head-name").read(4096).ok()?)?;
        Some(String::from_utf8(text).ok()?.trim_end().to_owned())
    }

    /// The branch that the work is for, and the checked-out branch if that is another. Work is for the upstream of the
    /// checked-out branch, if that has another name. Otherwise it is for the default branch: the branch that
    /// `origin/HEAD` names, `main` or `master`. If there is none of these, it is for the checked-out branch.
    pub fn branches(&self) -> Option<(Branch, Option<Branch>)> {
        let Some(checked_out) = self.checked_out() else {
            return Some((self.repository.default_branch()?, None));
        };
        let key = format!("branch.{checked_out}.merge");
        let config = self.worktree.handle.config_snapshot();
        let upstream = config.string(key.as_str()).and_then(|name| {
            let name = name.strip_prefix(b"refs/heads/")?.to_str().ok()?.to_owned();
            Branch::parse(&name).ok()
        });
        let upstream = upstream.filter(|upstream| *upstream != checked_out);
        let branch = upstream.or_else(|| self.repository.default_branch());
        Some(match branch {
            Some(branch) if branch != checked_out => (branch, Some(checked_out)),
            _ => (checked_out, None),
        })
    }

    /// The default branch, and whether the remote names one (`origin/HEAD`).
    pub fn default_branch(&self) -> Option<(Branch, bool)> {
        let remote_default = self.repository.references.symbolic_target("refs/remotes/origin/HEAD");
        let is_named = matches!(remote_default, Ok(Some(_)));
        Some((self.repository.default_branch()?, is_named))
    }

    /// The branch that the work is for.
    pub fn branch(&self) -> Option<Branch> {
        Some(self.branches()?.0)
    }

    /// The head of `branch` as this clone knows it, and the reference that it was read from. `None` if it has none.
    pub fn tip(&self, branch: &Branch) -> Option<Tip> {
        self.repository.tip(branch).ok().flatten()
    }

    /// `path`, absolute or relative to `folder`, as a path of the repository.
    ///
    /// # Errors
    /// A sentence: the path is outside of the working copy or in git's own folder, or is not a file path of Coord.
    pub fn repo_path(&self, folder: &Path, path: &Path) -> Result<FilePath, String> {
        let outside = || format!("{} is not in {}", path.display(), self.root().display());
        let absolute = without_symbolic_links(&folder.join(path));
        let relative = absolute.strip_prefix(self.root()).map_err(|_| outside())?;
        let mut names = Vec::new();
        for component in relative.components() {
            match component {
                Component::Normal(name) => names.push(
                    name.to_str()
                        .ok_or_else(|| format!("{} is not UTF-8", path.display()))?,
                ),
                _ => return Err(outside()),
            }
        }
        if names.first().is_some_and(|first| first.eq_ignore_ascii_case(".git")) {
            return Err(format!("{} is git's own", path.display()));
        }
        FilePath::parse(&names.join("/")).map_err(|invalid| format!("{} {invalid}", path.display()))
    }
}

/// A configured value without white space around it. `None` if it is empty or not UTF-8.
fn setting_value(value: &[u8]) -> Option<String> {
    let value = value.to_str().ok()?.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// Whether a section is in the repository's own configuration.
fn is_from_repository(section: &gix::config::file::Metadata) -> bool {
    section.source.kind() == gix::config::source::Kind::Repository
}

fn worktree_of(path: &Path) -> Result<Worktree, OpenError> {
    let missing = || OpenError::Missing { path: path.to_owned() };
    let absolute = std::path::absolute(path).map_err(|_| missing())?;
    let folder = absolute
        .ancestors()
        .find(|folder| folder.is_dir())
        .ok_or_else(missing)?;
    Worktree::containing(folder)
}

/// `path` without `.`, `..` and symbolic links, even if its end does not exist. A link is replaced by its target.
pub fn without_symbolic_links(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    let mut existing = path;
    loop {
        if let Ok(canonical) = existing.canonicalize() {
            return missing
                .into_iter()
                .rev()
                .fold(canonical, |path: PathBuf, name| path.join(name));
        }
        match (existing.parent(), existing.components().next_back()) {
            (Some(parent), Some(Component::Normal(name))) => {
                missing.push(name.to_owned());
                existing = parent;
            }
            // `a/missing/..` is `a`.
            (Some(parent), Some(_)) => {
                existing = parent.parent().unwrap_or(parent);
            }
            _ => return path.to_owned(),
        }
    }
}
