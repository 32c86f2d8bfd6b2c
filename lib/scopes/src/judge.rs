//! Whether an intent may change a file: by reserved files, ignored files, and the scope, in this order.

use super::ignore::{IgnoreReason, IgnoreWalk, IntentIgnore};
use super::owned_scope::Scope;
use super::reserved::{ReservedPart, reserved_part};
use super::walk::Walk;

/// The rules' verdict on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The intent may change it.
    Covered,
    /// No pattern of the scope covers it.
    Outside,
    /// `.intentignore` has it.
    Ignored(IgnoreReason),
    /// No intent ever covers it.
    Reserved(ReservedPart),
}

/// Applies a scope, and the rules that precede it, to one path after the other.
pub struct Judge<'s> {
    scope: Walk<'s>,
    ignores: Vec<IgnoreWalk<'s>>,
}

impl<'s> Judge<'s> {
    /// `ignores` are the `.intentignore` of the branch and, if there is one, that of the working copy. A file is
    /// ignored if either has it.
    pub fn new(scope: &'s Scope, ignores: impl IntoIterator<Item = &'s IntentIgnore>) -> Self {
        Judge {
            scope: scope.walk(),
            ignores: ignores.into_iter().map(IntentIgnore::walk).collect(),
        }
    }

    /// Judges `path`, a file. It is fastest if paths of the same folder follow each other.
    pub fn judge(&mut self, path: impl AsRef<[u8]>) -> Verdict {
        let path = path.as_ref();
        if let Some(part) = reserved_part(path) {
            return Verdict::Reserved(part);
        }
        if let Some(reason) = self.ignores.iter_mut().find_map(|ignore| ignore.find(path)) {
            return Verdict::Ignored(reason);
        }
        match self.scope.find(path) {
            Some(_) => Verdict::Covered,
            None => Verdict::Outside,
        }
    }
}
