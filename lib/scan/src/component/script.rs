//! The scripts of a component.

use std::ops::Range;

use crate::import_kind::ImportKind;
use crate::javascript::{Dialect, Scanner};
use crate::markup::Element;

pub enum Script {
    /// A separate file: the range of its name.
    External(Range<usize>),
    Inline(Dialect, Range<usize>),
}

/// A function that gets each script of a component, and may scan it.
pub(super) type Visit<'v> = &'v mut dyn FnMut(&mut Scanner<'_, '_>, Script);

impl Element {
    /// Scans the type parameters of a script, and passes the script itself to `visit`.
    pub(super) fn visit_script(self, scanner: &mut Scanner<'_, '_>, is_always_typed: bool, visit: Visit<'_>) {
        if let Some(generics) = self.generics {
            scanner.scan_range(Dialect::TYPESCRIPT, generics.start, generics.end);
        }
        let types = is_always_typed || self.is_typescript;
        let dialect = Dialect {
            jsx: !types || self.is_jsx,
            types,
        };
        if let Some(source) = self.source {
            visit(scanner, Script::External(source));
        }
        if !self.content.is_empty() {
            visit(scanner, Script::Inline(dialect, self.content));
        }
    }

    /// Adds an import of the file that its `src` names.
    pub(super) fn emit_source(&self, scanner: &mut Scanner<'_, '_>) {
        if let Some(source) = &self.source {
            scanner.emit_attribute(source.clone(), ImportKind::Import);
        }
    }
}
