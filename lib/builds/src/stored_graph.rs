//! The stored form of a graph, which the page gets too: gzip of compact JSON, in base64, because Upstash's REST API
//! carries text only.

use std::io::{BufWriter, IntoInnerError, Read};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::Object;

use coord_graph::{Bound, FileFacts, FileId, ImportGraph, MetBound, Reason};
use coord_protocol::schema::one_of;
use coord_scan::{FileState, KindSet};
use coord_sources::{EntryKind, TreeEntry};

/// Maximum size of a graph that is read back, in bytes of JSON; about two million files.
const MAX_JSON_BYTES: u64 = 256 * 1024 * 1024;

/// In a text of numbers, the default level finds few more repetitions, and takes three to six times as long.
const LEVEL: Compression = Compression::new(4);

/// Bytes of JSON that are compressed at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// A file of the graph.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[schema(as = GraphFile)]
pub struct Node {
    /// Path from the repository root.
    pub id: String,
    /// Language, if its imports are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub language: Option<String>,
    /// Size in bytes, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub size: Option<u64>,
    /// Why it was not scanned, if it was not: `too_large`, `binary`, `minified`, `unreadable`, `over_limit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = state_schema, required = false)]
    pub state: Option<String>,
}

fn state_schema() -> Object {
    let states = FileState::ALL.into_iter().filter(|state| *state != FileState::Ok);
    let states: Vec<&str> = states.map(FileState::name).collect();
    one_of(&states, "Why it was not scanned, if it was not")
}

/// A bound that the build of a graph has met. The graph lacks imports of these files.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[schema(as = GraphBound)]
pub struct StoredBound {
    #[schema(schema_with = bound_schema)]
    bound: String,
    /// Number of files that lack imports for it.
    #[schema(minimum = 1)]
    files: usize,
    /// The first of these files, by path.
    #[schema(min_items = 1, max_items = 5)]
    first: Vec<String>,
}

fn bound_schema() -> Object {
    let names: Vec<&str> = Bound::ALL.into_iter().map(Bound::name).collect();
    let sentences = Bound::ALL.map(|bound| format!("`{}`: {}", bound.name(), bound.sentence()));
    one_of(&names, &format!("The bound. {}", sentences.join("; ")))
}

impl From<&MetBound> for StoredBound {
    fn from(met: &MetBound) -> Self {
        StoredBound {
            bound: met.bound.name().to_owned(),
            files: met.files,
            first: met.first.clone(),
        }
    }
}

/// Nodes sorted by path, edges as pairs of indices into them, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct StoredGraph {
    /// The commit, full length.
    pub version: String,
    /// All files.
    pub nodes: Vec<Node>,
    /// (importer, imported).
    pub edges: Vec<(u32, u32)>,
    /// The kinds of each edge, as [`KindSet::bits`]; empty if an older version has stored the graph.
    #[serde(default)]
    pub kinds: Vec<u16>,
    /// The bounds that the build has met; empty if an older version has stored the graph.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<StoredBound>,
}

/// The stored text is not a graph.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the stored graph cannot be read: {0}")]
pub struct UnreadableGraph(String);

