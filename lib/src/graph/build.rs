//! Builds the graph of a commit from a [`Source`]: reads what has to be read, scans it on the source's threads, and
//! resolves.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::FileId;
use super::update::{Limits, Previous, Snapshot, Update};
use crate::domain::{CommitSha, RepoId};
use crate::source::{BlobSink, Source, SourceError};

/// How far a build is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Files of the tree.
    pub files: usize,
    /// Blobs that have to be read, as far as is known.
    pub wanted: usize,
    /// Blobs read and scanned.
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
    let update = Arc::new(off_the_runtime(move || Update::begin(previous, tree, limits)).await?);
    let scanned = Arc::new(AtomicUsize::new(0));
    let mut wanted_in_all = 0;
    loop {
        let asked = Arc::clone(&update);
        let wanted = off_the_runtime(move || asked.wanted()).await?;
        if wanted.is_empty() {
            break;
        }
        // Files with the same content are read once.
        let mut files_of: HashMap<String, Vec<FileId>> = HashMap::new();
        for one in wanted {
            files_of.entry(one.blob).or_default().push(one.file);
        }
        let (blobs, files): (Vec<String>, Vec<Vec<FileId>>) = files_of.into_iter().unzip();
        wanted_in_all += blobs.len();
        let step = (blobs.len() / 100).max(1);
        let state = Progress {
            files: update.file_count(),
            wanted: wanted_in_all,
            scanned: scanned.load(Ordering::Relaxed),
        };
        progress(state);
        let sink: BlobSink = {
            let (update, scanned, progress) = (Arc::clone(&update), Arc::clone(&scanned), Arc::clone(&progress));
            Arc::new(move |index, content| {
                for file in files.get(index).into_iter().flatten() {
                    update.supply(*file, content);
                }
                let done = scanned.fetch_add(1, Ordering::Relaxed) + 1;
                if done.is_multiple_of(step) || done == state.wanted {
                    progress(Progress { scanned: done, ..state });
                }
            })
        };
        source.read_blobs(repo, blobs, limits.max_file_bytes, sink).await?;
        // A source that left one out must not be asked for it forever.
        let supplied = Arc::clone(&update);
        off_the_runtime(move || supplied.give_up_on_missing()).await?;
    }
    off_the_runtime(move || update.finish()).await
}

async fn off_the_runtime<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, SourceError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| SourceError::Unreachable(format!("the graph could not be computed: {error}")))
}
