//! A problem of a file.

use std::fmt;

/// Why a file is refused. Coord applies nothing from such a file, and does not overwrite it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The file, as a path below the root.
    pub file: String,
    /// The member, such as `members[2].agentId`; empty for the whole file.
    pub field: String,
    pub message: String,
}

impl Refusal {
    /// A refusal of the whole file.
    pub fn of_file(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            field: String::new(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: ", self.file)?;
        if !self.field.is_empty() {
            write!(out, "{}: ", self.field)?;
        }
        out.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

/// Quotes foreign text for a sentence: at most 80 characters, with control and text-direction characters escaped.
pub fn quote(text: &str) -> String {
    format!("\"{}\"", escape(text))
}

/// [`quote`] without the quotes.
pub fn escape(text: &str) -> String {
    let mut escaped: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    if text.chars().nth(80).is_some() {
        escaped.push_str("...");
    }
    escaped
}
