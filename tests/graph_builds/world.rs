//! A store, a repository, and one who builds.

use std::collections::BTreeMap;
use std::sync::Arc;

use coord_builds::background::BackgroundBuilds;
use coord_builds::head_observer::HeadObserver;
use coord_builds::job::{Job, LastBuild};
use coord_builds::leased_build::build_and_publish;
use coord_builds::stored_graph::StoredGraph;
use coord_domain::{Branch, CommitSha, RepoId};
use coord_graph::Limits;
use coord_sources::Source;
use coord_state::builds::{BuildLease, keys};
use coord_store::{Request, Store, Value};
use coord_test_support::embedded;
use coord_test_support::memory::Memory;
use coord_test_support::waiting::until;
use tempfile::TempDir;

/// A store, a repository, and one who builds.
pub struct World {
    pub store: Arc<dyn Store>,
    pub source: Arc<Memory>,
    pub repo: RepoId,
    pub branch: Branch,
    pub limits: Limits,
    pub last: Option<LastBuild>,
    _folder: TempDir,
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

    /// A hundred files that import each other in a ring.
    pub fn of_a_hundred_files() -> Self {
        Self::new((0..100).map(|number| (format!("{number}.ts"), format!("import './{}'", (number + 1) % 100))))
    }

    /// A repository on disk whose file `name` is a symbolic link to a file with `content`; its graph is built.
    #[cfg(unix)]
    pub async fn of_a_link(name: &str, content: &str) -> Self {
        let mut world = World::new([]);
        let folder = tempfile::tempdir().unwrap();
        let repo = coord_test_support::git::Repo::init(folder.path().join("repo"), &[]);
        std::os::unix::fs::symlink("rules", repo.path().join(name)).unwrap();
        let commit = CommitSha::parse(&repo.commit(&[("rules", content), ("a.ts", "")])).unwrap();
        let source = coord_git::GitSource::open(&[repo.path().to_owned()]).unwrap();
        world.repo = source.repositories().remove(0);
        world.build_from(&source, &commit).await;
        world
    }

    /// A build of `commit`.
    pub fn job<'a>(&'a self, commit: &'a CommitSha) -> Job<'a> {
        Job {
            repo: &self.repo,
            branch: &self.branch,
            commit,
            builder: "one",
            limits: self.limits,
        }
    }

    async fn build_from(&mut self, source: &dyn Source, commit: &CommitSha) {
        let mut last = self.last.take();
        let lease = build_and_publish(Arc::clone(&self.store), source, self.job(commit), &mut last, None).await;
        assert_eq!(lease.unwrap(), BuildLease::Granted);
        self.last = last;
    }

    /// Builds as a process that has built before, and says how many blobs were read for it.
    pub async fn build(&mut self) -> usize {
        let source = Arc::clone(&self.source);
        self.build_from(&*source, &source.commit()).await;
        source.take_read()
    }

    /// Builds as a process that knows nothing but what the store has.
    pub async fn build_after_restart(&mut self) -> usize {
        self.last = None;
        self.build().await
    }

    /// Builds as one of the two.
    pub async fn build_as(&mut self, is_restarted: bool) -> usize {
        if is_restarted {
            self.last = None;
        }
        self.build().await
    }

    pub async fn command<const N: usize>(&self, words: [&str; N]) -> Value {
        let replies = self.store.run(vec![Request::command(words)]).await.unwrap();
        replies.into_iter().next().unwrap()
    }

    /// The key of the facts about the graph.
    pub fn key(&self) -> String {
        keys::graph(&self.repo, &self.branch)
    }

    pub async fn field(&self, name: &str) -> Option<String> {
        let value = self.command(["HGET", &self.key(), name]).await;
        value.as_str().map(str::to_owned)
    }

    /// One who keeps the graphs of this world up to date.
    pub fn keeper(&self, builder: &str) -> Arc<BackgroundBuilds> {
        self.keeper_on(Arc::clone(&self.store), builder)
    }

    /// The same over another store.
    pub fn keeper_on(&self, store: Arc<dyn Store>, builder: &str) -> Arc<BackgroundBuilds> {
        let source: Arc<dyn Source> = Arc::clone(&self.source) as Arc<dyn Source>;
        BackgroundBuilds::start(store, source, builder.to_owned(), self.limits)
    }

    /// Shows the head of the branch to `keeper`, as a request does.
    pub fn shows_head_to(&self, keeper: &BackgroundBuilds) {
        keeper.saw_head(&self.repo, &self.branch, &self.source.commit());
    }

    /// Whether the stored graph is of what is there now.
    pub async fn is_built(&self) -> bool {
        self.field("version").await == Some(self.source.commit().to_string())
    }

    /// Waits for the graph of what is there now: `graph` says which that is.
    pub async fn until_built(&self, graph: &str) {
        until(graph, async || self.is_built().await).await;
    }

    /// Waits until a build that reads no more reports its first 40 files.
    pub async fn until_40_files_are_reported(&self) {
        until("40 of 100 files are reported", async || {
            let progress = self.field("progress").await;
            progress.is_some_and(|json| json.contains("\"scanned\":40"))
        })
        .await;
    }

    pub async fn graph(&self) -> StoredGraph {
        match self.command(["GET", &keys::graph_json(&self.repo, &self.branch)]).await {
            Value::Bulk(text) => StoredGraph::decode(&text).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    pub async fn hash(&self, key: &str) -> BTreeMap<String, String> {
        let reply = self.command(["HGETALL", key]).await;
        let texts = reply.as_array().unwrap().chunks(2);
        let pairs = texts.map(|pair| [0, 1].map(|place| pair[place].as_str().unwrap().to_owned()));
        pairs.map(|[field, value]| (field, value)).collect()
    }

    pub async fn adjacency(&self) -> BTreeMap<String, String> {
        self.hash(&keys::graph_adjacency(&self.repo, &self.branch)).await
    }

    /// All that is stored of the graph.
    pub async fn stored(&self) -> (StoredGraph, BTreeMap<String, String>, BTreeMap<String, String>) {
        let scans = self.hash(&keys::graph_scan(&self.repo, &self.branch)).await;
        (self.graph().await, self.adjacency().await, scans)
    }
}

pub fn files(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files
        .iter()
        .map(|(path, content)| ((*path).to_owned(), (*content).to_owned()))
        .collect()
}
