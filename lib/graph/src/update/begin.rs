//! The start of a build: lists the files of the tree and reuses the records of unchanged content.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use coord_scan::{FileState, Language};

use crate::cores::lock;
use crate::file::{FileId, NO_FILE};
use crate::record::Record;
use crate::resolve::keys::Keys;
use crate::resolve::manifests::{MAX_MANIFEST_BYTES, ParsedManifest};
use crate::resolve::path_table::PathTable;
use crate::tree::{EntryKind, TreeEntry};
use crate::update::file_kind::FileKind;
use crate::update::limits::Limits;
use crate::update::renumbering::{Renumbering, renumber};
use crate::update::scan_budget::ScanBudget;
use crate::update::snapshot::Snapshot;

/// The previous version, as far as it is available.
#[derive(Clone, Debug, Default)]
pub enum Previous {
    /// Nothing: a cold build.
    #[default]
    Nothing,
    /// The records of an older build, by path, from the store. Their files are not scanned again.
    Stored(HashMap<String, Record>),
    /// A complete older version.
    Snapshot(Arc<Snapshot>),
}

/// The files of the last request.
#[derive(Debug, Default)]
pub(super) struct Wave {
    pub(super) weight: AtomicUsize,
    /// Supplied files that did not fit. The build requests them again.
    pub(super) deferred: Mutex<HashSet<FileId>>,
}

/// A build in progress. Read the files in [`Self::wanted`], pass their content to [`Self::supply`], repeat until there
/// are none, then call [`Self::finish`].
#[derive(Debug)]
pub struct Update {
    pub(super) files: Arc<[TreeEntry]>,
    pub(super) kinds: Vec<FileKind>,
    pub(super) table: Arc<PathTable>,
    pub(super) limits: Limits,
    pub(super) names_left_out: usize,
    pub(super) previous: Option<Arc<Snapshot>>,
    /// Maps this version's ids to the previous version's, and back. `None` if the paths are the same.
    pub(super) renumbering: Option<Renumbering>,
    pub(super) records: Vec<OnceLock<Arc<Record>>>,
    /// [`Record::weight`] of each file.
    pub(super) weights: Vec<AtomicU32>,
    pub(super) wave: Wave,
    /// Bounds the text that is scanned at once.
    pub(super) scan_budget: ScanBudget,
    /// Number of unread files at the last request.
    pub(super) last_unread: AtomicUsize,
    /// Configs that other configs extend and whose names are not those of manifests.
    pub(super) extended_configs: Mutex<BTreeSet<FileId>>,
    /// The number of searches that found such configs.
    pub(super) rounds: AtomicUsize,
    /// Configs that the last search found. They are not read, because there were too many searches.
    pub(super) unfollowed: Mutex<BTreeSet<FileId>>,
    /// Manifests parsed so far.
    pub(super) parsed: Mutex<HashMap<FileId, Arc<ParsedManifest>>>,
}

impl Update {
    /// Starts the graph of `tree`, without submodules and entries whose path has a newline. A symbolic link means the
    /// file that it leads to, and is a separate file if it leads to no file of the tree.
    pub fn begin(previous: Previous, tree: Vec<TreeEntry>, limits: Limits) -> Self {
        let mut files = tree;
        files.retain(|entry| entry.kind != EntryKind::Submodule);
        let entry_count = files.len();
        files.retain(|entry| memchr::memchr(b'\n', entry.path.as_bytes()).is_none() && !entry.path.is_empty());
        let names_left_out = entry_count - files.len();
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
        let renumbering = snapshot.as_ref().and_then(|older| renumber(&older.files, &files));
        let table = match &snapshot {
            Some(older) if renumbering.is_none() => Arc::clone(&older.table),
            Some(older) => Arc::new(PathTable::new(Arc::clone(&files), older.table.keys().clone())),
            None => Arc::new(PathTable::new(Arc::clone(&files), Keys::default())),
        };
        let update = Update {
            records: files.iter().map(|_| OnceLock::new()).collect(),
            weights: files.iter().map(|_| AtomicU32::new(0)).collect(),
            kinds: files.iter().map(FileKind::of).collect(),
            files,
            table,
            limits,
            names_left_out,
            wave: Wave::default(),
            scan_budget: ScanBudget::default(),
            last_unread: AtomicUsize::new(0),
            previous: snapshot,
            renumbering,
            extended_configs: Mutex::default(),
            rounds: AtomicUsize::new(0),
            unfollowed: Mutex::default(),
            parsed: Mutex::default(),
        };
        update.reuse_records(&mut stored);
        update
    }

