//! Graphs kept in memory, so that the same graph is not read from the store again.

use std::sync::{Arc, OnceLock};

use coord_graph::ImportGraph;
use quick_cache::sync::Cache;

use super::stored_graph::{StoredGraph, UnreadableGraph};
use crate::state::builds::graph_json;
use crate::store::{Store, StoreError};

/// Maximum number of graphs.
const MOST_CACHED: usize = 32;

/// Graphs that were read from the store, by their key there.
pub struct GraphCache(Cache<String, Arc<CachedGraph>>);

impl Default for GraphCache {
    fn default() -> Self {
        GraphCache(Cache::new(MOST_CACHED))
    }
}

/// A graph in its stored form, and in the form for queries.
#[derive(Default)]
pub(crate) struct CachedGraph {
    pub(crate) stored: StoredGraph,
    graph: OnceLock<ImportGraph>,
}

impl CachedGraph {
    /// The form for queries, made by the first call.
    pub(crate) fn graph(&self) -> &ImportGraph {
        self.graph.get_or_init(|| self.stored.to_graph())
    }
}

impl GraphCache {
    /// The graph stored at `key`, recently of commit `version`, or why it cannot be read.
    pub(crate) async fn load(
        &self,
        store: &dyn Store,
        key: String,
        version: &str,
    ) -> Result<Result<Arc<CachedGraph>, UnreadableGraph>, StoreError> {
        let known = self.0.get(&key);
        if let Some(graph) = known.filter(|graph| graph.stored.version == version) {
            return Ok(Ok(graph));
        }
        // A missing graph is an empty text, which is unreadable.
        let text = graph_json(&key).run(store).await?;
        let decoded = tokio::task::spawn_blocking(move || StoredGraph::decode(&text)).await;
        let stored = match decoded.map_err(|error| StoreError::Malformed(error.to_string()))? {
            Ok(stored) => stored,
            Err(unreadable) => return Ok(Err(unreadable)),
        };
        let graph = Arc::new(CachedGraph {
            stored,
            graph: OnceLock::new(),
        });
        self.0.insert(key, Arc::clone(&graph));
        Ok(Ok(graph))
    }
}
