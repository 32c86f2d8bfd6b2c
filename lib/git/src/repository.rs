//! One repository on disk.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use coord_domain::{Branch, CommitSha, RepoId};
use coord_files::{Anchor, PathState};
use coord_sources::{Reachable, SourceError, Tip};
use gix::ObjectId;
use gix::objs::Kind;
use parking_lot::Mutex;
use quick_cache::sync::Cache;

use super::branch_names;
use super::checkout::{Checkout, CheckoutBlobs, WorktreePaths};
use super::deadline::Deadline;
use super::index_prefetch::IndexPrefetch;
use super::objects::Objects;
use super::references::References;
use super::upstream::{HeadLocation, Upstreams};

/// Minimum number of wanted blobs for which an index is read.
const WORTH_AN_INDEX: usize = 256;
/// A kept index is used if at least one of this many of its files is wanted.
const WORTH_A_LOOKUP: usize = 4;

/// An opened repository with all its worktrees.
pub(super) struct Repository {
    id: RepoId,
    common_dir: PathBuf,
    /// Set in a server, which has to notice when the folder is deleted or replaced.
    anchor: Option<Anchor>,
    pub(super) remotes: Vec<String>,
    pub(super) objects: Objects,
    pub(super) hash: gix::hash::Kind,
    pub(super) references: References,
    pub(super) upstreams: Upstreams,
    /// Whether the first commit is an ancestor of the second, which never changes. Never [`Reachable::Unknown`].
    pub(super) ancestry: Cache<(ObjectId, ObjectId), Reachable>,
    worktrees: Mutex<Vec<WorktreePaths>>,
    /// The index that a tree was read from, because the tree's blobs are mostly requested next. The index records the
    /// `lstat` that each file had then. So an outdated index finds fewer files, but never wrong ones.
    pub(super) kept_checkout: Mutex<Option<(WorktreePaths, Arc<Checkout>)>>,
    /// Number of files in the tree listed last whose names cannot be served.
    names_left_out: AtomicUsize,
    /// The checkouts to read from, as long as a reader holds them.
    held_checkouts: Mutex<Weak<HeldCheckouts>>,
    /// An index that is being read, until a tree is requested.
    pub(super) prefetch: Mutex<Option<IndexPrefetch>>,
}

/// Maximum of cached ancestry results; each takes about 100 bytes.
const MAX_ANCESTRY: usize = 16_384;

impl fmt::Debug for Repository {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Repository")
            .field("id", &self.id)
            .field("common_dir", &self.common_dir)
            .finish_non_exhaustive()
    }
}

/// Filled by the first reader.
pub(super) type HeldCheckouts = OnceLock<Arc<[CheckoutBlobs]>>;

impl Repository {
    pub(super) fn new(
        id: RepoId,
        common_dir: PathBuf,
        remotes: Vec<String>,
        upstreams: Upstreams,
        objects: Objects,
        hash: gix::hash::Kind,
    ) -> Self {
        Repository {
            id,
            remotes,
            objects,
            hash,
            references: References::new(common_dir.clone(), hash),
            upstreams,
            common_dir,
            anchor: None,
            ancestry: Cache::new(MAX_ANCESTRY),
            worktrees: Mutex::default(),
            kept_checkout: Mutex::default(),
            names_left_out: AtomicUsize::new(0),
            held_checkouts: Mutex::default(),
            prefetch: Mutex::default(),
        }
    }

    /// The same repository, which from now on notices when its folder is deleted or replaced.
    pub(super) fn with_anchor(mut self) -> Self {
        self.anchor = Anchor::at(&self.common_dir).ok();
        self
    }

    /// Whether its folder is still the one that was opened.
    pub(super) fn path_state(&self) -> PathState {
        self.anchor.as_ref().map_or(PathState::Same, Anchor::path_state)
    }

    /// # Errors
    /// When its folder was deleted or replaced since it was opened.
    pub(super) fn check_path(&self) -> Result<(), SourceError> {
        match self.path_state() {
            PathState::Same => Ok(()),
            PathState::Gone | PathState::Replaced => Err(SourceError::Unreachable(format!(
                "{}: the repository at {} was deleted or replaced",
                self.id,
                self.common_dir.display()
            ))),
        }
    }

