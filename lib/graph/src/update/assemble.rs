//! Records and resolutions -> the graph.

use std::sync::{Arc, PoisonError};

use coord_scan::{FileState, KindSet};

use crate::bound::{Bound, MetBound, MetBounds};
use crate::file::{FileFacts, FileId};
use crate::import_graph::ImportGraph;
use crate::record::Record;
use crate::resolution::{Reason, Resolution, ResolvedSpecifiers};
use crate::resolve::read_tree::TreeContext;
use crate::update::begin::Update;
use crate::update::resolve_files::GraphCut;
use crate::update::wanted_files::ContentUse;

impl Update {
    pub(super) fn assemble(
        &self,
        due: &[ContentUse],
        records: &[Option<Arc<Record>>],
        resolved: &[Arc<ResolvedSpecifiers>],
        cut: Option<GraphCut>,
    ) -> ImportGraph {
        let known = || {
            records
                .iter()
                .zip(resolved)
                .map(|(record, found)| Some((record.as_ref()?, found)))
        };
        let mut unresolved = [0; Reason::ALL.len()];
        for outcome in known().flatten().flat_map(|(_, found)| &found.outcomes) {
            if let Resolution::Unresolved(reason) = outcome {
                unresolved[*reason as usize] += 1;
            }
        }
        let edges = (0..).zip(known()).flat_map(|(from, known)| {
            let targets = known.map_or_else(Vec::new, |(record, found)| targets(record, found, from));
            targets.into_iter().map(move |(to, kinds)| (from, to, kinds))
        });
        let files = (0..).zip(records.iter().zip(due));
        let facts = files.map(|(id, (record, due))| match record {
            Some(record) => FileFacts {
                size: (record.state != FileState::Unreadable).then_some(record.size),
                state: match over(id, record, &resolved[id as usize], cut) {
                    Some(_) => FileState::OverLimit,
                    None => record.state,
                },
            },
            None if *due == ContentUse::No => FileFacts::default(),
            None => FileFacts {
                size: None,
                state: FileState::OverLimit,
            },
        });
        ImportGraph::new(Arc::clone(&self.files), facts.collect(), edges, unresolved)
    }

    /// The bounds that this version has met. `manifests` are files whose values are past the bound.
    pub(super) fn met_bounds(
        &self,
        due: &[ContentUse],
        records: &[Option<Arc<Record>>],
        resolved: &[Arc<ResolvedSpecifiers>],
        cut: Option<GraphCut>,
        manifests: &[FileId],
        tree: &TreeContext<'_>,
    ) -> Vec<MetBound> {
        let mut met = MetBounds::default();
        let unfollowed = self.unfollowed.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, file) in (0..).zip(self.files.iter()) {
            let at = id as usize;
            let bound = match (&records[at], due[at]) {
                (Some(record), _) => over(id, record, &resolved[at], cut),
                (None, ContentUse::Over(bound)) => Some(bound),
                (None, ContentUse::Yes | ContentUse::No) => None,
            };
            let is_left_out = manifests.binary_search(&id).is_ok()
                || unfollowed.contains(&id)
                || tree.projects.is_left_out(&file.path);
            let bounds = [
                bound,
                is_left_out.then_some(Bound::Manifests),
                tree.table.is_cut_link(&file.path).then_some(Bound::Links),
            ];
            for bound in bounds.into_iter().flatten() {
                met.add(bound, &file.path);
            }
        }
        met.into_list()
    }
}

/// The bound for which a file that was read lacks imports.
fn over(id: FileId, record: &Record, found: &ResolvedSpecifiers, cut: Option<GraphCut>) -> Option<Bound> {
    if record.state == FileState::OverLimit {
        return Some(Bound::FileImports);
    }
    if record.state != FileState::Ok || record.specifiers.is_empty() {
        return None;
    }
    match cut {
        Some(cut) if id >= cut.at => Some(cut.bound),
        _ => found.is_cut().then_some(Bound::FileLookups),
    }
}

/// The files that the file `from` imports, in order, with the forms of each import.
fn targets(record: &Record, found: &ResolvedSpecifiers, from: FileId) -> Vec<(FileId, KindSet)> {
    let more = |specifier: &u32| record.specifiers.get(*specifier as usize);
    let first = record.specifiers.iter().zip(&found.outcomes);
    let first = first.filter_map(|(specifier, outcome)| match outcome {
        Resolution::File(to) => Some((*to, KindSet::of(specifier.kind))),
        Resolution::Unresolved(_) => None,
    });
    let others = found.more.iter();
    let others = others.filter_map(|(specifier, to)| Some((*to, KindSet::of(more(specifier)?.kind))));
    let mut targets: Vec<_> = first.chain(others).filter(|(to, _)| *to != from).collect();
    targets.sort_unstable_by_key(|(to, _)| *to);
    targets.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        if is_same {
            kept.1 = kept.1.and(next.1);
        }
        is_same
    });
    targets
}