    /// Reuses the records of unchanged content, under the same path or another.
    fn reuse_records(&self, stored: &mut HashMap<String, Record>) {
        let mut new_paths = Vec::new();
        for (id, file) in (0..).zip(self.files.iter()) {
            let old_record = match (&self.previous, self.old_id(id)) {
                (Some(older), Some(old)) => older.records.get(old as usize).and_then(Clone::clone),
                (Some(_), None) => {
                    new_paths.push(id);
                    None
                }
                (None, _) => stored.remove(&file.path).map(Arc::new),
            };
            if let Some(record) = old_record.filter(|record| self.is_reusable(id, record)) {
                let weight = record.weight();
                self.set(id, record, weight);
            }
        }
        let Some(older) = self.previous.as_ref().filter(|_| !new_paths.is_empty()) else {
            return;
        };
        let mut by_blob: HashMap<(&str, Option<Language>), &Arc<Record>> = HashMap::new();
        for (file, record) in older.files.iter().zip(&older.records) {
            if let Some(record) = record {
                by_blob.insert((&record.blob, FileKind::of(file).language), record);
            }
        }
        for id in new_paths {
            let file = &self.files[id as usize];
            let old_record = by_blob.get(&(file.blob.as_str(), self.kinds[id as usize].language));
            if let Some(record) = old_record.filter(|record| self.is_reusable(id, record)) {
                self.set(id, Arc::clone(record), record.weight());
            }
        }
    }

    /// Whether reading the file would give the same `record`. An unreadable file is read again.
    fn is_reusable(&self, id: FileId, record: &Record) -> bool {
        let file = &self.files[id as usize];
        // The limits may differ from those of the older build.
        let is_too_large = record.size > self.max_bytes(id);
        let has_interface =
            record.interface.is_some() || !self.limits.interfaces || self.kinds[id as usize].language.is_none();
        record.blob == file.blob
            && has_interface
            && match record.state {
                FileState::Ok => !is_too_large && self.has_text(id, record) == record.manifest.is_some(),
                FileState::TooLarge => is_too_large,
                FileState::Minified => !is_too_large && record.size > self.limits.minified_over_bytes,
                FileState::Binary => !is_too_large,
                FileState::OverLimit => !is_too_large && !record.specifiers.is_empty(),
                FileState::Unreadable => false,
            }
    }

    pub(super) fn set(&self, file: FileId, record: Arc<Record>, weight: usize) {
        let weight = u32::try_from(weight).unwrap_or(u32::MAX);
        self.weights[file as usize].store(weight, Ordering::Relaxed);
        let _ = self.records[file as usize].set(record);
    }

    /// Number of files of the tree.
    pub fn file_count(&self) -> usize {
        self.files.len()
    }

    pub(super) fn old_id(&self, id: FileId) -> Option<FileId> {
        match &self.renumbering {
            Some(renumbering) => renumbering
                .old_of
                .get(id as usize)
                .copied()
                .filter(|old| *old != NO_FILE),
            None => self.previous.as_ref().map(|_| id),
        }
    }

    pub(super) fn is_manifest(&self, id: FileId) -> bool {
        self.kinds.get(id as usize).is_some_and(|kind| kind.is_manifest) || lock(&self.extended_configs).contains(&id)
    }

    /// Whether `record`, which has the size of the file, keeps the file's text.
    fn has_text(&self, id: FileId, record: &Record) -> bool {
        self.is_manifest(id) && record.size <= MAX_MANIFEST_BYTES || self.kinds[id as usize].language.is_none()
    }

    /// The largest content of this file that is read, in bytes.
    pub(super) fn max_bytes(&self, file: FileId) -> u64 {
        match self.kinds[file as usize].language {
            Some(_) => self.limits.max_file_bytes,
            None => self.limits.max_file_bytes.min(MAX_MANIFEST_BYTES),
        }
    }
}
