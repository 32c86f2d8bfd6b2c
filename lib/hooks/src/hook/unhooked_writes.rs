//! Writes that no hook has seen: an interactive shell that an agent keeps typing into runs no hook, and neither does a background process.
//! At the end of a turn the files that others hold are checked, and both sides get a note about written ones.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use coord_agent::changes::uncommitted;
use coord_agent::connection::Connection;
use coord_agent::session_notes::SessionNotes;
use coord_agent::work::Work;
use coord_domain::AgentId;
use coord_protocol::{HeldLock, LockMode, LocksFilter};

use super::reason;

/// Tells the holders of files that were written in this turn, and the session. A sentence for its user; `None` where there are none.
pub(super) async fn note(connection: &Connection, work: &Work, holder: &AgentId) -> Option<String> {
    let filter = LocksFilter {
        branch: Some(work.branch.to_string()),
        ..LocksFilter::default()
    };
    let locks = match connection.client.locks(&work.repo_url(), &filter).await {
        Ok(listed) => listed.locks,
        Err(error) => {
            tracing::debug!(%error, "the locks of others are unknown");
            return None;
        }
    };
    let place = &work.working_copy;
    let here = SessionNotes::others_in(place, holder);
    let is_others = |lock: &&HeldLock| {
        let agent = lock.agent_id.as_deref();
        let is_own = agent
            .is_some_and(|agent| AgentId::parse(agent).is_ok_and(|agent| agent == *holder || agent.is_below(holder)));
        // A session in the same working copy wrote its files itself.
        let is_here = here.iter().any(|known| Some(known.as_str()) == agent);
        lock.status == LockMode::Writing && !lock.shared && !is_own && !is_here
    };
    let held: Vec<&HeldLock> = locks.iter().filter(is_others).collect();
    if held.is_empty() {
        return None;
    }
    let files: Vec<&str> = held.iter().map(|lock| lock.file_path.as_str()).collect();
    let changed = match uncommitted(place.root(), &files).await {
        Ok(changed) => changed,
        Err(error) => {
            tracing::debug!(%error, "the working copy is not compared with locks");
            return None;
        }
    };
    let began = SessionNotes::read(place, holder).turn_began;
    let mut written = Vec::new();
    for lock in held {
        let file = lock.file_path.as_str();
        if changed.iter().any(|changed| changed == file) && is_newer(&place.root().join(file), began) {
            notify_holder(work, holder, lock);
            written.push(format!(
                "{file} (held by {})",
                lock.agent_id.as_deref().unwrap_or(&lock.user_name)
            ));
        }
    }
    if written.is_empty() {
        return None;
    }
    let sentence = format!(
        "UNCLAIMED: this turn changed files that other agents hold, outside of the tools that Coord sees: {}. Undo the changes, or notify the holders.",
        reason::list_files(&written)
    );
    SessionNotes::change(place, holder, |notes| notes.warn(&sentence));
    Some(format!("Coord: {sentence}"))
}

/// Tells the holder of `lock`, where it is a session of this clone, that `writer` has written the file.
pub(super) fn notify_holder(work: &Work, writer: &AgentId, lock: &HeldLock) {
    if let Some(holder) = lock.agent_id.as_deref().and_then(|agent| AgentId::parse(agent).ok()) {
        let sentence = format!(
            "UNCLAIMED: {} changed {}, which you hold, in {}. Expect a merge conflict.",
            writer.as_str(),
            lock.file_path,
            work.working_copy.root().display()
        );
        SessionNotes::notify_session(&work.working_copy, &holder, &sentence);
    }
}

/// Whether the file was changed or removed since `began`, Unix seconds. The time of a deletion is unknown.
fn is_newer(path: &Path, began: u64) -> bool {
    let Ok(about) = path.symlink_metadata() else {
        return true;
    };
    let at = about.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    at.is_none_or(|at| at >= Duration::from_secs(began))
}
