use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;

use super::Call;
use crate::domain::{Branch, CommitSha, FilePath, RepoId};
use crate::source::{
    BlobSink, Comparison, Hold, KnownHead, Reachable, RefreshedHead, Source, SourceError, SourceHealth, Tip, TreeEntry,
};

/// A source whose calls are counted for the request that makes them, and whose last answer is remembered as its health.
pub struct TimedSource {
    source: Arc<dyn Source>,
    last: Mutex<SourceHealth>,
}

impl TimedSource {
    /// Counts the calls of `source`.
    pub fn over(source: Arc<dyn Source>) -> Arc<dyn Source> {
        Arc::new(TimedSource {
            source,
            last: Mutex::default(),
        })
    }

    fn note<T>(&self, outcome: Result<T, SourceError>) -> Result<T, SourceError> {
        let health = match &outcome {
            Ok(_) | Err(SourceError::UnknownBranch { .. }) => Some(SourceHealth::Ok),
            Err(SourceError::Unreachable(_)) => Some(SourceHealth::Unreachable),
            Err(SourceError::RateLimited {
                retry_after_seconds, ..
            }) => Some(SourceHealth::Limited {
                until: SystemTime::now() + Duration::from_secs(*retry_after_seconds),
            }),
            Err(SourceError::NotConfigured(_)) => Some(SourceHealth::NotConfigured),
            // Which repositories there are may be known without asking.
            Err(SourceError::UnknownRepository { .. }) => None,
        };
        if let Some(health) = health {
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = health;
        }
        outcome
    }
}

// Every method of the trait is delegated, those with a body of their own too: the default would stand in the way of the
// source's own.
#[async_trait]
impl Source for TimedSource {
    fn repositories(&self) -> Vec<RepoId> {
        self.source.repositories()
    }

    fn serves(&self, repo: &RepoId) -> Result<(), SourceError> {
        self.source.serves(repo)
    }

    fn health(&self) -> SourceHealth {
        let own = self.source.health();
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match (own, last) {
            (SourceHealth::Unknown, SourceHealth::Limited { until }) if until <= SystemTime::now() => {
                SourceHealth::Unknown
            }
            (SourceHealth::Unknown, last) => last,
            (own, _) => own,
        }
    }

    async fn head(&self, repo: &RepoId, branch: &Branch) -> Result<CommitSha, SourceError> {
        let _call = Call::to_source();
        self.note(self.source.head(repo, branch).await)
    }

    async fn tip(&self, repo: &RepoId, branch: &Branch) -> Result<Tip, SourceError> {
        let _call = Call::to_source();
        self.note(self.source.tip(repo, branch).await)
    }

    fn keeps_heads_in_store(&self, repo: &RepoId) -> bool {
        self.source.keeps_heads_in_store(repo)
    }

    async fn refresh_head(
        &self,
        repo: &RepoId,
        branch: &Branch,
        known: Option<&KnownHead>,
    ) -> Result<RefreshedHead, SourceError> {
        let _call = Call::to_source();
        self.note(self.source.refresh_head(repo, branch, known).await)
    }

    async fn is_ancestor(
        &self,
        repo: &RepoId,
        ancestor: &CommitSha,
        descendant: &CommitSha,
    ) -> Result<Reachable, SourceError> {
        let _call = Call::to_source();
        self.note(self.source.is_ancestor(repo, ancestor, descendant).await)
    }

    async fn compare(
        &self,
        repo: &RepoId,
        base: &CommitSha,
        tip: &CommitSha,
        paths: &[FilePath],
    ) -> Result<Comparison, SourceError> {
        let _call = Call::to_source();
        self.note(self.source.compare(repo, base, tip, paths).await)
    }

    async fn recent_commits(
        &self,
        repo: &RepoId,
        tip: &CommitSha,
        limit: usize,
    ) -> Result<Vec<CommitSha>, SourceError> {
        let _call = Call::to_source();
        self.note(self.source.recent_commits(repo, tip, limit).await)
    }

    async fn tree(&self, repo: &RepoId, commit: &CommitSha) -> Result<Vec<TreeEntry>, SourceError> {
        let _call = Call::to_source();
        self.note(self.source.tree(repo, commit).await)
    }

    fn hold(&self, repo: &RepoId) -> Option<Hold> {
        self.source.hold(repo)
    }

    async fn read_blobs(
        &self,
        repo: &RepoId,
        blobs: Vec<String>,
        max_bytes: u64,
        sink: BlobSink,
    ) -> Result<(), SourceError> {
        let _call = Call::to_source();
        self.note(self.source.read_blobs(repo, blobs, max_bytes, sink).await)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that is not asked.
    struct Silent;

    #[async_trait]
    impl Source for Silent {
        fn repositories(&self) -> Vec<RepoId> {
            Vec::new()
        }
        async fn head(&self, _: &RepoId, _: &Branch) -> Result<CommitSha, SourceError> {
            unreachable!()
        }
        async fn is_ancestor(&self, _: &RepoId, _: &CommitSha, _: &CommitSha) -> Result<Reachable, SourceError> {
            unreachable!()
        }
        async fn recent_commits(&self, _: &RepoId, _: &CommitSha, _: usize) -> Result<Vec<CommitSha>, SourceError> {
            unreachable!()
        }
        async fn tree(&self, _: &RepoId, _: &CommitSha) -> Result<Vec<TreeEntry>, SourceError> {
            unreachable!()
        }
        async fn read_blobs(&self, _: &RepoId, _: Vec<String>, _: u64, _: BlobSink) -> Result<(), SourceError> {
            unreachable!()
        }
    }

    #[test]
    fn the_last_answer_is_the_health() {
        let source = TimedSource {
            source: Arc::new(Silent),
            last: Mutex::default(),
        };
        assert_eq!(source.health(), SourceHealth::Unknown);
        let limited = |retry_after_seconds| SourceError::RateLimited {
            retry_after_seconds,
            is_secondary: false,
        };
        assert!(source.note(Err::<(), _>(limited(60))).is_err());
        assert!(matches!(source.health(), SourceHealth::Limited { until } if until > SystemTime::now()));
        let unknown = SourceError::UnknownRepository {
            repo: RepoId::parse("https://github.com/a/b").unwrap(),
            known: Vec::new(),
        };
        assert!(source.note(Err::<(), _>(unknown)).is_err());
        assert!(matches!(source.health(), SourceHealth::Limited { .. }));
        assert!(source.note(Err::<(), _>(limited(0))).is_err());
        assert_eq!(source.health(), SourceHealth::Unknown);
        let lost = SourceError::Unreachable("no route".to_owned());
        assert!(source.note(Err::<(), _>(lost)).is_err());
        assert_eq!(source.health(), SourceHealth::Unreachable);
        assert!(source.note(Ok(())).is_ok());
        assert_eq!(source.health(), SourceHealth::Ok);
    }
}
