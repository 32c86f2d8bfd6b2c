//! Calls of the tools of intents, by their operations; and their resources.

use coord_protocol::{IntentResponse, IntentUpdate, IntentUpdateRequest, SelectIntentCall, UpdateIntentCall};

use coord_http::Session;
use coord_intents_server::operations::intents::{
    IntentsRequest, IntentsView, act, edit_intent, list_intents, new_intent,
};
use coord_server::error::ApiError;
use coord_server::operations::fields::required;

/// Selects an intent, or lists those that can be selected.
pub(super) async fn select(session: &Session, sent: &SelectIntentCall) -> Result<IntentResponse, ApiError> {
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
pub(super) async fn update(session: &Session, sent: UpdateIntentCall) -> Result<IntentResponse, ApiError> {
    let (app, caller, agent) = (&session.app, session.caller.clone(), session.agent.as_deref());
    let action = *required("action", &sent.action)?;
    let id = match action {
        IntentUpdate::New => String::new(),
        _ => required("intent_id", &sent.intent_id)?.clone(),
    };
    match sent.into_request() {
        Some(IntentUpdateRequest::New(request)) => new_intent(app, &request, caller, agent).await,
        Some(IntentUpdateRequest::Edit(request)) => edit_intent(app, &id, &request, caller, agent).await,
        Some(IntentUpdateRequest::Act(wanted)) => act(app, &id, &wanted, caller, agent).await,
        None => Err(ApiError::Internal),
    }
}
