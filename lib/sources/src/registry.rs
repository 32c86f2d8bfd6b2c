//! All sources of a deployment, each with its own repositories.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;

use super::{
    BlobSink, Comparison, Hold, KnownHead, Reachable, RefreshedHead, Source, SourceError, SourceHealth, Tip, TreeEntry,
};
use coord_domain::{Branch, CommitSha, FilePath, RepoId};
use coord_runtime::mutex::lock;
use coord_runtime::timing::Call;

/// All sources of a deployment. A call goes to the source of the repository, and its time counts for the current
/// request.
pub struct Sources {
    sources: Vec<RegisteredSource>,
    /// Why no source can be used.
    problem: Option<String>,
}

/// A source, and its health according to its last call.
struct RegisteredSource {
    source: Arc<dyn Source>,
    last_health: Mutex<SourceHealth>,
}

impl Sources {
    /// A registry of `sources`, no two of which may serve the same repository.
    pub fn of(sources: impl IntoIterator<Item = Arc<dyn Source>>) -> Self {
        Sources {
            sources: sources.into_iter().map(RegisteredSource::new).collect(),
            problem: None,
        }
    }

    /// A registry without sources, in place of one with invalid settings: every call fails with `problem`.
    pub fn not_configured(problem: String) -> Self {
        Sources {
            sources: Vec::new(),
            problem: Some(problem),
        }
    }

    fn find(&self, repo: &RepoId) -> Result<&RegisteredSource, SourceError> {
        if let Some(problem) = &self.problem {
            return Err(SourceError::NotConfigured(problem.clone()));
        }
        let mut sources = self.sources.iter();
        sources
            .find(|entry| entry.source.serves(repo).is_ok())
            .ok_or_else(|| SourceError::UnknownRepository {
                repo: repo.clone(),
                known: self.repositories(),
                renamed_to: None,
            })
    }
}

impl RegisteredSource {
    fn new(source: Arc<dyn Source>) -> Self {
        RegisteredSource {
            source,
            last_health: Mutex::default(),
        }
    }

    /// Times a call, and records its outcome.
    async fn run<T>(&self, call: impl Future<Output = Result<T, SourceError>>) -> Result<T, SourceError> {
        let _call = Call::to_source();
        self.note(call.await)
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
            // The list of repositories may be known without a request.
            Err(SourceError::UnknownRepository { .. }) => None,
        };
        if let Some(health) = health {
            *lock(&self.last_health) = health;
        }
        outcome
    }

    /// The health that the source reports itself, or else the health according to its last call.
    fn health(&self) -> SourceHealth {
        let last = *lock(&self.last_health);
        match (self.source.health(), last) {
            (SourceHealth::Unknown, SourceHealth::Limited { until }) if until <= SystemTime::now() => {
                SourceHealth::Unknown
            }
            (SourceHealth::Unknown, last) => last,
            (own, _) => own,
        }
    }
}

#[deny(
    clippy::missing_trait_methods,
    reason = "every method is delegated, even one with a default: that would hide the source's own"
)]
#[async_trait]
impl Source for Sources {
    fn repositories(&self) -> Vec<RepoId> {
        let sources = self.sources.iter();
        sources.flat_map(|entry| entry.source.repositories()).collect()
    }

    fn serves(&self, repo: &RepoId) -> Result<(), SourceError> {
        match self.problem {
            // The call itself reports the problem, with another status.
            Some(_) => Ok(()),
            None => self.find(repo).map(|_| ()),
        }
    }

    fn renamed_to(&self, repo: &RepoId) -> Option<RepoId> {
        self.find(repo).ok()?.source.renamed_to(repo)
    }

    fn health(&self) -> SourceHealth {
        match self.problem {
            Some(_) => SourceHealth::NotConfigured,
            None => SourceHealth::worst(self.sources.iter().map(RegisteredSource::health)),
        }
    }

    async fn head(&self, repo: &RepoId, branch: &Branch) -> Result<CommitSha, SourceError> {
        let entry = self.find(repo)?;
        entry.run(entry.source.head(repo, branch)).await
    }

    async fn tip(&self, repo: &RepoId, branch: &Branch) -> Result<Tip, SourceError> {
        let entry = self.find(repo)?;
        entry.run(entry.source.tip(repo, branch)).await
    }

