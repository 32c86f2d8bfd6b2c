//! Sends records to the ledger, first those in the spool. No failure here fails the tool.

use coord_agent::connection::Connection;
use coord_agent::session_notes::SessionNotes;
use coord_agent::spool::Spool;
use coord_agent::work::Work;
use coord_git::WorkingCopy;
use coord_intents::ledger::{ContentHash, ToolInput};
use coord_protocol::ledger::MUTATION_CLASSES;
use coord_protocol::{ClientError, ErrorCode, RecordEntry, RecordKind, RecordRequest};

use super::caller::Caller;
use super::{local_paths, usage};

/// Maximum number of events of a request.
const MAX_ENTRIES: usize = 32;

/// Maximum number of spooled requests that one call of a hook sends.
const MAX_SENT: usize = 8;

/// An event with a new id.
pub(super) fn entry(kind: RecordKind) -> RecordEntry {
    RecordEntry::new(uuid::Uuid::now_v7().hyphenated().to_string(), kind)
}

/// The call of the tool, with the part of its input that may leave this machine.
pub(super) fn call(caller: &Caller<'_>, kind: RecordKind) -> RecordEntry {
    let mut input = serde_json::from_str(ToolInput::record(&caller.call.input).as_str()).unwrap_or_default();
    let (root, home) = (WorkingCopy::root_containing(&caller.folder()), std::env::home_dir());
    local_paths::shorten(&mut input, root.as_deref(), home.as_deref());
    let class = caller.call.input.get("mutation_class").and_then(|class| class.as_str());
    RecordEntry {
        tool_name: Some(caller.call.tool_name.clone()),
        tool_input: input.as_object().cloned(),
        mutation_class: class
            .filter(|class| MUTATION_CLASSES.contains(class))
            .map(str::to_owned),
        ..entry(kind)
    }
}

/// The change of a file by `call`.
pub(super) fn mutation(call: &RecordEntry, file: &str, hash: ContentHash, token: Option<i64>) -> RecordEntry {
    let verb = match hash {
        ContentHash::Deleted => "Deleted",
        ContentHash::Sha256(_) => "Wrote",
    };
    RecordEntry {
        tool_name: call.tool_name.clone(),
        mutation_class: call.mutation_class.clone(),
        file_path: Some(file.to_owned()),
        hash: Some(hash.to_string()),
        token,
        output_summary: format!("{verb} {file}"),
        ..entry(RecordKind::Mutation)
    }
}

/// The requests that send `entries`.
pub(super) fn requests(
    caller: &Caller<'_>,
    work: &Work,
    notes: &SessionNotes,
    entries: &[RecordEntry],
) -> Vec<RecordRequest> {
    let request = |entries: &[RecordEntry]| RecordRequest {
        repo_url: Some(work.repo_url()),
        branch: Some(work.branch.to_string()),
        intent_id: notes.intent.clone(),
        session: usage::session(caller, notes),
        entries: Some(entries.to_vec()),
        agent_id: work.agent_id.as_ref().map(|agent| agent.as_str().to_owned()),
    };
    entries.chunks(MAX_ENTRIES).map(request).collect()
}

/// Sends `requests` after those in the spool. Unsent requests are added to the spool; then it returns a sentence.
pub(super) async fn send(connection: Option<&Connection>, work: &Work, requests: Vec<RecordRequest>) -> Option<String> {
    let spool = Spool::of(&work.working_copy);
    let spooled = spool.requests();
    let mut can_send = connection.is_some() && spooled.len() <= MAX_SENT;
    if let Some(connection) = connection {
        for request in spooled.iter().take(MAX_SENT) {
            // The server may have a new store by now, and so another id for the repository.
            let renamed = RecordRequest {
                repo_url: Some(work.repo_url()),
                ..request.clone()
            };
            if !try_send(connection, &renamed).await {
                can_send = false;
                break;
            }
            spool.remove(request);
        }
    }
    let mut unsent = 0;
    for request in requests {
        if let Some(connection) = connection.filter(|_| can_send) {
            can_send = try_send(connection, &request).await;
            if can_send {
                continue;
            }
        }
        let count = request.entries.as_ref().map_or(0, Vec::len);
        if let Err(error) = spool.add(&request) {
            return Some(format!(
                "Coord: {count} events are not recorded in the ledger, and are lost: {error}."
            ));
        }
        unsent += count;
    }
    (unsent > 0).then(|| {
        format!("Coord: the ledger cannot be reached; events that wait on this machine for the next call: {unsent}.")
    })
}

/// Sends `request`. Returns false if it must be sent again. A server that refuses an event would refuse it again.
async fn try_send(connection: &Connection, request: &RecordRequest) -> bool {
    match connection.client.record(request).await {
        Ok(_) => true,
        Err(ClientError::Refused { status, error, .. }) => {
            tracing::debug!(%error.message, "the server does not record an event");
            status < 500 && !matches!(error.error, ErrorCode::RateLimited)
        }
        Err(error) => {
            tracing::debug!(%error, "an event is not recorded");
            false
        }
    }
}