    pub(super) fn id(&self) -> &RepoId {
        &self.id
    }

    pub(super) fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    pub(super) fn note_names_left_out(&self, files: usize) {
        self.names_left_out.store(files, Ordering::Relaxed);
    }

    pub(super) fn names_left_out(&self) -> usize {
        self.names_left_out.load(Ordering::Relaxed)
    }

    /// The worktrees that were opened.
    pub(super) fn worktrees(&self) -> Vec<WorktreePaths> {
        self.worktrees.lock().clone()
    }

    pub(super) fn add_worktree(&self, worktree: WorktreePaths) {
        self.worktrees.lock().push(worktree);
    }

    /// Keeps the result of [`Self::checked_out_blobs`] until all its holders are dropped. A build reads in many waves;
    /// reading the index and the attributes again for each wave would take longer than reading the files.
    pub(super) fn hold_checkouts(&self) -> Arc<HeldCheckouts> {
        let mut held = self.held_checkouts.lock();
        let hold = held.upgrade().unwrap_or_default();
        *held = Arc::downgrade(&hold);
        hold
    }

    /// The checkouts to read files from. If enough blobs are `wanted` to justify reading an index, these are all
    /// worktrees. Otherwise it is the worktree whose index is kept, if enough of its files are wanted.
    pub(super) fn checked_out_blobs(&self, wanted: usize) -> Arc<[CheckoutBlobs]> {
        let hold = self.held_checkouts.lock().upgrade();
        if let Some(held) = hold.as_ref().and_then(|hold| hold.get()) {
            return Arc::clone(held);
        }
        let mut kept = self.kept_checkout.lock().take();
        if wanted < WORTH_AN_INDEX {
            let kept = kept.filter(|(_, checkout)| checkout.len() <= wanted.saturating_mul(WORTH_A_LOOKUP));
            let blobs = kept.map(|(worktree, checkout)| CheckoutBlobs::new(&worktree, checkout));
            return blobs.into_iter().collect();
        }
        let load = |worktree: WorktreePaths| {
            let checkout = match kept.take() {
                Some((kept_worktree, checkout)) if kept_worktree == worktree => checkout,
                other => {
                    kept = other;
                    Arc::new(Checkout::read(worktree.root.clone(), &worktree.git_dir, self.hash)?)
                }
            };
            Some(CheckoutBlobs::new(&worktree, checkout))
        };
        let blobs: Arc<[CheckoutBlobs]> = self.worktrees().into_iter().filter_map(load).collect();
        if let Some(hold) = hold {
            // Another reader may have created the same list meanwhile.
            return Arc::clone(hold.get_or_init(|| blobs));
        }
        blobs
    }

    /// The head of `branch`; `None` if there is no such branch.
    pub(super) fn tip(&self, branch: &Branch) -> Result<Option<Tip>, SourceError> {
        match self.head_location(branch)? {
            HeadLocation::At(id, reference) => {
                let commit = sha(id)?;
                Ok(Some(Tip { commit, reference }))
            }
            HeadLocation::NotFetched(_) | HeadLocation::Several(_) | HeadLocation::Missing => Ok(None),
        }
    }

    pub(super) fn head_location(&self, branch: &Branch) -> Result<HeadLocation, SourceError> {
        let location = self.upstreams.head_location(&self.references, branch);
        location.map_err(|error| unreadable(self, error))
    }

    /// The remotes that heads are read from, by name.
    pub(super) fn upstream_remotes(&self) -> Result<Vec<String>, SourceError> {
        self.upstreams.remotes().map_err(|error| unreadable(self, error))
    }

    /// Calls `visit` with every branch that can have a head, without its prefix (`refs/heads/`, or that of a remote).
    pub(super) fn each_branch(&self, deadline: &Deadline, mut visit: impl FnMut(&str)) -> io::Result<()> {
        for folder in self.upstreams.folders(&self.references)? {
            branch_names::each_branch(&self.references, &self.common_dir, &folder, deadline, &mut visit)?;
        }
        for name in self.upstreams.exact_branches(&self.references)? {
            visit(&name);
        }
        Ok(())
    }

