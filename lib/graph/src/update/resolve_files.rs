//! Resolves the files without a valid resolution, on all cores if there are many, up to bounds on edges and work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::bound::Bound;
use crate::cores::{cores, lock};
use crate::file::FileId;
use crate::record::{Record, specifiers_of};
use crate::resolution::ResolvedSpecifiers;
use crate::resolve::{Resolver, Scratch};
use crate::update::file_kind::FileKind;

/// Most edges beyond the first of each import: an import of a Go package leads to all of its files.
const MAX_EXTRA_EDGES: usize = 3_000_000;

/// Most work of a graph, in lookups for each import that it may have. Real imports take about five.
const MAX_WORK_PER_IMPORT: usize = 32;

/// Most keys of lookups that a graph keeps. Files past that are resolved again whenever anything changes.
const MAX_KEYS: usize = 16_000_000;

/// The number of files from which several threads resolve them.
const PARALLEL_FROM: usize = 250;

/// The position where a graph that exceeds a bound ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GraphCut {
    /// The first file that is left out.
    pub(super) at: FileId,
    pub(super) bound: Bound,
}

/// The cost of the files so far: their edges beyond the first of each import, and their work.
#[derive(Clone, Copy, Debug, Default)]
struct ResolutionCost {
    extra_edges: usize,
    work: usize,
}

impl ResolutionCost {
    fn add(&mut self, resolved: &ResolvedSpecifiers) {
        self.extra_edges += resolved.extra_targets.len();
        self.work += resolved.work as usize;
    }

    /// The bound that it exceeds, in a graph that may have `max_imports` imports.
    fn exceeded_bound(&self, max_imports: usize) -> Option<Bound> {
        if self.extra_edges > MAX_EXTRA_EDGES {
            return Some(Bound::Edges);
        }
        (self.work > max_imports.saturating_mul(MAX_WORK_PER_IMPORT)).then_some(Bound::Lookups)
    }
}

/// Resolves the files without a resolution, on all cores if there are many.
pub(super) fn resolve_missing(
    resolver: &Resolver<'_>,
    kinds: &[FileKind],
    records: &[Option<Arc<Record>>],
    resolved: &mut [Option<Arc<ResolvedSpecifiers>>],
    max_imports: usize,
) {
    let reused_keys = resolved.iter().flatten().filter_map(|file| file.keys.as_ref());
    let key_count = AtomicUsize::new(reused_keys.map(|keys| keys.len()).sum());
    let sum = Mutex::new(ResolutionCost::default());
    let resolve_part = |first: usize, part: &mut [Option<Arc<ResolvedSpecifiers>>]| {
        let mut scratch = Scratch::default();
        let empty = Arc::new(ResolvedSpecifiers::default());
        for (id, slot) in (first..).zip(part.iter_mut()) {
            if slot.is_some() {
                continue;
            }
            let specifiers = specifiers_of(records[id].as_deref());
            let Some(language) = kinds[id].language.filter(|_| !specifiers.is_empty()) else {
                *slot = Some(Arc::clone(&empty));
                continue;
            };
            if lock(&sum).exceeded_bound(max_imports).is_some() {
                return;
            }
            let mut file = resolver.resolve_file(id as FileId, language, specifiers, &mut scratch);
            file.limit_keys(&key_count);
            lock(&sum).add(&file);
            *slot = Some(Arc::new(file));
        }
    };
    let missing = resolved.iter().filter(|slot| slot.is_none()).count();
    let threads = cores().min(8);
    if missing < PARALLEL_FROM || threads == 1 {
        return resolve_part(0, resolved);
    }
    // Several parts for each thread, so that a part with slow files does not delay the others.
    let size = (resolved.len() / (threads * 4)).max(64);
    let parts = Mutex::new(resolved.chunks_mut(size).enumerate());
    let next = || lock(&parts).next();
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
    /// Adds the number of keys to `graph_keys`, and drops the keys if the graph has no room for them.
    fn limit_keys(&mut self, graph_keys: &AtomicUsize) {
        let own_keys = self.keys.as_ref().map_or(0, |keys| keys.len());
        if own_keys > 0 && graph_keys.fetch_add(own_keys, Ordering::Relaxed) + own_keys > MAX_KEYS {
            self.keys = None;
        }
    }
}

/// Drops the resolutions from the first file, in order, with which the graph exceeds a bound. Earlier files may lack a
/// resolution, because threads do not work in file order. This function resolves them.
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
            let mut file = resolver.resolve_file(id as FileId, language, &record.specifiers, &mut scratch);
            // Keys would be useless: an update of a graph that is cut off resolves all files again.
            file.keys = None;
            *slot = Some(Arc::new(file));
        }
        if let Some(file) = slot {
            sum.add(file);
        }
        if let Some(bound) = sum.exceeded_bound(max_imports) {
            resolved[id..].fill(None);
            let at = id as FileId;
            return Some(GraphCut { at, bound });
        }
    }
    None
}
