//! What `coord serve` reads: repositories on this machine, on GitHub, or both.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail};
use async_trait::async_trait;
use coord::auth::People;
use coord::domain::{Branch, CommitSha, FilePath, RepoId};
use coord::http::Webhook;
use coord::settings::{env_vars, process_environment, secret};
use coord::source::github::{ApiBase, GithubConfig, GithubSource};
use coord::source::{
    BlobSink, Comparison, Hold, KnownHead, Reachable, RefreshedHead, Source, SourceError, SourceHealth, Tip, TreeEntry,
};
use coord::timing::TimedSource;

use crate::banner::Served;
use crate::cli::ServeArgs;
use coord_git::{GitSource, Opened};

/// Several sources, of which each has repositories of its own.
pub struct Sources {
    sources: Vec<Arc<dyn Source>>,
}

/// What was opened.
pub struct OpenSources {
    /// All of it.
    pub source: Arc<dyn Source>,
    /// Who knows the holders of GitHub's tokens, where GitHub is read.
    pub people: Option<Arc<dyn People>>,
    /// What deliveries of GitHub's webhook are held to.
    pub webhook: Option<Arc<Webhook>>,
    /// Where those on this machine are read.
    pub local: Option<Arc<GitSource>>,
    /// The repositories on this machine.
    pub opened: Vec<Opened>,
    /// All repositories, those on this machine first.
    pub served: Vec<Served>,
}

/// Opens what the command line names.
///
/// # Errors
/// When a repository is not there, cannot be served, or is named twice.
pub async fn open(args: &ServeArgs) -> anyhow::Result<OpenSources> {
    let mut sources: Vec<Arc<dyn Source>> = Vec::new();
    let mut opened = Vec::new();
    let mut local = None;
    let mut people = None;
    let mut webhook = None;
    if !args.repo.is_empty() || args.github.is_empty() {
        let paths = if args.repo.is_empty() {
            vec![PathBuf::from(".")]
        } else {
            args.repo.clone()
        };
        let is_shared = args.redis.is_some() || args.upstash.is_some();
        let open = move || match is_shared {
            true => GitSource::open_shared(&paths, &machine()),
            false => GitSource::open(&paths),
        };
        let source = tokio::task::spawn_blocking(open).await??;
        let source = Arc::new(source);
        opened = source.opened();
        local = Some(Arc::clone(&source));
        sources.push(TimedSource::over(source));
    }
    let mut served: Vec<Served> = opened.iter().map(Served::from).collect();
    if let (Some(source), Some(seconds)) = (&local, args.fetch) {
        for served in &mut served {
            let remotes = source.remotes(&served.repo)?;
            served.notes.push(match remotes.as_slice() {
                [] => "nothing to fetch".to_owned(),
                remotes => format!("fetched from {} every {seconds} s", remotes.join(" and ")),
            });
        }
    } else if args.fetch.is_some() {
        bail!("--fetch is for repositories on this machine (--repo)");
    }
    if !args.github.is_empty() {
        let (source, repos, place) = github(args)?;
        for repo in repos {
            if served.iter().any(|known| known.repo == repo) {
                bail!("{repo} is named twice; serve it from --repo or from --github");
            }
            served.push(look_at(&source, repo, &place).await?);
        }
        let source = Arc::new(source);
        webhook = secret(&process_environment, env_vars::GITHUB_WEBHOOK_SECRET)
            .map(|secret| Arc::new(Webhook::new(secret, source.host())));
        people = Some(Arc::clone(&source) as Arc<dyn People>);
        sources.push(TimedSource::over(source));
    }
    Ok(OpenSources {
        source: Arc::new(Sources { sources }),
        people,
        webhook,
        local,
        opened,
        served,
    })
}

/// What tells this machine from others.
fn machine() -> String {
    let id = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
    format!("{} {}", whoami::hostname().unwrap_or_default(), id.trim())
}

fn github(args: &ServeArgs) -> anyhow::Result<(GithubSource, Vec<RepoId>, String)> {
    let environment = |name: &str| match (&args.github_api, name) {
        (Some(api), env_vars::GITHUB_API_URL) => Some(api.clone()),
        _ => process_environment(name),
    };
    if let Some(api) = &args.github_api
        && let Err(problem) = ApiBase::parse(api)
    {
        bail!("--github-api {problem}");
    }
    let mut config = GithubConfig::from_env(&environment)?;
    let parse = |name: &String| {
        let is_pair = name.split('/').count() == 2 && !name.contains([':', '@']);
        let url = format!("https://{}/{name}", config.api.serves());
        let repo = RepoId::parse(&url).ok().filter(|_| is_pair);
        repo.with_context(|| format!("--github {name:?} must be OWNER/NAME"))
    };
    let repos = args.github.iter().map(parse).collect::<anyhow::Result<Vec<_>>>()?;
    config.only = Some(repos.clone());
    let place = config.api.as_str().to_owned();
    let source = GithubSource::new(config).map_err(anyhow::Error::msg)?;
    Ok((source, repos, place))
}

