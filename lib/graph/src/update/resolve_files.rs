//! Resolves the files without a valid resolution, on all cores when they are many, up to a limit on edges.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::cores::cores;
use crate::file::FileId;
use crate::record::Record;
use crate::resolution::Resolved;
use crate::resolve::{Resolver, Scratch};
use crate::update::file_kind::FileKind;

/// Most edges beyond the first of each import: an import of a Go package leads to all of its files.
const MAX_MORE: usize = 3_000_000;

/// Number of files from which resolving uses several threads.
const PARALLEL_FROM: usize = 250;

/// Resolves the files without a resolution, on all cores when they are many.
pub(super) fn resolve_missing(
    resolver: &Resolver<'_>,
    kinds: &[FileKind],
    records: &[Option<Arc<Record>>],
    resolved: &mut [Option<Arc<Resolved>>],
) {
    let more = AtomicUsize::new(0);
    let resolve_part = |first: usize, part: &mut [Option<Arc<Resolved>>]| {
        let mut scratch = Scratch::default();
        let empty = Arc::new(Resolved::default());
        for (id, slot) in (first..).zip(part.iter_mut()) {
            if slot.is_some() {
                continue;
            }
            if more.load(Ordering::Relaxed) > MAX_MORE {
                return;
            }
            *slot = match (&records[id], kinds[id].language) {
                (Some(record), Some(language)) if !record.specifiers.is_empty() => Some(Arc::new(
                    resolver.resolve_file(id as FileId, language, &record.specifiers, &mut scratch),
                )),
                _ => Some(Arc::clone(&empty)),
            };
            let found = slot.as_ref().map_or(0, |found| found.more.len());
            if found > 0 {
                more.fetch_add(found, Ordering::Relaxed);
            }
        }
    };
    let due = resolved.iter().filter(|slot| slot.is_none()).count();
    let threads = cores().min(8);
    if due < PARALLEL_FROM || threads == 1 {
        return resolve_part(0, resolved);
    }
    // Several parts for each thread, so that a part with slow files does not delay the others.
    let size = (resolved.len() / (threads * 4)).max(64);
    let parts = Mutex::new(resolved.chunks_mut(size).enumerate());
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let resolve = || {
        while let Some((number, part)) = next() {
            resolve_part(number * size, part);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(resolve);
        }
        resolve();
    });
}

/// Drops, in file order, the edges beyond [`MAX_MORE`], and resolves files before them that had been left out for being too
/// many. Returns the first dropped file, if there is one.
pub(super) fn cut_off(
    resolver: &Resolver<'_>,
    kinds: &[FileKind],
    records: &[Option<Arc<Record>>],
    resolved: &mut [Option<Arc<Resolved>>],
) -> Option<FileId> {
    let mut scratch = Scratch::default();
    let mut more = 0;
    for id in 0..resolved.len() {
        let slot = &mut resolved[id];
        if slot.is_none()
            && let (Some(record), Some(language)) = (&records[id], kinds[id].language)
        {
            let found = resolver.resolve_file(id as FileId, language, &record.specifiers, &mut scratch);
            *slot = Some(Arc::new(found));
        }
        more += slot.as_ref().map_or(0, |found| found.more.len());
        if more > MAX_MORE {
            resolved[id..].fill(None);
            return Some(id as FileId);
        }
    }
    None
}
