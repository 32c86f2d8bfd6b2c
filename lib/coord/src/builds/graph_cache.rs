//! Graphs kept in memory, so that the same graph is not read from the store again.

use std::sync::{Arc, OnceLock};

use coord_graph::ImportGraph;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::stored_graph::{StoredGraph, UnreadableGraph};
use crate::state::builds::graph_json;
use crate::store::{Store, StoreError};

/// Number of graphs that is usual.
const USUAL: usize = 32;

/// Maximum bytes of all graphs together. A larger one is not kept.
const MOST_BYTES: u64 = 128 << 20;

/// Graphs that were read from the store, by their key there.
pub struct GraphCache(Cache<String, Arc<CachedGraph>, Bytes>);

impl Default for GraphCache {
    fn default() -> Self {
        GraphCache(Cache::with_weighter(USUAL, MOST_BYTES, Bytes))
    }
}

/// Weighs a graph by the memory that it takes in both forms.
#[derive(Clone)]
struct Bytes;

impl Weighter<String, Arc<CachedGraph>> for Bytes {
    fn weight(&self, _: &String, graph: &Arc<CachedGraph>) -> u64 {
        2 * graph.stored.bytes() as u64
    }
}

/// A graph in its stored form, and in the form for queries.
#[derive(Default)]
pub(crate) struct CachedGraph {
    pub(crate) stored: StoredGraph,
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
    /// The form for queries, made by the first call.
    pub(crate) fn graph(&self) -> &ImportGraph {
        self.graph.get_or_init(|| self.stored.to_graph())
    }
}

impl GraphCache {
    /// The graph stored at `key`, recently of commit `version`, or why it cannot be read. Callers at once wait for one of them:
    /// to read a graph takes several times its memory.
    pub(crate) async fn load(
        &self,
        store: &dyn Store,
        key: String,
        version: &str,
    ) -> Result<Result<Arc<CachedGraph>, UnreadableGraph>, StoreError> {
        let place = loop {
            match self.0.get_value_or_guard_async(&key).await {
                Ok(graph) if graph.stored.version == version => return Ok(Ok(graph)),
                // Removed first, so that both are not in memory.
                Ok(_) => drop(self.0.remove_if(&key, |graph| graph.stored.version != version)),
                Err(place) => break place,
            }
        };
        // A missing graph is an empty text, which is unreadable.
        let text = graph_json(&key).run(store).await?;
        let decoded = tokio::task::spawn_blocking(move || StoredGraph::decode(&text)).await;
        let stored = match decoded.map_err(|error| StoreError::Malformed(error.to_string()))? {
            Ok(stored) => stored,
            Err(unreadable) => return Ok(Err(unreadable)),
        };
        let graph = Arc::new(CachedGraph::from(stored));
        // An error only where the key was removed meanwhile.
        let _ = place.insert(Arc::clone(&graph));
        Ok(Ok(graph))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use async_trait::async_trait;
    use bytes::Bytes as Message;
    use futures::future::join_all;
    use futures::stream::BoxStream;

    use super::*;
    use crate::builds::stored_graph::Node;
    use crate::store::{Request, Value};

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

        async fn subscribe(&self, _: &str) -> Result<BoxStream<'static, Message>, StoreError> {
            panic!("nobody subscribes")
        }

        fn describe(&self) -> String {
            "a store of a test".to_owned()
        }
    }

    #[tokio::test]
    async fn callers_at_once_read_a_version_once() {
        let (cache, store) = (GraphCache::default(), OneGraph(Mutex::default()));
        for (round, version) in (1..).zip(["one", "two"]) {
            store.0.lock().unwrap().0 = version;
            let load = |_| cache.load(&store, "a graph".to_owned(), version);
            for loaded in join_all((0..50).map(load)).await {
                assert_eq!(loaded.unwrap().unwrap().stored.version, version);
            }
            assert_eq!(store.0.lock().unwrap().1, round);
        }
        // Its first caller gives up, and the next one reads.
        store.0.lock().unwrap().0 = "three";
        drop(
            tokio::time::timeout(
                std::time::Duration::ZERO,
                cache.load(&store, "a graph".to_owned(), "three"),
            )
            .await,
        );
        let loaded = cache.load(&store, "a graph".to_owned(), "three").await;
        assert_eq!(loaded.unwrap().unwrap().stored.version, "three");
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
        let cache = GraphCache::default().0;
        for number in 0..100 {
            cache.insert(format!("small{number}"), graph(10, 10));
        }
        assert_eq!(cache.len(), 100);
        // Each is more than a fifth of what fits.
        for number in 0..10 {
            cache.insert(format!("large{number}"), graph(4_000, 4_096));
        }
        assert!(cache.weight() <= MOST_BYTES, "{}", cache.weight());
        let large = (0..10).filter(|number| cache.peek(&format!("large{number}")).is_some());
        assert!((1..=4).contains(&large.count()));
    }
}
