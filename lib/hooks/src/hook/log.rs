//! The ledger records of one tool call.

use coord_agent::connection::Connection;
use coord_agent::session_notes::SessionNotes;
use coord_agent::work::Work;
use coord_git::WorkingCopy;
use coord_intents::ledger::ContentHash;
use coord_protocol::{RecordEntry, RecordKind};

use super::caller::{Caller, SHORT_LIMIT};
use super::{intents, record};

/// The records of one call, in one repository.
pub(super) struct Log {
    pub(super) work: Work,
    notes: SessionNotes,
    connection: Option<Connection>,
    call: RecordEntry,
    entries: Vec<RecordEntry>,
}

impl Log {
    /// `None` if the repository has no intents: then nothing is recorded.
    pub(super) async fn open(caller: &Caller<'_>, working_copy: WorkingCopy) -> Option<Log> {
        let (work, holder) = caller.work(working_copy).ok()?;
        let connection = Connection::open_running(caller.args, &work.working_copy, Some(&holder), SHORT_LIMIT);
        let connection = connection.ok().flatten();
        let has_intents = intents::repository_has_intents(connection.as_ref(), &work, &holder).await;
        let notes = SessionNotes::read(&work.working_copy, &holder);
        has_intents.then(|| Log {
            notes,
            connection,
            work,
            call: record::call(caller, RecordKind::Call),
            entries: Vec::new(),
        })
    }

    pub(super) fn add_change(&mut self, file: &str, hash: ContentHash, token: Option<i64>) {
        let mut entry = record::mutation(&self.call, file, hash, token);
        // A call may have changed many files. Its input is recorded only once.
        if self.entries.is_empty() {
            entry.tool_input.clone_from(&self.call.tool_input);
        }
        self.entries.push(entry);
    }

    /// The call itself, which has changed no file.
    pub(super) fn add_call(&mut self, caller: &Caller<'_>) {
        let error = caller.call.has_failed.then(|| "the tool has failed".to_owned());
        self.entries.push(RecordEntry {
            error_message: error,
            ..self.call.clone()
        });
    }

    /// Sends the added records. Returns a sentence if they have to wait or are lost.
    pub(super) async fn send(self, caller: &Caller<'_>) -> Option<String> {
        let requests = record::requests(caller, &self.work, &self.notes, &self.entries);
        record::send(self.connection.as_ref(), &self.work, requests).await
    }
}
