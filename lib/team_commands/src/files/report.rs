//! The result of a sync.

use coord_agent::terminal::output::{BAD, CAUTION, GOOD, styled};
use coord_teams::compare::FindingKind;
use coord_teams::refusal::Refusal;
use serde::Serialize;

/// The number of sentences of one kind that are printed.
const MAX_PRINTED: usize = 50;

/// The result of a sync.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Report {
    pub team: String,
    /// The root of the files.
    pub folder: String,
    /// Changes that the server accepted from the files, one sentence each.
    pub applied: Vec<String>,
    /// Files that were written.
    pub written: Vec<String>,
    /// Files that were removed.
    pub removed: Vec<String>,
    /// Changes that were not applied, with reasons.
    pub refused: Vec<RejectedChange>,
    /// Files that another program changed during the sync. The next sync compares them.
    pub changed_meanwhile: Vec<String>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// A change that was not applied.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct RejectedChange {
    /// The file, below the root.
    pub file: String,
    /// The field; empty for the whole file.
    pub field: String,
    /// The reason as one word.
    pub reason: &'static str,
    /// The reason as a sentence.
    pub message: String,
}

impl RejectedChange {
    pub fn new(kind: FindingKind, refusal: Refusal) -> RejectedChange {
        let Refusal { file, field, message } = refusal;
        let reason = match kind {
            FindingKind::Unreadable => "unreadable",
            FindingKind::Conflict => "conflict",
            FindingKind::Unknown => "unknown",
            FindingKind::Transition => "transition",
            FindingKind::Cycle => "cycle",
            FindingKind::Foreign => "foreign",
            FindingKind::Missing => "missing",
            FindingKind::Bounds => "bounds",
            FindingKind::NotByFile => "not_by_file",
            FindingKind::Vanished => "vanished",
            FindingKind::Refused => "refused",
        };
        RejectedChange {
            file,
            field,
            reason,
            message,
        }
    }
}

impl Report {
    /// Whether there is nothing to report.
    pub fn is_quiet(&self) -> bool {
        let lists = [
            &self.applied,
            &self.written,
            &self.removed,
            &self.changed_meanwhile,
            &self.notes,
        ];
        lists.iter().all(|list| list.is_empty()) && self.refused.is_empty()
    }

    /// Adds the result of the next sync.
    pub fn add(&mut self, next: Report) {
        (self.team, self.folder) = (next.team, next.folder);
        self.applied.extend(next.applied);
        self.written.extend(next.written);
        self.removed.extend(next.removed);
        self.refused.extend(next.refused);
        self.refused.sort();
        self.refused.dedup();
        self.changed_meanwhile = next.changed_meanwhile;
        self.notes.extend(next.notes);
    }

    /// The text for a terminal.
    pub fn render(&self) -> String {
        let mut text = String::new();
        let mut list = |items: &[String], word: &str, noun: &str| {
            for item in items.iter().take(MAX_PRINTED) {
                text.push_str(&format!("{word}: {item}\n"));
            }
            if items.len() > MAX_PRINTED {
                text.push_str(&format!("{word}: {} more {noun}\n", items.len() - MAX_PRINTED));
            }
        };
        list(&self.applied, "applied", "changes");
        list(&self.written, "written", "files");
        list(&self.removed, "removed", "files");
        for change in &self.refused {
            let field = if change.field.is_empty() {
                String::new()
            } else {
                format!(" {}:", change.field)
            };
            text.push_str(&format!(
                "{}: {}:{field} {}\n",
                styled(BAD, "NOT APPLIED"),
                change.file,
                change.message
            ));
        }
        for file in &self.changed_meanwhile {
            text.push_str(&format!(
                "{}: {file} changed during the sync; run it again\n",
                styled(CAUTION, "LEFT")
            ));
        }
        for note in &self.notes {
            text.push_str(&format!("{note}\n"));
        }
        if text.is_empty() {
            let Report { team, folder, .. } = self;
            text = format!(
                "{}: team {team} and its files in {folder} are in sync\n",
                styled(GOOD, "OK")
            );
        }
        text
    }
}
