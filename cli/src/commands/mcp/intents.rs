//! Calls of the tools that select and update intents.

use coord_intent_tools::IntentCall;
use coord_mcp::Outcome;
use coord_protocol::{
    Client, ClientError, ErrorBody, ErrorCode, IntentResponse, IntentUpdateRequest, IntentsView, SelectIntentCall,
    UpdateIntentCall,
};

use super::backend::Failure;
use super::proxy::Proxy;
use super::target::{CallOrigin, Target};

impl Proxy {
    /// The answer to `call`.
    pub(super) async fn intent(&self, call: IntentCall, client: Option<&str>) -> Result<Outcome, Failure> {
        let response = match call {
            IntentCall::Select(call) => self.select_intent(call, client).await?,
            IntentCall::Update(call) => self.update_intent(*call, client).await?,
        };
        Ok(Outcome::Intent(Box::new(response)))
    }

    /// Selects an intent, or lists those that can be selected.
    async fn select_intent(&self, mut call: SelectIntentCall, client: Option<&str>) -> Result<IntentResponse, Failure> {
        let target = self.target(
            CallOrigin::of(&call.repo_url, &call.branch, &call.agent_id, &None),
            client,
        )?;
        fill_in(&target, &mut call.repo_url, &mut call.agent_id);
        call.branch = call.branch.or(target.work.as_ref().map(|work| work.branch.to_string()));
        let Some(id) = &call.intent_id else {
            let repo_url = call.repo_url.as_deref().unwrap_or_default();
            let intents = self.backend.ask(&target.root, async |client| {
                client.intents(repo_url, IntentsView::Context).await
            });
            return intents.await.map(IntentResponse::choice);
        };
        let act = call.act();
        self.backend
            .ask(&target.root, async |client| client.act_on_intent(id, &act).await)
            .await
    }

    /// Writes, edits or ends an intent.
    async fn update_intent(&self, mut call: UpdateIntentCall, client: Option<&str>) -> Result<IntentResponse, Failure> {
        let target = self.target(CallOrigin::of(&call.repo_url, &None, &call.agent_id, &None), client)?;
        fill_in(&target, &mut call.repo_url, &mut call.agent_id);
        self.backend
            .ask(&target.root, async |client| send_update(client, call.clone()).await)
            .await
    }
}

fn fill_in(target: &Target, repo_url: &mut Option<String>, agent_id: &mut Option<String>) {
    if let (None, Some(work)) = (&repo_url, &target.work) {
        *repo_url = Some(work.repo_url());
    }
    *agent_id = Some(target.agent_id.clone());
}

/// Sends the request of `call`.
async fn send_update(client: &Client, call: UpdateIntentCall) -> Result<IntentResponse, ClientError> {
    let id = call.intent_id.clone().ok_or_else(|| missing_field("intent_id"));
    match call.into_request().ok_or_else(|| missing_field("action"))? {
        IntentUpdateRequest::New(request) => client.new_intent(&request).await,
        IntentUpdateRequest::Edit(request) => client.edit_intent(&id?, &request).await,
        IntentUpdateRequest::Act(act) => client.act_on_intent(&id?, &act).await,
    }
}

fn missing_field(field: &str) -> ClientError {
    ClientError::Refused {
        status: 400,
        error: Box::new(ErrorBody {
            error: ErrorCode::InvalidField,
            message: format!("{field} is required"),
            field: Some(field.to_owned()),
        }),
        orchestration: None,
        waiting: Box::default(),
        retry_after: None,
    }
}
