//! `GET /api/graph`: the import graph of a branch with its locks, for people.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::extract::{Query, State};
use axum::http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::lock_view::{LockView, locks_on_branch};
use super::question::{in_field, required};
use super::{ApiError, AppState};
use crate::domain::{Branch, LockEntry, RepoId};
use crate::graph::stored::{Node, StoredGraph};
use crate::store::{Request, Store, StoreError, Value, keys};

/// Graphs kept in memory, so that the store is not asked for the same one again.
const MOST_CACHED: usize = 32;

/// Graphs as last read from the store, by their key there.
#[derive(Default)]
pub struct GraphCache(Mutex<HashMap<String, Arc<StoredGraph>>>);

impl GraphCache {
    fn get(&self, key: &str, version: &str) -> Option<Arc<StoredGraph>> {
        let graphs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        graphs.get(key).filter(|graph| graph.version == version).cloned()
    }

    fn put(&self, key: String, graph: Arc<StoredGraph>) {
        let mut graphs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if graphs.len() >= MOST_CACHED && !graphs.contains_key(&key) {
            graphs.clear();
        }
        graphs.insert(key, graph);
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct GraphQuery {
    repo_url: Option<String>,
    branch: Option<String>,
    format: Option<String>,
}

/// How edges are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// `{"source", "target", "type"}`, as documented.
    Full,
    /// Pairs of indices into `nodes`.
    Compact,
}

/// How the graph stands to the head of its branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum GraphState {
    /// It is of the head.
    Ready,
    /// There is none yet.
    Building,
    /// It is of an older commit; the new one is being built.
    Stale,
}

#[derive(Serialize)]
struct GraphResponse<'a> {
    nodes: Vec<NodeView<'a>>,
    edges: Edges<'a>,
    locks: &'a BTreeMap<String, LockView>,
    version: Option<&'a str>,
    state: GraphState,
    /// Unix seconds.
    generated_at: Option<i64>,
    /// Why the newest build failed, where it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a str>,
}

#[derive(Serialize)]
struct NodeView<'a> {
    #[serde(flatten)]
    node: &'a Node,
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Edges<'a> {
    Full(Vec<EdgeView<'a>>),
    Compact(&'a [(u32, u32)]),
}

#[derive(Serialize)]
struct EdgeView<'a> {
    source: &'a str,
    target: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
}

