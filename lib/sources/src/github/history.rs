//! Ancestry of commits. Relations of full ids are constant and fetched once.

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

/// Maximum of relations remembered; one takes about 200 bytes.
const MOST: usize = 16_384;
/// Maximum of commit lists remembered; one of 200 commits takes about 20 kB.
const MOST_LISTS: usize = 128;
/// How long a commit counts as missing at GitHub: it may be pushed later. An agent with local commits causes a lookup at
/// every step.
const UNKNOWN_FOR: Duration = Duration::from_secs(60);
/// Maximum of changed files in a comparison.
const MOST_FILES: usize = 300;
/// Maximum of commits in one list.
const PAGE: usize = 100;

type Pair = (RepoId, CommitSha, CommitSha);

/// Known relations and lists of commits.
#[derive(Debug)]
pub(super) struct History {
    relations: Cache<Pair, (Reachable, Instant)>,
    comparisons: SingleFlight<Pair, Result<Reachable, SourceError>>,
    lists: Cache<(RepoId, CommitSha), Arc<List>>,
}

#[derive(Debug)]
struct List {
    commits: Vec<CommitSha>,
    /// Whether the list goes back to the first commit.
    is_whole: bool,
}

#[derive(Deserialize)]
struct Compared {
    status: String,
    /// On the first page only, and incomplete if there are [`MOST_FILES`].
    #[serde(default)]
    files: Option<Vec<ChangedFile>>,
}

#[derive(Deserialize)]
struct ChangedFile {
    filename: String,
    #[serde(default)]
    previous_filename: Option<String>,
    status: String,
    /// Its blob: the one before, of a file that is gone.
    #[serde(default)]
    sha: Option<String>,
}

#[derive(Deserialize)]
struct Commit {
    sha: String,
}

fn reverse((repo, base, tip): &Pair) -> Pair {
    (repo.clone(), tip.clone(), base.clone())
}

impl Compared {
    /// Whether the first commit is reachable from the second, and whether the second is an ancestor of the first.
    fn relation(&self) -> Result<(Reachable, Reachable), GithubError> {
        match self.status.as_str() {
            "ahead" | "identical" => Ok((Reachable::Yes, Reachable::No)),
            "behind" => Ok((Reachable::No, Reachable::Yes)),
            "diverged" => Ok((Reachable::No, Reachable::No)),
            other => {
                let other: String = other.chars().take(40).collect();
                Err(GithubError::Malformed(format!(
                    "a comparison with the status {other:?}"
                )))
            }
        }
    }
}

impl History {
    pub(super) fn new() -> Self {
        History {
            relations: Cache::new(MOST),
            comparisons: SingleFlight::default(),
            lists: Cache::new(MOST_LISTS),
        }
    }

    /// Whether `ancestor` is reachable from `descendant`. That GitHub does not have one of them is remembered for [`UNKNOWN_FOR`].
    pub(super) async fn is_ancestor(
        self: &Arc<Self>,
        client: &Arc<Client>,
        slug: &Slug,
        repo: &RepoId,
        ancestor: &CommitSha,
        descendant: &CommitSha,
    ) -> Result<Reachable, SourceError> {
        let pair = (repo.clone(), ancestor.clone(), descendant.clone());
        if let Some((Reachable::Unknown, learnt)) = self.relations.get(&pair)
            && learnt.elapsed() < UNKNOWN_FOR
        {
            return Ok(Reachable::Unknown);
        }
        self.relation(client, slug, pair).await
    }

    /// The same as it is now: a commit that GitHub did not have may have been pushed.
    async fn relation(
        self: &Arc<Self>,
        client: &Arc<Client>,
        slug: &Slug,
        pair: Pair,
    ) -> Result<Reachable, SourceError> {
        if pair.1 == pair.2 {
            return Ok(Reachable::Yes);
        }
        if let Some(answer) = self.lasting(&pair) {
            return Ok(answer);
        }
        let (history, client, slug, question) = (Arc::clone(self), Arc::clone(client), slug.clone(), pair.clone());
        let ask = move || async move { history.compare(&client, &slug, question).await };
        self.comparisons.join(pair, ask).await?
    }

