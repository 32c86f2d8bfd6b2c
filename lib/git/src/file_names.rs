//! Names that a file can have.

use coord_domain::FilePath;

/// Whether `part`, one component of a path, can be the name of a file.
pub(super) fn is_name(part: &str) -> bool {
    !matches!(part, "" | "." | "..")
}

/// Whether `path` can be the path of a file.
pub(super) fn is_path(path: &str) -> bool {
    path.len() <= FilePath::MAX_BYTES && memchr::memchr(0, path.as_bytes()).is_none() && path.split('/').all(is_name)
}