/// A repository on GitHub as it is now. One that is not there is an error; a GitHub that cannot be reached may be later.
async fn look_at(source: &GithubSource, repo: RepoId, place: &str) -> anyhow::Result<Served> {
    let mut served = Served {
        place: place.to_owned(),
        branch: None,
        head: None,
        tip: None,
        notes: Vec::new(),
        repo,
    };
    let seen = match source.default_branch(&served.repo).await {
        Ok(branch) => {
            let tip = source.tip(&served.repo, &branch).await;
            served.branch = Some(branch);
            tip.map(Some)
        }
        Err(error) => Err(error),
    };
    match seen {
        Ok(tip) => {
            served.head = tip.as_ref().map(|tip| tip.commit.clone());
            served.tip = tip;
        }
        Err(SourceError::UnknownBranch { .. }) => {}
        Err(SourceError::UnknownRepository { repo, .. }) => bail!(
            "{place} has no repository {repo}, or does not show it: set {} or a GitHub App that may read it",
            env_vars::GITHUB_TOKEN
        ),
        Err(error) => {
            tracing::warn!(%error, repo = %served.repo, "the repository cannot be read yet");
            served.notes.push("cannot be read for now".to_owned());
        }
    }
    Ok(served)
}

impl Sources {
    fn of(&self, repo: &RepoId) -> Result<&dyn Source, SourceError> {
        let source = self.sources.iter().find(|source| source.repositories().contains(repo));
        source
            .map(|source| &**source)
            .ok_or_else(|| SourceError::UnknownRepository {
                repo: repo.clone(),
                known: self.repositories(),
            })
    }
}

#[async_trait]
impl Source for Sources {
    fn repositories(&self) -> Vec<RepoId> {
        self.sources.iter().flat_map(|source| source.repositories()).collect()
    }

    fn serves(&self, repo: &RepoId) -> Result<(), SourceError> {
        self.of(repo)?.serves(repo)
    }

    fn health(&self) -> SourceHealth {
        SourceHealth::worst(self.sources.iter().map(|source| source.health()))
    }

    async fn head(&self, repo: &RepoId, branch: &Branch) -> Result<CommitSha, SourceError> {
        self.of(repo)?.head(repo, branch).await
    }

    async fn tip(&self, repo: &RepoId, branch: &Branch) -> Result<Tip, SourceError> {
        self.of(repo)?.tip(repo, branch).await
    }

    fn keeps_heads_in_store(&self, repo: &RepoId) -> bool {
        self.of(repo).is_ok_and(|source| source.keeps_heads_in_store(repo))
    }

    async fn refresh_head(
        &self,
        repo: &RepoId,
        branch: &Branch,
        known: Option<&KnownHead>,
    ) -> Result<RefreshedHead, SourceError> {
        self.of(repo)?.refresh_head(repo, branch, known).await
    }

    async fn is_ancestor(
        &self,
        repo: &RepoId,
        ancestor: &CommitSha,
        descendant: &CommitSha,
    ) -> Result<Reachable, SourceError> {
        self.of(repo)?.is_ancestor(repo, ancestor, descendant).await
    }

    async fn compare(
        &self,
        repo: &RepoId,
        base: &CommitSha,
        tip: &CommitSha,
        paths: &[FilePath],
    ) -> Result<Comparison, SourceError> {
        self.of(repo)?.compare(repo, base, tip, paths).await
    }

    async fn recent_commits(
        &self,
        repo: &RepoId,
        tip: &CommitSha,
        limit: usize,
    ) -> Result<Vec<CommitSha>, SourceError> {
        self.of(repo)?.recent_commits(repo, tip, limit).await
    }

    async fn tree(&self, repo: &RepoId, commit: &CommitSha) -> Result<Vec<TreeEntry>, SourceError> {
        self.of(repo)?.tree(repo, commit).await
    }

    fn hold(&self, repo: &RepoId) -> Option<Hold> {
        self.of(repo).ok()?.hold(repo)
    }

    async fn read_blobs(
        &self,
        repo: &RepoId,
        blobs: Vec<String>,
        max_bytes: u64,
        sink: BlobSink,
    ) -> Result<(), SourceError> {
        self.of(repo)?.read_blobs(repo, blobs, max_bytes, sink).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source with one repository, whose heads are all `head`.
    struct One {
        repo: RepoId,
        head: CommitSha,
        is_dear: bool,
    }

    #[async_trait]
    impl Source for One {
        fn repositories(&self) -> Vec<RepoId> {
            vec![self.repo.clone()]
        }

        async fn head(&self, _: &RepoId, _: &Branch) -> Result<CommitSha, SourceError> {
            Ok(self.head.clone())
        }

        fn keeps_heads_in_store(&self, _: &RepoId) -> bool {
            self.is_dear
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

        async fn read_blobs(&self, _: &RepoId, _: Vec<String>, _: u64, _: BlobSink) -> Result<(), SourceError> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn heads_are_kept_and_refreshed_as_the_source_of_the_repository_says() {
        let repo = |name: &str| RepoId::parse(&format!("https://github.com/acme/{name}")).unwrap();
        let one = |name: &str, digit: &str, is_dear| -> Arc<dyn Source> {
            Arc::new(One {
                repo: repo(name),
                head: CommitSha::parse(&digit.repeat(40)).unwrap(),
                is_dear,
            })
        };
        let sources = Sources {
            sources: vec![one("local", "1", false), one("remote", "2", true)],
        };
        let main = Branch::parse("main").unwrap();
        for (name, digit, is_dear) in [("local", "1", false), ("remote", "2", true)] {
            assert_eq!(sources.keeps_heads_in_store(&repo(name)), is_dear);
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
}
