//! From one version of the graph to the next, for the price of what changed.
//!
//! Why the result is the cold one: a file's edges depend on its specifiers, on the context that governs it, and on
//! lookups in tables whose keys were traced ([`super::resolve`]). A file is resolved again when its specifiers differ,
//! when its context is another object, or when the answer under one of its keys may have changed; otherwise each of the
//! three is as before, and so is the answer. Ids of files are renumbered when paths come or go.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::FileId;
use super::import_graph::{Facts, FileState, ImportGraph, KindSet};
use super::language::Language;
use super::record::Record;
use super::resolve::{
    Keys, MAX_MANIFEST_BYTES, Manifests, Outcome, Parsed, PathTable, Projects, PythonRoots, Reason, Resolved, Resolver,
    Scratch, is_manifest, missing_configs,
};
use super::scan::{Specifier, scan};
use crate::source::{EntryKind, TreeEntry};

/// What one build may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest file that is scanned, in bytes.
    pub max_file_bytes: u64,
    /// Most files that are scanned; those after it, in the order of paths, are [`FileState::OverLimit`].
    pub max_files: usize,
    /// Files larger than this whose lines are very long count as [`FileState::Minified`].
    pub minified_over_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_file_bytes: 4 << 20,
            max_files: 500_000,
            minified_over_bytes: 1 << 20,
        }
    }
}

/// Mean length of a line from which a large file counts as minified.
const MINIFIED_LINE_BYTES: usize = 5_000;
/// How much of a file is looked at to tell whether it is text; as git does.
const BINARY_PROBE_BYTES: usize = 8_000;
/// From how many files on resolving is shared among threads.
const PARALLEL_FROM: usize = 1_000;
/// No file.
const NONE: FileId = FileId::MAX;

/// What is known from before.
#[derive(Clone, Debug, Default)]
pub enum Previous {
    /// Nothing: a cold build.
    #[default]
    Nothing,
    /// The records of an older build, by path, as the store has them. Nothing of them is scanned again.
    Stored(HashMap<String, Record>),
    /// A whole older version.
    Snapshot(Arc<Snapshot>),
}

/// A version of the graph with all that the next one can use.
#[derive(Debug)]
pub struct Snapshot {
    files: Arc<[TreeEntry]>,
    table: Arc<PathTable>,
    records: Vec<Option<Arc<Record>>>,
    manifests: Manifests,
    projects: Arc<Projects>,
    python: Arc<PythonRoots>,
    resolved: Vec<Arc<Resolved>>,
    graph: Arc<ImportGraph>,
}

impl Snapshot {
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

    /// Each specifier of the file at `path`, and where it led. `None` when the file was not scanned.
    pub fn explain(&self, path: &str) -> Option<Vec<(&Specifier, Outcome)>> {
        let id = self.graph.id(path)? as usize;
        let record = self.records.get(id)?.as_deref()?;
        let outcomes = &self.resolved.get(id)?.outcomes;
        Some(record.specifiers.iter().zip(outcomes.iter().copied()).collect())
    }
}

/// A file that has to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Which file, to be named in [`Update::supply`].
    pub file: FileId,
    /// Id of its blob, hex.
    pub blob: String,
}

/// One build in the making: ask [`Self::wanted`], hand over contents by [`Self::supply`], ask again until nothing is
/// wanted, then [`Self::finish`].
#[derive(Debug)]
pub struct Update {
    files: Arc<[TreeEntry]>,
    table: Arc<PathTable>,
    limits: Limits,
    previous: Option<Arc<Snapshot>>,
    /// This version's ids to the previous one's, and back; `None` while the paths are the same.
    renumbered: Option<Renumbering>,
    records: Vec<OnceLock<Arc<Record>>>,
    /// Configs that others extend, beside those that are manifests by name.
    more_manifests: Mutex<BTreeSet<FileId>>,
}

#[derive(Debug)]
struct Renumbering {
    old_of: Vec<FileId>,
    new_of: Vec<FileId>,
}

impl Update {
    /// Prepares the graph of `tree`. Entries that are no regular file, or whose path has a newline, are left out.
    pub fn begin(previous: Previous, tree: Vec<TreeEntry>, limits: Limits) -> Self {
        let mut files: Vec<TreeEntry> = tree
            .into_iter()
            .filter(|entry| entry.kind == EntryKind::File && !entry.path.contains('\n') && !entry.path.is_empty())
            .collect();
        if !files.is_sorted_by(|one, other| one.path < other.path) {
            files.sort_by(|one, other| one.path.cmp(&other.path));
            files.dedup_by(|one, other| one.path == other.path);
        }
        let files: Arc<[TreeEntry]> = files.into();
        let (snapshot, mut stored) = match previous {
            Previous::Nothing => (None, HashMap::new()),
            Previous::Stored(records) => (None, records),
            Previous::Snapshot(snapshot) => (Some(snapshot), HashMap::new()),
        };
        let renumbered = snapshot.as_ref().and_then(|older| renumber(&older.files, &files));
        let table = match &snapshot {
            Some(older) if renumbered.is_none() => Arc::clone(&older.table),
            Some(older) => Arc::new(PathTable::new(Arc::clone(&files), older.table.keys().clone())),
            None => Arc::new(PathTable::new(Arc::clone(&files), Keys::default())),
        };
        let update = Update {
            records: files.iter().map(|_| OnceLock::new()).collect(),
            files,
            table,
            limits,
            previous: snapshot,
            renumbered,
            more_manifests: Mutex::default(),
        };
        update.reuse(&mut stored);
        update
    }

