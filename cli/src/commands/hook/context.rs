//! Who works on what: a short text for an agent's model, and nothing where nobody else works. That a model was given the text about
//! its intent is noted.

use coord::domain::AgentId;
use coord_protocol::plain_text::{WHOSE, quoted_line, shown_line};
use coord_protocol::{ClientError, HeldLock, LockMode, LocksFilter, RecordEntry, RecordKind};

use crate::agent::connection::Connection;
use crate::agent::session_notes::SessionNotes;
use crate::agent::spool::Spool;
use crate::agent::work::Work;

use super::caller::Caller;
use super::{reason, record};

/// Bytes of a text that count as one token.
const BYTES_OF_TOKEN: usize = 4;

/// Most sessions that are named.
const MOST_SESSIONS: usize = 10;

/// Most characters of a message.
const MOST_CHARS: usize = 120;

/// The text.
///
/// # Errors
/// When the server gives no answer.
pub(super) async fn of_others(connection: &Connection, work: &Work) -> Result<Option<String>, ClientError> {
    let filter = LocksFilter {
        branch: Some(work.branch.to_string()),
        ..LocksFilter::default()
    };
    let listed = connection.client.locks(&work.repo_url(), &filter).await?;
    let own = work.agent_id.as_ref().map(|agent| agent.as_str());
    let others: Vec<HeldLock> = listed
        .locks
        .into_iter()
        .filter(|lock| lock.agent_id.as_deref() != own)
        .collect();
    Ok(text(&others, &work.branch.to_string()))
}

/// Notes that the model was given `text`, for the ledger. It is sent with what is recorded next: nobody waits for it.
pub(super) fn note_given(caller: &Caller<'_>, work: &Work, holder: &AgentId, text: &str) {
    let notes = SessionNotes::read(&work.working_copy, holder);
    let about = notes.intent.as_deref().unwrap_or("no intent selected");
    let entry = RecordEntry {
        output_summary: format!("{about}: about {} tokens", text.len().div_ceil(BYTES_OF_TOKEN)),
        ..record::entry(RecordKind::Context)
    };
    for request in record::requests(caller, work, &notes, &[entry]) {
        if let Err(error) = Spool::of(&work.working_copy).add(&request) {
            tracing::debug!(%error, "an event is not recorded");
        }
    }
}

fn text(locks: &[HeldLock], branch: &str) -> Option<String> {
    let mut sessions: Vec<(String, Vec<&HeldLock>)> = Vec::new();
    for lock in locks {
        let name = match &lock.agent_id {
            Some(agent) => format!(
                "{} (login {}, {agent})",
                shown_line(&lock.user_name),
                shown_line(&lock.user)
            ),
            None => format!("{} (login {})", shown_line(&lock.user_name), shown_line(&lock.user)),
        };
        match sessions.iter_mut().find(|(known, _)| *known == name) {
            Some((_, locks)) => locks.push(lock),
            None => sessions.push((name, vec![lock])),
        }
    }
    if sessions.is_empty() {
        return None;
    }
    let mut lines = vec![format!(
        "Coord: others hold files on branch {branch}. Leave these and files that import them alone, or expect a refusal. {WHOSE}"
    )];
    for (name, locks) in sessions.iter().take(MOST_SESSIONS) {
        let files: Vec<String> = locks.iter().map(|lock| shown(lock)).collect();
        let message: String = locks[0].message.chars().take(MOST_CHARS).collect();
        lines.push(format!(
            "- {name}: {}: {}",
            reason::listed(&files),
            quoted_line(&message)
        ));
    }
    let more = sessions.len().saturating_sub(MOST_SESSIONS);
    if more > 0 {
        lines.push(format!("- and {more} more"));
    }
    Some(lines.join("\n"))
}

fn shown(lock: &HeldLock) -> String {
    match lock.status {
        LockMode::Writing => shown_line(&lock.file_path).into_owned(),
        LockMode::Reading => format!("{} (reading)", lock.file_path),
    }
}
