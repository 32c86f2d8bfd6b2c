//! Commands of git that change a whole working copy are refused in one where another session holds files: they would change them
//! under that session. Locks do not say in which working copy their holder works; its notes do.

use coord_agent::connection::Connection;
use coord_agent::session_notes::SessionNotes;
use coord_domain::AgentId;
use coord_git::WorkingCopy;
use coord_protocol::{HeldLock, LocksFilter};

use super::caller::{Caller, LIMIT};
use super::reason;
use super::shell::TreeChange;

/// Why `change` must not be made; `None` if no one else works in the working copy.
///
/// # Errors A sentence, when that is unknown.
pub(super) async fn refusal(caller: &Caller<'_>, change: &TreeChange) -> Result<Option<String>, String> {
    let found = WorkingCopy::find(&change.folder).map_err(|error| error.to_string())?;
    let Some(working_copy) = found else { return Ok(None) };
    let own = caller.holder(&working_copy).map_err(|error| format!("{error:#}"))?;
    let mut others = SessionNotes::others_in(&working_copy, &own);
    // A subagent acts for its lead.
    others.retain(|other| Some(other) != own.lead().as_ref());
    if others.is_empty() {
        return Ok(None);
    }
    // Without a server there are no locks.
    let opened = Connection::open_running(caller.args, &working_copy, Some(&own), LIMIT);
    let Some(connection) = opened.map_err(|error| reason::unreachable(&error))? else {
        return Ok(None);
    };
    let repo_url = caller.args.repo_url(&working_copy);
    let listed = connection.client.locks(&repo_url, &LocksFilter::default()).await;
    let locks = listed.map_err(|error| reason::failure(&error))?.locks;
    let held: Vec<&HeldLock> = locks.iter().filter(|lock| is_of(lock, &others)).collect();
    let Some(first) = held.first() else { return Ok(None) };
    let files: Vec<&str> = held.iter().map(|lock| lock.file_path.as_str()).collect();
    Ok(Some(format!(
        "STOP: `{}` changes this whole working copy, {}, in which another session works: {} holds {} ({}). Next: make a working copy of \
         your own, `git worktree add ../{}-work -b BRANCH`, and work there.",
        change.command,
        working_copy.root().display(),
        first.agent_id.as_deref().unwrap_or(&first.user),
        reason::list_files(&files),
        first.message,
        working_copy.root().file_name().unwrap_or_default().to_string_lossy(),
    )))
}

fn is_of(lock: &HeldLock, holders: &[AgentId]) -> bool {
    let holder = lock.agent_id.as_deref();
    holders.iter().any(|known| Some(known.as_str()) == holder)
}
