//! Runs the operations for the calls of the tools.

use coord_protocol::tool_names::{SELECT_ACTIVE_INTENT, UPDATE_INTENT};
use coord_protocol::{
    IntentResponse, IntentUpdate, IntentUpdateRequest, IntentsView, SelectIntentCall, UpdateIntentCall,
};

use coord_http::Session;
use coord_http::body::parse;
use coord_intents_server::operations::intents::{IntentsRequest, act, edit_intent, list_intents, new_intent};
use coord_mcp::{Outcome, call_result};
use coord_server::error::ApiError;
use coord_server::operations::fields::require;
use rmcp::model::CallToolResult;

/// A call of a tool.
#[derive(Clone, Debug)]
pub enum IntentCall {
    /// A call of `select_active_intent`.
    Select(SelectIntentCall),
    Update(Box<UpdateIntentCall>),
}

impl IntentCall {
    /// Reads the `arguments` of the tool `name`, a JSON object. `None` if no tool of intents has this name.
    ///
    /// # Errors
    /// When the arguments do not have the shape of the tool's request.
    pub fn read(name: &str, arguments: &str) -> Option<Result<IntentCall, ApiError>> {
        Some(match name {
            SELECT_ACTIVE_INTENT => parse(arguments.as_bytes()).map(IntentCall::Select),
            UPDATE_INTENT => parse(arguments.as_bytes()).map(|call| IntentCall::Update(Box::new(call))),
            _ => return None,
        })
    }
}

/// Calls the tool `name`.
///
/// # Errors
/// When the repository's source refuses the caller's credential.
pub(super) async fn call(session: &Session, name: &str, arguments: &str) -> Result<CallToolResult, ApiError> {
    let result = match IntentCall::read(name, arguments).unwrap_or(Err(ApiError::Internal)) {
        Ok(IntentCall::Select(call)) => select(session, &call).await,
        Ok(IntentCall::Update(call)) => update(session, *call).await,
        Err(error) => Err(error),
    };
    call_result(result.map(|response| Outcome::Intent(Box::new(response))))
}

/// Selects an intent, or lists the intents that the caller can select.
async fn select(session: &Session, call: &SelectIntentCall) -> Result<IntentResponse, ApiError> {
    let (app, caller) = (&session.app, session.caller.clone());
    let agent = call.agent_id.as_deref().or(session.agent.as_deref());
    let Some(id) = &call.intent_id else {
        let request = IntentsRequest {
            repo_url: &call.repo_url,
            branch: call.branch.as_deref(),
            status: None,
            view: IntentsView::Context,
            caller,
            agent,
        };
        return list_intents(app, request).await.map(IntentResponse::choice);
    };
    act(app, id, &call.act(), caller, agent).await
}

/// Writes, edits or ends an intent. No argument can turn this into an act of a person.
async fn update(session: &Session, call: UpdateIntentCall) -> Result<IntentResponse, ApiError> {
    let (app, caller, agent) = (&session.app, session.caller.clone(), session.agent.as_deref());
    let action = *require("action", &call.action)?;
    let id = match action {
        IntentUpdate::New => String::new(),
        _ => require("intent_id", &call.intent_id)?.clone(),
    };
    match call.into_request() {
        Some(IntentUpdateRequest::New(request)) => new_intent(app, &request, caller, agent).await,
        Some(IntentUpdateRequest::Edit(request)) => edit_intent(app, &id, &request, caller, agent).await,
        Some(IntentUpdateRequest::Act(request)) => act(app, &id, &request, caller, agent).await,
        None => Err(ApiError::Internal),
    }
}
