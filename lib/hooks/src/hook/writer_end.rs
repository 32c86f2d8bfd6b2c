//! The end of a writer, such as a subagent: its lead holds its remaining locks again. And the end of waiting: a session that has ended is
//! in no queue.

use std::collections::BTreeMap;

use coord_agent::connection::Connection;
use coord_agent::session_notes::SessionNotes;
use coord_agent::work::Work;
use coord_domain::AgentId;
use coord_protocol::{HeldLock, LocksFilter, PostRequest};

use super::reason;

/// Hands the locks of `writer` to its lead: work that is not pushed, and files that it had from the lead.
///
/// # Errors
/// When the server gives no answer.
pub(super) async fn return_locks_to_lead(connection: &Connection, work: &Work, writer: &AgentId) -> anyhow::Result<()> {
    let Some(lead) = writer.lead() else { return Ok(()) };
    let mut alike: BTreeMap<(String, &str, String), Vec<HeldLock>> = BTreeMap::new();
    for lock in held_locks(connection, work, writer).await? {
        let claim = (lock.branch.clone(), lock.status.as_str(), lock.message.clone());
        alike.entry(claim).or_default().push(lock);
    }
    let mut back = Vec::new();
    for locks in alike.into_values() {
        let Some(first) = locks.first().cloned() else { continue };
        let files: Vec<String> = locks.into_iter().map(|lock| lock.file_path).collect();
        let claim = PostRequest {
            branch: Some(first.branch),
            agent_id: Some(lead.as_str().to_owned()),
            take_over: Some(writer.as_str().to_owned()),
            ..work.claim(files.clone(), first.status, first.message)
        };
        if connection.client.post_status(&claim).await?.success {
            back.extend(files);
        }
    }
    SessionNotes::change(&work.working_copy, writer, |notes| notes.taken.clear());
    if !back.is_empty() {
        SessionNotes::change(&work.working_copy, &lead, |notes| {
            notes.add_worktree(work.working_copy.root());
            notes.add(format!(
                "GIVEN_BACK: a subagent has ended, and you hold {} now: commit and push it, or release it.",
                reason::list_files(&back)
            ));
        });
    }
    Ok(())
}

/// Withdraws the claims that `holder` waits with.
///
/// # Errors
/// When the server gives no answer.
pub(super) async fn leave_queue(connection: &Connection, work: &Work, holder: &AgentId) -> anyhow::Result<()> {
    let waits = SessionNotes::read(&work.working_copy, holder).waits;
    if waits.is_empty() {
        return Ok(());
    }
    let held = held_locks(connection, work, holder).await?;
    for (branch, mut files) in waits {
        // Work that is not pushed stays locked.
        for lock in held.iter().filter(|lock| lock.branch == branch) {
            files.remove(&lock.file_path);
        }
        if files.is_empty() {
            continue;
        }
        let withdrawal = PostRequest {
            branch: Some(branch),
            ..work.abandon(files.into_iter().collect(), "The session has ended".to_owned())
        };
        // Whether it is a refusal does not matter: nothing of it is held.
        connection.client.post_status(&withdrawal).await?;
    }
    SessionNotes::change(&work.working_copy, holder, |notes| notes.waits.clear());
    Ok(())
}

async fn held_locks(connection: &Connection, work: &Work, holder: &AgentId) -> anyhow::Result<Vec<HeldLock>> {
    let filter = LocksFilter::held_by(holder.as_str());
    Ok(connection.client.locks(&work.repo_url(), &filter).await?.locks)
}
