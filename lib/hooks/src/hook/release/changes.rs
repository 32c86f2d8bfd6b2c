//! The files of a session whose changes are not on their branch, by git.

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
    /// Files that are changed and not committed.
    uncommitted: BTreeSet<String>,
    /// Files that are committed and not on the branch.
    pub(super) unpushed: BTreeSet<String>,
    /// Files that have changed on the branch since they were claimed for writing. Only the session that holds them can
    /// have made the changes.
    pub(super) pushed: BTreeSet<String>,
    /// The newest commit of the branch that a working copy contains.
    pub(super) base: Option<String>,
    /// The head of the branch, as this clone knows it.
    pub(super) head: Option<String>,
}

impl Changes {
    /// The changes of the files of `locks` in `working_copies`, whose work is for `branch`. Files that were pushed to a
    /// work branch count as pushed.
    ///
    /// # Errors
    /// When git fails.
    pub(super) async fn of(
        working_copies: &[WorkingCopy],
        branch: &Branch,
        locks: &[HeldLock],
    ) -> anyhow::Result<Changes> {
        let mut changes = Changes::default();
        let files: Vec<&str> = locks.iter().map(|lock| lock.file_path.as_str()).collect();
        for working_copy in working_copies {
            let root = working_copy.root();
            let pushed_branch = working_copy.pushed_branch_at_head(branch);
            let Some(base) = working_copy.base_head(&pushed_branch).map(|base| base.to_string()) else {
                continue;
            };
            changes.uncommitted.extend(uncommitted(root, &files).await?);
            let mut unpushed = list_differing(root, &base, "HEAD", &files).await?;
            // A file that is as at a tip was pushed, whatever commit brought it there.
            let tips = [&pushed_branch, branch].map(|branch| working_copy.tip(branch));
            for tip in tips.into_iter().flatten().filter(|tip| tip.commit.as_str() != base) {
                unpushed = list_differing(root, tip.commit.as_str(), "HEAD", &unpushed).await?;
            }
            changes.unpushed.extend(unpushed);
            changes.is_known = true;
            changes.base = changes.base.or(Some(base));
        }
        let Some(first) = working_copies.first() else {
            return Ok(changes);
        };
        changes.head = first
            .tip(&first.pushed_branch_at_head(branch))
            .map(|tip| tip.commit.to_string());
        let Some(head) = &changes.head else {
            return Ok(changes);
        };
        for (claim_head, files) in group_by_claim_head(locks) {
            if claim_head.as_str() != head {
                // A forced push may have removed the head of the claim.
                let pushed = list_differing(first.root(), claim_head.as_str(), head, &files).await;
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
}

/// The files that are locked for writing, by the head of the branch at their claim.
fn group_by_claim_head(locks: &[HeldLock]) -> BTreeMap<CommitSha, Vec<&str>> {
    let mut files: BTreeMap<CommitSha, Vec<&str>> = BTreeMap::new();
    for lock in locks.iter().filter(|lock| lock.status == LockMode::Writing) {
        if let Some(head) = lock.agent_head.as_deref().and_then(|head| CommitSha::parse(head).ok()) {
            files.entry(head).or_default().push(&lock.file_path);
        }
    }
    files
}

/// The files of `files` that differ between two commits of the working copy at `root`.
async fn list_differing(root: &Path, one: &str, other: &str, files: &[impl AsRef<str>]) -> anyhow::Result<Vec<String>> {
    let diff = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", one, other];
    list_files(root, &diff, files).await
}
