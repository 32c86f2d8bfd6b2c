//! Calls of the tools of the core. They run the operations of the HTTP interface, with the same arguments and answers.

use rmcp::model::CallToolResult;

use super::arguments::Arguments;
use super::results::Outcome;
use coord_http::Session;
use coord_server::error::ApiError;
use coord_server::operations::{CheckError, Refusal, check_as_sent, post};

/// The result of a call with these arguments.
///
/// # Errors
/// When the repository's source refuses the caller's credential.
pub(super) async fn call(
    session: &Session,
    arguments: Result<Arguments, ApiError>,
) -> Result<CallToolResult, ApiError> {
    let (app, caller, agent) = (&session.app, session.caller.clone(), session.agent.as_deref());
    let outcome = match arguments {
        Err(error) => Outcome::Malformed(error.for_agent()),
        Ok(Arguments::Check(request)) => match check_as_sent(app, &request, caller, agent).await {
            Ok(response) => Outcome::Check(response),
            Err(CheckError { error, head }) => error_outcome(Refusal::of_check(&error, head.as_ref()), error)?,
        },
        Ok(Arguments::Post(request)) => match post(app, &request, caller, agent).await {
            Ok(response) => Outcome::Post(response),
            Err(error) => error_outcome(Refusal::of_post(&error), error)?,
        },
    };
    Ok(outcome.result())
}

/// The result of a call of an extension's tool.
///
/// # Errors
/// Those of [`call`].
pub fn call_result(result: Result<Outcome, ApiError>) -> Result<CallToolResult, ApiError> {
    let outcome = match result {
        Ok(outcome) => outcome,
        Err(error) => error_outcome(Refusal::Agent(error.for_agent()), error)?,
    };
    Ok(outcome.result())
}

/// The outcome of a call that failed with `error`.
///
/// # Errors
/// A refused credential. The HTTP response must report it, because clients then ask their users for a different one.
fn error_outcome(refusal: Refusal, error: ApiError) -> Result<Outcome, ApiError> {
    match error {
        ApiError::Unauthorized(_) => Err(error),
        ApiError::InvalidField { .. } | ApiError::MalformedBody { .. } => Ok(Outcome::Malformed(error.for_agent())),
        _ => Ok(Outcome::from(refusal)),
    }
}
