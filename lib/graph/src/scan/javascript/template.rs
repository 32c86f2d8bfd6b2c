//! Template strings: text, and holes with code in it.

use crate::scan::javascript::scanner::Scanner;
use crate::scan::javascript::state::{Frame, Previous};
use crate::scan::meter;

impl Scanner<'_, '_> {
    /// Reads template text up to its end or its next hole.
    pub(super) fn template(&mut self) {
        loop {
            let rest = self.text.get(self.position..).unwrap_or_default();
            let Some(at) = memchr::memchr3(b'`', b'\\', b'$', rest) else {
                self.position = self.text.len();
                return;
            };
            meter::read(at + 1);
            self.position += at + 1;
            match rest[at] {
                b'`' => {
                    self.previous = Previous::Operand;
                    return;
                }
                b'\\' => self.position += 1,
                _ if self.byte_at(0) == Some(b'{') => {
                    self.open(Frame::TemplateHole);
                    self.previous = Previous::Operator;
                    return;
                }
                _ => {}
            }
        }
    }
}
