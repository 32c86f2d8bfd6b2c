//! Calls of tools, by the operations of the HTTP interface: the same arguments, read by the same parser, and the same answer.

use coord_protocol::team_tools::{TeamAnswer, TeamCall};
use coord_protocol::{IntentResponse, IntentUpdate, IntentUpdateRequest, SelectIntentCall, UpdateIntentCall};
use futures::FutureExt;
use rmcp::model::CallToolResult;

use super::arguments::Arguments;
use super::opencode::{self, Defaults, OpenCodeAnswer, OpenCodeCall, Requests};
use super::results::Outcome;
use super::teams;
use super::tools::Tool;
use coord_http::Session;
use coord_server::error::ApiError;
use coord_server::operations::fields::required;
use coord_server::operations::intents::{IntentsRequest, IntentsView, act, edit_intent, list_intents, new_intent};
use coord_server::operations::{CheckError, Refusal, check_as_sent, post};

/// The result of a call with these arguments, a JSON object.
///
/// # Errors
/// When the place of the repository does not take the caller's credential.
pub(super) async fn call(session: &Session, tool: Tool, arguments: &str) -> Result<CallToolResult, ApiError> {
    let (app, caller, agent) = (&session.app, session.caller.clone(), session.agent.as_deref());
    let outcome = match Arguments::read(tool, arguments) {
        Err(error) => Outcome::Malformed(error.for_agent()),
        Ok(Arguments::Check(sent)) => match check_as_sent(app, &sent, caller, agent).await {
            Ok(response) => Outcome::Check(response),
            Err(CheckError { error, head }) => of_error(Refusal::of_check(&error, head.as_ref()), error)?,
        },
        Ok(Arguments::Post(sent)) => match post(app, &sent, caller, agent).await {
            Ok(response) => Outcome::Post(response),
            Err(error) => of_error(Refusal::of_post(&error), error)?,
        },
        Ok(Arguments::Select(sent)) => match select(session, &sent).await {
            Ok(response) => Outcome::Intent(Box::new(response)),
            Err(error) => of_error(Refusal::Agent(error.for_agent()), error)?,
        },
        Ok(Arguments::Team(call)) => match teams::answer(session, &call).await {
            Ok(answer) => Outcome::Team(Box::new(answer)),
            Err(error) => of_error(Refusal::Agent(error.for_agent()), error)?,
        },
        Ok(Arguments::OpenCode(call)) => {
            return match answer_opencode(session, &call).await {
                Ok(answer) => Ok(answer.result()),
                Err(error @ ApiError::Unauthorized(_)) => Err(error),
                Err(error) => Ok(opencode::refusal(error.for_agent())),
            };
        }
        Ok(Arguments::Update(sent)) => match update(session, *sent).await {
            Ok(response) => Outcome::Intent(Box::new(response)),
            Err(error) => of_error(Refusal::Agent(error.for_agent()), error)?,
        },
    };
    Ok(outcome.result())
}

/// Requests of the caller of a session, by the operations.
struct SessionRequests<'a>(&'a Session);

impl Requests for SessionRequests<'_> {
    type Error = ApiError;

    fn make(&self, call: TeamCall) -> impl Future<Output = Result<TeamAnswer, ApiError>> {
        // In a box, because of the compiler: it does not see otherwise that this may go to another thread.
        let session = self.0;
        async move { teams::answer(session, &call).await }.boxed()
    }
}

/// Answers a tool of the plugin opencode-teams. Nothing is remembered until the next call, so that messages count as read at once.
async fn answer_opencode(session: &Session, call: &OpenCodeCall) -> Result<OpenCodeAnswer, ApiError> {
    let defaults = Defaults {
        agent_id: session.agent.clone(),
        ..Defaults::default()
    };
    let mut answer = opencode::answer(call, &defaults, &SessionRequests(session)).await?;
    if let Some(proof) = answer.proof.take() {
        teams::answer(session, &proof).await?;
    }
    Ok(answer)
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

/// The outcome of a call that `error` has kept from an answer.
///
/// # Errors
/// `error`, where a credential was not taken: HTTP has to say so, because clients ask their users for another then.
fn of_error(refusal: Refusal, error: ApiError) -> Result<Outcome, ApiError> {
    match error {
        ApiError::Unauthorized(_) => Err(error),
        ApiError::InvalidField { .. } | ApiError::MalformedBody { .. } => Ok(Outcome::Malformed(error.for_agent())),
        _ => Ok(Outcome::from(refusal)),
    }
}
