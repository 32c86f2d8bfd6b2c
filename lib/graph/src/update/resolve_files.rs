//! Resolves the files without a valid resolution, on all cores when they are many, up to a limit on edges.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::bound::Bound;
use crate::cores::cores;
use crate::file::FileId;
use crate::record::Record;
use crate::resolution::ResolvedSpecifiers;
use crate::resolve::{Resolver, Scratch};
use crate::update::file_kind::FileKind;

/// Most edges beyond the first of each import: an import of a Go package leads to all of its files.
const MAX_MORE: usize = 3_000_000;

/// Most work of a graph, in lookups for each import that it may have. Real imports take about five.
const WORK_OF_AN_IMPORT: usize = 32;

/// Most keys of lookups that a graph keeps. Files past that are resolved again whenever anything changes.
const MAX_KEYS: usize = 16_000_000;

/// Number of files from which resolving uses several threads.
const PARALLEL_FROM: usize = 250;

/// Where a graph ends that has too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GraphCut {
    /// The first file that is left out.
    pub(super) at: FileId,
    pub(super) bound: Bound,
}

/// Edges beside the first of each import, and work, of the files so far.
#[derive(Clone, Copy, Debug, Default)]
struct ResolutionCost {
    more: usize,
    work: usize,
}

impl ResolutionCost {
    fn add(&mut self, found: &ResolvedSpecifiers) {
        self.more += found.more.len();
        self.work += found.work as usize;
    }

    /// The bound that it exceeds, in a graph that may have `max_imports` imports.
    fn exceeds(&self, max_imports: usize) -> Option<Bound> {
        if self.more > MAX_MORE {
            return Some(Bound::Edges);
        }
        (self.work > max_imports.saturating_mul(WORK_OF_AN_IMPORT)).then_some(Bound::Lookups)
    }
}

/// Resolves the files without a resolution, on all cores when they are many.
pub(super) fn resolve_missing(
    resolver: &Resolver<'_>,
    kinds: &[FileKind],
    records: &[Option<Arc<Record>>],
    resolved: &mut [Option<Arc<ResolvedSpecifiers>>],
    max_imports: usize,
) {
    let kept = resolved.iter().flatten().filter_map(|known| known.keys.as_ref());
    let keys = AtomicUsize::new(kept.map(|keys| keys.len()).sum());
    let sum = Mutex::new(ResolutionCost::default());
    let lock = || sum.lock().unwrap_or_else(PoisonError::into_inner);
    let resolve_part = |first: usize, part: &mut [Option<Arc<ResolvedSpecifiers>>]| {
        let mut scratch = Scratch::default();
        let empty = Arc::new(ResolvedSpecifiers::default());
        for (id, slot) in (first..).zip(part.iter_mut()) {
            if slot.is_some() {
                continue;
            }
            let (Some(record), Some(language)) = (&records[id], kinds[id].language) else {
                *slot = Some(Arc::clone(&empty));
                continue;
            };
            if record.specifiers.is_empty() {
                *slot = Some(Arc::clone(&empty));
                continue;
            }
            if lock().exceeds(max_imports).is_some() {
                return;
            }
            let mut found = resolver.resolve_file(id as FileId, language, &record.specifiers, &mut scratch);
            found.limit_keys(&keys);
            lock().add(&found);
            *slot = Some(Arc::new(found));
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

impl ResolvedSpecifiers {
    /// Keeps the keys only where the graph, which has `kept` keys, has room for them.
    fn limit_keys(&mut self, kept: &AtomicUsize) {
        let mine = self.keys.as_ref().map_or(0, |keys| keys.len());
        if mine > 0 && kept.fetch_add(mine, Ordering::Relaxed) + mine > MAX_KEYS {
            self.keys = None;
        }
    }
}

/// Drops, in file order, the files from which on the graph has too much, and resolves files before them that had been left out
/// for that.
pub(super) fn cut_off(
    resolver: &Resolver<'_>,
    kinds: &[FileKind],
    records: &[Option<Arc<Record>>],
    resolved: &mut [Option<Arc<ResolvedSpecifiers>>],
    max_imports: usize,
) -> Option<GraphCut> {
    let mut scratch = Scratch::default();
    let mut sum = ResolutionCost::default();
    for id in 0..resolved.len() {
        let slot = &mut resolved[id];
        if slot.is_none()
            && let (Some(record), Some(language)) = (&records[id], kinds[id].language)
        {
            let mut found = resolver.resolve_file(id as FileId, language, &record.specifiers, &mut scratch);
            // All files are resolved again as long as the graph is cut off.
            found.keys = None;
            *slot = Some(Arc::new(found));
        }
        if let Some(found) = slot {
            sum.add(found);
        }
        if let Some(bound) = sum.exceeds(max_imports) {
            resolved[id..].fill(None);
            let at = id as FileId;
            return Some(GraphCut { at, bound });
        }
    }
    None
}
