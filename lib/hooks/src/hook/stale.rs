//! Refuses a write to content that the session has not seen, so that it overwrites no change that it has not read.

use std::path::PathBuf;

use coord_agent::seen_content::{Conflict, SeenContent};
use coord_domain::AgentId;
use coord_protocol::{RecordEntry, RecordKind};
use serde::Serialize;

use super::caller::Caller;
use super::interfaces::ChangedInterfaces;
use super::record;
use super::working_copy_files::{self, WorkingCopyFiles};

/// The refusal. Programs depend on exactly these members.
#[derive(Serialize)]
struct StaleFile<'a> {
    error_type: &'static str,
    file_path: &'a str,
    expected_hash: String,
    actual_hash: String,
    resolution: &'static str,
}

pub(super) struct Refusal {
    /// The JSON, which is the whole reason.
    pub(super) reason: String,
    /// Its record for the ledger. `None` if the same refusal was recorded before.
    pub(super) entry: Option<RecordEntry>,
}

/// Why a file of `copy` must not be written. `None` if the session has seen the current content of all files.
pub(super) fn refusal(caller: &Caller<'_>, copy: &WorkingCopyFiles, holder: &AgentId) -> Option<Refusal> {
    let (file, conflict) = SeenContent::change(&copy.working_copy, holder, |seen| {
        let mut files = copy.files.iter();
        files.find_map(|file| seen.conflict(&copy.path(file)).map(|conflict| (file, conflict)))
    })?;
    let reason = to_json(file, conflict);
    let entry = conflict.is_new.then(|| RecordEntry {
        file_path: Some(file.clone()),
        error_message: Some(reason.clone()),
        ..record::call(caller, RecordKind::Stale)
    });
    Some(Refusal { reason, entry })
}

fn to_json(file: &str, conflict: Conflict) -> String {
    let refusal = StaleFile {
        error_type: "STALE_FILE",
        file_path: file,
        expected_hash: conflict.expected.to_string(),
        actual_hash: conflict.actual.to_string(),
        resolution: "RE_READ_REQUIRED",
    };
    serde_json::to_string(&refusal).expect("texts are JSON")
}

/// Notes that the session has read the files at `paths`, or knows that they are missing.
pub(super) fn note_reads(caller: &Caller<'_>, paths: &[PathBuf]) {
    for copy in working_copy_files::group(paths).unwrap_or_default() {
        if let Ok(holder) = caller.holder(&copy.working_copy) {
            SeenContent::change(&copy.working_copy, &holder, |seen| {
                copy.files.iter().for_each(|file| seen.read(&copy.path(file)));
            });
        }
    }
}

/// Notes that the files of `copy` are about to be written. `token` returns the fencing token of a file's lock.
/// `changed` has the files whose interface the write changes.
pub(super) fn begin_writes(
    copy: &WorkingCopyFiles,
    holder: &AgentId,
    changed: &ChangedInterfaces,
    token: impl Fn(&str) -> Option<i64>,
) {
    SeenContent::change(&copy.working_copy, holder, |seen| {
        for file in &copy.files {
            seen.begin_write(&copy.path(file), token(file), changed.contains_key(file));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use coord_intents::ledger::ContentHash;

    #[test]
    fn the_refusal_has_five_members_in_their_order_and_nothing_else() {
        let conflict = Conflict {
            expected: ContentHash::of(b""),
            actual: ContentHash::Deleted,
            is_new: true,
        };
        assert_eq!(
            to_json("src/\"a\".ts", conflict),
            "{\"error_type\":\"STALE_FILE\",\"file_path\":\"src/\\\"a\\\".ts\",\
             \"expected_hash\":\"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\",\
             \"actual_hash\":\"DELETED\",\"resolution\":\"RE_READ_REQUIRED\"}"
        );
    }
}
