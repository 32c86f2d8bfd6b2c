//! The last step of a build: which answers still hold, which specifiers are resolved again, and the graph of them all.
//!
//! Why the result is the cold one: a file's edges depend on its specifiers, on the context that governs it, and on
//! lookups in tables whose keys were traced ([`super::resolve`]). A file is resolved again when its specifiers differ,
//! when its context is another object, or when the answer under one of its keys may have changed; otherwise each of the
//! three is as before, and so is the answer. Ids of files are renumbered when paths come or go.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::FileId;
use super::import_graph::{Facts, FileState, ImportGraph, KindSet};
use super::record::Record;
use super::resolve::{
    Layouts, Manifests, Outcome, PathTable, Projects, Reason, Resolved, Resolver, Scratch, Tree, same_manifests,
    symlinks,
};
use super::snapshot::{NONE, Snapshot};
use super::update::{FileKind, Update};
use crate::cores::cores;

/// Most edges beside the first of each import: a package of Go is all of its files.
const MAX_MORE: usize = 3_000_000;

/// From how many files on resolving is shared among threads.
const PARALLEL_FROM: usize = 250;

impl Update {
    /// The new version. What was wanted and not supplied counts as unreadable.
    pub fn finish(&self) -> Snapshot {
        let previous = self.previous.as_deref();
        let manifests = self.manifests();
        let table = self.linked_table(&manifests);
        let same_links = previous.is_none_or(|older| Arc::ptr_eq(&older.table, &table));
        let projects = self.projects(&table, &manifests);
        let records = self.final_records();
        let tree = Tree {
            table: &table,
            manifests: &manifests,
            projects: &projects,
            records: &records,
        };
        let layouts = Layouts::new(
            tree,
            previous.map(|older| (&older.layouts, older.tree())),
            self.renumbered.is_none() && same_links,
        );
        let resolver = Resolver {
            table: &table,
            projects: &projects,
            layouts: &layouts,
        };
        let mut resolved: Vec<Option<Arc<Resolved>>> = match previous {
            // Where it was cut off, what is behind that was never resolved.
            Some(older) if older.cut_at.is_none() => self.still_valid(older, &resolver, &records),
            _ => vec![None; records.len()],
        };
        resolve_missing(&resolver, &self.kinds, &records, &mut resolved);
        let cut_at = cut_off(&resolver, &self.kinds, &records, &mut resolved);
        let resolved: Vec<Arc<Resolved>> = resolved.into_iter().map(Option::unwrap_or_default).collect();
        let graph = self.assemble(&records, &resolved, cut_at);
        Snapshot {
            files: Arc::clone(&self.files),
            table,
            records,
            manifests,
            projects,
            layouts,
            resolved,
            cut_at,
            names_left_out: self.names_left_out,
            graph: Arc::new(graph),
        }
    }

    /// The table with the links of this version. The older one, where that is the same.
    fn linked_table(&self, manifests: &Manifests) -> Arc<PathTable> {
        let links = symlinks(manifests);
        match self.table.has_links(&links) {
            true => Arc::clone(&self.table),
            false => Arc::new(self.table.with_links(links)),
        }
    }

    fn projects(&self, table: &PathTable, manifests: &Manifests) -> Arc<Projects> {
        let Some(older) = self.previous.as_deref() else {
            return Arc::new(Projects::new(table, manifests, None));
        };
        if same_manifests(&older.manifests, manifests) && self.renumbered.is_none() {
            return Arc::clone(&older.projects);
        }
        let fresh = Projects::new(table, manifests, Some(&older.projects));
        if fresh.is_same(&older.projects) {
            return Arc::clone(&older.projects);
        }
        Arc::new(fresh)
    }

    fn final_records(&self) -> Vec<Option<Arc<Record>>> {
        let known = self.due().into_iter().zip(&self.records);
        known
            .map(|(is_due, record)| record.get().filter(|_| is_due).cloned())
            .collect()
    }

