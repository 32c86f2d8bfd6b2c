//! Functions of test runners that take a module.

use super::trivia;
use crate::import_kind::ImportKind;
use crate::javascript::scanner::Scanner;
use crate::javascript::trivia::{next, word};

/// Functions of test runners whose argument is a module.
const MOCKS: &[&[u8]] = &[
    b"mock",
    b"unmock",
    b"deepUnmock",
    b"doMock",
    b"dontMock",
    b"doUnmock",
    b"unstable_mockModule",
    b"unstable_unmockModule",
    b"requireActual",
    b"requireMock",
    b"importActual",
    b"importMock",
    b"setMock",
    b"createMockFromModule",
    b"genMockFromModule",
];

/// Prefixes of functions that do not return the test runner, so that no other mock follows their call.
const CHAIN_ENDS: &[&[u8]] = &[
    b"require",
    b"import",
    b"create",
    b"gen",
    b"fn",
    b"spyOn",
    b"mocked",
    b"replaceProperty",
];

impl Scanner<'_, '_> {
    /// A function of `jest`, `vi` or `vitest`; `position` is after that word, or after a call on it.
    pub(super) fn mock(&mut self, position: usize) {
        let (dot, byte) = next(self.text, position);
        if byte != Some(b'.') {
            return;
        }
        let function = trivia::skip(self.text, dot + 1);
        let name = word(self.text, function);
        let end = function + name.len();
        if MOCKS.contains(&name) {
            self.emit_call(end, ImportKind::Mock);
        }
        if !CHAIN_ENDS.iter().any(|prefix| name.starts_with(prefix)) {
            self.mock_call = self.parenthesis(end);
        }
    }
}
