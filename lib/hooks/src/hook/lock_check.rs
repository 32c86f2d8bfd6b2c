//! Compares a command's changes with the locks: agents that are refused an edit write through the shell, and no list of
//! programs is complete.

use coord_agent::changes::list_files;
use coord_agent::connection::Connection;
use coord_agent::git;
use coord_agent::session_notes::SessionNotes;
use coord_agent::tree_state::TreeState;
use coord_agent::work::Work;
use coord_domain::AgentId;
use coord_git::WorkingCopy;
use coord_protocol::{ClientError, HeldLock, LockMode, LocksFilter};

use super::{intents, reason, unhooked_writes};

/// Most files of one command that are recorded.
const MOST_FILES: usize = 256;

/// Changed files, by their holders.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ChangedByHolder {
    /// Under a lock of the session.
    pub(super) own: Vec<String>,
    pub(super) without: Vec<String>,
    /// A warning for the model about the latter.
    pub(super) warning: Option<String>,
}

/// The files that the command of the session has changed. `None` where the working copy was not looked at before.
pub(super) async fn changed(working_copy: &WorkingCopy, holder: &AgentId) -> Option<Vec<String>> {
    let before = TreeState::take(working_copy, holder)?;
    let after = TreeState::now(working_copy).await?;
    let root = working_copy.root();
    let mut changed = before.changed(&after, root);
    if before.head != after.head && !changed.is_empty() {
        changed = exclude_git_changes(working_copy, &before, changed).await;
    }
    Some(changed)
}

/// Without those that another commit has brought, by a pull or a switch: they are as in a commit that was there before, or as the
/// branch has them.
async fn exclude_git_changes(working_copy: &WorkingCopy, before: &TreeState, changed: Vec<String>) -> Vec<String> {
    let root = working_copy.root();
    let made = git::output(root, ["log", "-1", "--format=%ct", "HEAD"])
        .await
        .unwrap_or_default();
    let made: u64 = String::from_utf8_lossy(&made).trim().parse().unwrap_or_default();
    let commit = match made < before.taken {
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
    // New files that git does not track differ from every commit.
    let new = list_files(root, &["ls-files", "--others", "-z"], &changed).await;
    match (differing, new) {
        (Ok(differing), Ok(new)) => {
            let is_other = |file: &String| differing.contains(file) || new.contains(file);
            changed.into_iter().filter(is_other).collect()
        }
        _ => changed,
    }
}

/// Compares `changed` with the locks.
///
/// # Errors
/// When the server gives no answer.
pub(super) async fn judge(
    connection: &Connection,
    work: &Work,
    holder: &AgentId,
    mut changed: Vec<String>,
) -> Result<ChangedByHolder, ClientError> {
    changed.truncate(MOST_FILES);
    let locks = connection
        .client
        .locks(&work.repo_url(), &LocksFilter::default())
        .await?
        .locks;
    let has_intents = intents::repository_has_intents(Some(connection), work, holder).await;
    let here = SessionNotes::others_in(&work.working_copy, holder);
    let found = divide(changed, &locks, holder, &here, work.branch.as_str(), has_intents);
    let is_written =
        |lock: &&HeldLock| found.without.contains(&lock.file_path) && is_writing(lock, work.branch.as_str());
    locks
        .iter()
        .filter(is_written)
        .for_each(|lock| unhooked_writes::notify_holder(work, holder, lock));
    Ok(found)
}

fn is_writing(lock: &HeldLock, branch: &str) -> bool {
    lock.branch == branch && lock.status == LockMode::Writing
}

/// `here` are the other sessions in the same working copy, with the files that they hold.
fn divide(
    changed: Vec<String>,
    locks: &[HeldLock],
    own: &AgentId,
    here: &[AgentId],
    branch: &str,
    has_intents: bool,
) -> ChangedByHolder {
    let mut found = ChangedByHolder::default();
    let mut held = Vec::new();
    for file in changed {
        let mut of_file = locks
            .iter()
            .filter(|lock| lock.file_path == file && is_writing(lock, branch));
        match of_file.next().map(|lock| (lock, lock.agent_id.as_deref())) {
            Some((_, Some(agent))) if agent == own.as_str() => found.own.push(file),
            Some((_, Some(agent))) if here.iter().any(|known| known.as_str() == agent) => {}
            Some((lock, agent)) => {
                held.push(format!("{file} (held by {})", agent.unwrap_or(&lock.user_name)));
                found.without.push(file);
            }
            None if has_intents => {
                held.push(file.clone());
                found.without.push(file);
            }
            // Nobody else works on it, and nothing is recorded.
            None => {}
        }
    }
    if let Some(first) = found.without.first() {
        found.warning = Some(format!(
            "Coord: UNCLAIMED: the command changed files on which this session holds no lock: {}. Next: claim them (`coord claim {first}`) \
             and go on where that is granted, or undo the change (`git checkout -- {first}`).",
            reason::list_files(&held)
        ));
    }
    found
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
        let divided = divide(files(), &locks, &agent("me"), &[agent("two")], "main", true);
        assert_eq!(divided.own, ["own"]);
        assert_eq!(divided.without, ["far", "free"]);
        assert!(divided.warning.unwrap().contains("far (held by three), free. Next:"));
        let divided = divide(files(), &locks, &agent("me"), &[agent("two")], "main", false);
        assert_eq!(divided.without, ["far"]);
        let divided = divide(files(), &locks, &agent("me"), &[], "other", false);
        assert_eq!(divided, ChangedByHolder::default());
    }
}