    /// Takes over what is known of unchanged content, under the same path or another.
    fn reuse(&self, stored: &mut HashMap<String, Record>) {
        let mut unplaced = Vec::new();
        for (id, file) in (0..).zip(self.files.iter()) {
            let known = match (&self.previous, self.old_id(id)) {
                (Some(older), Some(old)) => older.records.get(old as usize).and_then(Clone::clone),
                (Some(_), None) => {
                    unplaced.push(id);
                    None
                }
                (None, _) => stored.remove(&file.path).map(Arc::new),
            };
            if let Some(record) = known.filter(|record| self.fits(id, record)) {
                let _ = self.records[id as usize].set(record);
            }
        }
        let Some(older) = self.previous.as_ref().filter(|_| !unplaced.is_empty()) else {
            return;
        };
        let mut by_blob: HashMap<(&str, Option<Language>), &Arc<Record>> = HashMap::new();
        for (file, record) in older.files.iter().zip(&older.records) {
            if let Some(record) = record {
                by_blob.insert((&record.blob, Language::of_path(&file.path)), record);
            }
        }
        for id in unplaced {
            let file = &self.files[id as usize];
            let known = by_blob.get(&(file.blob.as_str(), Language::of_path(&file.path)));
            if let Some(record) = known.filter(|record| self.fits(id, record)) {
                let _ = self.records[id as usize].set(Arc::clone(record));
            }
        }
    }

    fn old_id(&self, id: FileId) -> Option<FileId> {
        match &self.renumbered {
            Some(renumbered) => renumbered.old_of.get(id as usize).copied().filter(|old| *old != NONE),
            None => self.previous.as_ref().map(|_| id),
        }
    }

    /// Whether `record` says what reading the file would. One that could not be read is tried again.
    fn fits(&self, id: FileId, record: &Record) -> bool {
        let file = &self.files[id as usize];
        let is_code = Language::of_path(&file.path).is_some();
        record.blob == file.blob
            && record.state != FileState::Unreadable
            && (record.state != FileState::Ok || is_code == record.manifest.is_none())
    }

    fn is_manifest(&self, id: FileId) -> bool {
        is_manifest(self.files.get(id as usize).map_or("", |file| &file.path)) || self.lock_more().contains(&id)
    }

    fn lock_more(&self) -> std::sync::MutexGuard<'_, BTreeSet<FileId>> {
        self.more_manifests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of files of the tree.
    pub fn file_count(&self) -> usize {
        self.files.len()
    }

    /// The files whose content has to be supplied now. Empty when [`Self::finish`] may be called; ask again after each
    /// supply, because configs name other configs.
    pub fn wanted(&self) -> Vec<Wanted> {
        let want = |id: FileId| Wanted {
            file: id,
            blob: self.files[id as usize].blob.clone(),
        };
        let unread = self.unread();
        if !unread.is_empty() {
            return unread.into_iter().map(want).collect();
        }
        loop {
            let known = self.manifests();
            let missing = missing_configs(&self.table, &known);
            let missing: Vec<FileId> = missing
                .iter()
                .filter_map(|path| self.table.file_untraced(path))
                .collect();
            let mut more = self.lock_more();
            let fresh: Vec<FileId> = missing.into_iter().filter(|id| more.insert(*id)).collect();
            drop(more);
            if fresh.is_empty() {
                return Vec::new();
            }
            let unread = self.unread();
            if !unread.is_empty() {
                return unread.into_iter().map(want).collect();
            }
        }
    }

    /// The files that have to be read and are not yet.
    fn unread(&self) -> Vec<FileId> {
        let more = self.lock_more().clone();
        let mut scanned = 0;
        let mut unread = Vec::new();
        for (id, file) in (0..).zip(self.files.iter()) {
            let is_code = Language::of_path(&file.path).is_some();
            scanned += usize::from(is_code);
            let due = is_manifest(&file.path) || more.contains(&id) || (is_code && scanned <= self.limits.max_files);
            if due && self.records[id as usize].get().is_none() {
                unread.push(id);
            }
        }
        unread
    }

