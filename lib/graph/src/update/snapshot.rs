//! A version of the graph, with everything that the next build can reuse.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use coord_interfaces::{InterfaceResult, InterfaceUnknown};
use coord_scan::{BYTES_PER_WEIGHT, Specifier};

use crate::import_graph::ImportGraph;
use crate::record::Record;
use crate::resolution::{Resolution, ResolvedSpecifiers};
use crate::resolve::layouts::Layouts;
use crate::resolve::manifests::Manifests;
use crate::resolve::path_table::PathTable;
use crate::resolve::projects::Projects;
use crate::resolve::tree_context::TreeContext;
use crate::tree::TreeEntry;
use crate::update::resolve_files::GraphCut;

/// A version of the graph with everything that the next one can reuse.
#[derive(Debug)]
pub struct Snapshot {
    pub(super) files: Arc<[TreeEntry]>,
    pub(super) table: Arc<PathTable>,
    pub(super) records: Vec<Option<Arc<Record>>>,
    pub(super) manifests: Manifests,
    pub(super) projects: Arc<Projects>,
    pub(super) layouts: Layouts,
    pub(super) resolved: Vec<Arc<ResolvedSpecifiers>>,
    pub(super) names_left_out: usize,
    /// The position where the graph ends, if it exceeds a bound.
    pub(super) cut: Option<GraphCut>,
    pub(super) graph: Arc<ImportGraph>,
}

/// The memory of a short import: its entry, and its text.
const BYTES_PER_IMPORT: usize = size_of::<Specifier>() + BYTES_PER_WEIGHT;

impl Snapshot {
    /// The number of files that are left out for their names: the graph's text forms cannot contain the name, or
    /// another file has the same name.
    pub fn names_left_out(&self) -> usize {
        self.names_left_out
    }

    /// Counts `files` that the caller has left out of the tree for their names.
    #[must_use]
    pub fn with_names_left_out(mut self, files: usize) -> Self {
        self.names_left_out += files;
        self
    }

    pub fn graph(&self) -> &Arc<ImportGraph> {
        &self.graph
    }

    /// About how many bytes of memory it takes. Data that files with the same content share counts for each of them.
    pub fn bytes(&self) -> usize {
        let record = |record: &Arc<Record>| {
            let manifest = record.manifest.as_ref().map_or(0, String::len);
            size_of::<Record>() + record.blob.len() + record.weight() * BYTES_PER_IMPORT + manifest
        };
        let resolved = |resolved: &Arc<ResolvedSpecifiers>| {
            size_of::<ResolvedSpecifiers>()
                + size_of_val(&*resolved.outcomes)
                + size_of_val(&*resolved.extra_targets)
                + resolved.keys.as_deref().map_or(0, size_of_val)
        };
        let records = self.records.iter().flatten().map(record).sum::<usize>();
        self.graph.bytes() + records + self.resolved.iter().map(resolved).sum::<usize>()
    }

    /// The record of each file that was read, to store for the next build.
    pub fn records(&self) -> impl Iterator<Item = (&str, &Record)> {
        let files = self.files.iter().zip(&self.records);
        files.filter_map(|(file, record)| Some((file.path.as_str(), record.as_deref()?)))
    }

    /// The interface of the file at `path`. `None` if there is no such file, or the build did not read interfaces
    /// ([`Limits::interfaces`](crate::Limits::interfaces)).
    pub fn interface(&self, path: &str) -> Option<&InterfaceResult> {
        let id = self.graph.id(path)?;
        let record = self.records.get(id as usize)?.as_deref();
        match record.map(|record| &record.interface) {
            Some(interface) => interface.as_ref(),
            // Files that were not read have no record.
            None if self.graph.node(id)?.language.is_none() => Some(&Err(InterfaceUnknown::Language)),
            None => None,
        }
    }

    /// The records that `older` lacks or has differently, and the paths whose records only `older` has.
    pub fn changed_records<'a>(&'a self, older: &'a Snapshot) -> (Vec<(&'a str, &'a Record)>, Vec<&'a str>) {
        let before: HashMap<&str, &Record> = older.records().collect();
        let now: HashSet<&str> = self.records().map(|(path, _)| path).collect();
        let changed = self
            .records()
            .filter(|(path, record)| before.get(path) != Some(record))
            .collect();
        let mut removed: Vec<&str> = before.into_keys().filter(|path| !now.contains(path)).collect();
        removed.sort_unstable();
        (changed, removed)
    }

    /// Each specifier of the file at `path` with its target. A specifier with several targets occurs once for each.
    /// `None` if the file was not scanned.
    pub fn explain(&self, path: &str) -> Option<Vec<(&Specifier, Resolution)>> {
        let id = self.graph.id(path)? as usize;
        let record = self.records.get(id)?.as_deref()?;
        let resolved = self.resolved.get(id)?;
        let mut more = resolved.extra_targets.iter().peekable();
        let mut targets = Vec::with_capacity(resolved.outcomes.len() + resolved.extra_targets.len());
        for (index, (specifier, outcome)) in (0..).zip(record.specifiers.iter().zip(&resolved.outcomes)) {
            targets.push((specifier, *outcome));
            while let Some((_, file)) = more.next_if(|(more_index, _)| *more_index == index) {
                targets.push((specifier, Resolution::File(*file)));
            }
        }
        Some(targets)
    }

    pub(super) fn tree(&self) -> TreeContext<'_> {
        TreeContext {
            table: &self.table,
            manifests: &self.manifests,
            projects: &self.projects,
            records: &self.records,
        }
    }
}
