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
        let mut edges = Vec::with_capacity(resolved.iter().map(|one| one.outcomes.len()).sum());
        let mut unresolved = [0; Reason::ALL.len()];
        let mut targets: Vec<(FileId, KindSet)> = Vec::new();
        for (from, (record, found)) in (0..).zip(records.iter().zip(resolved)) {
            let Some(record) = record else { continue };
            targets.clear();
            for (specifier, outcome) in record.specifiers.iter().zip(&found.outcomes) {
                match outcome {
                    Resolution::File(to) if *to != from => targets.push((*to, KindSet::of(specifier.kind))),
                    Resolution::File(_) => {}
                    Resolution::Unresolved(reason) => unresolved[*reason as usize] += 1,
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
        ImportGraph::new(Arc::clone(&self.files), facts.collect(), &edges, unresolved)
    }
}
