//! Detects writes that no hook has seen: an interactive shell that an agent keeps typing into runs no hook, and neither
//! does a background process. At the end of a turn, the files that others hold are checked. If one was written, the
//! session and the holder get a note.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use coord_agent::changes::uncommitted;
use coord_agent::session_notes::SessionNotes;
use coord_agent::work::Work;
use coord_domain::AgentId;
use coord_protocol::{HeldLock, LockMode, LocksFilter};

use super::connected_session::ConnectedSession;
use super::reason;

/// Notifies the session, and the holders of files that were written in this turn. Returns a sentence for the session's
/// user. `None` if there are no such files.
pub(super) async fn report(session: ConnectedSession<'_>) -> Option<String> {
    let ConnectedSession { work, holder, .. } = session;
    let filter = LocksFilter {
        branch: Some(work.branch.to_string()),
        ..LocksFilter::default()
    };
    let locks = match session.connection.client.locks(&work.repo_url(), &filter).await {
        Ok(response) => response.locks,
        Err(error) => {
            tracing::debug!(%error, "the locks of others are unknown");
            return None;
        }
    };
    let working_copy = &work.working_copy;
    let others_here = SessionNotes::others_in(working_copy, holder);
    let is_elsewhere = |lock: &&HeldLock| {
        let agent = lock.agent_id.as_deref();
        let is_own = agent
            .is_some_and(|agent| AgentId::parse(agent).is_ok_and(|agent| agent == *holder || agent.is_below(holder)));
        // A session in the same working copy wrote its files itself.
        let is_here = others_here.iter().any(|other| Some(other.as_str()) == agent);
        lock.status == LockMode::Writing && !lock.shared && !is_own && !is_here
    };
    let held: Vec<&HeldLock> = locks.iter().filter(is_elsewhere).collect();
    if held.is_empty() {
        return None;
    }
    let files: Vec<&str> = held.iter().map(|lock| lock.file_path.as_str()).collect();
    let changed = match uncommitted(working_copy.root(), &files).await {
        Ok(changed) => changed,
        Err(error) => {
            tracing::debug!(%error, "the working copy is not compared with locks");
            return None;
        }
    };
    let turn_start = SessionNotes::read(working_copy, holder).turn_began;
    let mut written = Vec::new();
    for lock in held {
        let file = lock.file_path.as_str();
        let path = working_copy.root().join(file);
        if changed.iter().any(|changed| changed == file) && has_changed_since(&path, turn_start) {
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
        "UNCLAIMED: this turn changed files that other agents hold, outside of the tools that Coord sees: {}. Undo the \
         changes, or notify the holders.",
        reason::list_files(&written)
    );
    SessionNotes::change(working_copy, holder, |notes| notes.warn(&sentence));
    Some(format!("Coord: {sentence}"))
}

/// Notifies the holder of `lock` that `writer` has written the file, if the holder is a session of this clone.
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

/// Whether the file was changed or removed since `start`, Unix seconds. A removed file counts, because the time of its
/// removal is unknown.
fn has_changed_since(path: &Path, start: u64) -> bool {
    let Ok(metadata) = path.symlink_metadata() else {
        return true;
    };
    let modified = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    modified.is_none_or(|time| time >= Duration::from_secs(start))
}
