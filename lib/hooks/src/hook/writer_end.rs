//! The end of a writer, such as a subagent: its remaining locks go back to its lead. Also the end of waiting: a session
//! that has ended leaves all queues.

use std::collections::BTreeMap;

use coord_agent::session_notes::SessionNotes;
use coord_protocol::{HeldLock, LocksFilter, PostRequest};

use super::connected_session::ConnectedSession;
use super::reason;

/// Moves the locks of a writer to its lead: unpushed work, and files that it had taken over from the lead.
///
/// # Errors
/// When the server does not answer.
pub(super) async fn return_locks_to_lead(session: ConnectedSession<'_>) -> anyhow::Result<()> {
    let (work, writer) = (session.work, session.holder);
    let Some(lead) = writer.lead() else { return Ok(()) };
    // One claim for all locks with the same branch, mode and message.
    let mut groups: BTreeMap<(String, &str, String), Vec<HeldLock>> = BTreeMap::new();
    for lock in held_locks(session).await? {
        let key = (lock.branch.clone(), lock.status.as_str(), lock.message.clone());
        groups.entry(key).or_default().push(lock);
    }
    let mut returned = Vec::new();
    for locks in groups.into_values() {
        let Some(first) = locks.first().cloned() else { continue };
        let files: Vec<String> = locks.into_iter().map(|lock| lock.file_path).collect();
        let claim = PostRequest {
            branch: Some(first.branch),
            agent_id: Some(lead.as_str().to_owned()),
            take_over: Some(writer.as_str().to_owned()),
            ..work.claim(files.clone(), first.status, first.message)
        };
        if session.connection.client.post_status(&claim).await?.success {
            returned.extend(files);
        }
    }
    SessionNotes::change(&work.working_copy, writer, |notes| notes.taken.clear());
    if !returned.is_empty() {
        SessionNotes::change(&work.working_copy, &lead, |notes| {
            notes.add_worktree(work.working_copy.root());
            notes.add(format!(
                "GIVEN_BACK: a subagent has ended, and you hold {} now: commit and push it, or release it.",
                reason::list_files(&returned)
            ));
        });
    }
    Ok(())
}

/// Withdraws the waiting claims of the session.
///
/// # Errors
/// When the server does not answer.
pub(super) async fn leave_queue(session: ConnectedSession<'_>) -> anyhow::Result<()> {
    let ConnectedSession { work, holder, .. } = session;
    let waits = SessionNotes::read(&work.working_copy, holder).waits;
    if waits.is_empty() {
        return Ok(());
    }
    let locks = held_locks(session).await?;
    for (branch, mut files) in waits {
        // Unpushed work stays locked.
        for lock in locks.iter().filter(|lock| lock.branch == branch) {
            files.remove(&lock.file_path);
        }
        if files.is_empty() {
            continue;
        }
        let withdrawal = PostRequest {
            branch: Some(branch),
            ..work.abandon(files.into_iter().collect(), "The session has ended".to_owned())
        };
        // A refusal does not matter, because the session holds none of these files.
        session.connection.client.post_status(&withdrawal).await?;
    }
    SessionNotes::change(&work.working_copy, holder, |notes| notes.waits.clear());
    Ok(())
}

async fn held_locks(session: ConnectedSession<'_>) -> anyhow::Result<Vec<HeldLock>> {
    let ConnectedSession { work, holder, .. } = session;
    let filter = LocksFilter::held_by(holder.as_str());
    Ok(session.connection.client.locks(&work.repo_url(), &filter).await?.locks)
}