    /// The branch that `origin/HEAD` names, else `main`, else `master`, else the only branch, if it exists here.
    pub(super) fn default_branch(&self) -> Option<Branch> {
        let exists = |branch: &Branch| matches!(self.tip(branch), Ok(Some(_)));
        let target = self
            .references
            .symbolic_target("refs/remotes/origin/HEAD")
            .ok()
            .flatten();
        let remote_default = target
            .as_deref()
            .and_then(|name| name.strip_prefix("refs/remotes/origin/"));
        let candidates = remote_default.into_iter().chain(["main", "master"]);
        if let Some(branch) = candidates.filter_map(|name| Branch::parse(name).ok()).find(exists) {
            return Some(branch);
        }
        let mut names = HashSet::new();
        let deadline = Deadline::after(branch_names::SUGGESTIONS_LIMIT);
        let collect_two = |name: &str| {
            if names.len() < 2 {
                names.insert(name.to_owned());
            }
        };
        self.each_branch(&deadline, collect_two).ok()?;
        let mut names = names.into_iter();
        match (names.next(), names.next()) {
            (Some(only), None) => Branch::parse(&only).ok().filter(exists),
            _ => None,
        }
    }

    /// The id, if it has full length for this repository. The object may be missing here.
    pub(super) fn full_id(&self, commit: &CommitSha) -> Option<ObjectId> {
        let text = commit.as_str();
        if text.len() != self.hash.len_in_hex() {
            return None;
        }
        ObjectId::from_hex(text.as_bytes()).ok()
    }

    /// Finds the one commit that `commit`, full or abbreviated, names. `None` if it names none, or several. Objects of
    /// other kinds with the same prefix do not count.
    pub(super) fn resolve(
        &self,
        handle: &gix::Repository,
        commit: &CommitSha,
    ) -> Result<Option<ObjectId>, SourceError> {
        let is_commit = |id: &ObjectId| {
            let header = handle.try_find_header(*id).ok().flatten();
            header.is_some_and(|header| header.kind() == Kind::Commit)
        };
        if let Some(id) = self.full_id(commit) {
            return Ok(Some(id).filter(is_commit));
        }
        if commit.as_str().len() > self.hash.len_in_hex() {
            return Ok(None);
        }
        let prefix = gix::hash::Prefix::from_hex(commit.as_str()).map_err(|error| unreadable(self, error))?;
        let mut candidates = HashSet::new();
        handle
            .objects
            .lookup_prefix(prefix, Some(&mut candidates))
            .map_err(|error| unreadable(self, error))?;
        let mut commits = candidates.into_iter().filter(is_commit);
        let first = commits.next();
        Ok(first.filter(|_| commits.next().is_none()))
    }

    /// The commit that `commit` names.
    ///
    /// # Errors
    /// When it is missing here, or ambiguous.
    pub(super) fn commit_id(&self, handle: &gix::Repository, commit: &CommitSha) -> Result<ObjectId, SourceError> {
        let id = self.resolve(handle, commit)?;
        id.ok_or_else(|| unreadable(self, format_args!("commit {commit} is missing or ambiguous")))
    }

    /// # Errors
    /// When the repository has been deleted or moved since it was opened.
    pub(super) fn check_present(&self) -> Result<(), SourceError> {
        if self.common_dir.join("HEAD").exists() && self.common_dir.join("objects").is_dir() {
            return Ok(());
        }
        Err(SourceError::Unreachable(format!(
            "{}: there is no repository at {} any more",
            self.id,
            self.common_dir.display()
        )))
    }
}

/// The error for an unreadable `repository`. If its folder is gone, the error says that instead of `why`.
pub(super) fn unreadable(repository: &Repository, why: impl fmt::Display) -> SourceError {
    repository
        .check_present()
        .err()
        .unwrap_or_else(|| SourceError::Unreachable(format!("{}: {why}", repository.id)))
}

/// An object id as the domain's type.
pub(super) fn sha(id: ObjectId) -> Result<CommitSha, SourceError> {
    CommitSha::parse(&id.to_string()).map_err(|invalid| SourceError::Unreachable(invalid.to_string()))
}
