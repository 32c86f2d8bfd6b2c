//! The index of a worktree, read on another thread while its repository is still being opened.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use coord::cores::cores;
use coord::source::TreeEntry;
use gix::discover::repository::Path as Found;
use gix::sec::Trust;
use tokio::runtime::Handle;

use super::checkout::{Checkout, Worktree};

/// What nearly every repository has. That of this one is in its configuration, which is read meanwhile.
const HASH: gix::hash::Kind = gix::hash::Kind::Sha1;

/// An index that is being read.
pub(super) struct Early {
    root: PathBuf,
    git_dir: PathBuf,
    read: Receiver<Read>,
}

/// An index, and what takes time to make of it.
pub(super) struct Read {
    pub(super) checkout: Arc<Checkout>,
    /// [`Checkout::files`]
    pub(super) files: Option<Vec<TreeEntry>>,
}

impl Early {
    /// Starts reading on a blocking thread of the runtime. `None` where there is no runtime, no worktree, or where only the
    /// configuration can tell whether the repository is trusted.
    pub(super) fn start(found: &Found, trust: Trust) -> Option<Self> {
        let runtime = Handle::try_current().ok()?;
        let (git_dir, root) = found.clone().into_repository_and_work_tree_directories();
        let root = root.filter(|_| trust == Trust::Full)?;
        let (sender, read) = channel();
        let early = Early { root, git_dir, read };
        let (root, git_dir) = (early.root.clone(), early.git_dir.clone());
        runtime.spawn_blocking(move || {
            let Some(checkout) = Checkout::at(root, &git_dir, HASH).map(Arc::new) else {
                return;
            };
            let files = checkout.files();
            let read = Read {
                checkout: Arc::clone(&checkout),
                files,
            };
            if sender.send(read).is_ok() {
                // Asked for next, when the files that are to be read are known.
                checkout.may_convert();
                cores();
            }
        });
        Some(early)
    }

    /// Waits for the index, if it is that of `worktree`.
    pub(super) fn finish(self, worktree: &Worktree, hash: gix::hash::Kind) -> Option<Read> {
        let is_its = self.root == worktree.root && self.git_dir == worktree.git_dir && hash == HASH;
        if is_its { self.read.recv().ok() } else { None }
    }
}