    /// Takes the content of a wanted file, `None` where it cannot be read, and scans it. May be called from several
    /// threads at once; a second content for one file is ignored.
    pub fn supply(&self, file: FileId, content: Option<&[u8]>) {
        let (Some(entry), Some(slot)) = (self.files.get(file as usize), self.records.get(file as usize)) else {
            return;
        };
        if slot.get().is_some() {
            return;
        }
        let mut record = Record {
            blob: entry.blob.clone(),
            state: FileState::Ok,
            size: content.map_or(0, |content| content.len() as u64),
            specifiers: Vec::new(),
            manifest: None,
        };
        record.state = content.map_or(FileState::Unreadable, |content| self.state_of(content));
        if let (FileState::Ok, Some(content)) = (record.state, content) {
            match Language::of_path(&entry.path) {
                Some(language) => record.specifiers = scan(language, content),
                None if content.len() as u64 > MAX_MANIFEST_BYTES => record.state = FileState::TooLarge,
                None if self.is_manifest(file) => {
                    record.manifest = Some(String::from_utf8_lossy(content).into_owned());
                }
                None => {}
            }
        }
        let _ = slot.set(Arc::new(record));
    }

    /// Marks what is still wanted as unreadable.
    pub fn give_up_on_missing(&self) {
        for id in self.unread() {
            self.supply(id, None);
        }
    }

    fn state_of(&self, content: &[u8]) -> FileState {
        if content.len() as u64 > self.limits.max_file_bytes {
            return FileState::TooLarge;
        }
        if content[..content.len().min(BINARY_PROBE_BYTES)].contains(&0) {
            return FileState::Binary;
        }
        if content.len() as u64 > self.limits.minified_over_bytes {
            let lines = memchr::memchr_iter(b'\n', content).count() + 1;
            if content.len() / lines > MINIFIED_LINE_BYTES {
                return FileState::Minified;
            }
        }
        FileState::Ok
    }

    fn manifests(&self) -> Manifests {
        let more = self.lock_more().clone();
        let mut manifests = BTreeMap::new();
        for (id, file) in (0..).zip(self.files.iter()) {
            if !is_manifest(&file.path) && !more.contains(&id) {
                continue;
            }
            let Some(record) = self.records[id as usize].get() else {
                continue;
            };
            let Some(text) = &record.manifest else { continue };
            let known = self.previous.as_ref().and_then(|older| {
                let old = older.records.get(self.old_id(id)? as usize)?.as_ref()?;
                older
                    .manifests
                    .get(&file.path)
                    .filter(|_| old.manifest.as_ref() == Some(text))
            });
            let parsed = known.map_or_else(|| Arc::new(Parsed::read(&file.path, text)), Arc::clone);
            manifests.insert(file.path.clone(), parsed);
        }
        manifests
    }

    /// The new version. What was wanted and not supplied counts as unreadable.
    pub fn finish(&self) -> Snapshot {
        let previous = self.previous.as_deref();
        let manifests = self.manifests();
        let projects = self.projects(&manifests);
        let python = match previous {
            Some(older)
                if self.renumbered.is_none() && older.projects.python_folders() == projects.python_folders() =>
            {
                Arc::clone(&older.python)
            }
            _ => Arc::new(PythonRoots::new(&self.table, projects.python_folders())),
        };
        let records = self.final_records();
        let resolver = Resolver {
            table: &self.table,
            projects: &projects,
            python: &python,
        };
        let mut resolved: Vec<Option<Arc<Resolved>>> = match previous {
            Some(older) => self.still_valid(older, &resolver, &records),
            None => vec![None; records.len()],
        };
        resolve_missing(&resolver, &self.files, &records, &mut resolved);
        let resolved: Vec<Arc<Resolved>> = resolved.into_iter().map(Option::unwrap_or_default).collect();
        let graph = self.assemble(&records, &resolved);
        Snapshot {
            files: Arc::clone(&self.files),
            table: Arc::clone(&self.table),
            records,
            manifests,
            projects,
            python,
            resolved,
            graph: Arc::new(graph),
        }
    }

    fn projects(&self, manifests: &Manifests) -> Arc<Projects> {
        let Some(older) = self.previous.as_deref() else {
            return Arc::new(Projects::new(&self.table, manifests, None));
        };
        let same_manifests = older.manifests.len() == manifests.len()
            && older
                .manifests
                .iter()
                .zip(manifests)
                .all(|(one, other)| one.0 == other.0 && Arc::ptr_eq(one.1, other.1));
        if same_manifests && self.renumbered.is_none() {
            return Arc::clone(&older.projects);
        }
        let fresh = Projects::new(&self.table, manifests, Some(&older.projects));
        if fresh.is_same(&older.projects) {
            return Arc::clone(&older.projects);
        }
        Arc::new(fresh)
    }