    async fn compare(&self, client: &Client, slug: &Slug, pair: Pair) -> Result<Reachable, SourceError> {
        let (repo, base, head) = &pair;
        let range = format!("{base}...{head}");
        let path = ["compare", range.as_str()];
        // The second page, because the first carries every changed file with its patch.
        let ask = client.small(&path, &[("per_page", "1"), ("page", "2")]);
        match client.json::<Compared>(slug, &ask).await {
            Ok(compared) => {
                let (descends, precedes) = compared.relation().map_err(|error| error.about(repo))?;
                self.remember(pair, descends, precedes);
                Ok(descends)
            }
            // One of the two is missing, the repository has no commits, or the histories have no common commit.
            Err(GithubError::NotFound | GithubError::NoSuchCommit | GithubError::Empty) => {
                self.remember_unknown(pair);
                Ok(Reachable::Unknown)
            }
            Err(error) => Err(error.about(repo)),
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

    /// The relation, if it is known for ever.
    fn lasting(&self, pair: &Pair) -> Option<Reachable> {
        let (answer, _) = self.relations.get(pair)?;
        Some(answer).filter(|answer| *answer != Reachable::Unknown)
    }

    /// How `tip` relates to `base`, as it is now, and which of `paths` changed in between: one request, whose response names
    /// up to [`MOST_FILES`] changed files, each with its patch. If there are more, only the relation.
    pub(super) async fn changes(
        self: &Arc<Self>,
        client: &Arc<Client>,
        slug: &Slug,
        repo: &RepoId,
        (base, tip): (&CommitSha, &CommitSha),
        paths: &[FilePath],
    ) -> Result<Comparison, SourceError> {
        let pair = (repo.clone(), base.clone(), tip.clone());
        // It names no differences of commits neither of which is an ancestor of the other, nor going back.
        let is_known = self.lasting(&pair) == Some(Reachable::No) && self.lasting(&reverse(&pair)).is_some();
        if paths.is_empty() || is_known {
            return self.relation_alone(client, slug, pair, paths.len()).await;
        }
        let compared = self.changes_since_fork(client, slug, pair, paths).await?;
        Ok(match compared.descends {
            Reachable::Yes => compared,
            descends => Comparison::of_commits(descends, compared.precedes, paths.len()),
        })
    }

    /// The same, where `paths` and blobs are compared with those of the newest common ancestor of the two commits.
    pub(super) async fn changes_since_fork(
        self: &Arc<Self>,
        client: &Arc<Client>,
        slug: &Slug,
        (repo, base, tip): Pair,
        paths: &[FilePath],
    ) -> Result<Comparison, SourceError> {
        let unknown = |descends, precedes| Comparison::of_commits(descends, precedes, paths.len());
        let range = format!("{base}...{tip}");
        let pair = (repo, base, tip);
        let path = ["compare", range.as_str()];
        let ask = client.small(&path, &[("per_page", "1")]);
        let compared = match client.json::<Compared>(slug, &ask).await {
            Ok(compared) => compared,
            Err(GithubError::NotFound | GithubError::NoSuchCommit | GithubError::Empty) => {
                self.remember_unknown(pair);
                return Ok(unknown(Reachable::Unknown, Reachable::Unknown));
            }
            Err(GithubError::TooLarge { .. }) => return self.relation_alone(client, slug, pair, paths.len()).await,
            Err(error) => return Err(error.about(&pair.0)),
        };
        let (descends, precedes) = compared.relation().map_err(|error| error.about(&pair.0))?;
        self.remember(pair, descends, precedes);
        let Some(files) = compared.files else {
            return Ok(unknown(descends, precedes));
        };
        let is_whole = files.len() < MOST_FILES;
        // The changed files, each with its blob at the tip.
        let mut changed: HashMap<Cow<'_, str>, Option<String>> = HashMap::new();
        for file in files.iter().filter(|file| file.status != "unchanged") {
            let name = to_nfc(&file.filename);
            if file.status == "removed" {
                // Another spelling of it may have taken its place.
                changed.entry(name).or_insert(Some(String::new()));
            } else {
                changed.insert(name, file.sha.clone().filter(|blob| BlobId::parse(blob).is_some()));
            }
            // A copy leaves the file that it was made of.
            if let Some(previous) = file.previous_filename.as_deref() {
                let left = (file.status == "renamed").then(String::new);
                changed.entry(to_nfc(previous)).or_insert(left);
            }
        }
        let is_same = |path: &FilePath| match changed.contains_key(path.as_str()) {
            true => Some(false),
            false => is_whole.then_some(true),
        };
        Ok(Comparison {
            descends,
            precedes,
            same: paths.iter().map(is_same).collect(),
            blobs: paths.iter().map(|path| changed.get(path.as_str())?.clone()).collect(),
        })
    }

    /// The relation alone, of `count` files.
    async fn relation_alone(
        self: &Arc<Self>,
        client: &Arc<Client>,
        slug: &Slug,
        pair: Pair,
        count: usize,
    ) -> Result<Comparison, SourceError> {
        let descends = self.relation(client, slug, pair.clone()).await?;
        let precedes = self.lasting(&reverse(&pair)).unwrap_or(Reachable::Unknown);
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
        let known = self.lists.get(&key);
        if let Some(list) = known.filter(|list| list.is_whole || list.commits.len() >= limit) {
            return Ok(list.commits.iter().take(limit).cloned().collect());
        }
        let mut commits: Vec<CommitSha> = Vec::new();
        let mut is_whole = false;
        let size = limit.clamp(1, PAGE).to_string();
        for page in 1..=limit.div_ceil(PAGE) {
            let page = page.to_string();
            let query = [
                ("sha", tip.as_str()),
                ("per_page", size.as_str()),
                ("page", page.as_str()),
            ];
            let listed: Result<Vec<Commit>, _> = client.json(slug, &client.small(&["commits"], &query)).await;
            let listed = listed.map_err(|error| match error {
                GithubError::NotFound | GithubError::NoSuchCommit | GithubError::Empty => {
                    SourceError::Unreachable(format!("{repo} has no commit {tip}"))
                }
                error => error.about(repo),
            })?;
            is_whole = listed.len() < PAGE.min(limit);
            for commit in listed.into_iter().take(limit - commits.len()) {
                let id = CommitSha::parse(&commit.sha)
                    .map_err(|_| GithubError::Malformed("a response without a commit id".to_owned()).about(repo))?;
                commits.push(id);
            }
            if is_whole {
                break;
            }
        }
        let list = List {
            commits: commits.clone(),
            is_whole,
        };
        self.lists.insert(key, Arc::new(list));
        Ok(commits)
    }
}
