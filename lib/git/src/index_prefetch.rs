//! The index of a worktree, which another thread reads while the repository is still being opened.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use coord_graph::cores;
use coord_sources::TreeEntry;
use gix::discover::repository::Path as Found;
use gix::sec::Trust;
use tokio::runtime::Handle;

use super::checkout::{Checkout, WorktreePaths};

/// The hash of nearly every repository. The actual one is in the configuration, which is read at the same time.
const HASH: gix::hash::Kind = gix::hash::Kind::Sha1;

/// An index that is being read.
pub(super) struct IndexPrefetch {
    root: PathBuf,
    git_dir: PathBuf,
    index: Receiver<LoadedIndex>,
}

/// An index, and values that are slow to derive from it.
pub(super) struct LoadedIndex {
    pub(super) checkout: Arc<Checkout>,
    /// [`Checkout::files`]
    pub(super) files: Option<Vec<TreeEntry>>,
}

impl IndexPrefetch {
    /// Starts reading on a blocking thread of the runtime. `None` without a runtime or a worktree, and if only the
    /// configuration decides whether the repository is trusted.
    pub(super) fn start(found: &Found, trust: Trust) -> Option<Self> {
        let runtime = Handle::try_current().ok()?;
        let (git_dir, root) = found.clone().into_repository_and_work_tree_directories();
        let root = root.filter(|_| trust == Trust::Full)?;
        let (sender, index) = channel();
        let prefetch = IndexPrefetch { root, git_dir, index };
        let (root, git_dir) = (prefetch.root.clone(), prefetch.git_dir.clone());
        runtime.spawn_blocking(move || {
            let Some(checkout) = Checkout::read(root, &git_dir, HASH).map(Arc::new) else {
                return;
            };
            let files = checkout.files();
            let index = LoadedIndex {
                checkout: Arc::clone(&checkout),
                files,
            };
            if sender.send(index).is_ok() {
                // Computed now, because the caller needs both as soon as it knows which files to read.
                checkout.may_convert();
                cores();
            }
        });
        Some(prefetch)
    }

    /// Waits for the index, and returns it if it is the index of `worktree`.
    pub(super) fn finish(self, worktree: &WorktreePaths, hash: gix::hash::Kind) -> Option<LoadedIndex> {
        let is_right = self.root == worktree.root && self.git_dir == worktree.git_dir && hash == HASH;
        if is_right { self.index.recv().ok() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[tokio::test]
    async fn an_index_is_used_for_the_worktree_that_it_is_of() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().to_owned();
        std::fs::write(root.join("a.ts"), "a").unwrap();
        for arguments in [&["init", "--quiet"][..], &["add", "a.ts"]] {
            let git = Command::new("git").args(arguments).current_dir(&root).status();
            assert!(git.unwrap().success(), "{arguments:?}");
        }
        let worktree = |root: &str, git_dir: &str| WorktreePaths {
            root: temp.path().join(root),
            git_dir: temp.path().join(git_dir),
            attributes: Vec::new(),
            has_filters: false,
        };
        let finish = |worktree: WorktreePaths, hash| {
            let prefetch = IndexPrefetch::start(&Found::WorkTree(root.clone()), Trust::Full).unwrap();
            prefetch.finish(&worktree, hash)
        };
        let index = finish(worktree("", ".git"), HASH).unwrap();
        let files = index.files.unwrap();
        assert_eq!(
            files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(),
            ["a.ts"]
        );
        assert_eq!(index.checkout.len(), 1);
        assert!(finish(worktree("other", ".git"), HASH).is_none());
        assert!(finish(worktree("", ".git/worktrees/other"), HASH).is_none());
        assert!(finish(worktree("", ".git"), gix::hash::Kind::Sha256).is_none());
    }

    #[tokio::test]
    async fn nothing_is_read_before_it_is_known_to_be_trusted() {
        let found = Found::WorkTree(PathBuf::from("nowhere"));
        assert!(IndexPrefetch::start(&found, Trust::Full).is_some());
        assert!(IndexPrefetch::start(&found, Trust::Reduced).is_none());
        let bare = Found::Repository(PathBuf::from("nowhere"));
        assert!(IndexPrefetch::start(&bare, Trust::Full).is_none());
    }

    #[test]
    fn without_a_runtime_nothing_is_prefetched() {
        let found = Found::WorkTree(PathBuf::from("nowhere"));
        assert!(IndexPrefetch::start(&found, Trust::Full).is_none());
    }
}
