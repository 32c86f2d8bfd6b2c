//! A file of a graph: its number, its language and size, and its state.

use coord_scan::{FileState, Language};

/// A file of one graph: its position in the order of paths. Another version of the graph may number it differently.
pub type FileId = u32;

/// A number that no file has.
pub(crate) const NO_FILE: FileId = FileId::MAX;

/// The size and state of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// Size in bytes. `None` if the file was not read.
    pub size: Option<u64>,
    /// How much of it Coord could read.
    pub state: FileState,
}

/// One file of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// Path from the repository root.
    pub path: &'a str,
    /// Its language. `None` if Coord does not scan files like it for imports.
    pub language: Option<Language>,
    /// Size in bytes. `None` if the file was not read.
    pub size: Option<u64>,
    /// How much of it Coord could read.
    pub state: FileState,
}
