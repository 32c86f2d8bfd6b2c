//! `/api/intents/{id}/ACT`: acts on an intent. Each act has its own request; all share one response.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, Request};
use axum::response::Response;
use coord_protocol::IntentAct;

use super::answers::respond;
use crate::operations::intents::act;
use coord_http::body::read_request;
use coord_http::headers::agent_header;
use coord_server::app::App;

/// Declares an endpoint for each act. The sentences are those of the OpenAPI document.
macro_rules! acts {
    ($($module:ident = $act:ident($request:ident) at $path:literal: $summary:literal, $description:literal;)*) => {$(
        #[doc = $summary]
        pub(crate) mod $module {
            use axum::extract::{Path, State};
            use axum::routing::{MethodRouter, post};
            use coord_protocol::$request;
            use coord_protocol::schema::IntentId;
            use utoipa::OpenApi;

            use super::super::answers::ActResponses;
            use super::*;
            use coord_http::openapi::fields::AgentHeaders;

            pub(crate) fn serve(_: &App) -> MethodRouter<Arc<App>> {
                post($module)
            }

            /// Its part of the OpenAPI document.
            #[derive(OpenApi)]
            #[openapi(paths($module), components(schemas($request)))]
            pub(crate) struct Document;

            #[doc = $summary]
            #[doc = ""]
            #[doc = $description]
            #[utoipa::path(
                post,
                path = $path,
                tag = "agents",
                params(("id" = IntentId, Path, description = "The intent"), AgentHeaders),
                request_body(content = $request),
                responses(ActResponses),
                security(("bearer" = []), ("api_key" = []))
            )]
            async fn $module(
                State(app): State<Arc<App>>,
                Path(id): Path<String>,
                headers: HeaderMap,
                request: Request<Body>,
            ) -> Response {
                let response = async {
                    let (caller, body): (_, $request) = read_request(&app, &headers, request).await?;
                    act(&app, &id, &IntentAct::$act(body), caller, agent_header(&headers)).await
                };
                respond(response.await)
            }
        }
    )*};
}

acts! {
    intent_select = Select(SelectIntentRequest) at "/api/intents/{id}/select":
        "Select an intent to work on.",
        "A PENDING one begins, unless its scope is too broad or overlaps that of an active one. The response has its context.";
    intent_complete = Complete(CompleteIntentRequest) at "/api/intents/{id}/complete":
        "Complete an intent.",
        "Each criterion must be marked as met. With `force` and a `reason`, a person can complete it anyway.";
    intent_abandon = Abandon(StopIntentRequest) at "/api/intents/{id}/abandon":
        "Abandon an intent.",
        "Needs a `reason`, and a person if the intent is BLOCKED. Its files become free.";
    intent_block = Block(StopIntentRequest) at "/api/intents/{id}/block":
        "Stop an intent.",
        "Needs a `reason`. Only a person can resume it.";
    intent_unblock = Unblock(UnblockIntentRequest) at "/api/intents/{id}/unblock":
        "Resume a blocked intent.",
        "Only a person may do this.";
    intent_allow = Allow(AllowOverlapRequest) at "/api/intents/{id}/allow":
        "Allow an intent to overlap with `other`.",
        "Only a person may do this.";
    intent_take_over = TakeOver(TakeOverRequest) at "/api/intents/{id}/take_over":
        "Make an active intent the owner of `file_paths`.",
        "Reserved for people. Ends any earlier ownership of the files.";
}
