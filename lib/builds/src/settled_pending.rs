//! Ends the pending changes that a new head of their branch contains, or that can no longer reach the branch.

use std::collections::{BTreeMap, HashSet};

use super::error::BuildError;
use super::job::Job;
use super::tree_files::find_entry;
use coord_domain::{Branch, CommitSha};
use coord_sources::{Reachable, Source, SourceError, TreeEntry};
use coord_state::locks::{PendingAct, PendingEntry, pending_changes, settle_pending};
use coord_store::Store;

/// Maximum work branches that one build looks up at the source; the rest wait for the next build.
const MAX_LOOKUPS: usize = 8;

/// Files whose pending changes one script ends.
const FILES_AT_ONCE: usize = 500;

/// Ends pending changes of the job's branch. A change ends if `tree` has the file as its work branch has it, if its
/// commit is on the branch, or if its work branch is gone.
pub(super) async fn settle(
    store: &dyn Store,
    source: &dyn Source,
    job: Job<'_>,
    tree: &[TreeEntry],
) -> Result<(), BuildError> {
    let Job { repo, branch, .. } = job;
    let pending = pending_changes(repo).run(store).await?;
    let is_of_branch = |change: &PendingEntry| change.entry.branch == branch.as_str();
    let changes: Vec<PendingEntry> = pending.changes.into_iter().filter(is_of_branch).collect();
    if changes.is_empty() {
        return Ok(());
    }
    let mut by_commit: BTreeMap<(String, String), (Vec<String>, Vec<String>)> = BTreeMap::new();
    let unexpired = changes.into_iter().filter(|change| change.entry.expiry > pending.now);
    for PendingEntry { entry, blob } in unexpired {
        let is_merged = has_blob(tree, &entry.file_path, &blob);
        let work_branch = entry.work_branch.unwrap_or_default();
        let (merged, open) = by_commit.entry((work_branch, entry.agent_head)).or_default();
        if is_merged { merged } else { open }.push(entry.file_path);
    }
    let mut looked_up = HashSet::new();
    for ((work_branch, commit), (mut finished, open)) in by_commit {
        if !open.is_empty() && (looked_up.contains(&work_branch) || looked_up.len() < MAX_LOOKUPS) {
            let is_finished = is_merged_or_gone(source, job, &work_branch, &commit).await?;
            looked_up.insert(work_branch.clone());
            if is_finished {
                finished.extend(open);
            }
        }
        for paths in finished.chunks(FILES_AT_ONCE) {
            let act = PendingAct::End { commit: &commit, paths };
            settle_pending(store, repo, Some(branch), &work_branch, act).await?;
        }
    }
    settle_pending(store, repo, Some(branch), "", PendingAct::Forget).await?;
    Ok(())
}

/// Whether `tree` has the file as `blob`. An empty `blob` means no file.
fn has_blob(tree: &[TreeEntry], path: &str, blob: &str) -> bool {
    match find_entry(tree, path) {
        Some(entry) => entry.blob == blob,
        None => blob.is_empty(),
    }
}

/// Whether the branch contains `commit`, or `work_branch` is gone.
async fn is_merged_or_gone(
    source: &dyn Source,
    job: Job<'_>,
    work_branch: &str,
    commit: &str,
) -> Result<bool, SourceError> {
    let Job { repo, .. } = job;
    if let Ok(commit) = CommitSha::parse(commit)
        && source.is_ancestor(repo, &commit, job.commit).await? == Reachable::Yes
    {
        return Ok(true);
    }
    let Ok(work_branch) = Branch::parse(work_branch) else {
        return Ok(true);
    };
    match source.head(repo, &work_branch).await {
        Ok(_) => Ok(false),
        Err(SourceError::UnknownBranch { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}
