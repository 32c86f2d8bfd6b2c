//! Limits of a request.

/// Bytes of a `repo_url`.
pub const REPO_URL_BYTES: usize = 2048;
/// Bytes of a branch's name.
pub const BRANCH_BYTES: usize = 255;
/// Bytes of a path.
pub const PATH_BYTES: usize = 4096;
/// Files of a request.
pub const FILES: usize = 512;
/// Bytes of the paths of a request together.
pub const PATHS_BYTES: usize = 64 * 1024;
/// Characters of a `message`.
pub const MESSAGE_CHARS: usize = 500;
/// Bytes of path and query: three times the longest file path (percent-encoding), and the other parameters.
pub const URI_BYTES: usize = 16 * 1024;
