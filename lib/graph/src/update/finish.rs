//! The last step of a build: keeps valid resolutions, resolves the rest, and assembles the graph.

use std::sync::Arc;

use crate::record::Record;
use crate::resolution::ResolvedSpecifiers;
use crate::resolve::Resolver;
use crate::resolve::layouts::Layouts;
use crate::resolve::manifests::{Manifests, same_manifests};
use crate::resolve::path_table::PathTable;
use crate::resolve::projects::Projects;
use crate::resolve::symlinks::symlinks;
use crate::resolve::tree_context::TreeContext;
use crate::update::begin::Update;
use crate::update::resolve_files::{cut_off, resolve_missing};
use crate::update::snapshot::Snapshot;
use crate::update::wanted_files::ContentUse;

impl Update {
    /// The new version. A requested file that was not supplied counts as unreadable.
    pub fn finish(&self) -> Snapshot {
        let previous = self.previous.as_deref();
        let (manifests, left_out) = self.manifests();
        let table = self.linked_table(&manifests);
        let has_same_links = previous.is_none_or(|older| Arc::ptr_eq(&older.table, &table));
        let projects = self.projects(&table, &manifests);
        let content_uses = self.content_uses();
        let records = self.final_records(&content_uses);
        let tree = TreeContext {
            table: &table,
            manifests: &manifests,
            projects: &projects,
            records: &records,
        };
        let layouts = Layouts::new(
            tree,
            previous.map(|older| (&older.layouts, older.tree())),
            self.renumbering.is_none() && has_same_links,
        );
        let resolver = Resolver {
            table: &table,
            projects: &projects,
            layouts: &layouts,
        };
        let mut resolved: Vec<Option<Arc<ResolvedSpecifiers>>> = match previous {
            // If the older version was cut off, the files after the cut were never resolved.
            Some(older) if older.cut.is_none() => self.valid_resolutions(older, &resolver, &records),
            _ => vec![None; records.len()],
        };
        let max_imports = self.limits.max_imports;
        resolve_missing(&resolver, &self.kinds, &records, &mut resolved, max_imports);
        let cut = cut_off(&resolver, &self.kinds, &records, &mut resolved, max_imports);
        let resolved: Vec<Arc<ResolvedSpecifiers>> = resolved.into_iter().map(Option::unwrap_or_default).collect();
        let graph = self.assemble(&content_uses, &records, &resolved, cut);
        let bounds = self.met_bounds(&content_uses, &records, &resolved, cut, &left_out, &tree);
        Snapshot {
            files: Arc::clone(&self.files),
            table,
            records,
            manifests,
            projects,
            layouts,
            resolved,
            cut,
            names_left_out: self.names_left_out,
            graph: Arc::new(graph.with_bounds(bounds)),
        }
    }

    /// A table with the links of this version. If the links are the same, this is the older table.
    fn linked_table(&self, manifests: &Manifests) -> Arc<PathTable> {
        let links = symlinks(manifests);
        match self.table.has_same_links(&links) {
            true => Arc::clone(&self.table),
            false => Arc::new(self.table.with_links(links)),
        }
    }

    fn projects(&self, table: &PathTable, manifests: &Manifests) -> Arc<Projects> {
        let Some(older) = self.previous.as_deref() else {
            return Arc::new(Projects::new(table, manifests, None));
        };
        if same_manifests(&older.manifests, manifests) && self.renumbering.is_none() {
            return Arc::clone(&older.projects);
        }
        let fresh = Projects::new(table, manifests, Some(&older.projects));
        if fresh.is_same(&older.projects) {
            return Arc::clone(&older.projects);
        }
        Arc::new(fresh)
    }

    fn final_records(&self, content_uses: &[ContentUse]) -> Vec<Option<Arc<Record>>> {
        let files = content_uses.iter().zip(&self.records);
        files
            .map(|(content_use, record)| record.get().filter(|_| *content_use == ContentUse::Yes).cloned())
            .collect()
    }
}
