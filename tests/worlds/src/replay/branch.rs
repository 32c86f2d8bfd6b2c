//! The branch that the agents push to, as the server sees it: a [`Source`] over the real clone, with simulated heads.
//!
//! A head is a number: how many tasks have landed. Each contains those before it, so that histories are linear, whatever the order in which tasks
//! end. A file is at a head as the latest of the landed commits that change it has left it, later by the real history; so the blobs are real, and at
//! the end all files are as the last task has them. Changes by commits between the tasks arrive with the next task that changes the same file.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use async_trait::async_trait;
use coord_domain::{Branch, CommitSha, FilePath, RepoId};
use coord_git::GitSource;
use coord_settings::policy;
use coord_sources::{Blob, BlobSink, Comparison, EntryKind, Reachable, Source, SourceError, TreeEntry};
use parking_lot::Mutex;

use super::history::{Change, History, Task, Version};

/// The branch that tasks are for.
pub const BRANCH: &str = "main";

/// The blob of the policy, which no repository has.
const POLICY_BLOB: &str = "c0ffee0000000000000000000000000000c0ffee";

/// The files of a clone at the commit before the first task.
pub struct Base {
    clone: GitSource,
    repo: RepoId,
    files: BTreeMap<String, Version>,
}

impl Base {
    /// The clone at `path`, before the first task of `history`.
    pub async fn open(path: &Path, history: &History) -> Result<Base> {
        let clone = GitSource::open(&[path.to_owned()])?;
        let repo = clone.repositories().pop().context("the clone has no repository")?;
        let first = history
            .tasks
            .first()
            .context("the repository has no commit to replay")?;
        let tree = clone.tree(&repo, &CommitSha::parse(&first.parent)?).await?;
        let files = tree.into_iter().filter_map(|entry| {
            let is_link = match entry.kind {
                EntryKind::File => false,
                EntryKind::Symlink => true,
                EntryKind::Submodule => return None,
            };
            let blob = entry.blob;
            Some((entry.path, Version { blob, is_link }))
        });
        let files = files.collect();
        Ok(Base { clone, repo, files })
    }

    pub fn repo(&self) -> &RepoId {
        &self.repo
    }

    /// The content of a blob; none where it is larger than `max_bytes`.
    pub async fn read(&self, blob: &str, max_bytes: usize) -> Result<Option<Vec<u8>>, SourceError> {
        let content = Arc::new(Mutex::new(None));
        let sink: BlobSink = {
            let content = Arc::clone(&content);
            Arc::new(move |_, blob| {
                if let Blob::Content(bytes) = blob {
                    *content.lock() = Some(bytes.to_vec());
                }
            })
        };
        let blobs = vec![blob.to_owned()];
        self.clone.read_blobs(&self.repo, blobs, max_bytes as u64, sink).await?;
        let content = content.lock().take();
        Ok(content)
    }
}

/// A version of a file that has landed.
struct LandedVersion {
    /// The head with which it did.
    head: usize,
    /// The place of its task in the history.
    task: usize,
    version: Option<Version>,
}

/// The branch on the remote.
#[derive(Default)]
struct Remote {
    head: usize,
    landed: HashMap<String, Vec<LandedVersion>>,
}

/// The branch of one run.
pub struct ReplayedBranch {
    base: Arc<Base>,
    /// `.coord.toml` at every head.
    policy: String,
    remote: Mutex<Remote>,
}

impl ReplayedBranch {
    pub fn new(base: Arc<Base>, policy: String) -> Self {
        ReplayedBranch {
            base,
            policy,
            remote: Mutex::default(),
        }
    }

    /// The commit at the head.
    pub fn tip(&self) -> CommitSha {
        sha(self.remote.lock().head)
    }

    /// The task at `place` lands: it is in the next head.
    pub fn land(&self, place: usize, task: &Task) -> CommitSha {
        let remote = &mut *self.remote.lock();
        remote.head += 1;
        let head = remote.head;
        for (path, (_, after)) in &task.files {
            let versions = remote.landed.entry(path.clone()).or_default();
            if versions.last().is_none_or(|last| last.task < place) {
                versions.push(LandedVersion {
                    head,
                    task: place,
                    version: after.clone(),
                });
            }
        }
        sha(head)
    }

    /// The file at the tip, as it is before and after the task at `place` lands.
    pub fn change(&self, place: usize, path: &str, task: &Task) -> Change {
        let remote = self.remote.lock();
        let last = remote.landed.get(path).and_then(|versions| versions.last());
        let before = match last {
            Some(last) => last.version.clone(),
            None => self.base.files.get(path).cloned(),
        };
        let after = match last {
            Some(last) if last.task > place => before.clone(),
            _ => task.files.get(path).and_then(|(_, after)| after.clone()),
        };
        (before, after)
    }

