//! Scans the content of files into their records.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use coord_interfaces::interface_of_text;
use coord_scan::{BYTES_PER_WEIGHT, FileState, scan_within_bounds, text_to_scan};

use crate::cores::lock;
use crate::file::FileId;
use crate::record::Record;
use crate::resolve::manifests::MAX_MANIFEST_BYTES;
use crate::tree::Blob;
use crate::update::begin::Update;
use crate::update::file_kind::FileKind;

/// Most memory that one wave may take, in units of [`Record::weight`].
const WAVE_WEIGHT: usize = 500_000;

impl Update {
    /// Takes the content of a requested file and scans it. Several threads may call it at once. A second call for one
    /// file has no effect.
    pub fn supply(&self, file: FileId, blob: Blob<'_>) {
        self.supply_all(&[file], blob);
    }

    /// [`Self::supply`] for files with the same content, which is scanned once for each language.
    pub fn supply_all(&self, files: &[FileId], blob: Blob<'_>) {
        let mut scanned: Vec<(FileKind, Arc<Record>, usize)> = Vec::new();
        for file in files {
            let (Some(kind), Some(slot)) = (self.kinds.get(*file as usize), self.records.get(*file as usize)) else {
                continue;
            };
            if slot.get().is_some() {
                continue;
            }
            let same_kind = scanned.iter().find(|(scanned_kind, ..)| scanned_kind == kind);
            // The record of a config that other configs name has its text, whatever its kind.
            let (record, weight) = match same_kind.filter(|_| !lock(&self.extended_configs).contains(file)) {
                Some((_, record, weight)) => (Arc::clone(record), *weight),
                None => {
                    let before = self.wave.weight.load(Ordering::Relaxed);
                    if before > WAVE_WEIGHT {
                        lock(&self.wave.deferred).insert(*file);
                        continue;
                    }
                    let record = Arc::new(self.record_of(*file, blob));
                    let text = record.manifest.as_ref().map_or(0, |text| text.len() / BYTES_PER_WEIGHT);
                    let weight = record.weight();
                    // The first file of a wave always fits, so that each wave makes progress.
                    let before = self.wave.weight.fetch_add(weight + text, Ordering::Relaxed);
                    if before > 0 && before + weight + text > WAVE_WEIGHT {
                        lock(&self.wave.deferred).insert(*file);
                        continue;
                    }
                    scanned.push((*kind, Arc::clone(&record), weight));
                    (record, weight)
                }
            };
            self.set(*file, record, weight);
        }
    }

    /// Marks those of `files` that were not supplied as unreadable.
    pub fn mark_unreadable(&self, files: &[FileId]) {
        let deferred = std::mem::take(&mut *lock(&self.wave.deferred));
        for id in files.iter().filter(|id| !deferred.contains(id)) {
            self.supply(*id, Blob::Unreadable);
        }
    }

    fn record_of(&self, file: FileId, blob: Blob<'_>) -> Record {
        let bytes = match blob {
            Blob::Content(content) => content.len(),
            Blob::TooLarge(_) | Blob::Unreadable => 0,
        };
        let _reserved = self.scan_budget.take(bytes);
        let (state, size, text) = match blob {
            Blob::Content(content) if content.len() as u64 > self.max_bytes(file) => {
                (FileState::TooLarge, content.len() as u64, Cow::Borrowed(&[][..]))
            }
            Blob::Content(content) => {
                let (state, text) = text_to_scan(content, self.limits.minified_over_bytes);
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
            interface: None,
            manifest: None,
        };
        if let Some(language) = self.kinds[file as usize].language {
            let is_cut;
            (record.specifiers, is_cut) = scan_within_bounds(language, &text);
            if is_cut {
                record.state = FileState::OverLimit;
            }
            if self.limits.interfaces {
                record.interface = Some(interface_of_text(language, state, &text));
            }
        }
        if state == FileState::Ok && self.is_manifest(file) && size <= MAX_MANIFEST_BYTES {
            record.manifest = Some(String::from_utf8_lossy(&text).into_owned());
        }
        record
    }
}
