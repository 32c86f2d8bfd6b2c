//! Ancestry of commits. Relations between full ids never change, so they are fetched once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use quick_cache::sync::Cache;
use serde::Deserialize;
use tokio::time::Instant;

use super::address::Slug;
use super::blob_id::BlobId;
use super::client::Client;
use super::error::GithubError;
use crate::{Comparison, Reachable, SourceError};
use coord_domain::file_path::to_nfc;
use coord_domain::{CommitSha, FilePath, RepoId};
use coord_runtime::single_flight::SingleFlight;

/// Maximum number of relations remembered; one takes about 200 bytes.
const MAX_RELATIONS: usize = 16_384;
/// Maximum number of commit lists remembered; one of 200 commits takes about 20 kB.
const MAX_LISTS: usize = 128;
/// How long a commit counts as missing at GitHub. It may be pushed later, but an agent with local commits causes a
/// lookup at every step.
const MISSING_LIFETIME: Duration = Duration::from_secs(60);
/// Maximum number of changed files in GitHub's comparison.
const MAX_FILES: usize = 300;
/// Maximum number of commits on one page of GitHub's list.
const MAX_PAGE_SIZE: usize = 100;

type Pair = (RepoId, CommitSha, CommitSha);

/// Known relations and lists of commits.
#[derive(Debug)]
pub(super) struct History {
    relations: Cache<Pair, (Reachable, Instant)>,
    comparisons: SingleFlight<Pair, Result<Reachable, SourceError>>,
    lists: Cache<(RepoId, CommitSha), Arc<CommitList>>,
}

#[derive(Debug)]
struct CommitList {
    commits: Vec<CommitSha>,
    /// Whether the list goes back to the first commit.
    is_complete: bool,
}

#[derive(Deserialize)]
struct ComparisonResponse {
    status: String,
    /// On the first page only, and incomplete if there are [`MAX_FILES`].
    files: Option<Vec<ChangedFile>>,
}

#[derive(Deserialize)]
struct ChangedFile {
    filename: String,
    previous_filename: Option<String>,
    status: String,
    /// Its blob; the last one, if the file is gone.
    sha: Option<String>,
}

#[derive(Deserialize)]
struct Commit {
    sha: String,
}

fn reverse((repo, base, tip): &Pair) -> Pair {
    (repo.clone(), tip.clone(), base.clone())
}

impl ComparisonResponse {
    /// Whether the first commit is reachable from the second, and whether the second is an ancestor of the first.
    fn relation(&self) -> Result<(Reachable, Reachable), GithubError> {
        match self.status.as_str() {
            "ahead" | "identical" => Ok((Reachable::Yes, Reachable::No)),
            "behind" => Ok((Reachable::No, Reachable::Yes)),
            "diverged" => Ok((Reachable::No, Reachable::No)),
            status => {
                let status: String = status.chars().take(40).collect();
                Err(GithubError::Malformed(format!(
                    "a comparison with the status {status:?}"
                )))
            }
        }
    }
}

impl History {
    pub(super) fn new() -> Self {
        History {
            relations: Cache::new(MAX_RELATIONS),
            comparisons: SingleFlight::default(),
            lists: Cache::new(MAX_LISTS),
        }
    }

    /// Whether `ancestor` is reachable from `descendant`. If GitHub does not have one of them, that is remembered for
    /// [`MISSING_LIFETIME`].
    pub(super) async fn is_ancestor(
        self: &Arc<Self>,
        client: &Arc<Client>,
        slug: &Slug,
        repo: &RepoId,
        ancestor: &CommitSha,
        descendant: &CommitSha,
    ) -> Result<Reachable, SourceError> {
        let pair = (repo.clone(), ancestor.clone(), descendant.clone());
        if let Some((Reachable::Unknown, fetched_at)) = self.relations.get(&pair)
            && fetched_at.elapsed() < MISSING_LIFETIME
        {
            return Ok(Reachable::Unknown);
        }
        self.relation(client, slug, pair).await
    }