    fn files_at(&self, head: usize) -> BTreeMap<String, Version> {
        let remote = self.remote.lock();
        let mut files = self.base.files.clone();
        for (path, versions) in &remote.landed {
            match at(versions, head).map(|landed| &landed.version) {
                Some(Some(version)) => files.insert(path.clone(), version.clone()),
                Some(None) => files.remove(path),
                None => None,
            };
        }
        let policy = Version {
            blob: POLICY_BLOB.to_owned(),
            is_link: false,
        };
        files.insert(policy::PATH.to_owned(), policy);
        files
    }

    fn version_at(&self, head: usize, path: &str) -> Option<Version> {
        let remote = self.remote.lock();
        match remote.landed.get(path).and_then(|versions| at(versions, head)) {
            Some(landed) => landed.version.clone(),
            None => self.base.files.get(path).cloned(),
        }
    }
}

/// The last landed version of a file at `head`.
fn at(versions: &[LandedVersion], head: usize) -> Option<&LandedVersion> {
    versions.iter().rfind(|version| version.head <= head)
}

/// The hash of a head. Short forms differ as well.
fn sha(head: usize) -> CommitSha {
    CommitSha::parse(&format!("{head:07x}{:033x}", 0)).expect("these are hexadecimal digits")
}

fn head_of(commit: &CommitSha) -> Result<usize, SourceError> {
    let digits = commit.as_str().get(..7).unwrap_or_default();
    usize::from_str_radix(digits, 16).map_err(|error| SourceError::Unreachable(error.to_string()))
}

#[async_trait]
impl Source for ReplayedBranch {
    fn repositories(&self) -> Vec<RepoId> {
        vec![self.base.repo.clone()]
    }

    async fn head(&self, repo: &RepoId, branch: &Branch) -> Result<CommitSha, SourceError> {
        if branch.as_str() == BRANCH {
            return Ok(self.tip());
        }
        Err(SourceError::UnknownBranch {
            repo: repo.clone(),
            branch: branch.clone(),
            is_empty: false,
            suggestions: Vec::new(),
            hint: None,
        })
    }

    async fn is_ancestor(&self, _: &RepoId, one: &CommitSha, other: &CommitSha) -> Result<Reachable, SourceError> {
        match head_of(one)? <= head_of(other)? {
            true => Ok(Reachable::Yes),
            false => Ok(Reachable::No),
        }
    }

    async fn compare(
        &self,
        repo: &RepoId,
        base: &CommitSha,
        tip: &CommitSha,
        paths: &[FilePath],
    ) -> Result<Comparison, SourceError> {
        let (before, after) = (head_of(base)?, head_of(tip)?);
        let version = |head, path: &FilePath| self.version_at(head, path.as_str());
        let is_same = |path: &FilePath| Some(version(before, path) == version(after, path));
        Ok(Comparison {
            descends: self.is_ancestor(repo, base, tip).await?,
            precedes: self.is_ancestor(repo, tip, base).await?,
            same: paths.iter().map(is_same).collect(),
            blobs: vec![None; paths.len()],
        })
    }

    async fn recent_commits(&self, _: &RepoId, tip: &CommitSha, limit: usize) -> Result<Vec<CommitSha>, SourceError> {
        Ok((0..=head_of(tip)?).rev().map(sha).take(limit).collect())
    }

    async fn tree(&self, _: &RepoId, commit: &CommitSha) -> Result<Vec<TreeEntry>, SourceError> {
        let entry = |(path, version): (String, Version)| TreeEntry {
            path,
            kind: match version.is_link {
                true => EntryKind::Symlink,
                false => EntryKind::File,
            },
            blob: version.blob,
        };
        Ok(self.files_at(head_of(commit)?).into_iter().map(entry).collect())
    }

    async fn blobs_at(
        &self,
        _: &RepoId,
        commit: &CommitSha,
        paths: &[FilePath],
    ) -> Result<Vec<Option<String>>, SourceError> {
        let head = head_of(commit)?;
        let version = |path: &FilePath| self.version_at(head, path.as_str());
        let blob = |path| {
            version(path)
                .filter(|version| !version.is_link)
                .map(|version| version.blob)
        };
        Ok(paths.iter().map(blob).collect())
    }

    async fn read_blobs(
        &self,
        repo: &RepoId,
        blobs: Vec<String>,
        max_bytes: u64,
        sink: BlobSink,
    ) -> Result<(), SourceError> {
        let mut places = Vec::new();
        let mut real = Vec::new();
        for (place, blob) in blobs.into_iter().enumerate() {
            if blob == POLICY_BLOB {
                sink(place, Blob::Content(self.policy.as_bytes()));
            } else {
                places.push(place);
                real.push(blob);
            }
        }
        let sink: BlobSink = Arc::new(move |at: usize, blob: Blob<'_>| {
            if let Some(place) = places.get(at) {
                sink(*place, blob);
            }
        });
        self.base.clone.read_blobs(repo, real, max_bytes, sink).await
    }
}
