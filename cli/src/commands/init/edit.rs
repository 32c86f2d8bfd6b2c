//! The outcome of writing into a file, and of taking it away again.

/// The outcome of an addition.
#[derive(Debug)]
pub struct Added {
    /// The text of the file.
    pub text: String,
    /// What was made besides the values themselves, such as the object around them, so that it can be taken away again.
    pub made: Vec<String>,
    /// What differs from what would be written, and was left: clauses for the user.
    pub kept: Vec<String>,
}

/// The outcome of a removal.
#[derive(Debug)]
pub struct Removed {
    /// The text of the file; `None` where nothing is left of it, and it may be deleted.
    pub text: Option<String>,
    /// What was left because somebody has changed it.
    pub kept: Vec<String>,
}
