//! The resolutions of the previous version that are still valid.
//!
//! The result equals that of a cold build. A file's edges depend on three things: its specifiers, the context that governs
//! it, and lookups in tables, whose keys were traced ([`crate::resolve`]). A file is resolved again when one of them may
//! differ: its specifiers changed, its context is another object, or the result under one of its keys may have changed.
//! Otherwise its resolution stays. Ids of files are renumbered when paths appear or disappear.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

use crate::file::{FileId, NO_FILE};
use crate::record::Record;
use crate::resolution::ResolvedSpecifiers;
use crate::resolve::Resolver;
use crate::update::begin::Update;
use crate::update::snapshot::Snapshot;

/// Most work for finding out whether files have the contexts that they had. The files after it are resolved again.
const MAX_CONTEXT_WORK: usize = 32_000_000;

impl Update {
    /// The older resolutions that are still valid, renumbered.
    pub(super) fn still_valid(
        &self,
        older: &Snapshot,
        resolver: &Resolver<'_>,
        records: &[Option<Arc<Record>>],
    ) -> Vec<Option<Arc<ResolvedSpecifiers>>> {
        let mut touched = HashSet::new();
        let mut touch = |key: u32| {
            touched.insert(key);
        };
        if let Some(renumbered) = &self.renumbered {
            let added = self.files.iter().zip(&renumbered.old_of);
            let removed = older.files.iter().zip(&renumbered.new_of);
            for (file, _) in added.chain(removed).filter(|(_, counterpart)| **counterpart == NO_FILE) {
                self.table.keys_of_path(&file.path, &mut touch);
            }
        }
        resolver.table.changed_links(&older.table, &mut touch);
        let other_projects = !std::ptr::eq(resolver.projects, &*older.projects);
        if other_projects {
            resolver
                .projects
                .changed_keys(&older.projects, self.table.keys(), &mut touch);
        }
        let anew = resolver
            .layouts
            .changed_keys(resolver.table, &older.layouts, &older.table, &mut touch);
        let is_anew = |id: FileId| {
            let language = self.kinds[id as usize].language;
            language.is_some_and(|language| anew.contains(&language.family()))
        };
        let spent = Cell::new(0);
        let has_same_context = |path: &str| {
            let context = resolver.projects.context(path);
            spent.set(spent.get() + context.work);
            spent.get() <= MAX_CONTEXT_WORK && context.is_same(&older.projects.context(path))
        };
        let is_valid = |id: FileId, old: FileId| {
            let (Some(record), Some(Some(before))) = (&records[id as usize], older.records.get(old as usize)) else {
                return false;
            };
            let path = &self.files[id as usize].path;
            (Arc::ptr_eq(record, before) || record.specifiers == before.specifiers)
                && (anew.is_empty() || !is_anew(id))
                && (touched.is_empty()
                    || older.resolved[old as usize]
                        .keys
                        .as_ref()
                        .is_some_and(|keys| !keys.iter().any(|key| touched.contains(key))))
                && (!other_projects || has_same_context(path))
        };
        let valid = (0..records.len() as FileId).map(|id| {
            let old = self.old_id(id)?;
            if !is_valid(id, old) {
                return None;
            }
            let known = &older.resolved[old as usize];
            match &self.renumbered {
                Some(renumbered) if !known.outcomes.is_empty() => renumbered.apply(known),
                _ => Some(Arc::clone(known)),
            }
        });
        valid.collect()
    }
}
