//! Opens the repositories that `coord serve` serves: on this machine, on GitHub, or both.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail};
use coord_auth::TokenVerifier;
use coord_domain::RepoId;
use coord_http::Webhook;
use coord_settings::{env_vars, process_environment, secret};
use coord_sources::github::{ApiBase, GithubConfig, GithubSource};
use coord_sources::{Source, SourceError, Sources};

use super::args::ServeArgs;
use super::banner::ServedRepository;
use coord_git::{GitSource, OpenedRepository};

pub struct OpenSources {
    /// The source of all repositories.
    pub source: Arc<dyn Source>,
    /// Verifies GitHub tokens; `None` without GitHub.
    pub people: Option<Arc<dyn TokenVerifier>>,
    /// The secret and state of GitHub's webhook.
    pub webhook: Option<Arc<Webhook>>,
    /// The source of repositories on this machine.
    pub local_source: Option<Arc<GitSource>>,
    /// The repositories on this machine.
    pub opened: Vec<OpenedRepository>,
    /// All repositories, those on this machine first.
    pub served: Vec<ServedRepository>,
}

/// Opens the repositories that the command line names.
///
/// # Errors
/// When a repository does not exist, cannot be served, or is named twice.
pub async fn open(args: &ServeArgs) -> anyhow::Result<OpenSources> {
    let mut sources: Vec<Arc<dyn Source>> = Vec::new();
    let mut opened = Vec::new();
    let mut local_source = None;
    let mut people = None;
    let mut webhook = None;
    if !args.repo.is_empty() || args.github.is_empty() {
        let paths = if args.repo.is_empty() {
            vec![PathBuf::from(".")]
        } else {
            args.repo.clone()
        };
        let has_shared_store = args.redis.is_some() || args.upstash.is_some();
        let open = move || match has_shared_store {
            true => GitSource::open_shared(&paths, &machine_name()),
            false => GitSource::open(&paths),
        };
        let source = tokio::task::spawn_blocking(open).await??;
        let source = Arc::new(source.sharing_heads());
        opened = source.opened();
        local_source = Some(Arc::clone(&source));
        sources.push(source);
    }
    let mut served: Vec<ServedRepository> = opened.iter().map(ServedRepository::from).collect();
    if let (Some(source), Some(seconds)) = (&local_source, args.fetch) {
        for repository in &mut served {
            let remotes = source.remotes(&repository.repo)?;
            repository.notes.push(match remotes.as_slice() {
                [] => "nothing to fetch".to_owned(),
                remotes => format!("fetched from {} every {seconds} s", remotes.join(" and ")),
            });
        }
    } else if args.fetch.is_some() {
        bail!("--fetch is for repositories on this machine (--repo)");
    }
    if !args.github.is_empty() {
        let (source, repos, api) = open_github(args)?;
        for repo in repos {
            if served.iter().any(|repository| repository.repo == repo) {
                bail!("{repo} is named twice; serve it from --repo or from --github");
            }
            served.push(fetch_repository(&source, repo, &api).await?);
        }
        let source = Arc::new(source);
        webhook = secret(&process_environment, env_vars::GITHUB_WEBHOOK_SECRET)
            .map(|secret| Arc::new(Webhook::new(secret, source.host())));
        people = Some(Arc::clone(&source) as Arc<dyn TokenVerifier>);
        sources.push(source);
    }
    Ok(OpenSources {
        source: Arc::new(Sources::of(sources)),
        people,
        webhook,
        local_source,
        opened,
        served,
    })
}

/// A name that distinguishes this machine from others.
fn machine_name() -> String {
    let id = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
    format!("{} {}", whoami::hostname().unwrap_or_default(), id.trim())
}

/// The source on GitHub, its repositories, and the address of the API.
fn open_github(args: &ServeArgs) -> anyhow::Result<(GithubSource, Vec<RepoId>, String)> {
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
        let url = format!("https://{}/{name}", config.api.served_host());
        let repo = RepoId::parse(&url).ok().filter(|_| is_pair);
        repo.with_context(|| format!("--github {name:?} must be OWNER/NAME"))
    };
    let repos = args.github.iter().map(parse).collect::<anyhow::Result<Vec<_>>>()?;
    config.only = Some(repos.clone());
    let api = config.api.as_str().to_owned();
    let source = GithubSource::new(config).map_err(anyhow::Error::msg)?;
    Ok((source, repos, api))
}

/// The current state of a repository on GitHub. A missing repository is an error. An outage of GitHub is not, because
/// it may end.
async fn fetch_repository(source: &GithubSource, repo: RepoId, api: &str) -> anyhow::Result<ServedRepository> {
    let mut served = ServedRepository {
        location: api.to_owned(),
        branch: None,
        head: None,
        tip: None,
        notes: Vec::new(),
        repo,
    };
    let tip = match source.default_branch(&served.repo).await {
        Ok(branch) => {
            let tip = source.tip(&served.repo, &branch).await;
            served.branch = Some(branch);
            tip
        }
        Err(error) => Err(error),
    };
    match tip {
        Ok(tip) => {
            served.head = Some(tip.commit.clone());
            served.tip = Some(tip);
        }
        Err(SourceError::UnknownBranch { .. }) => {}
        Err(SourceError::UnknownRepository {
            repo,
            renamed_to: Some(name),
            ..
        }) => bail!("{repo} was renamed to {name} at {api}: serve that"),
        Err(SourceError::UnknownRepository { repo, .. }) => bail!(
            "{api} has no repository {repo}, or the service may not read it: set {} or a GitHub App that may",
            env_vars::GITHUB_TOKEN
        ),
        Err(error) => {
            tracing::warn!(%error, repo = %served.repo, "the repository cannot be read yet");
            served.notes.push("cannot be read for now".to_owned());
        }
    }
    Ok(served)
}
