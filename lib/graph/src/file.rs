//! A file of a graph: its number, its language and size, and how far it could be read.

use crate::language::Language;

/// A file of one graph: its position in the order of paths. Another version of the graph may number it differently.
pub type FileId = u32;

/// No file.
pub(crate) const NO_FILE: FileId = FileId::MAX;

/// How far a file could be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileState {
    /// Its imports are known, or its language has none.
    #[default]
    Ok,
    /// Larger than the limit; not scanned.
    TooLarge,
    /// Not text; not scanned.
    Binary,
    /// Output of a minifier; only its head is scanned.
    Minified,
    /// The source of the repository did not give it.
    Unreadable,
    /// The limit on the files or on the bytes of one graph was met at it or before it; not scanned.
    OverLimit,
}

impl FileState {
    /// Every state, in order.
    pub const ALL: [FileState; 6] = [
        FileState::Ok,
        FileState::TooLarge,
        FileState::Binary,
        FileState::Minified,
        FileState::Unreadable,
        FileState::OverLimit,
    ];

    /// Lower-case name, as the wire and the store have it.
    pub fn name(self) -> &'static str {
        match self {
            FileState::Ok => "ok",
            FileState::TooLarge => "too_large",
            FileState::Binary => "binary",
            FileState::Minified => "minified",
            FileState::Unreadable => "unreadable",
            FileState::OverLimit => "over_limit",
        }
    }
}

/// The size and state of a file that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// Size in bytes; `None` where the file did not have to be read.
    pub size: Option<u64>,
    /// How far it could be read.
    pub state: FileState,
}

/// One file of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// Path from the repository root.
    pub path: &'a str,
    /// Its language; `None` where imports of it are not known.
    pub language: Option<Language>,
    /// Size in bytes; `None` where the file did not have to be read.
    pub size: Option<u64>,
    /// How far it could be read.
    pub state: FileState,
}
