//! Ends the pending changes that a new head of their branch has, or that no longer can reach it.

use std::collections::{BTreeMap, HashSet};

use super::error::BuildError;
use super::job::Job;
use coord_domain::{Branch, CommitSha};
use coord_sources::{Reachable, Source, SourceError, TreeEntry};
use coord_state::locks::{Pending, PendingAct, pending_changes, settle_pending};
use coord_store::Store;

/// Maximum work branches that the source is asked about by one build; the others wait for the next.
const MOST_ASKED: usize = 8;

/// Files that one script ends.
const FILES_AT_ONCE: usize = 500;

/// Ends those of the branch of `job` whose file is in `tree` as their work branch has it, whose commit is on the branch, or whose work
/// branch is gone.
pub(super) async fn settle(
    store: &dyn Store,
    source: &dyn Source,
    job: Job<'_>,
    tree: &[TreeEntry],
) -> Result<(), BuildError> {
    let Job { repo, branch, .. } = job;
    let found = pending_changes(repo).run(store).await?;
    let of_branch = |pending: &Pending| pending.entry.branch == branch.as_str();
    let changes: Vec<Pending> = found.changes.into_iter().filter(of_branch).collect();
    if changes.is_empty() {
        return Ok(());
    }
    let mut by_commit: BTreeMap<(String, String), (Vec<String>, Vec<String>)> = BTreeMap::new();
    for Pending { entry, blob } in changes.into_iter().filter(|pending| pending.entry.expiry > found.now) {
        let is_there = is_in(tree, &entry.file_path, &blob);
        let work_branch = entry.work_branch.unwrap_or_default();
        let (merged, open) = by_commit.entry((work_branch, entry.agent_head)).or_default();
        if is_there { merged } else { open }.push(entry.file_path);
    }
    let mut checked = HashSet::new();
    for ((work_branch, commit), (merged, open)) in by_commit {
        let mut ended = merged;
        if !open.is_empty() && (checked.contains(&work_branch) || checked.len() < MOST_ASKED) {
            let is_over = is_over(source, job, &work_branch, &commit).await?;
            checked.insert(work_branch.clone());
            if is_over {
                ended.extend(open);
            }
        }
        for paths in ended.chunks(FILES_AT_ONCE) {
            let act = PendingAct::End { commit: &commit, paths };
            settle_pending(store, repo, Some(branch), &work_branch, act).await?;
        }
    }
    settle_pending(store, repo, Some(branch), "", PendingAct::Forget).await?;
    Ok(())
}

/// Whether `tree` has the file as `blob`, or has none where that is empty.
fn is_in(tree: &[TreeEntry], path: &str, blob: &str) -> bool {
    let found = tree.binary_search_by(|entry| entry.path.as_str().cmp(path));
    match found.ok().and_then(|place| tree.get(place)) {
        Some(entry) => entry.blob == blob,
        None => blob.is_empty(),
    }
}

/// Whether the branch has `commit`, or `work_branch` is gone.
async fn is_over(source: &dyn Source, job: Job<'_>, work_branch: &str, commit: &str) -> Result<bool, SourceError> {
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