    fn keeps_heads_in_store(&self, repo: &RepoId) -> bool {
        let entry = self.find(repo);
        entry.is_ok_and(|entry| entry.source.keeps_heads_in_store(repo))
    }

    async fn refresh_head(
        &self,
        repo: &RepoId,
        branch: &Branch,
        known: Option<&KnownHead>,
    ) -> Result<RefreshedHead, SourceError> {
        let entry = self.find(repo)?;
        entry.run(entry.source.refresh_head(repo, branch, known)).await
    }

    async fn is_ancestor(
        &self,
        repo: &RepoId,
        ancestor: &CommitSha,
        descendant: &CommitSha,
    ) -> Result<Reachable, SourceError> {
        let entry = self.find(repo)?;
        entry.run(entry.source.is_ancestor(repo, ancestor, descendant)).await
    }

    async fn compare(
        &self,
        repo: &RepoId,
        base: &CommitSha,
        tip: &CommitSha,
        paths: &[FilePath],
    ) -> Result<Comparison, SourceError> {
        let entry = self.find(repo)?;
        entry.run(entry.source.compare(repo, base, tip, paths)).await
    }

    async fn work_in_copy(
        &self,
        repo: &RepoId,
        pushed: &CommitSha,
        copy: &CommitSha,
        paths: &[FilePath],
    ) -> Result<Comparison, SourceError> {
        let entry = self.find(repo)?;
        entry.run(entry.source.work_in_copy(repo, pushed, copy, paths)).await
    }

    async fn recent_commits(
        &self,
        repo: &RepoId,
        tip: &CommitSha,
        limit: usize,
    ) -> Result<Vec<CommitSha>, SourceError> {
        let entry = self.find(repo)?;
        entry.run(entry.source.recent_commits(repo, tip, limit)).await
    }

    async fn tree(&self, repo: &RepoId, commit: &CommitSha) -> Result<Vec<TreeEntry>, SourceError> {
        let entry = self.find(repo)?;
        entry.run(entry.source.tree(repo, commit)).await
    }

    async fn blobs_at(
        &self,
        repo: &RepoId,
        commit: &CommitSha,
        paths: &[FilePath],
    ) -> Result<Vec<Option<String>>, SourceError> {
        let entry = self.find(repo)?;
        entry.run(entry.source.blobs_at(repo, commit, paths)).await
    }

    fn hold(&self, repo: &RepoId) -> Option<Hold> {
        self.find(repo).ok()?.source.hold(repo)
    }

