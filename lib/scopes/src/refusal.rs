//! Why a scope is refused when it is parsed.

/// Maximum number of patterns of a scope, and of alternatives of one pattern.
pub const MAX_PATTERNS: usize = 64;

/// Maximum length of a pattern.
pub const MAX_PATTERN_BYTES: usize = 512;

/// A problem of the list of patterns. The sentence lacks its subject, which is the name of the field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListProblem {
    #[error("is empty: name the files that the intent may change, such as src/db/**")]
    NoPattern,
    /// More than 64 patterns.
    #[error(
        "has {0} patterns, with each alternative of {{a,b}} counted; at most {MAX_PATTERNS} are allowed: name folders \
         instead of files"
    )]
    TooManyPatterns(usize),
    #[error("has an empty pattern: leave it out, or name a file or folder")]
    EmptyPattern,
}

/// A problem of a scope or one of its patterns, and its fix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The list of patterns.
    #[error("owned_scope {0}")]
    List(#[from] ListProblem),
    /// More than 512 bytes.
    #[error("the pattern {0:?}... has {1} bytes; at most {MAX_PATTERN_BYTES} are allowed: name a folder above")]
    TooLong(String, usize),
    #[error(
        "the pattern {0:?} has more than {MAX_PATTERNS} alternatives in braces: write * in their place, or name the \
         folder"
    )]
    TooManyAlternatives(String),
    /// It begins with `!`.
    #[error(
        "the pattern {0:?} begins with !: a scope only lists files that may be changed, and .intentignore those that \
         may not (a name that begins with ! is written \\!)"
    )]
    Negated(String),
    /// It begins with a slash, a drive or `~`.
    #[error(
        "the pattern {0:?} is absolute: write it from the root of the repository, without anything before, such as \
         src/db/**"
    )]
    Absolute(String),
    /// `..` is one of its segments.
    #[error("the pattern {0:?} has '..': write it from the root of the repository, such as src/db/**")]
    Parent(String),
    /// An empty segment, or `.`.
    #[error("the pattern {0:?} has '.' or an empty part between two slashes: remove it, such as src/db/**")]
    EmptySegment(String),
    /// A backslash that separates folders.
    #[error(
        "the pattern {0:?} has a backslash that is not before a special character: separate folders with /, such as \
         src/db/**; \\ only makes *, ?, [, {{ and the like mean themselves"
    )]
    Backslash(String),
    /// `[:alpha:]`
    #[error("the pattern {0:?} has a POSIX class: write its characters, such as [a-z] or [0-9]")]
    PosixClass(String),
    /// Brackets over two segments.
    #[error("the pattern {0:?} has a / in brackets, which no name has: write \\[ for a name with a bracket")]
    SlashInBrackets(String),
    #[error("the pattern {0:?} has a NUL, which no name has: remove it")]
    Nul(String),
}
