//! The resolutions of the previous version that are still valid.
//!
//! The result equals that of a cold build. A file's edges depend on three things: its specifiers, the context that
//! governs it, and lookups in tables. The resolver traced the keys of these lookups ([`crate::resolve`]). It resolves a
//! file again if its specifiers changed, its context is another object, or the result under one of its keys may have
//! changed. Otherwise the resolution stays. If paths appear or disappear, the resolution gets new file ids.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

use crate::file::{FileId, NO_FILE};
use crate::record::Record;
use crate::resolution::ResolvedSpecifiers;
use crate::resolve::Resolver;
use crate::update::begin::Update;
use crate::update::snapshot::Snapshot;

/// Most work for comparing the contexts of files with the older ones. The files after it are resolved again.
const MAX_CONTEXT_WORK: usize = 32_000_000;

impl Update {
    /// The older resolutions that are still valid, with this version's ids.
    pub(super) fn valid_resolutions(
        &self,
        older: &Snapshot,
        resolver: &Resolver<'_>,
        records: &[Option<Arc<Record>>],
    ) -> Vec<Option<Arc<ResolvedSpecifiers>>> {
        let mut touched = HashSet::new();
        let mut touch = |key: u32| {
            touched.insert(key);
        };
        if let Some(renumbering) = &self.renumbering {
            let added = self.files.iter().zip(&renumbering.old_of);
            let removed = older.files.iter().zip(&renumbering.new_of);
            for (file, _) in added.chain(removed).filter(|(_, counterpart)| **counterpart == NO_FILE) {
                self.table.keys_of_path(&file.path, &mut touch);
            }
        }
        resolver.table.changed_links(&older.table, &mut touch);
        let projects_changed = !std::ptr::eq(resolver.projects, &*older.projects);
        if projects_changed {
            resolver
                .projects
                .changed_keys(&older.projects, self.table.keys(), &mut touch);
        }
        let invalid_families = resolver
            .layouts
            .changed_keys(resolver.table, &older.layouts, &older.table, &mut touch);
        let is_in_invalid_family = |id: FileId| {
            let language = self.kinds[id as usize].language;
            language.is_some_and(|language| invalid_families.contains(&language.family()))
        };
        let work = Cell::new(0);
        let has_same_context = |path: &str| {
            let context = resolver.projects.context(path);
            work.set(work.get() + context.work);
            work.get() <= MAX_CONTEXT_WORK && context.is_same(&older.projects.context(path))
        };
        let is_valid = |id: FileId, old: FileId| {
            let (Some(record), Some(Some(before))) = (&records[id as usize], older.records.get(old as usize)) else {
                return false;
            };
            let path = &self.files[id as usize].path;
            (Arc::ptr_eq(record, before) || record.specifiers == before.specifiers)
                && (invalid_families.is_empty() || !is_in_invalid_family(id))
                && (touched.is_empty()
                    || older.resolved[old as usize]
                        .keys
                        .as_ref()
                        .is_some_and(|keys| !keys.iter().any(|key| touched.contains(key))))
                && (!projects_changed || has_same_context(path))
        };
        let valid = (0..records.len() as FileId).map(|id| {
            let old = self.old_id(id)?;
            if !is_valid(id, old) {
                return None;
            }
            let resolved = &older.resolved[old as usize];
            match &self.renumbering {
                Some(renumbering) if !resolved.outcomes.is_empty() => renumbering.apply(resolved),
                _ => Some(Arc::clone(resolved)),
            }
        });
        valid.collect()
    }
}
