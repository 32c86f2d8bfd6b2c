//! The response: nodes, edges and locks, of the full graph or of the part around a file.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Array, ArrayBuilder, Object, OneOfBuilder, Ref, Type};

use super::query::{DirectionName, Focus, Format};
use crate::builds::graph_cache::CachedGraph;
use crate::builds::stored_graph::Node;
use crate::error::ApiError;
use crate::http::openapi::fields;
use crate::operations::read_graph::{BuildProgress, Overview, PolicyView};
use coord_graph::{FileId, KindSet};
use coord_protocol::{OtherLock, PendingChange};

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
pub(in crate::http) struct GraphView<'a> {
    /// Files, sorted by path.
    nodes: Vec<NodeView<'a>>,
    #[schema(schema_with = edges_schema)]
    edges: Edges<'a>,
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

/// A file of the graph.
#[derive(Serialize, ToSchema)]
#[schema(as = GraphNode)]
struct NodeView<'a> {
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

#[derive(Serialize)]
#[serde(untagged)]
enum Edges<'a> {
    Full(Vec<EdgeView<'a>>),
    Compact(Vec<(u32, u32)>),
}

/// An import.
#[derive(Serialize, ToSchema)]
#[schema(as = GraphEdge)]
pub(in crate::http) struct EdgeView<'a> {
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

/// Nodes and edges of a part of the stored graph. Files are stored indices, with the steps from the focus.
struct Part {
    files: Vec<(FileId, Option<u32>)>,
    /// Pairs of positions in `files`, and the kinds.
    edges: Vec<(u32, u32, KindSet)>,
    truncated: bool,
}

impl<'a> GraphView<'a> {
    pub(super) fn new(
        graph: &'a CachedGraph,
        state: GraphState,
        overview: &'a Overview,
        format: Format,
        focus: Option<&'a Focus>,
    ) -> Result<Self, ApiError> {
        let stored = &graph.stored;
        let has_graph = overview.version.is_some();
        let part = match focus {
            Some(focus) if has_graph => around(graph, focus)?,
            Some(_) => Part {
                files: Vec::new(),
                edges: Vec::new(),
                truncated: false,
            },
            None => Part {
                files: (0..stored.nodes.len() as FileId).map(|id| (id, None)).collect(),
                edges: stored.edges().collect(),
                truncated: false,
            },
        };
        let nodes: Vec<NodeView<'_>> = part
            .files
            .iter()
            .filter_map(|(id, distance)| {
                Some(NodeView {
                    node: stored.nodes.get(*id as usize)?,
                    kind: "file",
                    distance: *distance,
                })
            })
            .collect();
        let mut not_scanned = BTreeMap::new();
        for state in nodes.iter().filter_map(|view| view.node.state.as_deref()) {
            *not_scanned.entry(state).or_default() += 1;
        }
        let edges = match format {
            Format::Compact => Edges::Compact(part.edges.iter().map(|(from, to, _)| (*from, *to)).collect()),
            Format::Full => {
                let id = |position: u32| nodes.get(position as usize).map(|view| view.node.id.as_str());
                let view = |(from, to, kinds): &(u32, u32, KindSet)| {
                    Some(EdgeView {
                        source: id(*from)?,
                        target: id(*to)?,
                        kind: "import",
                        kinds: kinds.names().filter(|_| focus.is_some()).collect(),
                    })
                };
                Edges::Full(part.edges.iter().filter_map(view).collect())
            }
        };
        let find = |path: &str| nodes.binary_search_by(|view| view.node.id.as_str().cmp(path));
        let is_shown = |path: &str| focus.is_none() || find(path).is_ok();
        let locks = overview.locks.iter().filter(|(path, _)| is_shown(path));
        Ok(GraphView {
            locks: locks.map(|(path, lock)| (path.as_str(), lock)).collect(),
            pending: overview
                .pending
                .iter()
                .filter(|change| is_shown(&change.file_path))
                .collect(),
            nodes,
            edges,
            version: has_graph.then_some(stored.version.as_str()),
            state,
            policy: &overview.policy,
            generated_at: overview.generated_at,
            not_scanned,
            focus: focus.map(|focus| FocusView {
                path: focus.path.as_str(),
                depth: focus.depth,
                direction: focus.direction.name(),
                truncated: part.truncated,
            }),
            progress: overview.progress,
            failure: overview.failure.as_deref(),
        })
    }
}

/// The files within reach of the focus, in the order of paths, and the edges among them.
fn around(cached: &CachedGraph, focus: &Focus) -> Result<Part, ApiError> {
    let graph = cached.graph();
    let path = focus.path.as_str();
    let id = graph.id(path).ok_or_else(|| ApiError::UnknownFile {
        path: path.to_owned(),
        version: cached.stored.version.chars().take(7).collect(),
    })?;
    let near = graph.neighborhood(&[id], focus.direction, focus.depth, MAX_FOCUS_FILES);
    let mut files = near.files;
    files.sort_unstable();
    let position = |id: FileId| files.binary_search_by_key(&id, |(file, _)| *file).ok();
    let mut edges = Vec::new();
    for (from, (id, _)) in (0..).zip(&files) {
        let inside = graph.imports(*id).iter();
        edges.extend(inside.filter_map(|(to, kinds)| Some((from, position(*to)? as u32, *kinds))));
    }
    Ok(Part {
        edges,
        files: files.into_iter().map(|(id, distance)| (id, Some(distance))).collect(),
        truncated: near.is_cut,
    })
}
