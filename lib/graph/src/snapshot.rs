//! A version of the graph, and how its files are numbered in the next.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::FileId;
use super::import_graph::ImportGraph;
use super::record::Record;
use super::resolve::{Layouts, Manifests, Outcome, PathTable, Projects, Resolved, Tree};
use super::scan::Specifier;
use crate::tree::TreeEntry;

/// No file.
pub(super) const NONE: FileId = FileId::MAX;

/// A version of the graph with all that the next one can use.
#[derive(Debug)]
pub struct Snapshot {
    pub(super) files: Arc<[TreeEntry]>,
    pub(super) table: Arc<PathTable>,
    pub(super) records: Vec<Option<Arc<Record>>>,
    pub(super) manifests: Manifests,
    pub(super) projects: Arc<Projects>,
    pub(super) layouts: Layouts,
    pub(super) resolved: Vec<Arc<Resolved>>,
    pub(super) names_left_out: usize,
    /// The first file whose imports were too many for the graph.
    pub(super) cut_at: Option<FileId>,
    pub(super) graph: Arc<ImportGraph>,
}

impl Snapshot {
    /// Number of files of the tree that are left out, because their names cannot be written in its forms.
    pub fn names_left_out(&self) -> usize {
        self.names_left_out
    }

    /// The graph.
    pub fn graph(&self) -> &Arc<ImportGraph> {
        &self.graph
    }

    /// What was read of each file, to be stored for the next build. Files that did not have to be read have none.
    pub fn records(&self) -> impl Iterator<Item = (&str, &Record)> {
        let known = self.files.iter().zip(&self.records);
        known.filter_map(|(file, record)| Some((file.path.as_str(), record.as_deref()?)))
    }

    /// The records that `older` does not have so, and the paths whose records are gone.
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

    /// Each specifier of the file at `path`, and where it led; one that led to several files stands once for each. `None`
    /// when the file was not scanned.
    pub fn explain(&self, path: &str) -> Option<Vec<(&Specifier, Outcome)>> {
        let id = self.graph.id(path)? as usize;
        let record = self.records.get(id)?.as_deref()?;
        let resolved = self.resolved.get(id)?;
        let mut more = resolved.more.iter().peekable();
        let mut explained = Vec::with_capacity(resolved.outcomes.len() + resolved.more.len());
        for (index, (specifier, outcome)) in (0..).zip(record.specifiers.iter().zip(&resolved.outcomes)) {
            explained.push((specifier, *outcome));
            while let Some((_, file)) = more.next_if(|(of, _)| *of == index) {
                explained.push((specifier, Outcome::File(*file)));
            }
        }
        Some(explained)
    }

    pub(super) fn tree(&self) -> Tree<'_> {
        Tree {
            table: &self.table,
            manifests: &self.manifests,
            projects: &self.projects,
            records: &self.records,
        }
    }
}

/// Which file of one version is which of another.
#[derive(Debug)]
pub(super) struct Renumbering {
    pub(super) old_of: Vec<FileId>,
    pub(super) new_of: Vec<FileId>,
}

impl Renumbering {
    /// The same answer with this version's ids; `None` should a file of it be gone.
    pub(super) fn apply(&self, known: &Arc<Resolved>) -> Option<Arc<Resolved>> {
        let new_of = |old: FileId| self.new_of.get(old as usize).copied().filter(|new| *new != NONE);
        let renumber = |outcome: &Outcome| match outcome {
            Outcome::File(old) => new_of(*old).map(Outcome::File),
            unresolved => Some(*unresolved),
        };
        let outcomes: Box<[Outcome]> = known.outcomes.iter().map(renumber).collect::<Option<_>>()?;
        let renumber_more = |(specifier, old): &(u32, FileId)| Some((*specifier, new_of(*old)?));
        let more: Box<[(u32, FileId)]> = known.more.iter().map(renumber_more).collect::<Option<_>>()?;
        if outcomes == known.outcomes && more == known.more {
            return Some(Arc::clone(known));
        }
        Some(Arc::new(Resolved {
            outcomes,
            more,
            keys: known.keys.clone(),
        }))
    }
}

/// Which file of one sorted list is which of the other; `None` when the paths are the same.
pub(super) fn renumber(old: &[TreeEntry], new: &[TreeEntry]) -> Option<Renumbering> {
    if old.len() == new.len() && old.iter().zip(new).all(|(one, other)| one.path == other.path) {
        return None;
    }
    let mut renumbering = Renumbering {
        old_of: vec![NONE; new.len()],
        new_of: vec![NONE; old.len()],
    };
    let (mut at_old, mut at_new) = (0, 0);
    while let (Some(one), Some(other)) = (old.get(at_old), new.get(at_new)) {
        match one.path.cmp(&other.path) {
            std::cmp::Ordering::Less => at_old += 1,
            std::cmp::Ordering::Greater => at_new += 1,
            std::cmp::Ordering::Equal => {
                renumbering.old_of[at_new] = at_old as FileId;
                renumbering.new_of[at_old] = at_new as FileId;
                at_old += 1;
                at_new += 1;
            }
        }
    }
    Some(renumbering)
}
