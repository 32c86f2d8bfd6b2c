//! `GET /api/graph`: the import graph of a branch with its locks, for people.
//!
//! - `query`: what is asked for
//! - `overview`: what the store says of the branch
//! - `cache`: the graph itself
//! - `view`: the answer

mod cache;
mod overview;
mod query;
mod view;

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use cache::CachedGraph;
pub use cache::GraphCache;
use overview::Overview;
use query::{Asked, GraphQuery};
use view::GraphState;
pub(super) use view::{EdgeView, GraphView};

use super::ApiError;
use super::entrance::{Entrance, Right};
use super::openapi::GraphAnswers;
use super::openapi::fields::GraphHeaders;
use crate::app::App;
use crate::store::keys;
use crate::store::scripts::{discard_graph, enter, touch_graph};

/// The import graph of a branch with its locks, for people.
///
/// `GET /api/graph?repo_url=URL&branch=NAME[&format=compact][&focus=PATH[&depth=STEPS][&direction=imports]]`. The answer is
/// compressed for those that take gzip.
#[utoipa::path(
    get,
    path = "/api/graph",
    tag = "people",
    params(GraphQuery, GraphHeaders),
    responses(GraphAnswers),
    security(("bearer" = []))
)]
pub(super) async fn get_graph(
    State(state): State<App>,
    headers: HeaderMap,
    query: Result<Query<GraphQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, ApiError> {
    let caller = state.authenticator.authenticate_reader(&headers).await?;
    let Query(query) = query.map_err(|_| ApiError::MalformedBody {
        field: None,
        message: "the query cannot be read; send repo_url and branch, and where you want them format, focus, depth \
                  and direction, once each"
            .to_owned(),
    })?;
    let asked = query.parse(caller)?;
    let (repo, branch) = (&asked.repo, &asked.branch);
    let entrant = asked.entrant.clone();
    let mut entrance = Entrance::open(&state, repo, branch, entrant, None, Right::Read, Some(Vec::new())).await?;
    let (head, replies) = loop {
        let entered = enter(&*state.store, &entrance.entry(), Overview::requests(repo, branch)).await?;
        if let Some(answer) = entrance.pass(entered).await? {
            break answer;
        }
    };
    entrance.note(&head, &mut Vec::new());
    let overview = Overview::read(branch, &replies)?;
    if overview.is_to_be_kept
        && let Err(error) = touch_graph(&*state.store, repo, branch).await
    {
        tracing::debug!(%error, %repo, %branch, "the graph could not be kept for longer");
    }
    let (response, has_graph) = respond(&state, &asked, head.commit.as_str(), overview, &headers).await?;
    if !has_graph {
        entrance.misses_graph(&head.commit);
    }
    Ok(response)
}

/// The answer, and whether the store has a graph.
async fn respond(
    state: &App,
    asked: &Asked,
    head: &str,
    mut overview: Overview,
    headers: &HeaderMap,
) -> Result<(Response, bool), ApiError> {
    let mut tag = tag(asked, head, &overview)?;
    let mut response = if is_known(headers, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let graph = stored_graph(state, asked, &mut overview).await?;
        tag = self::tag(asked, head, &overview)?;
        let status = if overview.version.is_none() {
            StatusCode::ACCEPTED
        } else {
            StatusCode::OK
        };
        let graph_state = GraphState::of(&overview, head);
        let view = GraphView::new(&graph, graph_state, &overview, asked.format, asked.focus.as_ref())?;
        (status, Json(view)).into_response()
    };
    for (name, value) in [
        (ETAG, HeaderValue::from_str(&tag).map_err(|_| ApiError::Internal)?),
        (CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
        (VARY, HeaderValue::from_static("authorization, accept-encoding")),
    ] {
        response.headers_mut().insert(name, value);
    }
    Ok((response, overview.version.is_some()))
}

/// The graph that `overview` speaks of. One that cannot be read counts as missing, there and in the store.
async fn stored_graph(state: &App, asked: &Asked, overview: &mut Overview) -> Result<Arc<CachedGraph>, ApiError> {
    let Some(version) = &overview.version else {
        return Ok(Arc::default());
    };
    match cache::load(state, keys::graph_json(&asked.repo, &asked.branch), version).await? {
        Ok(graph) => Ok(graph),
        Err(error) => {
            tracing::warn!(%error, repo = %asked.repo, branch = %asked.branch, "the import graph is built again");
            discard_graph(&*state.store, &asked.repo, &asked.branch, version).await?;
            overview.version = None;
            overview.generated_at = None;
            Ok(Arc::default())
        }
    }
}

/// Names everything that an answer follows from.
fn tag(asked: &Asked, head: &str, overview: &Overview) -> Result<String, ApiError> {
    let graph_state = GraphState::of(overview, head);
    let Overview {
        version,
        locks,
        failure,
        progress,
        ..
    } = overview;
    let parts = (version, graph_state, locks, failure, progress);
    let parts = serde_json::to_string(&parts).map_err(|_| ApiError::Internal)?;
    let parts = format!("{parts} {:?} {:?}", asked.format, asked.focus);
    Ok(format!("W/\"{}\"", crate::store::script::sha1_hex(&parts)))
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