    /// The older answers that hold still, renumbered.
    fn still_valid(
        &self,
        older: &Snapshot,
        resolver: &Resolver<'_>,
        records: &[Option<Arc<Record>>],
    ) -> Vec<Option<Arc<Resolved>>> {
        let mut touched = HashSet::new();
        let mut touch = |key: u32| {
            touched.insert(key);
        };
        if let Some(renumbered) = &self.renumbered {
            let added = self.files.iter().zip(&renumbered.old_of);
            let removed = older.files.iter().zip(&renumbered.new_of);
            for (file, _) in added.chain(removed).filter(|(_, counterpart)| **counterpart == NONE) {
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
        let is_valid = |id: FileId, old: FileId| {
            let (Some(record), Some(Some(before))) = (&records[id as usize], older.records.get(old as usize)) else {
                return false;
            };
            let path = &self.files[id as usize].path;
            (Arc::ptr_eq(record, before) || record.specifiers == before.specifiers)
                && (anew.is_empty() || !is_anew(id))
                && (touched.is_empty()
                    || !older.resolved[old as usize]
                        .keys
                        .iter()
                        .any(|key| touched.contains(key)))
                && (!other_projects || resolver.projects.context(path).is_same(&older.projects.context(path)))
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

    fn assemble(
        &self,
        records: &[Option<Arc<Record>>],
        resolved: &[Arc<Resolved>],
        cut_at: Option<FileId>,
    ) -> ImportGraph {
        let mut edges = Vec::with_capacity(resolved.iter().map(|one| one.outcomes.len()).sum());
        let mut unresolved = [0; Reason::ALL.len()];
        let mut targets: Vec<(FileId, KindSet)> = Vec::new();
        for (from, (record, found)) in (0..).zip(records.iter().zip(resolved)) {
            let Some(record) = record else { continue };
            targets.clear();
            for (specifier, outcome) in record.specifiers.iter().zip(&found.outcomes) {
                match outcome {
                    Outcome::File(to) if *to != from => targets.push((*to, KindSet::of(specifier.kind))),
                    Outcome::File(_) => {}
                    Outcome::Unresolved(reason) => unresolved[*reason as usize] += 1,
                }
            }
            for (specifier, to) in &found.more {
                if let Some(specifier) = record.specifiers.get(*specifier as usize).filter(|_| *to != from) {
                    targets.push((*to, KindSet::of(specifier.kind)));
                }
            }
            targets.sort_unstable_by_key(|(to, _)| *to);
            for chunk in targets.chunk_by(|one, other| one.0 == other.0) {
                let kinds = chunk
                    .iter()
                    .fold(KindSet::default(), |kinds, (_, more)| kinds.and(*more));
                edges.push((from, chunk[0].0, kinds));
            }
        }
        let is_cut = |id: FileId, record: &Record| {
            let is_behind = cut_at.is_some_and(|cut_at| id >= cut_at);
            is_behind && record.state == FileState::Ok && !record.specifiers.is_empty()
        };
        let files = (0..).zip(self.kinds.iter().zip(records));
        let facts = files.map(|(id, (kind, record))| match record {
            Some(record) => Facts {
                size: (record.state != FileState::Unreadable).then_some(record.size),
                state: if is_cut(id, record) {
                    FileState::OverLimit
                } else {
                    record.state
                },
            },
            None if kind.language.is_some() || kind.is_manifest => Facts {
                size: None,
                state: FileState::OverLimit,
            },
            None => Facts::default(),
        });
        ImportGraph::new(Arc::clone(&self.files), facts.collect(), &edges, unresolved)
    }
}

/// Resolves the files that have no answer yet, on all cores when they are many.
fn resolve_missing(
    resolver: &Resolver<'_>,
    kinds: &[FileKind],
    records: &[Option<Arc<Record>>],
    resolved: &mut [Option<Arc<Resolved>>],
) {
    let more = AtomicUsize::new(0);
    let resolve_part = |first: usize, part: &mut [Option<Arc<Resolved>>]| {
        let mut scratch = Scratch::default();
        let empty = Arc::new(Resolved::default());
        for (id, slot) in (first..).zip(part.iter_mut()) {
            if slot.is_some() {
                continue;
            }
            if more.load(Ordering::Relaxed) > MAX_MORE {
                return;
            }
            *slot = match (&records[id], kinds[id].language) {
                (Some(record), Some(language)) if !record.specifiers.is_empty() => Some(Arc::new(
                    resolver.resolve_file(id as FileId, language, &record.specifiers, &mut scratch),
                )),
                _ => Some(Arc::clone(&empty)),
            };
            let found = slot.as_ref().map_or(0, |found| found.more.len());
            if found > 0 {
                more.fetch_add(found, Ordering::Relaxed);
            }
        }
    };
    let due = resolved.iter().filter(|slot| slot.is_none()).count();
    let threads = cores().min(8);
    if due < PARALLEL_FROM || threads == 1 {
        return resolve_part(0, resolved);
    }
    // Several parts for each thread, so that one with heavy files does not keep the others waiting.
    let size = (resolved.len() / (threads * 4)).max(64);
    let parts = Mutex::new(resolved.chunks_mut(size).enumerate());
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let resolve = || {
        while let Some((number, part)) = next() {
            resolve_part(number * size, part);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(resolve);
        }
        resolve();
    });
}

/// Drops, in the order of files, what is past [`MAX_MORE`], and resolves what was left out before it for being too many.
/// The first file that is dropped, if there is one.
fn cut_off(
    resolver: &Resolver<'_>,
    kinds: &[FileKind],
    records: &[Option<Arc<Record>>],
    resolved: &mut [Option<Arc<Resolved>>],
) -> Option<FileId> {
    let mut scratch = Scratch::default();
    let mut more = 0;
    for id in 0..resolved.len() {
        let slot = &mut resolved[id];
        if slot.is_none()
            && let (Some(record), Some(language)) = (&records[id], kinds[id].language)
        {
            let found = resolver.resolve_file(id as FileId, language, &record.specifiers, &mut scratch);
            *slot = Some(Arc::new(found));
        }
        more += slot.as_ref().map_or(0, |found| found.more.len());
        if more > MAX_MORE {
            resolved[id..].fill(None);
            return Some(id as FileId);
        }
    }
    None
}
