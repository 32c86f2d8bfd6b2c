//! Refusals, in the plugin's sentences and with its parameter names.

use coord_protocol::{AgentError, ErrorCode, Waiting};

use coord_domain::Invalid;
use coord_server::error::ApiError;
use coord_teams_server::refusal::TeamRefused;
use coord_teams_state::teams::TeamRefusal;

/// The refusal of a team name. Its whole message is the plugin's sentence.
pub(super) fn invalid_team_name(invalid: Invalid) -> ApiError {
    ApiError::MalformedBody {
        field: Some("teamName".to_owned()),
        message: invalid.0,
    }
}

/// A refusal by the rules, without a request.
pub(super) fn refused_by_rules(refusal: TeamRefusal) -> ApiError {
    ApiError::from(TeamRefused {
        refusal,
        waiting: Waiting::default(),
    })
}

/// Fields of requests and the plugin's names for them.
const PARAMETERS: [(&str, &str); 9] = [
    ("team", "teamName"),
    ("name", "teamName"),
    ("id", "taskId"),
    ("to", "targetAgentId"),
    ("handle", "agentId"),
    ("agent_id", "agentId"),
    ("agent_name", "agentName"),
    ("agent_type", "agentType"),
    ("ref", "taskData"),
];

/// Replaces the field of `error` with the plugin's name for it.
pub(super) fn with_parameter_names(mut error: AgentError) -> AgentError {
    let body = &mut error.error;
    let renamed = PARAMETERS
        .iter()
        .find(|(field, _)| body.field.as_deref() == Some(*field));
    if let Some((field, parameter)) = renamed {
        for text in [&mut body.message, &mut error.orchestration.reason] {
            if let Some(problem) = text.strip_prefix(field).filter(|problem| problem.starts_with(' ')) {
                *text = format!("{parameter}{problem}");
            }
        }
        body.field = Some((*parameter).to_owned());
    }
    if body.error == ErrorCode::NotAMember {
        error.orchestration.reason = format!(
            "{}: no agent of your login has this handle there. Call join-team under a handle of your own",
            body.message
        );
    }
    error
}

/// The sentence alone, as the plugin throws it. Then the command, with facts that the sentence lacks.
pub(super) fn refusal_text(error: &AgentError) -> String {
    let (sentence, reason) = (&error.error.message, &error.orchestration.reason);
    let action = serde_json::to_value(error.orchestration.action).unwrap_or_default();
    let action = action.as_str().unwrap_or_default();
    let rest = reason.strip_prefix(sentence.as_str()).unwrap_or(reason);
    let rest = rest.trim_start_matches([':', ';', ' ']);
    let command = match rest {
        "" => action.to_owned(),
        rest => format!("{action}: {rest}"),
    };
    let run = error
        .orchestration
        .command
        .iter()
        .map(|command| format!("Run: {command}"));
    let lines = [sentence.clone(), command].into_iter().chain(run);
    lines.chain(error.waiting.warnings(None)).collect::<Vec<_>>().join("\n")
}
