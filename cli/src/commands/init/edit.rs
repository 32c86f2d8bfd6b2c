//! The outcome of writing into a file, and of removing the text again.

/// The outcome of an addition.
#[derive(Debug)]
pub struct Addition {
    /// The text of the file.
    pub text: String,
    /// Parts created besides the values themselves, such as the object around them, for a later removal.
    pub made: Vec<String>,
    /// Differences from the text to write that were left alone: clauses for the user.
    pub kept: Vec<String>,
}

/// The outcome of a removal.
#[derive(Debug)]
pub struct Removal {
    /// The text of the file; `None` where nothing is left of it, and it may be deleted.
    pub text: Option<String>,
    /// Parts that were left because they have been changed.
    pub kept: Vec<String>,
}
