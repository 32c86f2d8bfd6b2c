//! The text of a response, in pieces: a graph may have millions of edges, and only one piece is in memory.

use std::borrow::Cow;
use std::convert::Infallible;

use axum::body::{Body, Bytes};
use coord_protocol::plain_text::escape;

use super::view::GraphPart;

/// Bytes of a piece, which its last item may exceed.
const PIECE_BYTES: usize = 64 << 10;

/// JSON: the nodes, the edges, and the fields of the view.
pub(super) struct GraphText {
    part: GraphPart,
    /// How many nodes and edges are written, plus one for the end.
    position: usize,
    /// The fields of the view: a JSON object.
    view: Vec<u8>,
}

impl GraphText {
    /// The text of `part`, which ends with the fields of `view`, a JSON object that is not empty.
    pub(super) fn new(part: GraphPart, view: Vec<u8>) -> Self {
        GraphText {
            view,
            part,
            position: 0,
        }
    }

    /// A body that writes each piece when the previous one is sent.
    pub(super) fn into_body(mut self) -> Body {
        let (first, second) = (self.next(), self.next());
        let (Some(first), Some(second)) = (first.clone(), second) else {
            // The length of a single piece is known.
            return Body::from(first.unwrap_or_default());
        };
        let pieces = [first, second].into_iter().chain(self);
        Body::from_stream(futures::stream::iter(pieces.map(Ok::<_, Infallible>)))
    }

    /// Writes the text at a position: first of the nodes, then of the edges, then the end.
    fn write(&self, position: usize, piece: &mut Vec<u8>) -> serde_json::Result<()> {
        let (nodes, end) = (self.part.nodes(), self.part.nodes() + self.part.edges());
        if position == 0 {
            piece.extend(b"{\"nodes\":[");
        }
        if position == nodes {
            piece.extend(b"],\"edges\":[");
        }
        if position == end {
            piece.extend(b"],");
            piece.extend(&self.view[1..]);
            return Ok(());
        }
        if position != 0 && position != nodes {
            piece.push(b',');
        }
        match position.checked_sub(nodes) {
            None => serde_json::to_writer(piece, &self.part.node(position)),
            Some(edge) => serde_json::to_writer(piece, &self.part.edge(edge)),
        }
    }
}

impl Iterator for GraphText {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let mut piece = Vec::new();
        let end = self.part.nodes() + self.part.edges();
        while self.position <= end && piece.len() < PIECE_BYTES {
            // Writing to memory does not fail.
            self.write(self.position, &mut piece).ok()?;
            self.position += 1;
        }
        if piece.is_empty() {
            return None;
        }
        // Paths are text that a committer chose.
        let escaped = escape(std::str::from_utf8(&piece).ok()?);
        Some(match escaped {
            Cow::Borrowed(_) => piece.into(),
            Cow::Owned(escaped) => escaped.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::super::query::Format;
    use super::*;
    use coord_builds::graph_cache::CachedGraph;
    use coord_builds::stored_graph::{Node, StoredGraph};

    fn pieces(count: u32, format: Format) -> Vec<Bytes> {
        let node = |number| Node {
            id: format!("{number:04}.ts"),
            language: None,
            size: None,
            state: None,
        };
        let stored = StoredGraph {
            version: "abc".to_owned(),
            nodes: (0..count).map(node).collect(),
            edges: (1..count).map(|from| (from, 0)).collect(),
            kinds: Vec::new(),
            bounds: Vec::new(),
        };
        let part = GraphPart::new(Arc::new(CachedGraph::from(stored)), format, None).unwrap();
        GraphText::new(part, b"{\"state\":\"ready\"}".to_vec()).collect()
    }

    fn read(pieces: &[Bytes]) -> Value {
        serde_json::from_slice(&pieces.concat()).unwrap()
    }

    #[test]
    fn pieces_are_small_and_make_one_text() {
        let all = pieces(5_000, Format::Full);
        assert!(all.len() > 5, "{} pieces", all.len());
        assert!(all.iter().all(|piece| piece.len() < PIECE_BYTES + 100));
        let text = read(&all);
        let (nodes, edges) = (text["nodes"].as_array().unwrap(), text["edges"].as_array().unwrap());
        assert_eq!((nodes.len(), edges.len()), (5_000, 4_999));
        assert_eq!(nodes[4_999], json!({ "id": "4999.ts", "type": "file" }));
        let last = json!({ "source": "4999.ts", "target": "0000.ts", "type": "import" });
        assert_eq!(edges[4_998], last);
        assert_eq!(text["state"], "ready");
        let compact = read(&pieces(5_000, Format::Compact));
        assert_eq!(compact["edges"][4_998], json!([4_999, 0]));
    }

    #[test]
    fn a_graph_without_files_or_edges_is_one_piece() {
        for (count, nodes) in [(0, json!([])), (1, json!([{ "id": "0000.ts", "type": "file" }]))] {
            let all = pieces(count, Format::Full);
            assert_eq!(all.len(), 1);
            let expected = json!({ "nodes": nodes, "edges": [], "state": "ready" });
            assert_eq!(read(&all), expected);
        }
    }
}
