//! Refuses commands of git that change a whole working copy, if another session holds files in it: they would change
//! the files under that session. Locks do not name the working copy of their holder; its notes do.

use coord_agent::connection::Connection;
use coord_agent::session_notes::SessionNotes;
use coord_git::WorkingCopy;
use coord_protocol::{HeldLock, LocksFilter};

use super::caller::{Caller, LIMIT};
use super::reason;
use super::shell::TreeChange;

/// Why `change` must not be made. `None` if nobody else works in the working copy.
///
/// # Errors
/// A sentence, when that is unknown.
pub(super) async fn refusal(caller: &Caller<'_>, change: &TreeChange) -> Result<Option<String>, String> {
    let working_copy = WorkingCopy::find(&change.folder).map_err(|error| error.to_string())?;
    let Some(working_copy) = working_copy else {
        return Ok(None);
    };
    let own = caller.holder(&working_copy).map_err(|error| format!("{error:#}"))?;
    let mut others = SessionNotes::others_in(&working_copy, &own);
    // A subagent acts for its lead.
    others.retain(|other| Some(other) != own.lead().as_ref());
    if others.is_empty() {
        return Ok(None);
    }
    // Without a server there are no locks.
    let connection = Connection::open_running(caller.args, &working_copy, Some(&own), LIMIT);
    let Some(connection) = connection.map_err(|error| reason::unreachable(&error))? else {
        return Ok(None);
    };
    let repo_url = caller.args.repo_url(&working_copy);
    let response = connection.client.locks(&repo_url, &LocksFilter::default()).await;
    let locks = response.map_err(|error| reason::failure(&error))?.locks;
    let is_theirs = |lock: &&HeldLock| {
        let agent = lock.agent_id.as_deref();
        others.iter().any(|other| Some(other.as_str()) == agent)
    };
    let held: Vec<&HeldLock> = locks.iter().filter(is_theirs).collect();
    let Some(first) = held.first() else { return Ok(None) };
    let files: Vec<&str> = held.iter().map(|lock| lock.file_path.as_str()).collect();
    Ok(Some(format!(
        "STOP: `{}` changes this whole working copy, {}, in which another session works: {} holds {} ({}). Next: \
         create your own working copy, `git worktree add ../{}-work -b BRANCH`, and work there.",
        change.command,
        working_copy.root().display(),
        first.agent_id.as_deref().unwrap_or(&first.user),
        reason::list_files(&files),
        first.message,
        working_copy.root().file_name().unwrap_or_default().to_string_lossy(),
    )))
}
