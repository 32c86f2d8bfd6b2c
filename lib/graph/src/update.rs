//! From one version of the graph to the next, for the price of what changed: which files have to be read, and what reading
//! them tells. [`super::finish`] makes the graph of it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::FileId;
use super::content::text_of;
use super::import_graph::FileState;
use super::language::Language;
use super::record::{BYTES_FOR_WEIGHT, Record};
use super::resolve::{Keys, MAX_MANIFEST_BYTES, Manifests, Parsed, PathTable, is_manifest, missing_configs};
use super::scan::scan;
pub use super::snapshot::Snapshot;
use super::snapshot::{NONE, Renumbering, renumber};
use crate::tree::{Blob, EntryKind, TreeEntry};

/// What one build may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest file that is scanned, in bytes.
    pub max_file_bytes: u64,
    /// Most files that are scanned; those after it, in the order of paths, are [`FileState::OverLimit`].
    pub max_files: usize,
    /// Most bytes that are scanned in all. The file that would go past it, in the order of paths, and those after it are
    /// [`FileState::OverLimit`].
    pub max_bytes: u64,
    /// Most imports that one graph takes in, long ones counted as several: what a build holds in memory. The file that would
    /// go past it, in the order of paths, and those after it are [`FileState::OverLimit`].
    pub max_imports: usize,
    /// Files larger than this whose lines are very long count as [`FileState::Minified`].
    pub minified_over_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_file_bytes: 4 << 20,
            max_files: 500_000,
            max_bytes: 4 << 30,
            max_imports: 1_000_000,
            minified_over_bytes: 1 << 20,
        }
    }
}

/// Most files that are asked for at once: what the limit on bytes can be overshot by.
const WAVE: usize = 8_192;
/// How much one wave may bring into memory, as [`Record::weight`] has it.
const WAVE_WEIGHT: usize = 500_000;
/// Most bytes of manifests that one graph takes in.
const MAX_MANIFESTS_BYTES: usize = 32 << 20;
/// Most values in the manifests of one graph.
const MAX_MANIFEST_VALUES: usize = 1_000_000;

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

/// A file that has to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Which file, to be named in [`Update::supply`].
    pub file: FileId,
    /// Id of its blob, hex.
    pub blob: String,
}

/// What is known of the files that were asked for last.
#[derive(Debug, Default)]
struct Wave {
    weight: AtomicUsize,
    /// Files that were given and did not fit: they are asked for again.
    deferred: Mutex<HashSet<FileId>>,
}

/// One build in the making: ask [`Self::wanted`], hand over contents by [`Self::supply`], ask again until nothing is
/// wanted, then [`Self::finish`].
#[derive(Debug)]
pub struct Update {
    pub(super) files: Arc<[TreeEntry]>,
    /// One for each file.
    pub(super) kinds: Vec<FileKind>,
    pub(super) table: Arc<PathTable>,
    pub(super) limits: Limits,
    pub(super) names_left_out: usize,
    pub(super) previous: Option<Arc<Snapshot>>,
    /// This version's ids to the previous one's, and back; `None` while the paths are the same.
    pub(super) renumbered: Option<Renumbering>,
    pub(super) records: Vec<OnceLock<Arc<Record>>>,
    /// [`Record::weight`] of each.
    weights: Vec<AtomicU32>,
    /// What this wave has brought.
    wave: Wave,
    /// How many files were unread when that was last asked.
    last_unread: AtomicUsize,
    /// Configs that others extend, beside those that are manifests by name.
    more_manifests: Mutex<BTreeSet<FileId>>,
    /// Manifests that were parsed so far.
    parsed: Mutex<HashMap<FileId, Arc<Parsed>>>,
}