/// `GET /api/graph?repo_url=URL&branch=NAME[&format=compact]`
pub(super) async fn get_graph(
    State(state): State<AppState>,
    headers: HeaderMap,
    query: Result<Query<GraphQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, ApiError> {
    state.authenticator.authenticate(&headers)?;
    let Query(query) = query.map_err(|_| ApiError::MalformedBody {
        field: None,
        message: "the query cannot be read; send repo_url and branch, and format where you want it, once each"
            .to_owned(),
    })?;
    let repo = RepoId::parse(required("repo_url", &query.repo_url)?).map_err(in_field("repo_url"))?;
    let branch = Branch::parse(required("branch", &query.branch)?).map_err(in_field("branch"))?;
    let format = match query.format.as_deref() {
        None | Some("full") => Format::Full,
        Some("compact") => Format::Compact,
        Some(_) => {
            return Err(ApiError::InvalidField {
                field: "format",
                problem: "must be full or compact".to_owned(),
            });
        }
    };
    let source_head = match &state.source {
        Some(source) => Some(source.head(&repo, &branch).await?),
        None => None,
    };
    if let (Some(observer), Some(head)) = (&state.head_observer, &source_head) {
        observer.saw_head(&repo, &branch, head);
    }
    let overview = Overview::read(&*state.store, &repo, &branch).await?;
    let head = source_head
        .map(|head| head.to_string())
        .or_else(|| overview.head.clone());
    if head.is_none() && overview.version.is_none() {
        return Err(ApiError::SourceUnavailable(format!(
            "nothing is known of branch {branch} of {repo} yet: no server that can read the repository has reported its head"
        )));
    }
    respond(&state, &repo, &branch, format, head.as_deref(), overview, &headers).await
}

/// What the store says of a branch, without the graph itself.
struct Overview {
    version: Option<String>,
    generated_at: Option<i64>,
    failure: Option<String>,
    head: Option<String>,
    locks: BTreeMap<String, LockView>,
}

impl Overview {
    async fn read(store: &dyn Store, repo: &RepoId, branch: &Branch) -> Result<Self, ApiError> {
        let batch = vec![
            Request::command([
                "HMGET",
                &keys::graph(repo, branch),
                "version",
                "generated_at",
                "failure",
            ]),
            Request::command(["HGET", &keys::head(repo, branch), "commit"]),
            Request::command(["HGETALL", &keys::locks(repo)]),
            Request::command(["TIME"]),
        ];
        let replies = store.run(batch).await?;
        let malformed = || StoreError::Malformed("the overview of a graph".to_owned());
        if let Some(Value::Error(error)) = replies.iter().find(|reply| matches!(reply, Value::Error(_))) {
            return Err(StoreError::Failed(error.clone()).into());
        }
        let [graph, head, locks, time] = replies.as_slice() else {
            return Err(malformed().into());
        };
        let field = |index: usize| {
            graph
                .as_array()
                .and_then(|values| values.get(index)?.as_str())
                .map(str::to_owned)
        };
        let now = time
            .as_array()
            .and_then(|time| time.first()?.as_int())
            .ok_or_else(malformed)?;
        let stored = locks.as_array().ok_or_else(malformed)?.iter().skip(1).step_by(2);
        let mut entries: Vec<LockEntry> = Vec::new();
        for value in stored {
            let Value::Bulk(json) = value else {
                return Err(malformed().into());
            };
            let list: Vec<LockEntry> =
                serde_json::from_slice(json).map_err(|error| StoreError::Malformed(error.to_string()))?;
            entries.extend(
                list.into_iter()
                    .filter(|entry| entry.branch == branch.as_str() && entry.expiry > now),
            );
        }
        Ok(Overview {
            version: field(0).filter(|version| !version.is_empty()),
            generated_at: field(1).and_then(|text| text.parse().ok()),
            failure: field(2),
            head: head.as_str().map(str::to_owned),
            locks: locks_on_branch(&entries),
        })
    }
}

async fn respond(
    state: &AppState,
    repo: &RepoId,
    branch: &Branch,
    format: Format,
    head: Option<&str>,
    overview: Overview,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let Overview {
        version,
        generated_at,
        failure,
        locks,
        ..
    } = &overview;
    let graph_state = match version.as_deref() {
        None => GraphState::Building,
        version if head.is_none() || version == head => GraphState::Ready,
        Some(_) => GraphState::Stale,
    };
    let tag = serde_json::to_string(&(version, graph_state, locks, failure, format == Format::Compact))
        .map_err(|_| ApiError::Internal)?;
    let tag = format!("W/\"{}\"", crate::store::script::sha1_hex(&tag));
    let mut response = if is_known(headers, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let graph = match version {
            Some(version) => load(state, keys::graph_json(repo, branch), version).await?,
            None => Arc::default(),
        };
        let status = if version.is_none() {
            StatusCode::ACCEPTED
        } else {
            StatusCode::OK
        };
        let body = GraphResponse {
            nodes: graph.nodes.iter().map(|node| NodeView { kind: "file", node }).collect(),
            edges: match format {
                Format::Compact => Edges::Compact(&graph.edges),
                Format::Full => Edges::Full(graph.edges.iter().filter_map(|edge| edge_view(&graph, *edge)).collect()),
            },
            locks,
            version: version.as_ref().map(|_| graph.version.as_str()),
            state: graph_state,
            generated_at: *generated_at,
            failure: failure.as_deref(),
        };
        (status, Json(body)).into_response()
    };
    let tag = HeaderValue::from_str(&tag).map_err(|_| ApiError::Internal)?;
    response.headers_mut().insert(ETAG, tag);
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response
        .headers_mut()
        .insert(VARY, HeaderValue::from_static("authorization, accept-encoding"));
    Ok(response)
}

fn edge_view(graph: &StoredGraph, (from, to): (u32, u32)) -> Option<EdgeView<'_>> {
    let id = |index: u32| graph.nodes.get(index as usize).map(|node| node.id.as_str());
    Some(EdgeView {
        source: id(from)?,
        target: id(to)?,
        kind: "import",
    })
}

/// Whether `If-None-Match` names this entity.
fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    headers
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| {
            value
                .split(',')
                .any(|candidate| candidate.trim() == "*" || bare(candidate) == bare(tag))
        })
}

async fn load(state: &AppState, key: String, version: &str) -> Result<Arc<StoredGraph>, ApiError> {
    if let Some(graph) = state.graph_cache.get(&key, version) {
        return Ok(graph);
    }
    let replies = state.store.run(vec![Request::command(["GET", &key])]).await?;
    let graph = match replies.into_iter().next() {
        Some(Value::Bulk(text)) => {
            let decoded = tokio::task::spawn_blocking(move || StoredGraph::decode(&text)).await;
            let decoded = decoded.map_err(|error| StoreError::Malformed(error.to_string()))?;
            Arc::new(decoded.map_err(|error| StoreError::Malformed(error.to_string()))?)
        }
        Some(Value::Error(error)) => return Err(StoreError::Failed(error).into()),
        _ => return Err(StoreError::Malformed("a graph that was there is gone".to_owned()).into()),
    };
    state.graph_cache.put(key, Arc::clone(&graph));
    Ok(graph)
}
