//! A row of the table.

use coord_protocol::MappedFile;

/// The text in place of a table without rows.
pub(super) const EMPTY: &str = "_No intents have been mapped yet._\n";

pub(super) const HEAD: [&str; 4] = ["File Path", "Owning Intent ID", "Last Hash", "Prov. Locked?"];

/// A file and its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The path of the file in the repository.
    pub path: String,
    /// The id of the owning intent.
    pub intent_id: String,
    /// The hash of the last recorded content.
    pub hash: LastHash,
    /// Whether the owner is active and not idle. The older form lacks this: `false`.
    pub is_locked: bool,
}

pub fn rows(files: &[MappedFile]) -> Vec<Row> {
    let row = |file: &MappedFile| Row {
        path: file.file_path.clone(),
        intent_id: file.intent_id.clone(),
        hash: LastHash::parse(file.hash.as_deref().unwrap_or_default()),
        is_locked: file.is_locked,
    };
    files.iter().map(row).collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LastHash {
    /// SHA-256: 64 lower-case digits.
    Whole(String),
    /// The file was deleted.
    Deleted,
    /// Any other text, such as a truncated hash. It is displayed, but proves nothing.
    Text(String),
}

impl LastHash {
    /// Parses a cell.
    pub fn parse(text: &str) -> Self {
        let digits = text.strip_prefix("sha256:").unwrap_or(text);
        match text {
            "DELETED" => Self::Deleted,
            _ if digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) => {
                Self::Whole(digits.to_owned())
            }
            _ => Self::Text(text.to_owned()),
        }
    }

    /// Whether this is the hash `digits`: 64 lower-case digits, without a prefix.
    pub fn matches(&self, digits: &str) -> bool {
        matches!(self, Self::Whole(own) if own == digits)
    }

    pub(super) fn cell(&self) -> String {
        match self {
            Self::Whole(digits) => format!("sha256:{digits}"),
            Self::Deleted => "DELETED".to_owned(),
            Self::Text(text) => text.clone(),
        }
    }
}
