//! Answers to the tools.

use coord_protocol::AgentError;
use coord_server::operations::fields::require;
use rmcp::model::{CallToolResult, ContentBlock};

use super::call::OpenCodeCall;
use super::refusal::{refusal_text, with_parameter_names};
use super::team_client::{Defaults, Requests, TeamClient};
use super::tool_answer::OpenCodeAnswer;
use super::{messages, records, teams};

/// The result of a refused call: an error whose first line is the sentence that the plugin throws.
pub fn refusal(error: AgentError) -> CallToolResult {
    let error = with_parameter_names(error);
    let mut result = CallToolResult::error(vec![ContentBlock::text(refusal_text(&error))]);
    result.structured_content = serde_json::to_value(&error).ok();
    result
}

/// Answers `call` by making `requests`.
///
/// # Errors
/// When an argument is not valid, or a request is refused.
pub async fn answer<R: Requests>(
    call: &OpenCodeCall,
    defaults: &Defaults,
    requests: &R,
) -> Result<OpenCodeAnswer, R::Error> {
    let client = |place, agent: &Option<String>| TeamClient::new(requests, place, agent, defaults);
    match call {
        OpenCodeCall::SpawnTeam(arguments) => {
            let info = arguments.leader_info.clone().unwrap_or_default();
            client(&arguments.place, &info.agent_id)?.spawn(&info, defaults).await
        }
        OpenCodeCall::DiscoverTeams(place) => teams::discover(requests, place).await,
        OpenCodeCall::JoinTeam(arguments) => {
            let info = arguments.agent_info.clone().unwrap_or_default();
            client(&arguments.place, &info.agent_id)?.join(&info, defaults).await
        }
        OpenCodeCall::GetTeamInfo(place) => client(place, &None)?.info().await,
        OpenCodeCall::SendMessage(arguments) => {
            let to = require("targetAgentId", &arguments.target_agent_id)?;
            let message = require("message", &arguments.message)?;
            client(&arguments.place, &arguments.from_agent_id)?
                .send(to, message)
                .await
        }
        OpenCodeCall::BroadcastMessage(arguments) => {
            let message = require("message", &arguments.message)?;
            client(&arguments.place, &arguments.from_agent_id)?
                .broadcast(message)
                .await
        }
        OpenCodeCall::ReadMessages(arguments) => client(&arguments.place, &arguments.agent_id)?.read(0, None).await,
        OpenCodeCall::PollInbox(arguments) => {
            let since = arguments.since.as_deref();
            let since = since.map(|text| records::parse_time("since", text));
            let timeout_ms = arguments.timeout_ms.unwrap_or(messages::DEFAULT_TIMEOUT_MS);
            client(&arguments.place, &arguments.agent_id)?
                .read(timeout_ms, since.transpose()?)
                .await
        }
        OpenCodeCall::CreateTask(arguments) => {
            let data = require("taskData", &arguments.task_data)?;
            client(&arguments.place, &arguments.agent_id)?.create(data).await
        }
        OpenCodeCall::GetTasks(arguments) => {
            let filters = arguments.filters.clone().unwrap_or_default();
            client(&arguments.place, &None)?.list(&filters, arguments.after).await
        }
        OpenCodeCall::ClaimTask(arguments) => {
            let id = require("taskId", &arguments.task_id)?;
            client(&arguments.place, &arguments.agent_id)?.claim(id).await
        }
        OpenCodeCall::UpdateTask(arguments) => {
            let id = require("taskId", &arguments.task_id)?;
            let updates = require("updates", &arguments.updates)?;
            client(&arguments.place, &arguments.agent_id)?.update(id, updates).await
        }
        OpenCodeCall::RequestShutdown(arguments) => {
            client(&arguments.place, &arguments.agent_id)?.request_shutdown().await
        }
        OpenCodeCall::ApproveShutdown(arguments) => {
            client(&arguments.place, &arguments.agent_id)?.approve_shutdown().await
        }
    }
}
