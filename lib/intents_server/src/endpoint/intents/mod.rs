//! `/api/intents`: the intents of a repository. Its function serves all paths below, too.
//!
//! - [`intent`]: one intent; [`acts`]: acts on it; [`usage`]: its costs
//! - `answers`: the responses of all of these

pub(super) mod acts;
mod answers;
pub(super) mod intent;
mod query;
pub(super) mod usage;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use coord_protocol::schema::IntentId;
use coord_protocol::{IntentResponse, IntentsResponse, NewIntentRequest};
use utoipa::OpenApi;

use crate::examples;
use crate::operations::intents::{list_intents, new_intent};
use answers::{CreateResponses, ListResponses, respond};
use coord_http::body::read_request;
use coord_http::error::Respond;
use coord_http::headers::agent_header;
use coord_http::json::Json;
use coord_http::openapi::fields::AgentHeaders;
use coord_server::app::App;
pub use query::IntentsQuery;
use query::unreadable;

pub(super) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    get(get_intents).post(post_intents)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(
    paths(get_intents, post_intents),
    components(schemas(IntentsResponse, IntentResponse, NewIntentRequest, IntentId))
)]
pub(super) struct Document;

/// List the intents of a repository.
///
/// `GET /api/intents?repo_url=URL[&status=STATUS][&view=state|context][&branch=NAME]`.
#[utoipa::path(
    get,
    path = "/api/intents",
    tag = "agents",
    params(IntentsQuery, AgentHeaders),
    responses(ListResponses),
    security(("bearer" = []), ("api_key" = []))
)]
async fn get_intents(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    query: Result<Query<IntentsQuery>, QueryRejection>,
) -> Response {
    let response = async {
        let caller = app.authenticator.authenticate(&headers).await?;
        let Query(query) = query.map_err(unreadable)?;
        list_intents(&app, query.parse(caller, agent_header(&headers))?).await
    };
    match response.await {
        Ok(response) => Json(response).into_response(),
        Err(error) => error.respond_to_agent(),
    }
}

/// Write a new intent.
///
/// It is PENDING until it is selected. Omitted fields are empty; without a name and a scope it cannot be selected.
#[utoipa::path(
    post,
    path = "/api/intents",
    tag = "agents",
    params(AgentHeaders),
    request_body(content = NewIntentRequest, example = json!(examples::new_intent_request())),
    responses(CreateResponses),
    security(("bearer" = []), ("api_key" = []))
)]
async fn post_intents(State(app): State<Arc<App>>, headers: HeaderMap, request: Request<Body>) -> Response {
    let response = async {
        let (caller, body): (_, NewIntentRequest) = read_request(&app, &headers, request).await?;
        new_intent(&app, &body, caller, agent_header(&headers)).await
    };
    respond(response.await)
}
