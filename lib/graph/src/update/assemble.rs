//! Records and resolutions -> the graph.

use std::sync::Arc;

use crate::file::{FileFacts, FileId, FileState};
use crate::import_graph::ImportGraph;
use crate::import_kind::KindSet;
use crate::record::Record;
use crate::resolution::{Reason, Resolution, Resolved};
use crate::update::begin::Update;

impl Update {
    pub(super) fn assemble(
        &self,
        records: &[Option<Arc<Record>>],
        resolved: &[Arc<Resolved>],
        cut_at: Option<FileId>,
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
        let is_cut = |id: FileId, record: &Record| {
            let is_behind = cut_at.is_some_and(|cut_at| id >= cut_at);
            is_behind && record.state == FileState::Ok && !record.specifiers.is_empty()
        };
        let files = (0..).zip(self.kinds.iter().zip(records));
        let facts = files.map(|(id, (kind, record))| match record {
            Some(record) => FileFacts {
                size: (record.state != FileState::Unreadable).then_some(record.size),
                state: if is_cut(id, record) {
                    FileState::OverLimit
                } else {
                    record.state
                },
            },
            None if kind.language.is_some() || kind.is_manifest => FileFacts {
                size: None,
                state: FileState::OverLimit,
            },
            None => FileFacts::default(),
        });
        ImportGraph::new(Arc::clone(&self.files), facts.collect(), edges, unresolved)
    }
}

/// The files that the file `from` imports, in order, with the forms of each import.
fn targets(record: &Record, found: &Resolved, from: FileId) -> Vec<(FileId, KindSet)> {
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
