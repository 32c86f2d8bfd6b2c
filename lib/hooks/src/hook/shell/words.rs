//! Literal words of a shell.

use brush_parser::ParserOptions;
use brush_parser::ast::Word;
use brush_parser::word::{WordPiece, WordPieceWithSource, parse};

/// Characters that a shell expands outside of quotes: patterns, braces, the home folder.
const EXPANDED: [char; 7] = ['*', '?', '[', '{', '}', '~', '!'];

/// The text of `word`. `None` if it has anything that the shell replaces.
pub(super) fn plain(word: &Word) -> Option<String> {
    let pieces = parse(&word.value, &ParserOptions::default()).ok()?;
    let mut text = String::new();
    for WordPieceWithSource { piece, .. } in &pieces {
        match piece {
            WordPiece::Text(part) if part.contains(EXPANDED) => return None,
            WordPiece::Text(part) | WordPiece::SingleQuotedText(part) => text.push_str(part),
            WordPiece::EscapeSequence(sequence) => text.push_str(escaped(sequence)),
            WordPiece::AnsiCQuotedText(part) if !part.contains('\\') => text.push_str(part),
            WordPiece::DoubleQuotedSequence(pieces) | WordPiece::GettextDoubleQuotedSequence(pieces) => {
                for WordPieceWithSource { piece, .. } in pieces {
                    match piece {
                        WordPiece::Text(part) => text.push_str(part),
                        WordPiece::EscapeSequence(sequence) => text.push_str(escaped(sequence)),
                        _ => return None,
                    }
                }
            }
            _ => return None,
        }
    }
    Some(text)
}

/// The character after the backslash.
fn escaped(sequence: &str) -> &str {
    sequence.strip_prefix('\\').unwrap_or(sequence)
}
