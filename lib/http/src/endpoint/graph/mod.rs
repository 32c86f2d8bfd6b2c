//! `GET /api/graph`: the import graph of a branch with its locks, for people.
//!
//! - `query`: the query of a request
//! - `view`: the response
//! - `text`: the text of the response, in pieces

mod query;
mod text;
mod view;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use coord_protocol::schema::one_of;
use utoipa::openapi::{Ref, RefOr, Response as Described};
use utoipa::{IntoResponses, OpenApi};

pub use self::query::GraphQuery;
use self::query::ValidQuery;
use self::text::GraphText;
use self::view::{EdgeView, GraphPart, GraphState, GraphView};
use crate::conditional::{self, VARY_FOR_CALLERS, add_headers, matches_tag, not_modified, tag_of};
use crate::error::HandlerError;
use crate::openapi::errors::{Cause, READ, Reader, errors, finish};
use crate::openapi::examples;
use crate::openapi::fields::ConditionalHeaders;
use crate::openapi::responses::{narrow, response};
use coord_auth::Caller;
use coord_builds::graph_cache::CachedGraph;
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::read_graph::{Overview, load_graph, read_overview};

pub(super) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    get(get_graph)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(get_graph), components(schemas(GraphView, EdgeView)))]
pub(super) struct Document;

/// The import graph of a branch with its locks, for people.
///
/// `GET /api/graph?repo_url=URL&branch=NAME[&format=compact][&focus=PATH[&depth=STEPS][&direction=imports]]`. The
/// response is compressed for callers that accept gzip.
#[utoipa::path(
    get,
    path = "/api/graph",
    tag = "people",
    params(GraphQuery, ConditionalHeaders),
    responses(GraphResponses),
    security(("bearer" = []), ("api_key" = []))
)]
async fn get_graph(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    query: Result<Query<GraphQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, HandlerError> {
    let caller = app.authenticator.authenticate_reader(&headers).await?;
    let Query(query) = query.map_err(|_| {
        ApiError::malformed(
            "the query is not valid; send repo_url and branch, and optionally format, focus, depth and direction, \
             each once",
        )
    })?;
    let request = query.parse(caller)?;
    let (head, mut overview) = read_overview(&app, &request.repo, &request.branch, request.caller.clone()).await?;
    let mut tag = etag(&request, head.as_str(), &overview)?;
    let response = if matches_tag(&headers, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let graph = load_graph(&app, &request.repo, &request.branch, &head, &mut overview).await?;
        tag = etag(&request, head.as_str(), &overview)?;
        let status = if overview.version.is_none() {
            StatusCode::ACCEPTED
        } else {
            StatusCode::OK
        };
        let body = graph_text(graph, &request, head.as_str(), &overview)?.into_body();
        (status, [(CONTENT_TYPE, "application/json")], body).into_response()
    };
    Ok(conditional::with_tag(response, &tag, VARY_FOR_CALLERS)?)
}

/// Reads the graph that `query` selects, as JSON.
///
/// # Errors
/// When a field is missing or invalid, the caller is denied, or store or source do not respond.
pub async fn read_graph_view(app: &App, query: &GraphQuery, caller: Caller) -> Result<String, ApiError> {
    let request = query.parse(caller)?;
    let (head, mut overview) = read_overview(app, &request.repo, &request.branch, request.caller.clone()).await?;
    let graph = load_graph(app, &request.repo, &request.branch, &head, &mut overview).await?;
    let pieces: Vec<Bytes> = graph_text(graph, &request, head.as_str(), &overview)?.collect();
    String::from_utf8(pieces.concat()).map_err(|_| ApiError::Internal)
}

/// The text of the part of `graph` that `request` selects.
fn graph_text(
    graph: Arc<CachedGraph>,
    request: &ValidQuery,
    head: &str,
    overview: &Overview,
) -> Result<GraphText, ApiError> {
    let part = GraphPart::new(graph, request.format, request.focus.as_ref())?;
    let state = GraphState::of(overview, head);
    let view = serde_json::to_vec(&GraphView::new(&part, state, overview, request.focus.as_ref()));
    Ok(GraphText::new(part, view.map_err(|_| ApiError::Internal)?))
}

/// The ETag: a hash of all that a response depends on.
fn etag(request: &ValidQuery, head: &str, overview: &Overview) -> Result<String, ApiError> {
    let graph_state = GraphState::of(overview, head);
    let Overview {
        version,
        locks,
        failure,
        progress,
        policy,
        pending,
        ..
    } = overview;
    let parts = (version, graph_state, locks, failure, progress, policy, pending);
    let parts = serde_json::to_string(&parts).map_err(|_| ApiError::Internal)?;
    let parts = format!("{parts} {:?} {:?}", request.format, request.focus);
    Ok(tag_of(&parts))
}

/// Its responses in the OpenAPI document.
enum GraphResponses {}

impl IntoResponses for GraphResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let causes = [&READ[..], &[Cause::Focus]].concat();
        let mut answers = errors(&causes, Reader::Person, "GET, HEAD", None);
        let version = RefOr::from(Ref::from_schema_name("CommitSha"));
        let ready = narrow("Graph", "version", version, &[]).example(Some(examples::graph()));
        answers.insert(
            200,
            add_headers(
                response("The graph of the branch, or of an older commit of it", ready),
                VARY_FOR_CALLERS,
            ),
        );
        let building = narrow("Graph", "state", one_of(&["building"], "Always `building`"), &[]);
        let building = building.example(Some(examples::building_graph()));
        answers.insert(
            202,
            add_headers(
                response("The graph is being built for the first time", building),
                VARY_FOR_CALLERS,
            ),
        );
        answers.insert(304, not_modified(VARY_FOR_CALLERS));
        finish(answers)
    }
}
