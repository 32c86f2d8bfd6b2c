//! `GET /api/graph`: the import graph of a branch with its locks, for people.
//!
//! - `query`: what is asked for
//! - `view`: the answer

mod query;
mod view;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use query::{Asked, GraphQuery};
use view::GraphState;
pub(super) use view::{EdgeView, GraphView};

use super::openapi::GraphAnswers;
use super::openapi::fields::GraphHeaders;
use crate::app::App;
use crate::error::ApiError;
use crate::operations::read_graph::{Overview, load_graph, read_overview};

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
    State(app): State<App>,
    headers: HeaderMap,
    query: Result<Query<GraphQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, ApiError> {
    let caller = app.authenticator.authenticate_reader(&headers).await?;
    let Query(query) = query.map_err(|_| ApiError::MalformedBody {
        field: None,
        message: "the query cannot be read; send repo_url and branch, and where you want them format, focus, depth \
                  and direction, once each"
            .to_owned(),
    })?;
    let asked = query.parse(caller)?;
    let (head, mut overview) = read_overview(&app, &asked.repo, &asked.branch, asked.caller.clone()).await?;
    let mut tag = tag(&asked, head.as_str(), &overview)?;
    let mut response = if is_known(&headers, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let graph = load_graph(&app, &asked.repo, &asked.branch, &head, &mut overview).await?;
        tag = self::tag(&asked, head.as_str(), &overview)?;
        let status = if overview.version.is_none() {
            StatusCode::ACCEPTED
        } else {
            StatusCode::OK
        };
        let graph_state = GraphState::of(&overview, head.as_str());
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
    Ok(response)
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
