//! A file that is written as a whole, such as a skill.

use super::edit::{Addition, Removal};
use super::record::FileRecord;

#[derive(Clone, Debug)]
pub struct WholeFile {
    pub text: String,
    /// The text in the other form, if there are two.
    pub other_form: Option<String>,
}

impl WholeFile {
    /// Replaces an earlier text of ours. A text that was changed by hand is left.
    pub fn add(&self, text: Option<&str>, record: Option<&FileRecord>) -> Addition {
        let (text, skipped) = match text {
            Some(text) if !self.is_ours(text, record) => (text, vec!["has its own text".to_owned()]),
            _ => (self.text.as_str(), Vec::new()),
        };
        Addition {
            text: text.to_owned(),
            made: Vec::new(),
            skipped,
        }
    }

    /// Deletes the file if its text is still ours.
    pub fn remove(&self, text: &str, record: Option<&FileRecord>) -> Removal {
        match self.is_ours(text, record) {
            true => Removal {
                text: None,
                skipped: Vec::new(),
            },
            false => Removal {
                skipped: vec!["was changed".to_owned()],
                ..Removal::unchanged(text)
            },
        }
    }

    fn is_ours(&self, text: &str, record: Option<&FileRecord>) -> bool {
        let is_current = text == self.text || self.other_form.as_deref() == Some(text);
        is_current || record.is_some_and(|record| record.has_written(text))
    }
}
