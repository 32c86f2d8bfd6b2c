//! The use of a file: the build scans it for imports, parses it as a manifest, follows it as a link, or ignores it.

use coord_scan::Language;

use crate::resolve::manifests::is_manifest;
use crate::tree::{EntryKind, TreeEntry};

/// The use of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileKind {
    /// The language to scan it in. A symbolic link contains a path, whatever its name.
    pub(super) language: Option<Language>,
    /// Whether it is a manifest by its name, or a symbolic link, whose content is a path.
    pub(super) is_manifest: bool,
    pub(super) is_link: bool,
}

impl FileKind {
    pub(super) fn of(file: &TreeEntry) -> Self {
        let is_regular = file.kind == EntryKind::File;
        let is_link = file.kind == EntryKind::Symlink;
        let language = Language::of_path(&file.path).filter(|_| is_regular);
        FileKind {
            language,
            is_manifest: (is_regular && is_manifest(&file.path)) || is_link,
            is_link,
        }
    }
}
