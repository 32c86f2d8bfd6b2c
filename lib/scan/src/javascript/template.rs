//! Template strings: text, and holes with code in it.

use crate::javascript::scanner::Scanner;
use crate::javascript::state::{Frame, PreviousToken};
use crate::meter;

impl Scanner<'_, '_> {
    /// Reads template text up to its end or its next hole.
    pub(super) fn template(&mut self) {
        match template_end(self.text, self.position) {
            Some((end, false)) => {
                self.position = end;
                self.previous = PreviousToken::Operand;
            }
            Some((end, true)) => {
                self.position = end - 1;
                self.open(Frame::TemplateHole);
                self.previous = PreviousToken::Operator;
            }
            None => self.position = self.text.len(),
        }
    }
}

/// The position after the template's text at `position`, its backtick or `${` included, and whether a hole opens there.
/// `None` where the template does not end.
pub fn template_end(text: &[u8], position: usize) -> Option<(usize, bool)> {
    let mut at = position;
    let found = loop {
        let Some(found) = text.get(at..).and_then(|rest| memchr::memchr3(b'`', b'\\', b'$', rest)) else {
            break None;
        };
        at += found;
        match text[at] {
            b'`' => break Some((at + 1, false)),
            b'\\' => at += 2,
            _ if text.get(at + 1) == Some(&b'{') => break Some((at + 2, true)),
            _ => at += 1,
        }
    };
    meter::read(found.map_or(text.len(), |(end, _)| end).saturating_sub(position));
    found
}
