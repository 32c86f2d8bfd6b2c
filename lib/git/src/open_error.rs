//! Why a path is not served, in sentences for a terminal.

use std::path::{Path, PathBuf};

use coord_domain::RepoId;

/// Why a path cannot be served, in one or two sentences for a terminal.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is nothing at the path.
    #[error("{} does not exist", path.display())]
    Missing {
        /// As given.
        path: PathBuf,
    },
    /// The path is a file.
    #[error("{} is a file; name the folder of a git repository", path.display())]
    NotAFolder {
        /// As given.
        path: PathBuf,
    },
    /// Neither the folder nor any above it is a repository.
    #[error(
        "there is no git repository in {} or any folder above it; run `git init` there, or name another folder",
        path.display()
    )]
    NoRepository {
        /// The folder where the search began, absolute.
        path: PathBuf,
    },
    #[error(
        "the git repository at {} belongs to another user, and git does not trust it; if you do, run \
         `git config --global --add safe.directory {}`",
        path.display(), path.display()
    )]
    Unsafe {
        /// The folder to trust, absolute.
        path: PathBuf,
    },
    /// The repository uses a feature that is not supported.
    #[error("the git repository at {} cannot be served: {why}", path.display())]
    Unsupported {
        path: PathBuf,
        /// The feature, and the fix.
        why: &'static str,
    },
    /// The disk, or a part of the repository, cannot be read.
    #[error("{} cannot be read: {why}", path.display())]
    Unreadable { path: PathBuf, why: String },
    /// The revision does not name exactly one commit.
    #[error("{revision} names no commit in the git repository at {}: {why}", path.display())]
    Revision {
        /// As given.
        revision: String,
        path: PathBuf,
        why: String,
    },
    /// Two different repositories would have the same id.
    #[error(
        "{} and {} are different repositories with the same name, {repo}; serve one of them, or set another remote \
         `origin` in one (a repository without a remote has the name that its folder had first)",
        first.display(), second.display()
    )]
    SameId {
        repo: RepoId,
        /// The folder of one repository.
        first: PathBuf,
        /// The folder of the other repository.
        second: PathBuf,
    },
}

/// The error for `path`, converted from gix's.
pub(super) fn open_error(path: &Path, error: &gix::Error) -> OpenError {
    let path = display_path(path);
    if error.is_permission_denied() && error.to_string().contains("unsafe") {
        OpenError::Unsafe { path }
    } else if error.is_not_found() {
        OpenError::NoRepository { path }
    } else {
        unreadable(&path, sentence(error))
    }
}

pub(super) fn unreadable(path: &Path, why: impl ToString) -> OpenError {
    OpenError::Unreadable {
        path: path.to_owned(),
        why: why.to_string(),
    }
}

/// The error and its causes on one line.
pub(super) fn sentence(error: &gix::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let message = error.to_string();
        if !error.is::<gix::error::ClassificationMarker>() && !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        cause = error.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The path by which users know a repository: its worktree rather than its `.git`.
pub fn display_path(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if path.ends_with(".git") => parent.to_owned(),
        _ => path.to_owned(),
    }
}
