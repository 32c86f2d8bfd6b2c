//! Assembles the graph from records and resolutions.

use std::sync::Arc;

use coord_scan::{FileState, KindSet};

use crate::bound::{Bound, MetBound, MetBounds};
use crate::cores::lock;
use crate::file::{FileFacts, FileId};
use crate::import_graph::ImportGraph;
use crate::record::Record;
use crate::resolution::{Reason, Resolution, ResolvedSpecifiers};
use crate::resolve::tree_context::TreeContext;
use crate::update::begin::Update;
use crate::update::resolve_files::GraphCut;
use crate::update::wanted_files::ContentUse;

impl Update {
    pub(super) fn assemble(
        &self,
        content_uses: &[ContentUse],
        records: &[Option<Arc<Record>>],
        resolved: &[Arc<ResolvedSpecifiers>],
        cut: Option<GraphCut>,
    ) -> ImportGraph {
        let files = || {
            records
                .iter()
                .zip(resolved)
                .map(|(record, resolved)| Some((record.as_ref()?, resolved)))
        };
        let mut unresolved = [0; Reason::ALL.len()];
        for outcome in files().flatten().flat_map(|(_, resolved)| &resolved.outcomes) {
            if let Resolution::Unresolved(reason) = outcome {
                unresolved[*reason as usize] += 1;
            }
        }
        let edges = (0..).zip(files()).flat_map(|(from, file)| {
            let targets = file.map_or_else(Vec::new, |(record, resolved)| targets(record, resolved, from));
            targets.into_iter().map(move |(to, kinds)| (from, to, kinds))
        });
        let records_and_uses = (0..).zip(records.iter().zip(content_uses));
        let facts = records_and_uses.map(|(id, (record, content_use))| match record {
            Some(record) => FileFacts {
                size: (record.state != FileState::Unreadable).then_some(record.size),
                state: match exceeded_bound(id, record, &resolved[id as usize], cut) {
                    Some(_) => FileState::OverLimit,
                    None => record.state,
                },
            },
            None if *content_use == ContentUse::No => FileFacts::default(),
            None => FileFacts {
                size: None,
                state: FileState::OverLimit,
            },
        });
        ImportGraph::new(Arc::clone(&self.files), facts.collect(), edges, unresolved)
    }

    /// The bounds that this version has met. `left_out` are the manifests that were not parsed.
    pub(super) fn met_bounds(
        &self,
        content_uses: &[ContentUse],
        records: &[Option<Arc<Record>>],
        resolved: &[Arc<ResolvedSpecifiers>],
        cut: Option<GraphCut>,
        left_out: &[FileId],
        tree: &TreeContext<'_>,
    ) -> Vec<MetBound> {
        let mut met = MetBounds::default();
        let unfollowed = lock(&self.unfollowed);
        for (id, file) in (0..).zip(self.files.iter()) {
            let at = id as usize;
            let bound = match (&records[at], content_uses[at]) {
                (Some(record), _) => exceeded_bound(id, record, &resolved[at], cut),
                (None, ContentUse::Over(bound)) => Some(bound),
                (None, ContentUse::Yes | ContentUse::No) => None,
            };
            let is_left_out = left_out.binary_search(&id).is_ok()
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

/// The bound because of which the graph lacks imports of a file that was read.
fn exceeded_bound(id: FileId, record: &Record, resolved: &ResolvedSpecifiers, cut: Option<GraphCut>) -> Option<Bound> {
    if record.state == FileState::OverLimit {
        return Some(Bound::FileImports);
    }
    if record.state != FileState::Ok || record.specifiers.is_empty() {
        return None;
    }
    match cut {
        Some(cut) if id >= cut.at => Some(cut.bound),
        _ => resolved.is_cut().then_some(Bound::FileLookups),
    }
}

/// The files that the file `from` imports, in order, with the forms of each import.
fn targets(record: &Record, resolved: &ResolvedSpecifiers, from: FileId) -> Vec<(FileId, KindSet)> {
    let first = record.specifiers.iter().zip(&resolved.outcomes);
    let first = first.filter_map(|(specifier, outcome)| match outcome {
        Resolution::File(to) => Some((*to, KindSet::of(specifier.kind))),
        Resolution::Unresolved(_) => None,
    });
    let more = resolved.extra_targets.iter().filter_map(|(index, to)| {
        let specifier = record.specifiers.get(*index as usize)?;
        Some((*to, KindSet::of(specifier.kind)))
    });
    let mut targets: Vec<_> = first.chain(more).filter(|(to, _)| *to != from).collect();
    targets.sort_unstable_by_key(|(to, _)| *to);
    targets.dedup_by(|next, last| {
        let is_same = next.0 == last.0;
        if is_same {
            last.1 = last.1.union(next.1);
        }
        is_same
    });
    targets
}