impl StoredGraph {
    /// The stored form of `graph`, the graph of the commit `version`.
    pub fn new(graph: &ImportGraph, version: String) -> Self {
        let node = |node: coord_graph::Node<'_>| Node {
            id: node.path.to_owned(),
            language: node.language.map(|language| language.name().to_owned()),
            size: node.size,
            state: (node.state != FileState::Ok).then(|| node.state.name().to_owned()),
        };
        StoredGraph {
            version,
            nodes: graph.nodes().map(node).collect(),
            edges: graph.edges().map(|(from, to, _)| (from, to)).collect(),
            kinds: graph.edges().map(|(_, _, kinds)| kinds.bits()).collect(),
            bounds: graph.bounds().iter().map(StoredBound::from).collect(),
        }
    }

    /// About how many bytes of memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let node = |node: &Node| size_of::<Node>() + node.id.len() + text(&node.language) + text(&node.state);
        let nodes = self.nodes.iter().map(node).sum::<usize>();
        nodes + size_of_val(&*self.edges) + size_of_val(&*self.kinds)
    }

    /// All edges with their kinds.
    pub fn edges(&self) -> impl Iterator<Item = (FileId, FileId, KindSet)> + '_ {
        let kinds = self.kinds.iter().copied().chain(std::iter::repeat(0));
        let edges = self.edges.iter().zip(kinds);
        edges.map(|((from, to), bits)| (*from, *to, KindSet::from_bits(bits)))
    }

    /// The graph for queries.
    pub fn to_graph(&self) -> ImportGraph {
        let file = |node: &Node| TreeEntry {
            path: node.id.clone(),
            blob: String::new(),
            kind: EntryKind::File,
        };
        let facts = |node: &Node| FileFacts {
            size: node.size,
            state: FileState::ALL
                .into_iter()
                .find(|state| node.state.as_deref() == Some(state.name()))
                .unwrap_or_default(),
        };
        ImportGraph::new(
            self.nodes.iter().map(file).collect(),
            self.nodes.iter().map(facts).collect(),
            self.edges(),
            [0; Reason::ALL.len()],
        )
    }

    /// The text to store.
    ///
    /// # Errors
    /// Never in practice: writing to memory does not fail.
    pub fn encode(&self) -> std::io::Result<Vec<u8>> {
        // Buffered, because the serializer writes single characters, and each write to the encoder clears the rest of
        // its vector.
        let mut writer = BufWriter::with_capacity(BUFFER_BYTES, GzEncoder::new(Vec::new(), LEVEL));
        serde_json::to_writer(&mut writer, self)?;
        let encoder = writer.into_inner().map_err(IntoInnerError::into_error)?;
        Ok(STANDARD.encode(encoder.finish()?).into_bytes())
    }

    /// The graph in a stored text.
    ///
    /// # Errors
    /// When it is not the output of [`StoredGraph::encode`], or unreasonably large.
    pub fn decode(text: &[u8]) -> Result<Self, UnreadableGraph> {
        let compressed = STANDARD
            .decode(text)
            .map_err(|error| UnreadableGraph(error.to_string()))?;
        // gzip ends with the number of bytes: a vector that grows would take up to twice as many.
        let size = compressed.last_chunk().map_or(0, |size| u32::from_le_bytes(*size));
        let mut json = Vec::with_capacity(u64::from(size).min(MAX_JSON_BYTES) as usize);
        GzDecoder::new(compressed.as_slice())
            .take(MAX_JSON_BYTES)
            .read_to_end(&mut json)
            .map_err(|error| UnreadableGraph(error.to_string()))?;
        drop(compressed);
        let graph = serde_json::from_slice(&json);
        let mut graph: StoredGraph = graph.map_err(|error| UnreadableGraph(error.to_string()))?;
        // The vectors may have grown to twice the needed size.
        graph.edges.shrink_to_fit();
        graph.kinds.shrink_to_fit();
        let count = graph.nodes.len();
        if graph
            .edges
            .iter()
            .any(|&(from, to)| from as usize >= count || to as usize >= count)
        {
            return Err(UnreadableGraph("an edge leads to no node".to_owned()));
        }
        Ok(graph)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_graph_is_read_back_as_it_was() {
        let node = |id: &str| Node {
            id: id.to_owned(),
            language: Some("python".to_owned()),
            size: Some(7),
            state: None,
        };
        let graph = StoredGraph {
            version: "abc".to_owned(),
            nodes: vec![node("a.py"), node("b.py")],
            edges: vec![(0, 1)],
            kinds: vec![5],
            bounds: vec![StoredBound {
                bound: Bound::Files.name().to_owned(),
                files: 1,
                first: vec!["b.py".to_owned()],
            }],
        };
        assert_eq!(StoredGraph::decode(&graph.encode().unwrap()).unwrap(), graph);
    }

    #[test]
    fn rubbish_is_an_error() {
        assert!(StoredGraph::decode(b"").is_err());
        assert!(StoredGraph::decode(b"{}").is_err());
        let broken = StoredGraph {
            version: String::new(),
            nodes: Vec::new(),
            edges: vec![(0, 1)],
            kinds: Vec::new(),
            bounds: Vec::new(),
        };
        assert!(StoredGraph::decode(&broken.encode().unwrap()).is_err());
    }
}
