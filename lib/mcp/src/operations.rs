//! Calls of the tools of the heart, by the operations of the HTTP interface: the same arguments, read by the same parser, and the same
//! answer.

use rmcp::model::CallToolResult;

use super::arguments::Arguments;
use super::results::Outcome;
use coord_http::Session;
use coord_server::error::ApiError;
use coord_server::operations::{CheckError, Refusal, check_as_sent, post};

/// The result of a call with these arguments.
///
/// # Errors
/// When the place of the repository does not take the caller's credential.
pub(super) async fn call(
    session: &Session,
    arguments: Result<Arguments, ApiError>,
) -> Result<CallToolResult, ApiError> {
    let (app, caller, agent) = (&session.app, session.caller.clone(), session.agent.as_deref());
    let outcome = match arguments {
        Err(error) => Outcome::Malformed(error.for_agent()),
        Ok(Arguments::Check(sent)) => match check_as_sent(app, &sent, caller, agent).await {
            Ok(response) => Outcome::Check(response),
            Err(CheckError { error, head }) => of_error(Refusal::of_check(&error, head.as_ref()), error)?,
        },
        Ok(Arguments::Post(sent)) => match post(app, &sent, caller, agent).await {
            Ok(response) => Outcome::Post(response),
            Err(error) => of_error(Refusal::of_post(&error), error)?,
        },
    };
    Ok(outcome.result())
}

/// The result of a call of an extension's tool.
///
/// # Errors
/// As those of [`call`].
pub fn result_of(answered: Result<Outcome, ApiError>) -> Result<CallToolResult, ApiError> {
    let outcome = match answered {
        Ok(outcome) => outcome,
        Err(error) => of_error(Refusal::Agent(error.for_agent()), error)?,
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
