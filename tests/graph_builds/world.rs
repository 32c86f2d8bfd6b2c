//! A store, a repository, and one who builds.

use std::collections::BTreeMap;
use std::sync::Arc;

use coord_builds::background::BackgroundBuilds;
use coord_builds::job::{Job, LastBuild};
use coord_builds::leased_build::build_and_publish;
use coord_builds::stored_graph::StoredGraph;
use coord_domain::{Branch, RepoId};
use coord_graph::Limits;
use coord_sources::Source;
use coord_state as state;
use coord_state::builds::BuildLease;
use coord_store::{Request, Store, Value};
use coord_test_support::embedded;
use coord_test_support::memory::Memory;
use tempfile::TempDir;

/// A store, a repository, and one who builds.
pub struct World {
    pub store: Arc<dyn Store>,
    pub source: Arc<Memory>,
    pub repo: RepoId,
    pub branch: Branch,
    pub limits: Limits,
    pub last: Option<LastBuild>,
    pub _folder: TempDir,
}

impl World {
    pub fn new(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        World {
            store: Arc::new(embedded::open(&folder.path().join("store.redb"))),
            source: Memory::new(files),
            repo: RepoId::parse("https://github.com/acme/shop").unwrap(),
            branch: Branch::parse("main").unwrap(),
            limits: Limits::default(),
            last: None,
            _folder: folder,
        }
    }

    /// Builds as a process that has built before, and says how many blobs were read for it.
    pub async fn build(&mut self) -> usize {
        let commit = self.source.commit();
        let job = Job {
            repo: &self.repo,
            branch: &self.branch,
            commit: &commit,
            builder: "one",
            limits: self.limits,
        };
        let lease = build_and_publish(Arc::clone(&self.store), &*self.source, job, &mut self.last).await;
        assert_eq!(lease.unwrap(), BuildLease::Granted);
        self.source.take_read()
    }

    /// Builds as a process that knows nothing but what the store has.
    pub async fn build_after_restart(&mut self) -> usize {
        self.last = None;
        self.build().await
    }

    pub async fn command<const N: usize>(&self, words: [&str; N]) -> Value {
        let replies = self.store.run(vec![Request::command(words)]).await.unwrap();
        replies.into_iter().next().unwrap()
    }

    pub async fn field(&self, name: &str) -> Option<String> {
        let value = self
            .command(["HGET", &state::builds::keys::graph(&self.repo, &self.branch), name])
            .await;
        value.as_str().map(str::to_owned)
    }

    /// One who keeps the graphs of this world up to date.
    pub fn keeper(&self, builder: &str) -> Arc<BackgroundBuilds> {
        let source: Arc<dyn Source> = Arc::clone(&self.source) as Arc<dyn Source>;
        BackgroundBuilds::start(Arc::clone(&self.store), source, builder.to_owned(), self.limits)
    }

    /// Whether the stored graph is of what is there now.
    pub async fn is_built(&self) -> bool {
        self.field("version").await == Some(self.source.commit().to_string())
    }

    pub async fn graph(&self) -> StoredGraph {
        match self
            .command(["GET", &state::builds::keys::graph_json(&self.repo, &self.branch)])
            .await
        {
            Value::Bulk(text) => StoredGraph::decode(&text).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    pub async fn hash(&self, key: &str) -> BTreeMap<String, String> {
        let reply = self.command(["HGETALL", key]).await;
        let texts: Vec<String> = reply
            .as_array()
            .unwrap()
            .iter()
            .map(|value| value.as_str().unwrap().to_owned())
            .collect();
        texts.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
    }

    /// All that is stored of the graph.
    pub async fn stored(&self) -> (StoredGraph, BTreeMap<String, String>, BTreeMap<String, String>) {
        let adjacency = self
            .hash(&state::builds::keys::graph_adjacency(&self.repo, &self.branch))
            .await;
        let scans = self
            .hash(&state::builds::keys::graph_scan(&self.repo, &self.branch))
            .await;
        (self.graph().await, adjacency, scans)
    }
}

pub fn files(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files
        .iter()
        .map(|(path, content)| ((*path).to_owned(), (*content).to_owned()))
        .collect()
}
