//! The GitHub source against a fake GitHub that serves real git repositories.

/// Asserts that the answer of a source is this error. The failure has the answer, and the case if there is one.
macro_rules! assert_fails {
    ($answer:expr, $error:ident) => {
        assert_fails!($answer, $error, "a request")
    };
    ($answer:expr, $error:ident, $($case:tt)+) => {{
        let answer = $answer;
        assert!(
            matches!(answer, Err(coord_sources::SourceError::$error { .. })),
            "{}: {answer:?}",
            format_args!($($case)+)
        );
    }};
}

mod blobs;
mod building;
mod caller_repositories;
mod caller_secrets;
mod callers;
mod cloud;
mod credentials;
mod deliveries;
mod delivery_bounds;
mod faults;
mod git_source;
mod graph;
mod heads;
mod history;
mod hostile;
mod intents;
mod kept_heads;
mod limits;
mod people;
mod people_faults;
mod public_graph;
mod pull_requests;
mod refreshing;
mod releases;
mod schema;
mod serving;
mod teams;
mod trees;
mod unverified;
mod webhooks;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use coord_domain::{Branch, CommitSha, RepoId};
use coord_sources::github::{ApiBase, Credential, GithubConfig, GithubSource};
use coord_sources::{Blob, BlobSink, Source, SourceError, TreeEntry};
use coord_test_support::git::Repo;
use coord_test_support::github::{Fake, NAME, OWNER};
use parking_lot::Mutex;

/// A source that asks `fake` as nobody, every time, and fails fast.
fn config(fake: &Fake) -> GithubConfig {
    let mut config = GithubConfig::new(ApiBase::parse(fake.api()).unwrap(), Credential::Anonymous);
    config.head_max_age = Duration::ZERO;
    config.limits.pauses = vec![Duration::from_millis(5), Duration::from_millis(5)];
    config.limits.idle = Duration::from_millis(1_500);
    config
}

fn source(fake: &Fake) -> GithubSource {
    GithubSource::new(config(fake)).unwrap()
}

/// The repository `name` beside that of the fake.
fn repo(name: &str) -> RepoId {
    RepoId::parse(&format!("https://127.0.0.1/{OWNER}/{name}")).unwrap()
}

/// The fake's repository, as callers name it.
fn id() -> RepoId {
    repo(NAME)
}

fn branch(name: &str) -> Branch {
    Branch::parse(name).unwrap()
}

fn sha(text: &str) -> CommitSha {
    CommitSha::parse(text).unwrap()
}

/// The head of `main` in the fake's repository.
async fn main_head(source: &GithubSource) -> Result<CommitSha, SourceError> {
    source.head(&id(), &branch("main")).await
}

/// A repository with one file in a separate folder, and a fake that serves it.
async fn small() -> (tempfile::TempDir, Repo, String, Fake) {
    let temp = tempfile::tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let head = repo.commit(&[("src/a.ts", "export const a = 1;\n")]);
    let fake = Fake::serve(temp.path()).await;
    (temp, repo, head, fake)
}

/// Commits files whose names and texts are made up one by one.
fn commit_all(repo: &Repo, files: impl IntoIterator<Item = (String, String)>) -> String {
    let files: Vec<_> = files.into_iter().collect();
    let files: Vec<_> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    repo.commit(&files)
}

/// The ids of the blobs of `entries`.
fn blobs(entries: &[TreeEntry]) -> Vec<String> {
    entries.iter().map(|entry| entry.blob.clone()).collect()
}

/// The result for each blob: `Ok` with the content, or `Err` with the size of one that is too large, or with nothing.
type Contents = BTreeMap<usize, Result<Vec<u8>, Option<u64>>>;

/// Collects contents, and fails when one comes twice.
fn collector() -> (Arc<Mutex<Contents>>, BlobSink) {
    let got: Arc<Mutex<Contents>> = Arc::default();
    let collected = Arc::clone(&got);
    let sink = move |index: usize, blob: Blob<'_>| {
        let content = match blob {
            Blob::Content(content) => Ok(content.to_vec()),
            Blob::TooLarge(size) => Err(Some(size)),
            Blob::Unreadable => Err(None),
        };
        let before = collected.lock().insert(index, content);
        assert!(before.is_none(), "{index} came twice");
    };
    (got, Arc::new(sink))
}

async fn read(source: &dyn Source, repo: &RepoId, blobs: Vec<String>, max_bytes: u64) -> Contents {
    let (got, sink) = collector();
    source.read_blobs(repo, blobs, max_bytes, sink).await.unwrap();
    std::mem::take(&mut *got.lock())
}
