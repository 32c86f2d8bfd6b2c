//! Calls of the tools, by the operations.

use coord_protocol::tool_names::{SELECT_ACTIVE_INTENT, UPDATE_INTENT};
use coord_protocol::{IntentResponse, IntentUpdate, IntentUpdateRequest, SelectIntentCall, UpdateIntentCall};

use coord_http::Session;
use coord_http::body::parse;
use coord_intents_server::operations::intents::{
    IntentsRequest, IntentsView, act, edit_intent, list_intents, new_intent,
};
use coord_mcp::{Outcome, result_of};
use coord_server::error::ApiError;
use coord_server::operations::fields::require;
use rmcp::model::CallToolResult;

/// The request that a call of a tool stands for.
#[derive(Clone, Debug)]
pub enum IntentCall {
    /// Of `select_active_intent`.
    Select(SelectIntentCall),
    /// Of `update_intent`.
    Update(Box<UpdateIntentCall>),
}

impl IntentCall {
    /// Reads the `arguments` of the tool `name`, a JSON object. `None` if it is none of these tools.
    ///
    /// # Errors
    /// When they are not of the shape of the tool's request.
    pub fn read(name: &str, arguments: &str) -> Option<Result<IntentCall, ApiError>> {
        Some(match name {
            SELECT_ACTIVE_INTENT => parse(arguments.as_bytes()).map(IntentCall::Select),
            UPDATE_INTENT => parse(arguments.as_bytes()).map(|sent| IntentCall::Update(Box::new(sent))),
            _ => return None,
        })
    }
}

/// Calls the tool `name`.
///
/// # Errors
/// When the place of the repository does not take the caller's credential.
pub(super) async fn call(session: &Session, name: &str, arguments: &str) -> Result<CallToolResult, ApiError> {
    let answered = match IntentCall::read(name, arguments).unwrap_or(Err(ApiError::Internal)) {
        Ok(IntentCall::Select(sent)) => select(session, &sent).await,
        Ok(IntentCall::Update(sent)) => update(session, *sent).await,
        Err(error) => Err(error),
    };
    result_of(answered.map(|response| Outcome::Intent(Box::new(response))))
}

/// Selects an intent, or lists those that can be selected.
async fn select(session: &Session, sent: &SelectIntentCall) -> Result<IntentResponse, ApiError> {
    let (app, caller) = (&session.app, session.caller.clone());
    let agent = sent.agent_id.as_deref().or(session.agent.as_deref());
    let Some(id) = &sent.intent_id else {
        let request = IntentsRequest {
            repo_url: &sent.repo_url,
            branch: sent.branch.as_deref(),
            status: None,
            view: IntentsView::Context,
            caller,
            agent,
        };
        return list_intents(app, request).await.map(IntentResponse::choice);
    };
    act(app, id, &sent.act(), caller, agent).await
}

/// Writes, edits or ends an intent. No argument makes it an act of a person.
async fn update(session: &Session, sent: UpdateIntentCall) -> Result<IntentResponse, ApiError> {
    let (app, caller, agent) = (&session.app, session.caller.clone(), session.agent.as_deref());
    let action = *require("action", &sent.action)?;
    let id = match action {
        IntentUpdate::New => String::new(),
        _ => require("intent_id", &sent.intent_id)?.clone(),
    };
    match sent.into_request() {
        Some(IntentUpdateRequest::New(request)) => new_intent(app, &request, caller, agent).await,
        Some(IntentUpdateRequest::Edit(request)) => edit_intent(app, &id, &request, caller, agent).await,
        Some(IntentUpdateRequest::Act(wanted)) => act(app, &id, &wanted, caller, agent).await,
        None => Err(ApiError::Internal),
    }
}
