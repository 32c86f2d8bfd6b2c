//! The words that matter to the scanner.

/// What a word in code does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    /// Any name.
    None,
    Import,
    Export,
    Require,
    New,
    /// `jest`, `vi`, `vitest`.
    TestRunner,
    /// An expression follows.
    Expression,
    Typeof,
    /// A statement follows.
    Branch,
    /// A head in parentheses follows.
    Head,
    /// Between `for` and its head, or before an expression.
    Await,
}

/// The meaning of `word`.
pub(super) fn of(word: &[u8]) -> Keyword {
    match word.len() {
        2 => match word {
            b"if" => Keyword::Head,
            b"in" | b"of" => Keyword::Expression,
            b"do" => Keyword::Branch,
            b"vi" => Keyword::TestRunner,
            _ => Keyword::None,
        },
        3 => match word {
            b"for" => Keyword::Head,
            b"new" => Keyword::New,
            b"try" => Keyword::Branch,
            _ => Keyword::None,
        },
        4 => match word {
            b"with" => Keyword::Head,
            b"else" => Keyword::Branch,
            b"case" | b"void" => Keyword::Expression,
            b"jest" => Keyword::TestRunner,
            _ => Keyword::None,
        },
        5 => match word {
            b"while" => Keyword::Head,
            b"await" => Keyword::Await,
            b"throw" | b"yield" => Keyword::Expression,
            _ => Keyword::None,
        },
        6 => match word {
            b"import" => Keyword::Import,
            b"export" => Keyword::Export,
            b"return" | b"delete" => Keyword::Expression,
            b"typeof" => Keyword::Typeof,
            b"vitest" => Keyword::TestRunner,
            _ => Keyword::None,
        },
        7 => match word {
            b"require" => Keyword::Require,
            b"default" | b"extends" => Keyword::Expression,
            b"finally" => Keyword::Branch,
            _ => Keyword::None,
        },
        10 if word == b"instanceof" => Keyword::Expression,
        _ => Keyword::None,
    }
}
