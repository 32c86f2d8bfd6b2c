//! The result of a sync.

use coord_agent::terminal::output::{BAD, GOOD, styled};
use serde::Serialize;

/// The result of a sync, or of a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Files that were written.
    pub written: Vec<&'static str>,
    /// The number of lines that were appended to the ledger.
    pub appended: usize,
    /// The number of lines of other programs in the ledger that a line of Coord adopts from now on.
    pub adopted: u64,
    /// Changes of people that were applied: the intent, and its members; no members for a new intent.
    pub taken: Vec<(String, Vec<&'static str>)>,
    /// Changes that were not applied, with reasons.
    pub problems: Vec<String>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

impl Report {
    /// Whether the sync changed something, or would change it.
    pub fn has_changes(&self) -> bool {
        !self.written.is_empty() || !self.taken.is_empty() || self.adopted > 0
    }

    /// The text for a terminal.
    pub fn render(&self, is_check: bool) -> String {
        let mut text = String::new();
        let would = if is_check { "would be " } else { "" };
        for (id, members) in &self.taken {
            let changes = if members.is_empty() {
                "new".to_owned()
            } else {
                members.join(", ")
            };
            text.push_str(&format!("{would}applied: {id}: {changes}\n"));
        }
        for file in &self.written {
            text.push_str(&format!("{would}written: {file}\n"));
        }
        if self.adopted > 0 {
            text.push_str(&format!("{would}adopted: {} lines of other programs\n", self.adopted));
        }
        if self.appended > 0 {
            text.push_str(&format!("{would}appended: {} lines of the ledger\n", self.appended));
        }
        for problem in &self.problems {
            text.push_str(&format!("{}: {problem}\n", styled(BAD, "NOT APPLIED")));
        }
        for note in &self.notes {
            text.push_str(&format!("{note}\n"));
        }
        if text.is_empty() {
            text = format!("{}: the files are up to date\n", styled(GOOD, "OK"));
        }
        text
    }
}
