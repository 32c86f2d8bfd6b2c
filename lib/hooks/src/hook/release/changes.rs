//! Which files of a session have changes that are not on their branch, by git.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use coord_agent::changes::{list_files, uncommitted};
use coord_domain::{Branch, CommitSha};
use coord_git::WorkingCopy;
use coord_protocol::{HeldLock, LockMode};

/// The changes of files in the working copies of a session.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Whether a working copy for the branch was found.
    is_known: bool,
    /// Changed, and not committed.
    uncommitted: BTreeSet<String>,
    /// Committed, and not on the branch.
    unpushed: BTreeSet<String>,
    /// Changed on the branch since they were claimed for writing.
    pushed: BTreeSet<String>,
    /// The newest commit of the branch that a working copy contains.
    pub(super) base: Option<String>,
    /// The head of the branch, as this clone knows it.
    pub(super) head: Option<String>,
}

impl Changes {
    /// Those of the files of `locks` in `copy_files`, whose work is for `branch`. Files pushed to a work branch count as there.
    ///
    /// # Errors
    /// When git fails.
    pub(super) async fn of(places: &[WorkingCopy], branch: &Branch, locks: &[HeldLock]) -> anyhow::Result<Changes> {
        let mut changes = Changes::default();
        let files: Vec<&str> = locks.iter().map(|lock| lock.file_path.as_str()).collect();
        for place in places {
            let root = place.root();
            let target = branch;
            let branch = place.pushed_branch_at_head(target);
            let Some(base) = place.base_head(&branch).map(|base| base.to_string()) else {
                continue;
            };
            changes.uncommitted.extend(uncommitted(root, &files).await?);
            let mut unpushed = differing(root, &base, "HEAD", &files).await?;
            // A file that is as at a head was pushed, whatever commit brought it there.
            let tips = [&branch, target].map(|branch| place.tip(branch));
            for tip in tips.into_iter().flatten().filter(|tip| tip.commit.as_str() != base) {
                let files: Vec<&str> = unpushed.iter().map(String::as_str).collect();
                if !files.is_empty() {
                    unpushed = differing(root, tip.commit.as_str(), "HEAD", &files).await?;
                }
            }
            changes.unpushed.extend(unpushed);
            changes.is_known = true;
            changes.base = changes.base.or(Some(base));
        }
        let Some(first) = places.first() else {
            return Ok(changes);
        };
        changes.head = first
            .tip(&first.pushed_branch_at_head(branch))
            .map(|tip| tip.commit.to_string());
        let Some(head) = &changes.head else {
            return Ok(changes);
        };
        for (claimed_at, files) in by_claim(locks) {
            if claimed_at.as_str() != head {
                // The head of the claim may be gone after a forced push.
                let pushed = differing(first.root(), claimed_at.as_str(), head, &files).await;
                changes.pushed.extend(pushed.unwrap_or_default());
            }
        }
        Ok(changes)
    }

    /// Why `file` is not finished.
    pub(super) fn unfinished(&self, file: &str) -> Option<&'static str> {
        if !self.is_known {
            Some("no working copy of this session is on its branch")
        } else if self.uncommitted.contains(file) {
            Some("changed and not committed")
        } else if self.unpushed.contains(file) {
            Some("committed and not pushed")
        } else {
            None
        }
    }

    /// Whether there are commits that nothing here knows to be pushed.
    pub(super) fn has_unpushed(&self) -> bool {
        !self.unpushed.is_empty()
    }

    /// Whether the branch has got changes of `file` since it was claimed. Only the session that holds it can have made them.
    pub(super) fn is_pushed(&self, file: &str) -> bool {
        self.pushed.contains(file)
    }
}

/// The files that are locked for writing, by the head of the branch at their claim.
fn by_claim(locks: &[HeldLock]) -> BTreeMap<CommitSha, Vec<&str>> {
    let mut files: BTreeMap<CommitSha, Vec<&str>> = BTreeMap::new();
    for lock in locks.iter().filter(|lock| lock.status == LockMode::Writing) {
        if let Some(head) = lock.agent_head.as_deref().and_then(|head| CommitSha::parse(head).ok()) {
            files.entry(head).or_default().push(&lock.file_path);
        }
    }
    files
}

/// Those of `files` that differ between two commits of the working copy at `root`.
async fn differing(root: &Path, one: &str, other: &str, files: &[&str]) -> anyhow::Result<Vec<String>> {
    let diff = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", one, other];
    list_files(root, &diff, files).await
}
