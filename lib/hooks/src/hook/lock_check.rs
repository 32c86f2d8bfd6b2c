//! Compares a command's changes with the locks: agents that are refused an edit write through the shell, and no list of
//! programs is complete.

use coord_agent::changes::list_files;
use coord_agent::git;
use coord_agent::session_notes::SessionNotes;
use coord_agent::tree_state::TreeState;
use coord_domain::AgentId;
use coord_git::WorkingCopy;
use coord_protocol::{ClientError, HeldLock, LockMode, LocksFilter};

use super::connected_session::ConnectedSession;
use super::{intents, reason, unhooked_writes};

/// Maximum number of recorded files of one command.
const MAX_FILES: usize = 256;

/// The files that a command has changed, by their locks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CommandChanges {
    /// Files that the session holds.
    pub(super) own: Vec<String>,
    /// Files that the session does not hold.
    pub(super) unclaimed: Vec<String>,
    /// A warning for the model about the unclaimed files.
    pub(super) warning: Option<String>,
}

/// The files that the command of the session has changed. `None` if the state before the command is unknown.
pub(super) async fn changed_files(working_copy: &WorkingCopy, holder: &AgentId) -> Option<Vec<String>> {
    let before = TreeState::take(working_copy, holder)?;
    let after = TreeState::now(working_copy).await?;
    let root = working_copy.root();
    let mut changed = before.changed(&after, root);
    if before.head != after.head && !changed.is_empty() {
        changed = exclude_git_changes(working_copy, &before, changed).await;
    }
    Some(changed)
}

/// Excludes files that git itself has changed, by a pull or a switch: they are as in a commit that existed before, or
/// as on the branch.
async fn exclude_git_changes(working_copy: &WorkingCopy, before: &TreeState, changed: Vec<String>) -> Vec<String> {
    let root = working_copy.root();
    let commit_time = git::output(root, ["log", "-1", "--format=%ct", "HEAD"])
        .await
        .unwrap_or_default();
    let commit_time: u64 = String::from_utf8_lossy(&commit_time).trim().parse().unwrap_or_default();
    let commit = match commit_time < before.time {
        true => working_copy.head(),
        false => working_copy
            .branch()
            .and_then(|branch| working_copy.tip(&branch))
            .map(|tip| tip.commit),
    };
    let Some(commit) = commit.map(|commit| commit.to_string()) else {
        return changed;
    };
    let diff = ["diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", &commit];
    let differing = list_files(root, &diff, &changed).await;
    // Untracked files differ from every commit.
    let untracked = list_files(root, &["ls-files", "--others", "-z"], &changed).await;
    match (differing, untracked) {
        (Ok(differing), Ok(untracked)) => {
            let is_own_change = |file: &String| differing.contains(file) || untracked.contains(file);
            changed.into_iter().filter(is_own_change).collect()
        }
        _ => changed,
    }
}

/// Compares the `changed` files with the locks.
///
/// # Errors
/// When the server does not answer.
pub(super) async fn compare_with_locks(
    session: ConnectedSession<'_>,
    mut changed: Vec<String>,
) -> Result<CommandChanges, ClientError> {
    let ConnectedSession { work, holder, .. } = session;
    changed.truncate(MAX_FILES);
    let locks = session
        .connection
        .client
        .locks(&work.repo_url(), &LocksFilter::default())
        .await?
        .locks;
    let has_intents = intents::repository_has_intents(Some(session.connection), work, holder).await;
    let others_here = SessionNotes::others_in(&work.working_copy, holder);
    let changes = group_by_lock(changed, &locks, holder, &others_here, work.branch.as_str(), has_intents);
    let is_overwritten =
        |lock: &&HeldLock| changes.unclaimed.contains(&lock.file_path) && is_writing(lock, work.branch.as_str());
    locks
        .iter()
        .filter(is_overwritten)
        .for_each(|lock| unhooked_writes::notify_holder(work, holder, lock));
    Ok(changes)
}

fn is_writing(lock: &HeldLock, branch: &str) -> bool {
    lock.branch == branch && lock.status == LockMode::Writing
}

/// `others_here` are the other sessions in the same working copy. They wrote the files that they hold themselves.
fn group_by_lock(
    changed: Vec<String>,
    locks: &[HeldLock],
    own: &AgentId,
    others_here: &[AgentId],
    branch: &str,
    has_intents: bool,
) -> CommandChanges {
    let mut changes = CommandChanges::default();
    let mut descriptions = Vec::new();
    for file in changed {
        let lock = locks
            .iter()
            .find(|lock| lock.file_path == file && is_writing(lock, branch));
        match lock.map(|lock| (lock, lock.agent_id.as_deref())) {
            Some((_, Some(agent))) if agent == own.as_str() => changes.own.push(file),
            Some((_, Some(agent))) if others_here.iter().any(|other| other.as_str() == agent) => {}
            Some((lock, agent)) => {
                descriptions.push(format!("{file} (held by {})", agent.unwrap_or(&lock.user_name)));
                changes.unclaimed.push(file);
            }
            None if has_intents => {
                descriptions.push(file.clone());
                changes.unclaimed.push(file);
            }
            // Nobody else works on it, and nothing is recorded.
            None => {}
        }
    }
    if let Some(first) = changes.unclaimed.first() {
        changes.warning = Some(format!(
            "Coord: UNCLAIMED: the command changed files on which this session holds no lock: {}. Next: claim them \
             (`coord claim {first}`) and continue if that is granted, or undo the change (`git checkout -- {first}`).",
            reason::list_files(&descriptions)
        ));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::super::context;
    use super::*;

    fn lock(file: &str, agent: &str) -> HeldLock {
        context::tests::lock(file, agent, "x")
    }

    #[test]
    fn a_changed_file_is_ones_own_that_of_a_session_beside_or_unclaimed() {
        let agent = |name: &str| AgentId::parse(name).unwrap();
        let locks = [lock("own", "me"), lock("beside", "two"), lock("far", "three")];
        let files = || ["own", "beside", "far", "free"].map(str::to_owned).to_vec();
        let changes = group_by_lock(files(), &locks, &agent("me"), &[agent("two")], "main", true);
        assert_eq!(changes.own, ["own"]);
        assert_eq!(changes.unclaimed, ["far", "free"]);
        assert!(changes.warning.unwrap().contains("far (held by three), free. Next:"));
        let changes = group_by_lock(files(), &locks, &agent("me"), &[agent("two")], "main", false);
        assert_eq!(changes.unclaimed, ["far"]);
        let changes = group_by_lock(files(), &locks, &agent("me"), &[], "other", false);
        assert_eq!(changes, CommandChanges::default());
    }
}
