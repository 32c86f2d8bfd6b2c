//! A version of the graph, and how its files are numbered in the next.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use coord_interfaces::{InterfaceResult, InterfaceUnknown};
use coord_scan::{BYTES_FOR_WEIGHT, Specifier};

use crate::import_graph::ImportGraph;
use crate::record::Record;
use crate::resolution::{Resolution, ResolvedSpecifiers};
use crate::resolve::layouts::Layouts;
use crate::resolve::manifests::Manifests;
use crate::resolve::path_table::PathTable;
use crate::resolve::projects::Projects;
use crate::resolve::read_tree::TreeContext;
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
    /// Where the graph ends, if it has too much.
    pub(super) cut: Option<GraphCut>,
    pub(super) graph: Arc<ImportGraph>,
}

/// The memory of a short import: its entry, and its text.
const BYTES_OF_AN_IMPORT: usize = size_of::<Specifier>() + BYTES_FOR_WEIGHT;

impl Snapshot {
    /// Number of files that are left out for their names: the graph's text forms cannot contain them, or another file has
    /// the same.
    pub fn names_left_out(&self) -> usize {
        self.names_left_out
    }

    /// The same, where the caller has left `files` out of the tree for their names.
    #[must_use]
    pub fn with_names_left_out(mut self, files: usize) -> Self {
        self.names_left_out += files;
        self
    }

    pub fn graph(&self) -> &Arc<ImportGraph> {
        &self.graph
    }

    /// About how many bytes of memory it takes. Data that files of one content share is counted for each.
    pub fn bytes(&self) -> usize {
        let record = |record: &Arc<Record>| {
            let manifest = record.manifest.as_ref().map_or(0, String::len);
            size_of::<Record>() + record.blob.len() + record.weight() * BYTES_OF_AN_IMPORT + manifest
        };
        let resolved = |resolved: &Arc<ResolvedSpecifiers>| {
            size_of::<ResolvedSpecifiers>()
                + size_of_val(&*resolved.outcomes)
                + size_of_val(&*resolved.more)
                + resolved.keys.as_deref().map_or(0, size_of_val)
        };
        let records = self.records.iter().flatten().map(record).sum::<usize>();
        self.graph.bytes() + records + self.resolved.iter().map(resolved).sum::<usize>()
    }

    /// The record of each file that was read, to store for the next build. Files that did not have to be read have none.
    pub fn records(&self) -> impl Iterator<Item = (&str, &Record)> {
        let known = self.files.iter().zip(&self.records);
        known.filter_map(|(file, record)| Some((file.path.as_str(), record.as_deref()?)))
    }

    /// The interface of the file at `path`. `None` where there is no such file, or the build did not read interfaces
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

    /// The records that are new or differ in comparison with `older`, and the paths whose records are gone.
    pub fn changed_records<'a>(&'a self, older: &'a Snapshot) -> (Vec<(&'a str, &'a Record)>, Vec<&'a str>) {
        let before: HashMap<&str, &Record> = older.records().collect();
        let now: HashSet<&str> = self.records().map(|(path, _)| path).collect();
        let changed = self
            .records()
            .filter(|(path, record)| before.get(path) != Some(record))
            .collect();
        let mut gone: Vec<&str> = before.into_keys().filter(|path| !now.contains(path)).collect();
        gone.sort_unstable();
        (changed, gone)
    }

    /// Each specifier of the file at `path` with its target; a specifier with several targets occurs once for each. `None`
    /// when the file was not scanned.
    pub fn explain(&self, path: &str) -> Option<Vec<(&Specifier, Resolution)>> {
        let id = self.graph.id(path)? as usize;
        let record = self.records.get(id)?.as_deref()?;
        let resolved = self.resolved.get(id)?;
        let mut more = resolved.more.iter().peekable();
        let mut explained = Vec::with_capacity(resolved.outcomes.len() + resolved.more.len());
        for (index, (specifier, outcome)) in (0..).zip(record.specifiers.iter().zip(&resolved.outcomes)) {
            explained.push((specifier, *outcome));
            while let Some((_, file)) = more.next_if(|(of, _)| *of == index) {
                explained.push((specifier, Resolution::File(*file)));
            }
        }
        Some(explained)
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
