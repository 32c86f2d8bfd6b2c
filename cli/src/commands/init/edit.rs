//! The outcome of adding content to a file, and of removing it.

use super::record::FileRecord;

/// The outcome of an addition.
#[derive(Debug)]
pub struct Addition {
    /// The text of the file.
    pub text: String,
    /// Parts created besides the values themselves, such as the object around them, for a later removal.
    pub made: Vec<String>,
    /// Clauses about parts that differ from the content, and were left alone.
    pub skipped: Vec<String>,
}

/// The outcome of a removal.
#[derive(Debug)]
pub struct Removal {
    /// The text of the file; `None` if the file is to be deleted.
    pub text: Option<String>,
    /// Clauses about parts that were changed since, and were left alone.
    pub skipped: Vec<String>,
}

impl Removal {
    /// Leaves the file as it is.
    pub fn unchanged(text: &str) -> Removal {
        Removal {
            text: Some(text.to_owned()),
            skipped: Vec::new(),
        }
    }

    /// Leaves `rest` in the file. If it `is_empty`, and `coord init` created the file, the file is deleted.
    pub fn leaving(rest: String, is_empty: bool, record: Option<&FileRecord>) -> Removal {
        let is_ours = record.is_none_or(|record| record.created);
        Removal {
            text: (!(is_ours && is_empty)).then_some(rest),
            skipped: Vec::new(),
        }
    }
}