    async fn read_blobs(
        &self,
        repo: &RepoId,
        blobs: Vec<String>,
        max_bytes: u64,
        sink: BlobSink,
    ) -> Result<(), SourceError> {
        let entry = self.find(repo)?;
        entry.run(entry.source.read_blobs(repo, blobs, max_bytes, sink)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source of one repository whose heads are all `head`.
    struct One {
        repo: RepoId,
        head: CommitSha,
        is_expensive: bool,
    }

    #[async_trait]
    impl Source for One {
        fn repositories(&self) -> Vec<RepoId> {
            vec![self.repo.clone()]
        }

        fn serves(&self, repo: &RepoId) -> Result<(), SourceError> {
            match *repo == self.repo {
                true => Ok(()),
                false => Err(unknown_repository(repo)),
            }
        }

        async fn head(&self, _: &RepoId, _: &Branch) -> Result<CommitSha, SourceError> {
            Ok(self.head.clone())
        }

        fn keeps_heads_in_store(&self, _: &RepoId) -> bool {
            self.is_expensive
        }

        async fn is_ancestor(&self, _: &RepoId, _: &CommitSha, _: &CommitSha) -> Result<Reachable, SourceError> {
            Ok(Reachable::Unknown)
        }

        async fn recent_commits(&self, _: &RepoId, _: &CommitSha, _: usize) -> Result<Vec<CommitSha>, SourceError> {
            Ok(Vec::new())
        }

        async fn tree(&self, _: &RepoId, _: &CommitSha) -> Result<Vec<TreeEntry>, SourceError> {
            Ok(Vec::new())
        }

        async fn blobs_at(
            &self,
            _: &RepoId,
            _: &CommitSha,
            paths: &[FilePath],
        ) -> Result<Vec<Option<String>>, SourceError> {
            Ok(paths.iter().map(|path| Some(path.to_string())).collect())
        }

        async fn read_blobs(&self, _: &RepoId, _: Vec<String>, _: u64, _: BlobSink) -> Result<(), SourceError> {
            Ok(())
        }
    }

    fn repo(name: &str) -> RepoId {
        RepoId::parse(&format!("https://github.com/acme/{name}")).unwrap()
    }

    fn unknown_repository(repo: &RepoId) -> SourceError {
        SourceError::UnknownRepository {
            repo: repo.clone(),
            known: Vec::new(),
            renamed_to: None,
        }
    }

    fn one(name: &str, digit: &str, is_expensive: bool) -> Arc<dyn Source> {
        Arc::new(One {
            repo: repo(name),
            head: CommitSha::parse(&digit.repeat(40)).unwrap(),
            is_expensive,
        })
    }

    #[tokio::test]
    async fn heads_are_kept_and_refreshed_by_the_source_of_the_repository() {
        let sources = Sources::of([one("local", "1", false), one("remote", "2", true)]);
        let main = Branch::parse("main").unwrap();
        for (name, digit, is_expensive) in [("local", "1", false), ("remote", "2", true)] {
            assert_eq!(sources.keeps_heads_in_store(&repo(name)), is_expensive);
            let known = KnownHead {
                commit: CommitSha::parse(&"3".repeat(40)).unwrap(),
                etag: Some("\"x\"".to_owned()),
            };
            let refreshed = sources.refresh_head(&repo(name), &main, Some(&known)).await.unwrap();
            assert_eq!(refreshed.commit.as_str(), digit.repeat(40));
            assert_eq!((refreshed.etag, refreshed.is_whole), (None, true));
        }
        assert!(!sources.keeps_heads_in_store(&repo("other")));
        let error = sources.refresh_head(&repo("other"), &main, None).await.unwrap_err();
        assert!(matches!(error, SourceError::UnknownRepository { known, .. } if known.len() == 2));
    }

    #[tokio::test]
    async fn blobs_are_looked_up_as_the_source_of_the_repository_does() {
        let sources = Sources::of([one("local", "1", false)]);
        let commit = CommitSha::parse(&"1".repeat(40)).unwrap();
        let paths = [FilePath::parse("src/a.ts").unwrap()];
        let blobs = sources.blobs_at(&repo("local"), &commit, &paths).await.unwrap();
        assert_eq!(
            blobs,
            [Some("src/a.ts".to_owned())],
            "and not in its whole tree, which is empty"
        );
    }

    #[tokio::test]
    async fn a_call_counts_for_its_request_and_is_the_health_of_its_source() {
        let sources = Sources::of([one("local", "1", false)]);
        assert_eq!(sources.health(), SourceHealth::Unknown);
        let timings = Arc::new(coord_runtime::timing::Timings::default());
        let main = Branch::parse("main").unwrap();
        let tip = sources.tip(&repo("local"), &main).await;
        assert!(tip.is_ok(), "outside of a request it counts for none");
        let local = repo("local");
        let call = sources.tip(&local, &main);
        coord_runtime::timing::measure(Arc::clone(&timings), call)
            .await
            .unwrap();
        assert_eq!(timings.spent_on_source().calls, 1);
        assert_eq!(sources.health(), SourceHealth::Ok);
    }

    #[tokio::test]
    async fn a_source_that_is_not_set_up_fails_each_call_with_not_configured() {
        let sources = Sources::not_configured("set GITHUB_TOKEN".to_owned());
        assert!(sources.serves(&repo("any")).is_ok());
        assert_eq!(sources.health(), SourceHealth::NotConfigured);
        let error = sources
            .head(&repo("any"), &Branch::parse("main").unwrap())
            .await
            .unwrap_err();
        assert!(matches!(error, SourceError::NotConfigured(problem) if problem == "set GITHUB_TOKEN"));
    }

    #[test]
    fn the_last_answer_is_the_health() {
        let source = RegisteredSource::new(one("local", "1", false));
        assert_eq!(source.health(), SourceHealth::Unknown);
        let limited = |retry_after_seconds| SourceError::RateLimited {
            retry_after_seconds,
            is_secondary: false,
        };
        assert!(source.note(Err::<(), _>(limited(60))).is_err());
        assert!(matches!(source.health(), SourceHealth::Limited { until } if until > SystemTime::now()));
        assert!(source.note(Err::<(), _>(unknown_repository(&repo("other")))).is_err());
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
