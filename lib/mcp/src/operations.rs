//! Calls of tools, by the operations of the HTTP interface: the same arguments, read by the same parser, and the same answer. Those of
//! extensions are in `intent_calls` and `team_calls`.

use rmcp::model::CallToolResult;

use super::arguments::Arguments;
use super::results::Outcome;
use super::tools::Tool;
use coord_http::Session;
use coord_server::error::ApiError;
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
        #[cfg(feature = "intents")]
        Ok(Arguments::Select(sent)) => match super::intent_calls::select(session, &sent).await {
            Ok(response) => Outcome::Intent(Box::new(response)),
            Err(error) => of_error(Refusal::Agent(error.for_agent()), error)?,
        },
        #[cfg(feature = "teams")]
        Ok(Arguments::Team(call)) => match super::team_calls::answer(session, &call).await {
            Ok(answer) => Outcome::Team(Box::new(answer)),
            Err(error) => of_error(Refusal::Agent(error.for_agent()), error)?,
        },
        #[cfg(feature = "teams")]
        Ok(Arguments::OpenCode(call)) => {
            return match super::team_calls::answer_opencode(session, &call).await {
                Ok(answer) => Ok(answer.result()),
                Err(error @ ApiError::Unauthorized(_)) => Err(error),
                Err(error) => Ok(super::opencode::refusal(error.for_agent())),
            };
        }
        #[cfg(feature = "intents")]
        Ok(Arguments::Update(sent)) => match super::intent_calls::update(session, *sent).await {
            Ok(response) => Outcome::Intent(Box::new(response)),
            Err(error) => of_error(Refusal::Agent(error.for_agent()), error)?,
        },
        // No such tool is offered: see `Tool::named`.
        #[cfg(not(all(feature = "intents", feature = "teams")))]
        Ok(_) => return Err(ApiError::Internal),
    };
    Ok(outcome.result())
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
