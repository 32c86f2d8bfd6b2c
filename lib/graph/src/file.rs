//! A file of a graph: its number, its language and size, and its state.

use crate::language::Language;

/// A file of one graph: its position in the order of paths. Another version of the graph may number it differently.
pub type FileId = u32;

/// The number of no file.
pub(crate) const NO_FILE: FileId = FileId::MAX;

/// How much of a file could be read.
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
    /// The source of the repository could not read it.
    Unreadable,
    /// Not scanned: the limit on the files or bytes of one graph was reached at this file or before it.
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

    /// Lower-case name, as on the wire and in the store.
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
    /// Size in bytes; `None` where the file was not read.
    pub size: Option<u64>,
    /// How much of it could be read.
    pub state: FileState,
}

/// One file of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// Path from the repository root.
    pub path: &'a str,
    /// Its language; `None` where Coord does not know its imports.
    pub language: Option<Language>,
    /// Size in bytes; `None` where the file was not read.
    pub size: Option<u64>,
    /// How much of it could be read.
    pub state: FileState,
}