    /// Whether the first commit of `pair` is reachable from the second now: a commit that GitHub did not have may have
    /// been pushed.
    async fn relation(
        self: &Arc<Self>,
        client: &Arc<Client>,
        slug: &Slug,
        pair: Pair,
    ) -> Result<Reachable, SourceError> {
        if pair.1 == pair.2 {
            return Ok(Reachable::Yes);
        }
        if let Some(reachable) = self.cached_relation(&pair) {
            return Ok(reachable);
        }
        let (history, client, slug, flight) = (Arc::clone(self), Arc::clone(client), slug.clone(), pair.clone());
        let compare = move || async move { history.compare(&client, &slug, pair).await };
        self.comparisons.join(flight, compare).await?
    }

    async fn compare(&self, client: &Client, slug: &Slug, pair: Pair) -> Result<Reachable, SourceError> {
        let (repo, base, head) = &pair;
        let range = format!("{base}...{head}");
        let path = ["compare", range.as_str()];
        // The second page, because the first contains every changed file with its patch.
        let request = client.small_request(&path, &[("per_page", "1"), ("page", "2")]);
        match client.fetch_json::<ComparisonResponse>(slug, &request).await {
            Ok(response) => {
                let relation = response.relation();
                let (descends, precedes) = relation.map_err(|error| error.into_source_error(repo))?;
                self.remember(pair, descends, precedes);
                Ok(descends)
            }
            // One of the two is missing, the repository has no commits, or the histories have no common commit.
            Err(GithubError::NotFound | GithubError::NoSuchCommit | GithubError::Empty) => {
                self.remember_unknown(pair);
                Ok(Reachable::Unknown)
            }
            Err(error) => Err(error.into_source_error(repo)),
        }
    }

    /// Remembers both directions, which one response contains.
    fn remember(&self, pair: Pair, descends: Reachable, precedes: Reachable) {
        // An abbreviation may later mean another commit.
        if [&pair.1, &pair.2].iter().all(|id| matches!(id.as_str().len(), 40 | 64)) {
            let now = Instant::now();
            self.relations.insert(reverse(&pair), (precedes, now));
            self.relations.insert(pair, (descends, now));
        }
    }

    fn remember_unknown(&self, pair: Pair) {
        self.relations.insert(pair, (Reachable::Unknown, Instant::now()));
    }

    /// The cached relation, if it can no longer change.
    fn cached_relation(&self, pair: &Pair) -> Option<Reachable> {
        let (reachable, _) = self.relations.get(pair)?;
        Some(reachable).filter(|reachable| *reachable != Reachable::Unknown)
    }

    /// How `tip` relates to `base` now, and which of `paths` changed in between. This takes one request, whose response
    /// lists up to [`MAX_FILES`] changed files, each with its patch. If there are more, only the changed files in the
    /// list are known.
    pub(super) async fn changes(
        self: &Arc<Self>,
        client: &Arc<Client>,
        slug: &Slug,
        repo: &RepoId,
        (base, tip): (&CommitSha, &CommitSha),
        paths: &[FilePath],
    ) -> Result<Comparison, SourceError> {
        let pair = (repo.clone(), base.clone(), tip.clone());
        // If `tip` does not descend from `base`, the response would not list the differences between the two.
        let is_known =
            self.cached_relation(&pair) == Some(Reachable::No) && self.cached_relation(&reverse(&pair)).is_some();
        if paths.is_empty() || is_known {
            return self.relation_only(client, slug, pair, paths.len()).await;
        }
        let comparison = self.changes_since_fork(client, slug, pair, paths).await?;
        Ok(match comparison.descends {
            Reachable::Yes => comparison,
            descends => Comparison::of_commits(descends, comparison.precedes, paths.len()),
        })
    }

