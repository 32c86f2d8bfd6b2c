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
        match call {
            IntentCall::Select(sent) => self.select(sent, client).await,
            IntentCall::Update(sent) => self.update(*sent, client).await,
        }
    }

    /// Selects an intent, or lists those that can be selected.
    async fn select(&self, mut sent: SelectIntentCall, client: Option<&str>) -> Result<Outcome, Failure> {
        let target = self.target(
            CallOrigin::of(&sent.repo_url, &sent.branch, &sent.agent_id, &None),
            client,
        )?;
        fill_in(&target, &mut sent.repo_url, &mut sent.agent_id);
        sent.branch = sent.branch.or(target.work.as_ref().map(|work| work.branch.to_string()));
        let Some(id) = &sent.intent_id else {
            let repo_url = sent.repo_url.as_deref().unwrap_or_default();
            let listed = self.backend.ask(&target.root, async |client| {
                client.intents(repo_url, IntentsView::Context).await
            });
            let chosen = |listed| Outcome::Intent(Box::new(IntentResponse::choice(listed)));
            return listed.await.map(chosen);
        };
        let act = sent.act();
        let answer = self
            .backend
            .ask(&target.root, async |client| client.act_on_intent(id, &act).await);
        answer.await.map(|response| Outcome::Intent(Box::new(response)))
    }

    /// Writes, edits or ends an intent.
    async fn update(&self, mut sent: UpdateIntentCall, client: Option<&str>) -> Result<Outcome, Failure> {
        let target = self.target(CallOrigin::of(&sent.repo_url, &None, &sent.agent_id, &None), client)?;
        fill_in(&target, &mut sent.repo_url, &mut sent.agent_id);
        let answer = self
            .backend
            .ask(&target.root, async |client| ask(client, sent.clone()).await);
        answer.await.map(|response| Outcome::Intent(Box::new(response)))
    }
}

fn fill_in(target: &Target, repo_url: &mut Option<String>, agent_id: &mut Option<String>) {
    if let (None, Some(work)) = (&repo_url, &target.work) {
        *repo_url = Some(work.repo_url());
    }
    *agent_id = Some(target.agent_id.clone());
}

/// Sends the request that `sent` stands for.
async fn ask(client: &Client, sent: UpdateIntentCall) -> Result<IntentResponse, ClientError> {
    let id = sent.intent_id.clone().ok_or_else(|| is_required("intent_id"));
    match sent.into_request().ok_or_else(|| is_required("action"))? {
        IntentUpdateRequest::New(request) => client.new_intent(&request).await,
        IntentUpdateRequest::Edit(request) => client.edit_intent(&id?, &request).await,
        IntentUpdateRequest::Act(act) => client.act_on_intent(&id?, &act).await,
    }
}

fn is_required(field: &str) -> ClientError {
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
