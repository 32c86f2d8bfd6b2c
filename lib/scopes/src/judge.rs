//! Whether an intent may change a file: by reserved files, ignored ones, and the scope, in this order.

use super::ignore::{IgnoreReason, IgnoreWalk, IntentIgnore};
use super::owned_scope::Scope;
use super::reserved::{ReservedPart, reserved};
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

/// A scope and the rules before it, against one path after the other.
pub struct Judge<'s> {
    scope: Walk<'s>,
    ignores: Vec<IgnoreWalk<'s>>,
}

impl<'s> Judge<'s> {
    /// `ignores` are the file of the branch, and where there is one, that of the working copy: either is enough.
    pub fn new(scope: &'s Scope, ignores: impl IntoIterator<Item = &'s IntentIgnore>) -> Self {
        Judge {
            scope: scope.walk(),
            ignores: ignores.into_iter().map(IntentIgnore::walk).collect(),
        }
    }

    /// Judges `path`, a file. Paths of one folder that come one after the other are fastest.
    pub fn judge(&mut self, path: impl AsRef<[u8]>) -> Verdict {
        let path = path.as_ref();
        if let Some(reserved) = reserved(path) {
            return Verdict::Reserved(reserved);
        }
        if let Some(ignored) = self.ignores.iter_mut().find_map(|ignore| ignore.find(path)) {
            return Verdict::Ignored(ignored);
        }
        match self.scope.find(path) {
            Some(_) => Verdict::Covered,
            None => Verdict::Outside,
        }
    }
}
