//! The request of a command, and the printing of its outcome. The response to an act on an intent has the action and the
//! reason first, as agents get them.

use std::process::ExitCode;

use coord_agent::exit_status::ExitStatus;
use coord_agent::terminal::output::{BAD, CAUTION, GOOD, print, print_json, styled};
use coord_agent::workplace::Workplace;
use coord_protocol::{Action, ClientError, IntentResponse};
use serde::Serialize;

/// Sends `request`, with a spinner until its response is here.
///
/// # Errors
/// When the server returns an error, or no response.
pub(crate) async fn ask<T>(
    workplace: &Workplace,
    request: impl Future<Output = Result<T, ClientError>>,
) -> Result<T, ClientError> {
    let _spinner = workplace.start_spinner();
    request.await
}

/// Prints `value`, as JSON or as the text that `render` makes of it.
///
/// # Errors
/// When the text cannot be written.
pub(crate) fn print_as<T: Serialize>(
    is_json: bool,
    value: &T,
    render: impl FnOnce(&T) -> String,
) -> anyhow::Result<()> {
    match is_json {
        true => print_json(value),
        false => print(&render(value)),
    }
}

/// The exit status of a command that is done, or that the rules refused.
pub(crate) fn exit_status(is_refused: bool) -> ExitCode {
    let status = match is_refused {
        true => ExitStatus::Refused,
        false => ExitStatus::Done,
    };
    status.into()
}

/// Sends a request about an intent, prints the response, and returns the exit status.
///
/// # Errors
/// When the response cannot be printed, or is not one of Coord.
pub(crate) async fn print_response(
    workplace: &Workplace,
    request: impl Future<Output = Result<IntentResponse, ClientError>>,
    is_json: bool,
) -> anyhow::Result<ExitCode> {
    let response = match ask(workplace, request).await {
        Ok(response) => response,
        Err(error) => return workplace.print_failure(error),
    };
    print_as(is_json, &response, render)?;
    Ok(exit_status(!response.success))
}

fn render(response: &IntentResponse) -> String {
    let orchestration = &response.orchestration;
    let (style, name) = match orchestration.action {
        Action::Proceed => (GOOD, "PROCEED"),
        Action::Stop => (BAD, "STOP"),
        Action::Wait => (CAUTION, "WAIT"),
        Action::Pull => (CAUTION, "PULL"),
        Action::Push => (CAUTION, "PUSH"),
        Action::SwitchTask => (CAUTION, "SWITCH_TASK"),
    };
    let mut text = format!("{}: {}\n", styled(style, name), orchestration.reason);
    if let Some(command) = &orchestration.command {
        text.push_str(&format!("Run: {command}\n"));
    }
    if let Some(error) = &response.error {
        text.push_str(&format!("{}\n", error.error.as_str()));
    }
    for warning in &response.warnings {
        text.push_str(&format!("{warning}\n"));
    }
    if let Some(context) = &response.context {
        text.push_str(&format!("\n{}\n", context.trim_end()));
    }
    text
}
