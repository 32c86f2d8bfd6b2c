//! Bounds of one build.

/// The bounds of one build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest file that is scanned, in bytes.
    pub max_file_bytes: u64,
    /// Most files that are scanned. Files past it, in path order, are
    /// [`FileState::OverLimit`](coord_scan::FileState::OverLimit).
    pub max_files: usize,
    /// Most bytes that are scanned in all. The file that exceeds it, in path order, and those after it are
    /// [`FileState::OverLimit`](coord_scan::FileState::OverLimit).
    pub max_bytes: u64,
    /// Most imports of one graph. A long import counts as several, because the limit bounds the memory of a build. The
    /// file that exceeds it, in path order, and those after it are
    /// [`FileState::OverLimit`](coord_scan::FileState::OverLimit).
    pub max_imports: usize,
    /// Larger files with very long lines count as [`FileState::Minified`](coord_scan::FileState::Minified).
    pub minified_over_bytes: u64,
    /// Whether records have the [`interface`](coord_interfaces::interface) of each file.
    pub interfaces: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_file_bytes: 4 << 20,
            max_files: 500_000,
            max_bytes: 4 << 30,
            max_imports: 1_000_000,
            minified_over_bytes: 1 << 20,
            interfaces: false,
        }
    }
}
