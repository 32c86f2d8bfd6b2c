//! Regular expression literals.

use crate::javascript::bytes::word_end;
use crate::javascript::scanner::Scanner;
use crate::javascript::state::PreviousToken;
use crate::meter;

/// Words after which an expression begins, so that a slash begins a regular expression.
pub const BEFORE_EXPRESSION: [&[u8]; 17] = [
    b"return",
    b"typeof",
    b"case",
    b"do",
    b"else",
    b"in",
    b"instanceof",
    b"new",
    b"void",
    b"delete",
    b"throw",
    b"yield",
    b"await",
    b"of",
    b"default",
    b"extends",
    b"export",
];

impl Scanner<'_, '_> {
    /// Consumes the regular expression at the current slash, or only the slash where the line ends first.
    pub(super) fn regex(&mut self) {
        let end = regex_end(self.text, self.position);
        meter::read(end.map_or_else(|bytes_read| bytes_read, |end| end - self.position));
        match end {
            Ok(end) => {
                self.position = word_end(self.text, end);
                self.previous = PreviousToken::Operand;
            }
            Err(bytes_read) => {
                if !self.spend_rereads(bytes_read) {
                    // No budget for a second reading is left: skip the text that was read.
                    self.position += bytes_read - 1;
                }
                self.token(PreviousToken::Operator);
            }
        }
    }
}

/// The position after the closing slash of the regular expression at `start`. If it is not a regular expression, the
/// number of bytes that were read to find out.
pub fn regex_end(text: &[u8], start: usize) -> Result<usize, usize> {
    let mut at = start + 1;
    let mut in_class = false;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' if !matches!(text.get(at + 1), Some(b'\n' | b'\r')) => at += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'/' if !in_class => return Ok(at + 1),
            b'\n' | b'\r' => break,
            _ => {}
        }
        at += 1;
    }
    Err(at.min(text.len()) - start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regular_expression_ends_at_the_first_slash_outside_a_class() {
        for (text, end) in [
            (&b"/a/"[..], Ok(3)),
            (br"/a\/b/g", Ok(6)),
            (b"/[/]/", Ok(5)),
            (br"/[\]/]/", Ok(7)),
            (b"/a", Err(2)),
            (b"/a\n/", Err(2)),
            (b"/a\\\n/", Err(3)),
            (b"/[/", Err(3)),
            (b"/\\", Err(2)),
        ] {
            assert_eq!(regex_end(text, 0), end, "{:?}", String::from_utf8_lossy(text));
        }
    }
}
