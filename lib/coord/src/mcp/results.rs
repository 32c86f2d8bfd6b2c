//! Results of tools: what HTTP would answer as structured content, and a few lines that begin with what to do and why.

use coord_protocol::{AgentError, CheckResponse, ErrorBody, Orchestration, PostResponse};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;

use crate::error::ApiError;
use crate::operations::Refusal;

/// Most warnings in the text, and most names; all of them are in the structured content.
const MOST_LINES: usize = 12;

/// What a call came to.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Outcome {
    /// A check was answered.
    Check(CheckResponse),
    /// A claim or a release was granted, or refused by the rules.
    Post(PostResponse),
    /// There is no such answer.
    Refused(Refusal),
    /// The call was malformed.
    Malformed(AgentError),
}

impl Outcome {
    /// That of a call that `error` has kept from an answer.
    ///
    /// # Errors
    /// `error`, where a credential was not taken: HTTP has to say so, because clients ask their users for another then.
    pub(super) fn of(refusal: Refusal, error: ApiError) -> Result<Self, ApiError> {
        match error {
            ApiError::Unauthorized(_) => Err(error),
            ApiError::InvalidField { .. } | ApiError::MalformedBody { .. } => Ok(Outcome::Malformed(error.for_agent())),
            _ => Ok(Outcome::Refused(refusal)),
        }
    }

    fn text(&self) -> String {
        match self {
            Outcome::Check(response) | Outcome::Refused(Refusal::Check(response)) => {
                text(&response.orchestration, response.error.as_ref(), &response.warnings)
            }
            Outcome::Post(response) | Outcome::Refused(Refusal::Post(response)) => {
                let mut text = text(&response.orchestration, response.error.as_ref(), &response.warnings);
                if !response.orphaned_dependencies.is_empty() {
                    let names = &response.orphaned_dependencies;
                    let shown = names[..names.len().min(MOST_LINES)].join(", ");
                    let total = response.orphaned_dependencies_total.unwrap_or(names.len() as u64);
                    text.push_str(&format!("\n{total} files import what you changed: {shown}"));
                }
                text
            }
            Outcome::Refused(Refusal::Agent(error)) => text(&error.orchestration, Some(&error.error), &[]),
            Outcome::Malformed(error) => malformed(&error.error),
        }
    }
}

/// `outcome` as the client gets it.
pub(super) fn result(outcome: &Outcome) -> CallToolResult {
    let content = vec![ContentBlock::text(outcome.text())];
    let mut result = match outcome {
        Outcome::Malformed(_) => CallToolResult::error(content),
        _ => CallToolResult::success(content),
    };
    result.structured_content = serde_json::to_value(outcome).ok();
    result
}

/// `WAIT: the reason`, the command, the code of an error, and warnings.
fn text(orchestration: &Orchestration, error: Option<&ErrorBody>, warnings: &[String]) -> String {
    let action = serde_json::to_value(orchestration.action).unwrap_or_default();
    let mut lines = vec![format!(
        "{}: {}",
        action.as_str().unwrap_or_default(),
        orchestration.reason
    )];
    lines.extend(orchestration.command.as_ref().map(|command| format!("Run: {command}")));
    lines.extend(error.map(|error| error.error.as_str().to_owned()));
    lines.extend(warnings.iter().take(MOST_LINES).cloned());
    if warnings.len() > MOST_LINES {
        lines.push(format!("and {} more warnings", warnings.len() - MOST_LINES));
    }
    lines.join("\n")
}

/// What to mend in a call.
fn malformed(error: &ErrorBody) -> String {
    let field = error.field.as_deref().map(|field| format!(" (field {field})"));
    format!(
        "STOP: {}. Nothing was done: mend the call and make it again.\n{}{}",
        error.message,
        error.error.as_str(),
        field.unwrap_or_default()
    )
}
