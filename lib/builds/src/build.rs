//! Builds the graph of a commit from a [`Source`]: reads the files that it needs, scans them on the source's threads,
//! and resolves their imports.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::HashMap;

use coord_domain::{BuildProgress, CommitSha, RepoId, file_path};
use coord_graph::{FileId, Limits, Previous, Snapshot, Update};
use coord_sources::{Blob, BlobSink, Source, SourceError, TreeEntry};

/// Receives the progress, from several threads: at the start, and then about a hundred times.
pub type ProgressSink = Arc<dyn Fn(BuildProgress) + Send + Sync>;

/// Builds the graph of `commit`, starting from `previous`. Computation runs on blocking threads of the runtime.
///
/// # Errors
/// When the source cannot return the tree or the blobs.
pub async fn build(
    source: &dyn Source,
    repo: &RepoId,
    commit: &CommitSha,
    previous: Previous,
    limits: Limits,
    progress: ProgressSink,
) -> Result<Snapshot, SourceError> {
    let (tree, left_out) = to_nfc(source.tree(repo, commit).await?);
    let snapshot = build_tree(source, repo, tree, previous, limits, progress).await?;
    Ok(snapshot.with_names_left_out(left_out))
}

/// [`build`] of a commit whose `tree` has already been read, and [is in NFC](to_nfc).
///
/// # Errors
/// When the source cannot return the blobs.
pub(super) async fn build_tree(
    source: &dyn Source,
    repo: &RepoId,
    tree: Vec<TreeEntry>,
    previous: Previous,
    limits: Limits,
    progress: ProgressSink,
) -> Result<Snapshot, SourceError> {
    let (update, mut next) = run_blocking(move || {
        let update = Update::begin(previous, tree, limits);
        let next = next_request(&update);
        (Arc::new(update), next)
    })
    .await?;
    let scanned = Arc::new(AtomicUsize::new(0));
    // Dropped before the graph is assembled, when nothing is left to read.
    let mut hold = source.hold(repo);
    loop {
        let SourceRequest {
            files,
            blobs,
            wanted_by,
            unread,
        } = match next {
            ControlFlow::Continue(request) => request,
            ControlFlow::Break(snapshot) => return Ok(snapshot),
        };
        let scanned_before = scanned.load(Ordering::Relaxed);
        let state = BuildProgress {
            files: update.file_count(),
            wanted: scanned_before + unread,
            scanned: scanned_before,
        };
        progress(state);
        let report_every = (state.wanted / 100).max(1);
        let sink: BlobSink = {
            let (update, scanned, progress) = (Arc::clone(&update), Arc::clone(&scanned), Arc::clone(&progress));
            Arc::new(move |index, blob: Blob<'_>| {
                let files = wanted_by.get(index).map_or(&[][..], |files| files.as_slice());
                update.supply_all(files, blob);
                let before = scanned.fetch_add(files.len(), Ordering::Relaxed);
                let done = before + files.len();
                if done / report_every > before / report_every || done == state.wanted {
                    progress(BuildProgress { scanned: done, ..state });
                }
            })
        };
        let is_last = files.len() >= unread;
        source.read_blobs(repo, blobs, limits.max_file_bytes, sink).await?;
        if is_last {
            // At most a few blobs follow: configs that other configs name.
            drop(hold.take());
        }
        let supplied = Arc::clone(&update);
        next = run_blocking(move || {
            // A blob that a source left out must not be requested forever.
            supplied.mark_unreadable(&files);
            next_request(&supplied)
        })
        .await?;
    }
}

struct SourceRequest {
    files: Vec<FileId>,
    /// In the order of paths: neighbors in a tree are neighbors in a pack. Files with the same content are read once.
    blobs: Vec<String>,
    /// The files of each blob.
    wanted_by: Vec<Vec<FileId>>,
    /// Number of files left to read, as far as known.
    unread: usize,
}

/// The next request, or the graph.
fn next_request(update: &Update) -> ControlFlow<Snapshot, SourceRequest> {
    let wanted = update.wanted();
    if wanted.is_empty() {
        return ControlFlow::Break(update.finish());
    }
    let files = wanted.iter().map(|wanted| wanted.file).collect();
    let mut index_of: HashMap<&str, usize> = HashMap::with_capacity(wanted.len());
    let mut wanted_by: Vec<Vec<FileId>> = Vec::with_capacity(wanted.len());
    for file in &wanted {
        let index = *index_of.entry(&file.blob).or_insert(wanted_by.len());
        match wanted_by.get_mut(index) {
            Some(files) => files.push(file.file),
            None => wanted_by.push(vec![file.file]),
        }
    }
    drop(index_of);
    // The id of a blob comes from the first of its files.
    let mut firsts = wanted_by.iter().map(|files| files[0]).peekable();
    let blobs = wanted
        .into_iter()
        .filter(|wanted| firsts.next_if_eq(&wanted.file).is_some());
    let blobs = blobs.map(|wanted| wanted.blob).collect();
    ControlFlow::Continue(SourceRequest {
        files,
        blobs,
        wanted_by,
        unread: update.last_unread(),
    })
}

async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, SourceError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| SourceError::Unreachable(format!("the graph could not be computed: {error}")))
}

/// The tree with its paths in NFC, as in locks, so that a lock and the imports of its file have one name. Imports are
/// resolved in this form. Also returns how many files are left out because another file has the same path in NFC. A
/// file that is tracked in NFC is preferred.
pub(super) fn to_nfc(mut tree: Vec<TreeEntry>) -> (Vec<TreeEntry>, usize) {
    let convert = |entry: &mut TreeEntry| match file_path::to_nfc(&entry.path) {
        Cow::Owned(path) => {
            entry.path = path;
            true
        }
        Cow::Borrowed(_) => false,
    };
    let mut converted: Vec<TreeEntry> = tree.extract_if(.., convert).collect();
    if converted.is_empty() {
        return (tree, 0);
    }
    tree.append(&mut converted);
    tree.sort_by(|one, other| one.path.cmp(&other.path));
    let count = tree.len();
    tree.dedup_by(|later, earlier| later.path == earlier.path);
    let left_out = count - tree.len();
    (tree, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use coord_sources::EntryKind;

    #[test]
    fn a_file_that_is_tracked_in_decomposed_characters_is_found_by_the_lock_on_it() {
        let entry = |path: &str, blob: &str| TreeEntry {
            path: path.to_owned(),
            blob: blob.repeat(40),
            kind: EntryKind::File,
        };
        let (tree, left_out) = to_nfc(vec![
            entry("gro\u{308}\u{df}e.ts", "0"),
            entry("gr\u{f6}\u{df}e.ts", "1"),
            entry("o\u{308}.ts", "2"),
            entry("z.ts", "3"),
        ]);
        let files: Vec<(&str, &str)> = tree
            .iter()
            .map(|entry| (entry.path.as_str(), &entry.blob[..1]))
            .collect();
        assert_eq!(files, [("größe.ts", "1"), ("z.ts", "3"), ("ö.ts", "2")]);
        assert_eq!(left_out, 1);
    }
}
