//! The response to an act on an intent: the action and the reason first, as agents get them.

use std::process::ExitCode;

use coord_agent::exit_status::ExitStatus;
use coord_agent::terminal::output::{BAD, CAUTION, GOOD, print, print_json, styled};
use coord_agent::workplace::Workplace;
use coord_protocol::{Action, ClientError, IntentResponse, Orchestration};

/// Prints the response of the server, and returns the exit status.
///
/// # Errors
/// When the response cannot be printed, or is not one of Coord.
pub(super) fn print_response(
    workplace: &Workplace,
    result: Result<IntentResponse, ClientError>,
    is_json: bool,
) -> anyhow::Result<ExitCode> {
    let response = match result {
        Ok(response) => response,
        Err(error) => return workplace.print_failure(error),
    };
    match is_json {
        true => print_json(&response)?,
        false => print(&render(&response))?,
    }
    Ok(if response.success {
        ExitStatus::Done
    } else {
        ExitStatus::Refused
    }
    .into())
}

fn render(response: &IntentResponse) -> String {
    let mut text = render_orchestration(&response.orchestration);
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

fn render_orchestration(orchestration: &Orchestration) -> String {
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
    text
}
