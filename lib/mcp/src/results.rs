//! Results of tools: the HTTP response as structured content, and a few lines that begin with the command and reason.

use coord_protocol::plain_text::{clean, quote_line, visible_line, visible_text};
use coord_protocol::team_tools::TeamCallResponse;
use coord_protocol::{AgentError, CheckResponse, ErrorBody, IntentResponse, Orchestration, PostResponse};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;

use super::teams;
use coord_server::operations::Refusal;

/// Most warnings in the text, and most names. The structured content has all of them.
const MAX_LINES: usize = 12;

/// The outcome of a call.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Outcome {
    /// The answer to a check.
    Check(CheckResponse),
    /// The answer to a claim or a release, even if the rules refuse it.
    Post(PostResponse),
    /// The answer about one intent, even if the rules refuse the call, or the intents that the caller can select.
    Intent(Box<IntentResponse>),
    /// The answer of a tool of teams.
    Team(Box<TeamCallResponse>),
    /// An error in place of an answer.
    Refused(AgentError),
    /// The error of a malformed call.
    Malformed(AgentError),
}

impl From<Refusal> for Outcome {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Check(response) => Outcome::Check(response),
            Refusal::Post(response) => Outcome::Post(response),
            Refusal::Agent(error) => Outcome::Refused(error),
        }
    }
}

impl Outcome {
    /// The outcome for the MCP client.
    pub fn result(&self) -> CallToolResult {
        let content = vec![ContentBlock::text(visible_text(&self.text()))];
        let mut result = match self {
            Outcome::Malformed(_) => CallToolResult::error(content),
            _ => CallToolResult::success(content),
        };
        result.structured_content = serde_json::to_value(self).ok().map(|mut value| {
            clean(&mut value);
            value
        });
        result
    }

    /// A few lines that begin with the command and the reason.
    pub fn text(&self) -> String {
        match self {
            Outcome::Check(response) => text(&response.orchestration, response.error.as_ref(), &response.warnings),
            Outcome::Post(response) => {
                let mut text = text(&response.orchestration, response.error.as_ref(), &response.warnings);
                if !response.orphaned_dependencies.is_empty() {
                    let names = &response.orphaned_dependencies;
                    let listed = names[..names.len().min(MAX_LINES)].join(", ");
                    let total = response.orphaned_dependencies_total.unwrap_or(names.len() as u64);
                    let import = if total == 1 { "file imports" } else { "files import" };
                    text.push_str(&format!("\n{total} {import} what you changed: {listed}"));
                }
                text
            }
            Outcome::Intent(response) => {
                let text = text(&response.orchestration, response.error.as_ref(), &response.warnings);
                let context = response.context.as_ref().map(|context| format!("\n\n{context}"));
                text + &context.unwrap_or_default()
            }
            Outcome::Team(answer) => {
                let command = answer
                    .orchestration()
                    .map(|orchestration| text(orchestration, None, &[]));
                let lines = command.into_iter().chain(teams::lines(answer));
                lines.chain(answer.warnings()).collect::<Vec<_>>().join("\n")
            }
            Outcome::Refused(error) => text(&error.orchestration, Some(&error.error), &error.waiting.warnings(None)),
            Outcome::Malformed(error) => malformed_text(&error.error),
        }
    }
}

/// `WAIT: the reason`, the command, the code of an error, and warnings.
fn text(orchestration: &Orchestration, error: Option<&ErrorBody>, warnings: &[String]) -> String {
    let action = serde_json::to_value(orchestration.action).unwrap_or_default();
    let action = match error {
        Some(error) if error.error.is_caller_mistake() => "FIX",
        _ => action.as_str().unwrap_or_default(),
    };
    let mut lines = vec![format!("{action}: {}", visible_line(&orchestration.reason))];
    let run = match orchestration.is_for_background() {
        true => "Run in the background",
        false => "Run",
    };
    lines.extend(
        orchestration
            .command
            .as_ref()
            .map(|command| format!("{run}: {command}")),
    );
    lines.extend(error.map(|error| error.error.as_str().to_owned()));
    let suggested = orchestration
        .metadata
        .iter()
        .flat_map(|metadata| &metadata.suggested_tasks);
    lines.extend(suggested.map(|task| {
        let author = teams::author(&task.created_by, task.login.as_deref());
        format!(
            "Ready in {}: {} of {author}: {}",
            task.team,
            task.id,
            quote_line(&task.title)
        )
    }));
    let free = orchestration.metadata.iter().flat_map(|metadata| &metadata.free);
    let free: Vec<&str> = free.map(String::as_str).collect();
    if !free.is_empty() {
        lines.push(format!("Free nearby: {}", free.join(", ")));
    }
    lines.extend(
        warnings
            .iter()
            .take(MAX_LINES)
            .map(|line| visible_line(line).into_owned()),
    );
    if warnings.len() > MAX_LINES {
        lines.push(format!("and {} more warnings", warnings.len() - MAX_LINES));
    }
    lines.join("\n")
}

/// Says how to fix a call.
fn malformed_text(error: &ErrorBody) -> String {
    let field = error.field.as_deref().map(|field| format!(" (field {field})"));
    format!(
        "FIX: {}. Nothing was done: fix the field and retry.\n{}{}",
        error.message,
        error.error.as_str(),
        field.unwrap_or_default()
    )
}
