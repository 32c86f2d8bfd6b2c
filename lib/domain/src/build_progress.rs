#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct BuildProgress {
    /// Files of the tree.
    pub files: usize,
    /// Files that have to be read, as far as known.
    pub wanted: usize,
    /// Files read and scanned.
    pub scanned: usize,
}
