//! The response: nodes, edges and locks, of the full graph or of the part around a file. Nodes and edges may be large,
//! so [`super::text`] writes them separately.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Array, ArrayBuilder, Object, OneOfBuilder, Ref, Type};

use super::query::{DirectionName, Focus, Format};
use crate::openapi::fields;
use coord_builds::graph_cache::CachedGraph;
use coord_builds::stored_graph::{Node, StoredBound};
use coord_graph::FileId;
use coord_protocol::{OtherLock, PendingChange};
use coord_scan::KindSet;
use coord_server::error::ApiError;
use coord_server::operations::read_graph::{BuildProgress, Overview, PolicyView};

/// Maximum number of files around a focus.
const MAX_FOCUS_FILES: usize = 2_000;

/// The state of the graph, compared with the head of its branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum GraphState {
    /// It is of the head.
    Ready,
    /// There is none yet.
    Building,
    /// It is of an older commit; the new one is being built.
    Stale,
}

impl GraphState {
    /// The state for a branch at `head`.
    pub(super) fn of(overview: &Overview, head: &str) -> Self {
        match overview.version.as_deref() {
            None => GraphState::Building,
            Some(version) if version == head => GraphState::Ready,
            Some(_) => GraphState::Stale,
        }
    }
}

/// The import graph of a branch, or a part of it, with the locks of the branch.
#[derive(Serialize, ToSchema)]
#[schema(as = Graph)]
pub struct GraphView<'a> {
    /// Files, sorted by path.
    #[serde(skip_serializing_if = "is_separate")]
    #[schema(value_type = Vec<NodeView>, required = true)]
    nodes: SeparateList,
    #[serde(skip_serializing_if = "is_separate")]
    #[schema(schema_with = edges_schema, required = true)]
    edges: SeparateList,
    /// Locks on the files shown, by file path.
    #[schema(value_type = BTreeMap<String, OtherLock>)]
    locks: BTreeMap<&'a str, &'a OtherLock>,
    /// Changes on work branches that are for this branch, of the files shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<PendingChange>)]
    pending: Vec<&'a PendingChange>,
    #[schema(schema_with = fields::version, required = true)]
    version: Option<&'a str>,
    state: GraphState,
    #[schema(value_type = PolicyView)]
    policy: &'a PolicyView,
    /// When the graph was built, Unix seconds.
    #[schema(required = true, minimum = 0)]
    generated_at: Option<i64>,
    /// Number of files that could not be scanned, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, u64>)]
    not_scanned: BTreeMap<&'a str, usize>,
    /// The bounds that the build has met, each with its files. The graph lacks imports of these files; a lock on one of their
    /// neighbors may block no one. All of the graph, around a focus too.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<StoredBound>, required = false)]
    bounds: &'a [StoredBound],
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    focus: Option<FocusView<'a>>,
    /// Progress of the current build.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    progress: Option<BuildProgress>,
    /// Why the newest build failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    failure: Option<&'a str>,
}

/// A list that [`super::text`] writes.
#[derive(Serialize)]
struct SeparateList;

fn is_separate(_: &SeparateList) -> bool {
    true
}

/// A file of the graph.
#[derive(Serialize, ToSchema)]
#[schema(as = GraphNode)]
pub(super) struct NodeView<'a> {
    #[serde(flatten)]
    #[schema(value_type = Node)]
    node: &'a Node,
    /// Always `file`.
    #[serde(rename = "type")]
    #[schema(schema_with = fields::file)]
    kind: &'static str,
    /// Steps from the focus.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    distance: Option<u32>,
}

/// The file that the part of the graph is around.
#[derive(Serialize, ToSchema)]
#[schema(as = GraphFocus)]
struct FocusView<'a> {
    path: &'a str,
    /// Maximum steps from it.
    #[schema(maximum = 32)]
    depth: u32,
    #[schema(value_type = DirectionName)]
    direction: &'static str,
    /// Whether files within reach were left out; a response has the nearest 2,000.
    truncated: bool,
}

/// An import, in one of both forms.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Edge<'a> {
    Full(EdgeView<'a>),
    Compact(u32, u32),
}

/// An import.
#[derive(Serialize, ToSchema)]
#[schema(as = GraphEdge)]
pub struct EdgeView<'a> {
    /// The file that imports.
    source: &'a str,
    /// The file that is imported.
    target: &'a str,
    /// Always `import`.
    #[serde(rename = "type")]
    #[schema(schema_with = fields::import)]
    kind: &'static str,
    /// The forms of the import, around a focus: in a whole graph they would be a third of the response.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(schema_with = fields::import_kinds, required = false)]
    kinds: Vec<&'static str>,
}

/// One list for both forms of edges; an empty list fits either.
fn edges_schema() -> Array {
    let index = Object::builder()
        .schema_type(Type::Integer)
        .minimum(Some(0))
        .description(Some("An index into `nodes`"));
    let pair = ArrayBuilder::new()
        .items(index)
        .min_items(Some(2))
        .max_items(Some(2))
        .description(Some("With `format=compact`: importer and imported"));
    let either = OneOfBuilder::new().item(Ref::from_schema_name("GraphEdge")).item(pair);
    ArrayBuilder::new()
        .items(either)
        .description(Some(
            "Imports: objects, or with `format=compact` pairs of indices into `nodes`, importer first",
        ))
        .build()
}

/// A graph, or the part of it around a focus.
pub(super) struct GraphPart {
    graph: Arc<CachedGraph>,
    format: Format,
    /// `None` for the whole graph.
    neighborhood: Option<Neighborhood>,
}

