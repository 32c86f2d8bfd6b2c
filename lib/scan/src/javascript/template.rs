//! Template strings: text, and holes with code in it.

use crate::javascript::literal::template_end;
use crate::javascript::scanner::Scanner;
use crate::javascript::state::{Frame, PreviousToken};

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
