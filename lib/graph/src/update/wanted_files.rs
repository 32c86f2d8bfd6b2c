//! The files that a build must read: those within the limits that have no record yet.

use std::sync::atomic::Ordering;

use coord_scan::FileState;

use crate::bound::Bound;
use crate::cores::lock;
use crate::file::FileId;
use crate::resolve::projects::manifest_index::missing_configs;
use crate::update::begin::Update;

/// Most files in one request. A build can exceed the limit on bytes by the size of this many files.
const WAVE: usize = 8_192;

/// Most rounds of searching for configs that the configs of the previous round name. Each round reads all manifests.
const MAX_ROUNDS: usize = 8;

/// Most bytes of manifests in one graph.
const MAX_MANIFESTS_BYTES: usize = 32 << 20;

/// Whether the content of a file counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentUse {
    Yes,
    /// It is neither a manifest nor of a language with imports.
    No,
    /// It is past a bound.
    Over(Bound),
}

/// A file that the caller must read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedFile {
    /// The id of the file, for [`Update::supply`].
    pub file: FileId,
    /// Id of its blob, hex.
    pub blob: String,
}

impl Update {
    /// The files to supply next, in path order, some thousands at most. If there are none, call [`Self::finish`]. Call
    /// this again after each supply, because configs refer to other configs.
    pub fn wanted(&self) -> Vec<WantedFile> {
        let want = |id: FileId| WantedFile {
            file: id,
            blob: self.files[id as usize].blob.clone(),
        };
        let start_wave = |unread: Vec<FileId>| {
            self.last_unread.store(unread.len(), Ordering::Relaxed);
            self.wave.weight.store(0, Ordering::Relaxed);
            unread.into_iter().take(WAVE).map(want).collect()
        };
        let unread = self.unread_files();
        if !unread.is_empty() {
            return start_wave(unread);
        }
        loop {
            let (manifests, _) = self.manifests();
            let missing = missing_configs(&self.table, &manifests);
            let files = missing.iter().filter_map(|path| self.table.tracked_file(path));
            let missing: Vec<FileId> = files.collect();
            if self.rounds.load(Ordering::Relaxed) >= MAX_ROUNDS {
                let mut unfollowed = lock(&self.unfollowed);
                let more = lock(&self.extended_configs);
                unfollowed.extend(missing.into_iter().filter(|id| !more.contains(id)));
                return Vec::new();
            }
            let mut more = lock(&self.extended_configs);
            let fresh: Vec<FileId> = missing.into_iter().filter(|id| more.insert(*id)).collect();
            drop(more);
            if fresh.is_empty() {
                return Vec::new();
            }
            self.rounds.fetch_add(1, Ordering::Relaxed);
            let unread = self.unread_files();
            if !unread.is_empty() {
                return start_wave(unread);
            }
        }
    }

    /// The number of files that were unread at the last call of [`Self::wanted`]. Later calls may want further files.
    pub fn last_unread(&self) -> usize {
        self.last_unread.load(Ordering::Relaxed)
    }

    fn unread_files(&self) -> Vec<FileId> {
        let files = (0..).zip(self.content_uses()).zip(&self.records);
        files
            .filter(|((_, content_use), record)| *content_use == ContentUse::Yes && record.get().is_none())
            .map(|((id, _), _)| id)
            .collect()
    }

    /// For each file, whether its content counts, as far as the files read so far show.
    pub(super) fn content_uses(&self) -> Vec<ContentUse> {
        let more = lock(&self.extended_configs);
        let (mut files, mut bytes, mut weight, mut texts) = (0, 0_u64, 0_usize, 0_usize);
        let kinds_and_records = (0..).zip(self.kinds.iter().zip(&self.records));
        kinds_and_records
            .map(|(id, (kind, record))| {
                // A cold build would not read a config that no other config extends any longer.
                let is_manifest = kind.is_manifest || more.contains(&id);
                let has_imports = kind.language.is_some();
                if !has_imports && !is_manifest {
                    return ContentUse::No;
                }
                let record = record.get();
                if let Some(text) = record.and_then(|record| record.manifest.as_ref())
                    && is_manifest
                {
                    texts = texts.saturating_add(text.len());
                }
                if has_imports && record.is_some() {
                    weight += self.weights[id as usize].load(Ordering::Relaxed) as usize;
                }
                let is_source = has_imports && !is_manifest;
                if is_source {
                    files += 1;
                    let scanned = record.filter(|record| record.state != FileState::TooLarge);
                    bytes = bytes.saturating_add(scanned.map_or(0, |record| record.size));
                }
                let bounds = [
                    (is_manifest && texts > MAX_MANIFESTS_BYTES, Bound::Manifests),
                    (is_source && files > self.limits.max_files, Bound::Files),
                    (is_source && bytes > self.limits.max_bytes, Bound::Bytes),
                    (has_imports && weight > self.limits.max_imports, Bound::Imports),
                ];
                let exceeded = bounds.into_iter().find(|(is_exceeded, _)| *is_exceeded);
                exceeded.map_or(ContentUse::Yes, |(_, bound)| ContentUse::Over(bound))
            })
            .collect()
    }
}
