//! The GitHub source against a fake GitHub that serves real git repositories.

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
mod released_locks;
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
use coord_sources::{Blob, BlobSink, Source};
use coord_test_support::git::Repo;
use coord_test_support::github::{Fake, NAME, OWNER};
use parking_lot::Mutex;

/// A source that asks `fake` as nobody, every time, and fails fast.
fn config(fake: &Fake) -> GithubConfig {
    let mut config = GithubConfig::new(ApiBase::parse(fake.api()).unwrap(), Credential::Nobody);
    config.head_max_age = Duration::ZERO;
    config.limits.pauses = vec![Duration::from_millis(5), Duration::from_millis(5)];
    config.limits.idle = Duration::from_millis(1_500);
    config
}

fn source(fake: &Fake) -> GithubSource {
    GithubSource::new(config(fake)).unwrap()
}

/// The fake's repository, as callers name it.
fn id() -> RepoId {
    RepoId::parse(&format!("https://127.0.0.1/{OWNER}/{NAME}")).unwrap()
}

fn branch(name: &str) -> Branch {
    Branch::parse(name).unwrap()
}

fn sha(text: &str) -> CommitSha {
    CommitSha::parse(text).unwrap()
}

/// A repository with one file in a separate folder, and a fake that serves it.
async fn small() -> (tempfile::TempDir, Repo, String, Fake) {
    let temp = tempfile::tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let head = repo.commit(&[("src/a.ts", "export const a = 1;\n")]);
    let fake = Fake::serve(temp.path()).await;
    (temp, repo, head, fake)
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
