//! How much of a file could be read.

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
    /// Left out: it has too many imports, or the graph reached a bound at this file or an earlier one.
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
