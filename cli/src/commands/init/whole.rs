//! A file that is written as a whole, such as a skill.

use super::edit::{Added, Removed};
use super::record::FileRecord;

/// The text of a file.
#[derive(Clone, Debug)]
pub struct Whole {
    pub text: String,
    /// What it is in the other form, where it has two.
    pub other: Option<String>,
}

impl Whole {
    /// An earlier text of ours is replaced, and one that somebody has changed is left.
    pub fn add(&self, text: Option<&str>, record: Option<&FileRecord>) -> Added {
        let (text, kept) = match text {
            Some(text) if !self.is_ours(text, record) => (text, true),
            _ => (self.text.as_str(), false),
        };
        Added {
            text: text.to_owned(),
            made: Vec::new(),
            kept: if kept {
                vec!["has a text of its own".to_owned()]
            } else {
                Vec::new()
            },
        }
    }

    /// The file goes where its text is still ours.
    pub fn remove(&self, text: &str, record: Option<&FileRecord>) -> Removed {
        match self.is_ours(text, record) {
            true => Removed {
                text: None,
                kept: Vec::new(),
            },
            false => Removed {
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
