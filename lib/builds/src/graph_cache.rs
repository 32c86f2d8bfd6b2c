//! Graphs kept in memory, so that the same graph is not read from the store again.

use std::sync::{Arc, OnceLock};

use coord_graph::ImportGraph;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::stored_graph::{StoredGraph, UnreadableGraph};
use coord_runtime::single_flight::SingleFlight;
use coord_state::builds::graph_json;
use coord_store::{Store, StoreError};

/// The usual number of graphs.
const EXPECTED_GRAPHS: usize = 32;

/// Maximum bytes of all graphs together. A larger graph is not cached.
const MAX_BYTES: u64 = 128 << 20;

type Graphs = Cache<String, Arc<CachedGraph>, MemoryWeighter>;

/// The result of a read from the store: a graph, or why it is unreadable.
type LoadResult = Result<Result<Arc<CachedGraph>, UnreadableGraph>, StoreError>;

/// Graphs that were read from the store, by their key there.
pub struct GraphCache {
    graphs: Arc<Graphs>,
    /// Reads in progress, by key and version.
    loads: SingleFlight<(String, String), LoadResult>,
}

impl Default for GraphCache {
    fn default() -> Self {
        GraphCache {
            graphs: Arc::new(Cache::with_weighter(EXPECTED_GRAPHS, MAX_BYTES, MemoryWeighter)),
            loads: SingleFlight::default(),
        }
    }
}

/// Weighs a graph by the memory that it takes in both forms.
#[derive(Clone)]
struct MemoryWeighter;

impl Weighter<String, Arc<CachedGraph>> for MemoryWeighter {
    fn weight(&self, _: &String, graph: &Arc<CachedGraph>) -> u64 {
        2 * graph.stored.bytes() as u64
    }
}

/// A graph in its stored form, and in the form for queries.
#[derive(Default)]
pub struct CachedGraph {
    pub stored: StoredGraph,
    graph: OnceLock<ImportGraph>,
}

impl From<StoredGraph> for CachedGraph {
    fn from(stored: StoredGraph) -> Self {
        CachedGraph {
            stored,
            graph: OnceLock::new(),
        }
    }
}

impl CachedGraph {
    /// The form for queries. The first call computes it.
    pub fn graph(&self) -> &ImportGraph {
        self.graph.get_or_init(|| self.stored.to_graph())
    }
}

impl GraphCache {
    /// The graph stored at `key`, which was recently of commit `version`, or why it cannot be read. Concurrent callers
    /// share one read, because it takes several times the memory of the graph.
    pub async fn load(&self, store: &Arc<dyn Store>, key: String, version: &str) -> LoadResult {
        let cached = self.graphs.get(&key);
        if let Some(graph) = cached.filter(|graph| graph.stored.version == version) {
            return Ok(Ok(graph));
        }
        let flight = (key.clone(), version.to_owned());
        let loading = self
            .loads
            .join(flight, || read(Arc::clone(&self.graphs), Arc::clone(store), key));
        loading
            .await
            .unwrap_or_else(|unfinished| Err(StoreError::Malformed(unfinished.to_string())))
    }
}

async fn read(graphs: Arc<Graphs>, store: Arc<dyn Store>, key: String) -> LoadResult {
    // Removed before the read, so that the old version and the new one are not both in memory.
    graphs.remove(&key);
    // A missing graph is an empty text, which is unreadable.
    let text = graph_json(&key).run(&*store).await?;
    let decoded = tokio::task::spawn_blocking(move || StoredGraph::decode(&text)).await;
    let stored = match decoded.map_err(|error| StoreError::Malformed(error.to_string()))? {
        Ok(stored) => stored,
        Err(unreadable) => return Ok(Err(unreadable)),
    };
    let graph = Arc::new(CachedGraph::from(stored));
    graphs.insert(key, Arc::clone(&graph));
    Ok(Ok(graph))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use async_trait::async_trait;
    use bytes::Bytes;
    use futures::future::join_all;
    use futures::stream::BoxStream;

    use super::*;
    use crate::stored_graph::Node;
    use coord_store::{Request, Value};

    /// A store with one graph: its version, and how often it was read.
    struct OneGraph(Mutex<(&'static str, usize)>);

    #[async_trait]
    impl Store for OneGraph {
        async fn run(&self, _: Vec<Request>) -> Result<Vec<Value>, StoreError> {
            tokio::task::yield_now().await;
            let mut state = self.0.lock().unwrap();
            state.1 += 1;
            let graph = StoredGraph {
                version: state.0.to_owned(),
                ..StoredGraph::default()
            };
            Ok(vec![Value::Bulk(graph.encode().unwrap())])
        }

        async fn subscribe(&self, _: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
            panic!("nobody subscribes")
        }

        fn describe(&self) -> String {
            "a store of a test".to_owned()
        }
    }

    #[tokio::test]
    async fn callers_at_once_read_a_version_once() {
        let (cache, one) = (GraphCache::default(), Arc::new(OneGraph(Mutex::default())));
        let store: Arc<dyn Store> = one.clone();
        for (round, version) in (1..).zip(["one", "two"]) {
            one.0.lock().unwrap().0 = version;
            let load = |_| cache.load(&store, "a graph".to_owned(), version);
            for loaded in join_all((0..50).map(load)).await {
                assert_eq!(loaded.unwrap().unwrap().stored.version, version);
            }
            assert_eq!(one.0.lock().unwrap().1, round);
        }
    }

    fn graph(files: usize, path_bytes: usize) -> Arc<CachedGraph> {
        let node = |_| Node {
            id: "a".repeat(path_bytes),
            language: None,
            size: None,
            state: None,
        };
        let stored = StoredGraph {
            nodes: (0..files).map(node).collect(),
            ..StoredGraph::default()
        };
        Arc::new(CachedGraph::from(stored))
    }

    #[test]
    fn graphs_are_weighed_by_their_bytes() {
        let cache = GraphCache::default().graphs;
        for number in 0..100 {
            cache.insert(format!("small{number}"), graph(10, 10));
        }
        assert_eq!(cache.len(), 100);
        // Each takes more than a fifth of the cache.
        for number in 0..10 {
            cache.insert(format!("large{number}"), graph(4_000, 4_096));
        }
        assert!(cache.weight() <= MAX_BYTES, "{}", cache.weight());
        let large = (0..10).filter(|number| cache.peek(&format!("large{number}")).is_some());
        assert!((1..=4).contains(&large.count()));
    }
}