/// The part of a graph around a focus.
#[derive(Default)]
struct Neighborhood {
    /// Files, with their steps from the focus.
    files: Vec<(FileId, u32)>,
    /// Pairs of positions in `files`, and the kinds.
    edges: Vec<(u32, u32, KindSet)>,
    truncated: bool,
}

impl GraphPart {
    /// `graph`, or the part around the focus.
    ///
    /// # Errors
    /// When the graph lacks the file of the focus.
    pub(super) fn new(graph: Arc<CachedGraph>, format: Format, focus: Option<&Focus>) -> Result<Self, ApiError> {
        let neighborhood = match focus {
            // There is no graph yet.
            Some(_) if graph.stored.version.is_empty() => Some(Neighborhood::default()),
            Some(focus) => Some(find_neighborhood(&graph, focus)?),
            None => None,
        };
        Ok(GraphPart {
            graph,
            format,
            neighborhood,
        })
    }

    /// The number of nodes.
    pub(super) fn nodes(&self) -> usize {
        match &self.neighborhood {
            Some(neighborhood) => neighborhood.files.len(),
            None => self.graph.stored.nodes.len(),
        }
    }

    /// The number of edges.
    pub(super) fn edges(&self) -> usize {
        match &self.neighborhood {
            Some(neighborhood) => neighborhood.edges.len(),
            None => self.graph.stored.edges.len(),
        }
    }

    /// The node at a position below [`Self::nodes`].
    pub(super) fn node(&self, position: usize) -> NodeView<'_> {
        let neighborhood = self.neighborhood.as_ref();
        let file = neighborhood.map(|neighborhood| neighborhood.files[position]);
        NodeView {
            node: &self.graph.stored.nodes[file.map_or(position, |(id, _)| id as usize)],
            kind: "file",
            distance: file.map(|(_, distance)| distance),
        }
    }

    /// The edge at a position below [`Self::edges`].
    pub(super) fn edge(&self, position: usize) -> Edge<'_> {
        let (from, to, kinds) = match &self.neighborhood {
            Some(neighborhood) => neighborhood.edges[position],
            None => {
                let (from, to) = self.graph.stored.edges[position];
                (from, to, KindSet::default())
            }
        };
        match self.format {
            Format::Compact => Edge::Compact(from, to),
            Format::Full => Edge::Full(EdgeView {
                source: &self.node(from as usize).node.id,
                target: &self.node(to as usize).node.id,
                kind: "import",
                kinds: kinds.names().collect(),
            }),
        }
    }

    fn contains(&self, path: &str) -> bool {
        let Some(neighborhood) = &self.neighborhood else {
            return true;
        };
        let path_of = |(id, _): &(FileId, u32)| self.graph.stored.nodes[*id as usize].id.as_str();
        let found = neighborhood.files.binary_search_by(|file| path_of(file).cmp(path));
        found.is_ok()
    }
}

impl<'a> GraphView<'a> {
    /// The view, without its nodes and edges.
    pub(super) fn new(
        part: &'a GraphPart,
        state: GraphState,
        overview: &'a Overview,
        focus: Option<&'a Focus>,
    ) -> GraphView<'a> {
        let has_graph = overview.version.is_some();
        let mut not_scanned = BTreeMap::new();
        for position in 0..part.nodes() {
            if let Some(state) = part.node(position).node.state.as_deref() {
                *not_scanned.entry(state).or_default() += 1;
            }
        }
        let locks = overview.locks.iter().filter(|(path, _)| part.contains(path));
        let pending = overview.pending.iter();
        let neighborhood = part.neighborhood.as_ref();
        GraphView {
            locks: locks.map(|(path, lock)| (path.as_str(), lock)).collect(),
            pending: pending.filter(|change| part.contains(&change.file_path)).collect(),
            nodes: SeparateList,
            edges: SeparateList,
            version: has_graph.then_some(part.graph.stored.version.as_str()),
            state,
            policy: &overview.policy,
            generated_at: overview.generated_at,
            not_scanned,
            bounds: &part.graph.stored.bounds,
            focus: focus.map(|focus| FocusView {
                path: focus.path.as_str(),
                depth: focus.depth,
                direction: focus.direction.name(),
                truncated: neighborhood.is_some_and(|neighborhood| neighborhood.truncated),
            }),
            progress: overview.progress,
            failure: overview.failure.as_deref(),
        }
    }
}

/// The files within reach of the focus, sorted by path, and the edges among them.
fn find_neighborhood(cached: &CachedGraph, focus: &Focus) -> Result<Neighborhood, ApiError> {
    let graph = cached.graph();
    let path = focus.path.as_str();
    let id = graph.id(path).ok_or_else(|| ApiError::UnknownFile {
        path: path.to_owned(),
        version: cached.stored.version.chars().take(7).collect(),
    })?;
    let found = graph.neighborhood(&[id], focus.direction, focus.depth, MAX_FOCUS_FILES);
    let mut files = found.files;
    files.sort_unstable();
    let position = |id: FileId| files.binary_search_by_key(&id, |(file, _)| *file).ok();
    let mut edges = Vec::new();
    for (from, (id, _)) in (0..).zip(&files) {
        let imports = graph.imports(*id).iter();
        edges.extend(imports.filter_map(|(to, kinds)| Some((from, position(*to)? as u32, *kinds))));
    }
    Ok(Neighborhood {
        edges,
        files,
        truncated: found.is_cut,
    })
}
