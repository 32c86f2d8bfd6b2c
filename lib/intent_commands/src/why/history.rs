//! The recorded changes of a file, also from before it was moved.

use std::collections::HashSet;

use coord_intents::ledger::{ContentHash, Record};
use serde::Serialize;

/// A recorded change of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Step {
    /// The number of the line in the ledger.
    pub seq: Option<u64>,
    pub timestamp: String,
    pub agent_id: String,
    pub intent_id: Option<String>,
    /// The file, by its name at the time.
    pub file_path: String,
    /// The content after the change.
    pub hash: String,
}

/// The changes that led to the content `hash` of `path`, the oldest first. If another file had the same content, the
/// file may have been moved, so the changes of that file count, too.
pub(super) fn history(records: &[Record], path: &str, hash: ContentHash) -> Vec<Step> {
    let empty = ContentHash::of(b"").to_string();
    let identifies_file = |hash: &str| hash.starts_with("sha256:") && *hash != *empty;
    let mut paths = HashSet::from([path.to_owned()]);
    let mut contents = HashSet::new();
    if identifies_file(&hash.to_string()) {
        contents.insert(hash.to_string());
    }
    let mut steps = Vec::new();
    for record in records.iter().rev() {
        let is_change = record.status == "SUCCESS" && !record.hash.is_empty() && record.target_files.len() == 1;
        let Some(file) = record.target_files.first().filter(|_| is_change) else {
            continue;
        };
        if !paths.contains(file) && !contents.contains(&record.hash) {
            continue;
        }
        paths.insert(file.clone());
        if identifies_file(&record.hash) {
            contents.insert(record.hash.clone());
        }
        steps.push(Step {
            seq: record.seq,
            timestamp: record.timestamp.clone(),
            agent_id: record.agent_id.clone(),
            intent_id: record.intent_id.clone(),
            file_path: file.clone(),
            hash: record.hash.clone(),
        });
    }
    steps.reverse();
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(file: &str, content: &str, intent: &str) -> Record {
        Record {
            status: "SUCCESS".to_owned(),
            target_files: vec![file.to_owned()],
            hash: ContentHash::of(content.as_bytes()).to_string(),
            intent_id: Some(intent.to_owned()),
            ..Record::default()
        }
    }

    fn intents(records: &[Record], path: &str, content: &str) -> Vec<String> {
        let steps = history(records, path, ContentHash::of(content.as_bytes()));
        steps.into_iter().filter_map(|step| step.intent_id).collect()
    }

    #[test]
    fn the_intents_of_a_file_are_listed_in_order_from_before_its_move_too() {
        let refused = Record {
            status: "FAILURE".to_owned(),
            ..record("new.ts", "x", "failed")
        };
        let records = [
            record("other.ts", "o", "other"),
            record("old.ts", "one", "first"),
            record("old.ts", "two", "second"),
            refused,
            record("new.ts", "two", "moved"),
            record("new.ts", "three", "third"),
        ];
        assert_eq!(
            intents(&records, "new.ts", "three"),
            ["first", "second", "moved", "third"]
        );
        assert_eq!(
            intents(&records, "unrecorded.ts", "two"),
            ["first", "second", "moved"],
            "by its content alone"
        );
        assert_eq!(intents(&records, "unrecorded.ts", "nothing"), [""; 0]);
    }

    #[test]
    fn empty_files_are_not_taken_for_each_other() {
        let records = [record("a", "", "one"), record("b", "", "two")];
        assert_eq!(intents(&records, "b", ""), ["two"]);
    }
}
