//! Builds the graph of a commit from a [`Source`]: reads what has to be read, scans it on the source's threads, and
//! resolves.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::FileId;
use super::update::{Limits, Previous, Snapshot, Update, Wanted};
use crate::domain::{CommitSha, RepoId};
use crate::source::{Blob, BlobSink, Source, SourceError, TreeEntry};

/// How far a build is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Files of the tree.
    pub files: usize,
    /// Files that have to be read, as far as is known.
    pub wanted: usize,
    /// Files read and scanned.
    pub scanned: usize,
}

/// Is told of progress, from several threads; at the start and then about a hundred times.
pub type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

/// Builds the graph of `commit`, using what is known from before. Computing runs on blocking threads of the runtime.
///
/// # Errors
/// When the source cannot give the tree or the blobs.
pub async fn build(
    source: &dyn Source,
    repo: &RepoId,
    commit: &CommitSha,
    previous: Previous,
    limits: Limits,
    progress: ProgressSink,
) -> Result<Snapshot, SourceError> {
    let tree = source.tree(repo, commit).await?;
    build_tree(source, repo, tree, previous, limits, progress).await
}

/// [`build`] of a commit whose `tree` is known already.
///
/// # Errors
/// When the source cannot give the blobs.
pub async fn build_tree(
    source: &dyn Source,
    repo: &RepoId,
    tree: Vec<TreeEntry>,
    previous: Previous,
    limits: Limits,
    progress: ProgressSink,
) -> Result<Snapshot, SourceError> {
    let update = Arc::new(off_the_runtime(move || Update::begin(previous, tree, limits)).await?);
    let scanned = Arc::new(AtomicUsize::new(0));
    loop {
        let asked = Arc::clone(&update);
        let (wanted, unread) = off_the_runtime(move || (asked.wanted(), asked.unread_count())).await?;
        if wanted.is_empty() {
            break;
        }
        let already = scanned.load(Ordering::Relaxed);
        let state = Progress {
            files: update.file_count(),
            wanted: already + unread,
            scanned: already,
        };
        progress(state);
        let step = (state.wanted / 100).max(1);
        let asked_for: Vec<FileId> = wanted.iter().map(|one| one.file).collect();
        let (blobs, files) = by_blob(wanted);
        let sink: BlobSink = {
            let (update, scanned, progress) = (Arc::clone(&update), Arc::clone(&scanned), Arc::clone(&progress));
            Arc::new(move |index, blob: Blob<'_>| {
                let files = files.get(index).map_or(&[][..], Vec::as_slice);
                for file in files {
                    update.supply(*file, blob);
                }
                let before = scanned.fetch_add(files.len(), Ordering::Relaxed);
                let done = before + files.len();
                if done / step > before / step || done == state.wanted {
                    progress(Progress { scanned: done, ..state });
                }
            })
        };
        source.read_blobs(repo, blobs, limits.max_file_bytes, sink).await?;
        // A source that left one out must not be asked for it forever.
        let supplied = Arc::clone(&update);
        off_the_runtime(move || supplied.give_up_on(&asked_for)).await?;
    }
    off_the_runtime(move || update.finish()).await
}

/// Files with the same content are read once. In the order of paths: neighbours in a tree are neighbours in a pack.
fn by_blob(wanted: Vec<Wanted>) -> (Vec<String>, Vec<Vec<FileId>>) {
    let mut index_of: HashMap<String, usize> = HashMap::with_capacity(wanted.len());
    let (mut blobs, mut files) = (Vec::new(), Vec::new());
    for Wanted { file, blob } in wanted {
        let index = *index_of.entry(blob).or_insert_with_key(|blob| {
            blobs.push(blob.clone());
            files.push(Vec::new());
            files.len() - 1
        });
        files[index].push(file);
    }
    (blobs, files)
}

async fn off_the_runtime<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, SourceError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| SourceError::Unreachable(format!("the graph could not be computed: {error}")))
}