    fn final_records(&self) -> Vec<Option<Arc<Record>>> {
        let mut scanned = 0;
        let more = self.lock_more();
        let records = (0..)
            .zip(self.files.iter())
            .zip(&self.records)
            .map(|((id, file), record)| {
                let is_code = Language::of_path(&file.path).is_some();
                scanned += usize::from(is_code);
                // A config that nothing extends any more would not have been read in a cold build.
                let is_due = match is_code {
                    true => scanned <= self.limits.max_files,
                    false => is_manifest(&file.path) || more.contains(&id),
                };
                record.get().filter(|_| is_due).cloned()
            });
        records.collect()
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
        let other_projects = !std::ptr::eq(resolver.projects, &*older.projects);
        if other_projects {
            resolver
                .projects
                .changed_keys(&older.projects, self.table.keys(), &mut touch);
        }
        let mut all_python = false;
        if !std::ptr::eq(resolver.python, &*older.python) {
            all_python = !resolver.python.has_same_roots(&older.python);
            resolver
                .python
                .changed_keys(&self.table, &older.python, &older.table, &mut touch);
        }
        let is_valid = |id: FileId, old: FileId| {
            let (Some(record), Some(Some(before))) = (&records[id as usize], older.records.get(old as usize)) else {
                return false;
            };
            let path = &self.files[id as usize].path;
            (Arc::ptr_eq(record, before) || record.specifiers == before.specifiers)
                && !(all_python && Language::of_path(path) == Some(Language::Python))
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

    fn assemble(&self, records: &[Option<Arc<Record>>], resolved: &[Arc<Resolved>]) -> ImportGraph {
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
            targets.sort_unstable_by_key(|(to, _)| *to);
            for chunk in targets.chunk_by(|one, other| one.0 == other.0) {
                let kinds = chunk
                    .iter()
                    .fold(KindSet::default(), |kinds, (_, more)| kinds.and(*more));
                edges.push((from, chunk[0].0, kinds));
            }
        }
        let facts = self.files.iter().zip(records).map(|(file, record)| match record {
            Some(record) => Facts {
                size: (record.state != FileState::Unreadable).then_some(record.size),
                state: record.state,
            },
            None if Language::of_path(&file.path).is_some() => Facts {
                size: None,
                state: FileState::OverLimit,
            },
            None => Facts::default(),
        });
        ImportGraph::new(Arc::clone(&self.files), facts.collect(), &edges, unresolved)
    }
}

impl Renumbering {
    /// The same answer with this version's ids; `None` should a file of it be gone.
    fn apply(&self, known: &Arc<Resolved>) -> Option<Arc<Resolved>> {
        let renumber = |outcome: &Outcome| match outcome {
            Outcome::File(old) => {
                let new = self.new_of.get(*old as usize).copied().filter(|new| *new != NONE)?;
                Some(Outcome::File(new))
            }
            unresolved => Some(*unresolved),
        };
        let outcomes: Box<[Outcome]> = known.outcomes.iter().map(renumber).collect::<Option<_>>()?;
        if outcomes == known.outcomes {
            return Some(Arc::clone(known));
        }
        Some(Arc::new(Resolved {
            outcomes,
            keys: known.keys.clone(),
        }))
    }
}

/// Which file of one sorted list is which of the other; `None` when the paths are the same.
fn renumber(old: &[TreeEntry], new: &[TreeEntry]) -> Option<Renumbering> {
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

/// Resolves the files that have no answer yet, on all cores when they are many.
fn resolve_missing(
    resolver: &Resolver<'_>,
    files: &[TreeEntry],
    records: &[Option<Arc<Record>>],
    resolved: &mut [Option<Arc<Resolved>>],
) {
    let resolve_part = |first: usize, part: &mut [Option<Arc<Resolved>>]| {
        let mut scratch = Scratch::default();
        let empty = Arc::new(Resolved::default());
        for (id, slot) in (first..).zip(part.iter_mut()) {
            if slot.is_some() {
                continue;
            }
            *slot = match (&records[id], Language::of_path(&files[id].path)) {
                (Some(record), Some(language)) if !record.specifiers.is_empty() => Some(Arc::new(
                    resolver.resolve_file(id as FileId, language, &record.specifiers, &mut scratch),
                )),
                _ => Some(Arc::clone(&empty)),
            };
        }
    };
    let due = resolved.iter().filter(|slot| slot.is_none()).count();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    if due < PARALLEL_FROM || threads == 1 {
        return resolve_part(0, resolved);
    }
    // Several parts for each thread, so that one with heavy files does not keep the others waiting.
    let size = (resolved.len() / (threads * 4)).max(64);
    let parts = Mutex::new(resolved.chunks_mut(size).enumerate());
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((number, part)) = next() {
                    resolve_part(number * size, part);
                }
            });
        }
    });
}
