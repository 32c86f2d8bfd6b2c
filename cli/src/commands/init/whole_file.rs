//! A file that is written as a whole, such as a skill.

use super::edit::{Addition, Removal};
use super::record::FileRecord;

/// The text of a file.
#[derive(Clone, Debug)]
pub struct WholeFile {
    pub text: String,
    /// The other form, if there are two.
    pub other: Option<String>,
}

impl WholeFile {
    /// An earlier text of ours is replaced; one that was changed by hand is left.
    pub fn add(&self, text: Option<&str>, record: Option<&FileRecord>) -> Addition {
        let (text, kept) = match text {
            Some(text) if !self.is_ours(text, record) => (text, true),
            _ => (self.text.as_str(), false),
        };
        Addition {
            text: text.to_owned(),
            made: Vec::new(),
            kept: if kept {
                vec!["has its own text".to_owned()]
            } else {
                Vec::new()
            },
        }
    }

    /// The file goes where its text is still ours.
    pub fn remove(&self, text: &str, record: Option<&FileRecord>) -> Removal {
        match self.is_ours(text, record) {
            true => Removal {
                text: None,
                kept: Vec::new(),
            },
            false => Removal {
                text: Some(text.to_owned()),
                kept: vec!["was changed".to_owned()],
            },
        }
    }

    fn is_ours(&self, text: &str, record: Option<&FileRecord>) -> bool {
        let is_known = text == self.text || self.other.as_deref() == Some(text);
        is_known || record.is_some_and(|record| record.has_written(text))
    }
}
