//! Facts that resolvers derive from a whole tree, beyond single paths: one part for each family that needs one.
//!
//! A part is rebuilt when its input may have changed, and reports the keys of lookups whose results differ from the
//! older part's. If keys do not cover every difference, the whole family is resolved again.

use std::sync::Arc;

use coord_scan::Family;

use crate::resolve::go::GoModules;
use crate::resolve::path_table::PathTable;
use crate::resolve::python::PythonRoots;
use crate::resolve::rust::Crates;
use crate::resolve::tree_context::TreeContext;

#[derive(Clone, Debug)]
pub(crate) struct Layouts {
    pub(crate) python: Arc<PythonRoots>,
    pub(crate) rust: Arc<Crates>,
    pub(crate) go: Arc<GoModules>,
}

impl Layouts {
    /// The parts for `tree`. `older` is the previous version. `same_paths`: whether both have the same paths, and so
    /// the same ids.
    pub(crate) fn new(tree: TreeContext<'_>, older: Option<(&Layouts, TreeContext<'_>)>, same_paths: bool) -> Self {
        let declared = tree.projects.python();
        let python = match older {
            Some((parts, before))
                if same_paths && before.projects.python() == declared && parts.python.is_unchanged(tree, before) =>
            {
                Arc::clone(&parts.python)
            }
            _ => Arc::new(PythonRoots::new(tree, declared)),
        };
        let rust = match older {
            Some((parts, before)) if same_paths && Crates::are_same(tree, before) => Arc::clone(&parts.rust),
            _ => Arc::new(Crates::new(tree)),
        };
        let go = match older {
            Some((parts, before)) if same_paths && GoModules::are_same(tree, before) => Arc::clone(&parts.go),
            _ => Arc::new(GoModules::new(tree)),
        };
        Layouts { python, rust, go }
    }

    /// Passes to `sink` the keys of lookups whose results differ from `older`'s. Returns the families that must be
    /// resolved again as a whole.
    pub(crate) fn changed_keys(
        &self,
        table: &PathTable,
        older: &Self,
        older_table: &PathTable,
        sink: &mut impl FnMut(u32),
    ) -> Vec<Family> {
        let mut whole = Vec::new();
        if !Arc::ptr_eq(&self.python, &older.python) {
            if !self.python.has_same_roots(&older.python) {
                whole.push(Family::Python);
            }
            self.python.changed_keys(table, &older.python, older_table, sink);
        }
        if !Arc::ptr_eq(&self.rust, &older.rust) {
            if !self.rust.has_same_packages(&older.rust) {
                whole.push(Family::Rust);
            }
            self.rust.changed_keys(table, &older.rust, older_table, sink);
        }
        if !Arc::ptr_eq(&self.go, &older.go) {
            if !self.go.has_same_modules(&older.go) {
                whole.push(Family::Go);
            }
            self.go.changed_keys(table, &older.go, older_table, sink);
        }
        whole
    }
}