impl Update {
    /// Prepares the graph of `tree`. Submodules, and entries whose path has a newline, are left out. A symbolic link is
    /// followed within the tree, and is a file of its own where it leads elsewhere.
    pub fn begin(previous: Previous, tree: Vec<TreeEntry>, limits: Limits) -> Self {
        let mut files = tree;
        files.retain(|entry| entry.kind != EntryKind::Submodule);
        let all = files.len();
        files.retain(|entry| memchr::memchr(b'\n', entry.path.as_bytes()).is_none() && !entry.path.is_empty());
        let names_left_out = all - files.len();
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
            weights: files.iter().map(|_| AtomicU32::new(0)).collect(),
            kinds: files.iter().map(FileKind::of).collect(),
            files,
            table,
            limits,
            names_left_out,
            wave: Wave::default(),
            last_unread: AtomicUsize::new(0),
            previous: snapshot,
            renumbered,
            more_manifests: Mutex::default(),
            parsed: Mutex::default(),
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
                let weight = record.weight();
                self.set(id, record, weight);
            }
        }
        let Some(older) = self.previous.as_ref().filter(|_| !unplaced.is_empty()) else {
            return;
        };
        let mut by_blob: HashMap<(&str, Option<Language>), &Arc<Record>> = HashMap::new();
        for (file, record) in older.files.iter().zip(&older.records) {
            if let Some(record) = record {
                by_blob.insert((&record.blob, FileKind::of(file).language), record);
            }
        }
        for id in unplaced {
            let file = &self.files[id as usize];
            let known = by_blob.get(&(file.blob.as_str(), self.kinds[id as usize].language));
            if let Some(record) = known.filter(|record| self.fits(id, record)) {
                self.set(id, Arc::clone(record), record.weight());
            }
        }
    }

    pub(super) fn old_id(&self, id: FileId) -> Option<FileId> {
        match &self.renumbered {
            Some(renumbered) => renumbered.old_of.get(id as usize).copied().filter(|old| *old != NONE),
            None => self.previous.as_ref().map(|_| id),
        }
    }

    /// Whether `record` says what reading the file would. One that could not be read is tried again.
    fn fits(&self, id: FileId, record: &Record) -> bool {
        let file = &self.files[id as usize];
        // The limits may be others than those of the older build.
        let is_too_large = record.size > self.max_bytes(id);
        record.blob == file.blob
            && match record.state {
                FileState::Ok => !is_too_large && self.has_text(id, record) == record.manifest.is_some(),
                FileState::TooLarge => is_too_large,
                FileState::Minified => !is_too_large && record.size > self.limits.minified_over_bytes,
                FileState::Binary => !is_too_large,
                FileState::OverLimit => !is_too_large && !record.specifiers.is_empty(),
                FileState::Unreadable => false,
            }
    }

    /// Whether the record of a file of this size keeps its text.
    fn has_text(&self, id: FileId, record: &Record) -> bool {
        self.is_manifest(id) && record.size <= MAX_MANIFEST_BYTES || self.kinds[id as usize].language.is_none()
    }

    fn is_manifest(&self, id: FileId) -> bool {
        self.kinds.get(id as usize).is_some_and(|kind| kind.is_manifest) || self.lock_more().contains(&id)
    }

    pub(super) fn lock_more(&self) -> std::sync::MutexGuard<'_, BTreeSet<FileId>> {
        self.more_manifests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of files of the tree.
    pub fn file_count(&self) -> usize {
        self.files.len()
    }

    /// The files whose content has to be supplied now, in the order of paths, some thousands at most. Empty when
    /// [`Self::finish`] may be called; ask again after each supply, because configs name other configs.
    pub fn wanted(&self) -> Vec<Wanted> {
        let want = |id: FileId| Wanted {
            file: id,
            blob: self.files[id as usize].blob.clone(),
        };
        let wave = |unread: Vec<FileId>| {
            self.last_unread.store(unread.len(), Ordering::Relaxed);
            self.wave.weight.store(0, Ordering::Relaxed);
            unread.into_iter().take(WAVE).map(want).collect()
        };
        let unread = self.unread();
        if !unread.is_empty() {
            return wave(unread);
        }
        loop {
            let known = self.manifests();
            let missing = missing_configs(&self.table, &known);
            let missing: Vec<FileId> = missing.iter().filter_map(|path| self.table.tracked(path)).collect();
            let mut more = self.lock_more();
            let fresh: Vec<FileId> = missing.into_iter().filter(|id| more.insert(*id)).collect();
            drop(more);
            if fresh.is_empty() {
                return Vec::new();
            }
            let unread = self.unread();
            if !unread.is_empty() {
                return wave(unread);
            }
        }
    }

    /// How many files had to be read and were not yet when [`Self::wanted`] was last asked, as far as was known.
    pub fn last_unread(&self) -> usize {
        self.last_unread.load(Ordering::Relaxed)
    }

    fn unread(&self) -> Vec<FileId> {
        let due = (0..).zip(self.due()).zip(&self.records);
        due.filter(|((_, is_due), record)| *is_due && record.get().is_none())
            .map(|((id, _), _)| id)
            .collect()
    }

    /// For each file, whether its content counts, as far as what was read so far tells.
    pub(super) fn due(&self) -> Vec<bool> {
        let more = self.lock_more();
        let (mut files, mut bytes, mut weight, mut texts) = (0, 0_u64, 0_usize, 0_usize);
        let known = (0..).zip(self.kinds.iter().zip(&self.records));
        known
            .map(|(id, (kind, record))| {
                // A config that nothing extends any more would not have been read in a cold build.
                let is_manifest = kind.is_manifest || more.contains(&id);
                if kind.language.is_none() && !is_manifest {
                    return false;
                }
                let record = record.get();
                if let Some(text) = record
                    .and_then(|record| record.manifest.as_ref())
                    .filter(|_| is_manifest)
                {
                    texts = texts.saturating_add(text.len());
                }
                if kind.language.is_none() {
                    return texts <= MAX_MANIFESTS_BYTES;
                }
                if record.is_some() {
                    weight += self.weights[id as usize].load(Ordering::Relaxed) as usize;
                }
                if is_manifest {
                    return texts <= MAX_MANIFESTS_BYTES && weight <= self.limits.max_imports;
                }
                files += 1;
                let read = record.filter(|record| record.state != FileState::TooLarge);
                bytes = bytes.saturating_add(read.map_or(0, |record| record.size));
                files <= self.limits.max_files && bytes <= self.limits.max_bytes && weight <= self.limits.max_imports
            })
            .collect()
    }

    /// [`Self::supply`] of files with the same content, which is scanned once for each language.
    pub fn supply_all(&self, files: &[FileId], blob: Blob<'_>) {
        let mut known: Vec<(FileKind, Arc<Record>, usize)> = Vec::new();
        for file in files {
            let (Some(kind), Some(slot)) = (self.kinds.get(*file as usize), self.records.get(*file as usize)) else {
                continue;
            };
            if slot.get().is_some() {
                continue;
            }
            let (record, weight) = match known.iter().find(|(of, ..)| of == kind && !self.is_named_config(*file)) {
                Some((_, record, weight)) => (Arc::clone(record), *weight),
                None => {
                    let before = self.wave.weight.load(Ordering::Relaxed);
                    if before > WAVE_WEIGHT {
                        self.lock_deferred().insert(*file);
                        continue;
                    }
                    let record = Arc::new(self.record_of(*file, blob));
                    let text = record.manifest.as_ref().map_or(0, |text| text.len() / BYTES_FOR_WEIGHT);
                    let weight = record.weight();
                    // The first of a wave fits in any case, so that each wave gets on.
                    let before = self.wave.weight.fetch_add(weight + text, Ordering::Relaxed);
                    if before > 0 && before + weight + text > WAVE_WEIGHT {
                        self.lock_deferred().insert(*file);
                        continue;
                    }
                    known.push((*kind, Arc::clone(&record), weight));
                    (record, weight)
                }
            };
            self.set(*file, record, weight);
        }
    }

    fn set(&self, file: FileId, record: Arc<Record>, weight: usize) {
        let weight = u32::try_from(weight).unwrap_or(u32::MAX);
        self.weights[file as usize].store(weight, Ordering::Relaxed);
        let _ = self.records[file as usize].set(record);
    }

    fn lock_deferred(&self) -> std::sync::MutexGuard<'_, HashSet<FileId>> {
        self.wave.deferred.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether others name the file as a config.
    fn is_named_config(&self, file: FileId) -> bool {
        self.lock_more().contains(&file)
    }

    /// Takes a wanted file and scans it. May be called from several threads at once; a second answer for one file is
    /// ignored.
    pub fn supply(&self, file: FileId, blob: Blob<'_>) {
        self.supply_all(&[file], blob);
    }

    fn record_of(&self, file: FileId, blob: Blob<'_>) -> Record {
        let (state, size, text) = match blob {
            Blob::Content(content) if content.len() as u64 > self.max_bytes(file) => {
                (FileState::TooLarge, content.len() as u64, Cow::Borrowed(&[][..]))
            }
            Blob::Content(content) => {
                let (state, text) = text_of(content, self.limits.minified_over_bytes);
                (state, content.len() as u64, text)
            }
            Blob::TooLarge(size) => (FileState::TooLarge, size, Cow::Borrowed(&[][..])),
            Blob::Unreadable => (FileState::Unreadable, 0, Cow::Borrowed(&[][..])),
        };
        let mut record = Record {
            blob: self.files[file as usize].blob.clone(),
            state,
            size,
            specifiers: Vec::new(),
            manifest: None,
        };
        if let Some(language) = self.kinds[file as usize].language {
            record.specifiers = scan(language, &text);
            if record.bound() {
                record.state = FileState::OverLimit;
            }
        }
        if state == FileState::Ok && self.is_manifest(file) && size <= MAX_MANIFEST_BYTES {
            record.manifest = Some(String::from_utf8_lossy(&text).into_owned());
        }
        record
    }

    /// Marks those of `files` that were not supplied as unreadable.
    pub fn give_up_on(&self, files: &[FileId]) {
        let deferred = std::mem::take(&mut *self.lock_deferred());
        for id in files.iter().filter(|id| !deferred.contains(id)) {
            self.supply(*id, Blob::Unreadable);
        }
    }

    /// The largest content of this file that is looked into, in bytes.
    fn max_bytes(&self, file: FileId) -> u64 {
        match self.kinds[file as usize].language {
            Some(_) => self.limits.max_file_bytes,
            None => self.limits.max_file_bytes.min(MAX_MANIFEST_BYTES),
        }
    }

    pub(super) fn manifests(&self) -> Manifests {
        let due = self.due();
        let more = self.lock_more().clone();
        let mut values = 0;
        let mut manifests = BTreeMap::new();
        let mut fresh = self.parsed.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, (file, kind)) in (0..).zip(self.files.iter().zip(&self.kinds)) {
            if !due[id as usize] || (!kind.is_manifest && !more.contains(&id)) {
                continue;
            }
            if values > MAX_MANIFEST_VALUES {
                manifests.insert(file.path.clone(), Arc::new(Parsed::Nothing));
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
                    .filter(|known| matches!(***known, Parsed::Link(_)) == kind.is_link)
                    .filter(|_| old.manifest.as_ref() == Some(text))
            });
            let parsed = known.unwrap_or_else(|| {
                let read = || {
                    Arc::new(match kind.is_link {
                        true => Parsed::Link(text.clone()),
                        false => Parsed::read(&file.path, text),
                    })
                };
                fresh.entry(id).or_insert_with(read)
            });
            let parsed = Arc::clone(parsed);
            values += parsed.values();
            manifests.insert(file.path.clone(), parsed);
        }
        manifests
    }
}

/// What a file is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileKind {
    /// The language to scan it for. A symbolic link holds a path, whatever its name.
    pub(super) language: Option<Language>,
    /// Whether it is a manifest by its name, or a symbolic link, whose content is a path.
    pub(super) is_manifest: bool,
    is_link: bool,
}

impl FileKind {
    fn of(file: &TreeEntry) -> Self {
        let is_regular = file.kind == EntryKind::File;
        let is_link = file.kind == EntryKind::Symlink;
        let language = Language::of_path(&file.path).filter(|_| is_regular);
        FileKind {
            language,
            is_manifest: (is_regular && is_manifest(&file.path)) || is_link,
            is_link,
        }
    }
}
