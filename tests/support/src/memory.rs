//! A repository in memory, and its reads.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use coord_domain::{Branch, CommitSha, RepoId};
use coord_sources::{Blob, BlobSink, EntryKind, Reachable, Source, SourceError, TreeEntry};
use parking_lot::Mutex;
use sha1_smol::Sha1;
use tokio::sync::Semaphore;

/// One branch of one repository.
pub struct Memory {
    files: Mutex<BTreeMap<String, String>>,
    /// How many blobs were read since this was last asked.
    read: AtomicUsize,
    /// Blobs that may be read before reading stops until there is more.
    gate: Semaphore,
    /// Whether reading fails.
    pub is_broken: AtomicBool,
    /// Whether the branch has been deleted.
    pub is_gone: AtomicBool,
}

impl Memory {
    pub fn new(files: impl IntoIterator<Item = (String, String)>) -> Arc<Self> {
        Arc::new(Memory {
            files: Mutex::new(files.into_iter().collect()),
            read: AtomicUsize::new(0),
            gate: Semaphore::new(Semaphore::MAX_PERMITS / 2),
            is_broken: AtomicBool::new(false),
            is_gone: AtomicBool::new(false),
        })
    }

    pub fn write(&self, path: &str, content: &str) {
        self.files.lock().insert(path.to_owned(), content.to_owned());
    }

    pub fn delete(&self, path: &str) {
        self.files.lock().remove(path);
    }

    pub fn take_read(&self) -> usize {
        self.read.swap(0, Ordering::Relaxed)
    }

    /// Lets only so many more blobs be read.
    pub fn close_after(&self, blobs: usize) {
        self.gate.forget_permits(Semaphore::MAX_PERMITS);
        self.gate.add_permits(blobs);
    }

    pub fn open(&self) {
        self.gate.add_permits(Semaphore::MAX_PERMITS / 2);
    }

    /// The commit of the current files.
    pub fn commit(&self) -> CommitSha {
        let mut hash = Sha1::new();
        for (path, content) in self.files.lock().iter() {
            for part in [path, content] {
                hash.update(part.as_bytes());
                hash.update(b"\0");
            }
        }
        CommitSha::parse(&hash.hexdigest()).unwrap()
    }
}

#[async_trait]
impl Source for Memory {
    fn repositories(&self) -> Vec<RepoId> {
        Vec::new()
    }

    async fn head(&self, repo: &RepoId, branch: &Branch) -> Result<CommitSha, SourceError> {
        if self.is_gone.load(Ordering::Relaxed) {
            return Err(SourceError::UnknownBranch {
                repo: repo.clone(),
                branch: branch.clone(),
                suggestions: Vec::new(),
                is_empty: false,
                hint: None,
            });
        }
        Ok(self.commit())
    }

    async fn is_ancestor(&self, _: &RepoId, _: &CommitSha, _: &CommitSha) -> Result<Reachable, SourceError> {
        Ok(Reachable::Unknown)
    }

    async fn recent_commits(&self, _: &RepoId, tip: &CommitSha, _: usize) -> Result<Vec<CommitSha>, SourceError> {
        Ok(vec![tip.clone()])
    }

    async fn tree(&self, _: &RepoId, _: &CommitSha) -> Result<Vec<TreeEntry>, SourceError> {
        if self.is_broken.load(Ordering::Relaxed) {
            return Err(SourceError::Unreachable("/secret/path is gone".to_owned()));
        }
        let files = self.files.lock();
        let entry = |(path, content): (&String, &String)| TreeEntry {
            path: path.clone(),
            blob: Sha1::from(content).hexdigest(),
            kind: EntryKind::File,
        };
        Ok(files.iter().map(entry).collect())
    }

    async fn read_blobs(
        &self,
        _: &RepoId,
        blobs: Vec<String>,
        max_bytes: u64,
        sink: BlobSink,
    ) -> Result<(), SourceError> {
        let contents: BTreeMap<String, String> = {
            let files = self.files.lock();
            files
                .values()
                .map(|content| (Sha1::from(content).hexdigest(), content.clone()))
                .collect()
        };
        for (index, blob) in blobs.iter().enumerate() {
            self.gate.acquire().await.unwrap().forget();
            self.read.fetch_add(1, Ordering::Relaxed);
            let size = contents.get(blob).map(|content| content.len() as u64);
            sink(
                index,
                match (contents.get(blob), size) {
                    (Some(_), Some(size)) if size > max_bytes => Blob::TooLarge(size),
                    (Some(content), _) => Blob::Content(content.as_bytes()),
                    (None, _) => Blob::Unreadable,
                },
            );
        }
        Ok(())
    }
}