    /// The same, but compares `paths` in `tip` with the newest common ancestor of the two commits.
    pub(super) async fn changes_since_fork(
        self: &Arc<Self>,
        client: &Arc<Client>,
        slug: &Slug,
        (repo, base, tip): Pair,
        paths: &[FilePath],
    ) -> Result<Comparison, SourceError> {
        let without_files = |descends, precedes| Comparison::of_commits(descends, precedes, paths.len());
        let range = format!("{base}...{tip}");
        let pair = (repo, base, tip);
        let path = ["compare", range.as_str()];
        let request = client.small_request(&path, &[("per_page", "1")]);
        let response = match client.fetch_json::<ComparisonResponse>(slug, &request).await {
            Ok(response) => response,
            Err(GithubError::NotFound | GithubError::NoSuchCommit | GithubError::Empty) => {
                self.remember_unknown(pair);
                return Ok(without_files(Reachable::Unknown, Reachable::Unknown));
            }
            Err(GithubError::TooLarge { .. }) => return self.relation_only(client, slug, pair, paths.len()).await,
            Err(error) => return Err(error.into_source_error(&pair.0)),
        };
        let relation = response.relation();
        let (descends, precedes) = relation.map_err(|error| error.into_source_error(&pair.0))?;
        self.remember(pair, descends, precedes);
        let Some(files) = response.files else {
            return Ok(without_files(descends, precedes));
        };
        let is_complete = files.len() < MAX_FILES;
        // The changed files, each with its blob at the tip.
        let mut changed: HashMap<Cow<'_, str>, Option<String>> = HashMap::new();
        for file in files.iter().filter(|file| file.status != "unchanged") {
            let name = to_nfc(&file.filename);
            if file.status == "removed" {
                // A file with another spelling of the name may have replaced it.
                changed.entry(name).or_insert(Some(String::new()));
            } else {
                changed.insert(name, file.sha.clone().filter(|blob| BlobId::parse(blob).is_some()));
            }
            // A renamed file is gone under its previous name; a copied one is not.
            if let Some(previous) = file.previous_filename.as_deref() {
                let blob = (file.status == "renamed").then(String::new);
                changed.entry(to_nfc(previous)).or_insert(blob);
            }
        }
        let is_same = |path: &FilePath| {
            if changed.contains_key(path.as_str()) {
                Some(false)
            } else {
                is_complete.then_some(true)
            }
        };
        Ok(Comparison {
            descends,
            precedes,
            same: paths.iter().map(is_same).collect(),
            blobs: paths.iter().map(|path| changed.get(path.as_str())?.clone()).collect(),
        })
    }

    /// The relation, without a comparison of `count` files.
    async fn relation_only(
        self: &Arc<Self>,
        client: &Arc<Client>,
        slug: &Slug,
        pair: Pair,
        count: usize,
    ) -> Result<Comparison, SourceError> {
        let descends = self.relation(client, slug, pair.clone()).await?;
        let precedes = self.cached_relation(&reverse(&pair)).unwrap_or(Reachable::Unknown);
        Ok(Comparison::of_commits(descends, precedes, count))
    }

    /// Up to `limit` commits reachable from `tip`, newest first.
    pub(super) async fn recent_commits(
        &self,
        client: &Client,
        slug: &Slug,
        repo: &RepoId,
        tip: &CommitSha,
        limit: usize,
    ) -> Result<Vec<CommitSha>, SourceError> {
        let key = (repo.clone(), tip.clone());
        let cached = self.lists.get(&key);
        if let Some(list) = cached.filter(|list| list.is_complete || list.commits.len() >= limit) {
            return Ok(list.commits.iter().take(limit).cloned().collect());
        }
        let mut commits: Vec<CommitSha> = Vec::new();
        let mut is_complete = false;
        let page_size = limit.clamp(1, MAX_PAGE_SIZE).to_string();
        for page in 1..=limit.div_ceil(MAX_PAGE_SIZE) {
            let page = page.to_string();
            let query = [
                ("sha", tip.as_str()),
                ("per_page", page_size.as_str()),
                ("page", page.as_str()),
            ];
            let request = client.small_request(&["commits"], &query);
            let response: Result<Vec<Commit>, _> = client.fetch_json(slug, &request).await;
            let page = response.map_err(|error| match error {
                GithubError::NotFound | GithubError::NoSuchCommit | GithubError::Empty => {
                    SourceError::Unreachable(format!("{repo} has no commit {tip}"))
                }
                error => error.into_source_error(repo),
            })?;
            is_complete = page.len() < MAX_PAGE_SIZE.min(limit);
            for commit in page.into_iter().take(limit - commits.len()) {
                let id = CommitSha::parse(&commit.sha).map_err(|_| {
                    GithubError::Malformed("a response without a commit id".to_owned()).into_source_error(repo)
                })?;
                commits.push(id);
            }
            if is_complete {
                break;
            }
        }
        let list = CommitList {
            commits: commits.clone(),
            is_complete,
        };
        self.lists.insert(key, Arc::new(list));
        Ok(commits)
    }
}
