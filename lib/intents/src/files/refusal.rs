use std::fmt;

/// Why a file cannot be read, and where. Coord neither imports such a file nor writes to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// The problem, and its fix.
    pub message: String,
}

impl Refusal {
    /// A refusal at byte `offset`.
    pub(super) fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "line {}, column {}: {}",
            self.line, self.column, self.message
        )
    }
}

impl std::error::Error for Refusal {}
