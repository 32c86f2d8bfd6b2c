//! Answers to the tools.

use coord_protocol::AgentError;
use rmcp::model::{CallToolResult, ContentBlock};

use super::board::{self, Board, Defaults, Requests};
use super::call::OpenCodeCall;
use super::refusal::{by_parameters, text};
use super::tool_answer::OpenCodeAnswer;
use super::{messages, records, teams};

/// A refusal as the client gets it. The plugin throws its sentence: so it is an error, and the sentence is its first line.
pub fn refusal(error: AgentError) -> CallToolResult {
    let error = by_parameters(error);
    let mut result = CallToolResult::error(vec![ContentBlock::text(text(&error))]);
    result.structured_content = serde_json::to_value(&error).ok();
    result
}

/// Answers `call` by `requests`.
///
/// # Errors
/// When an argument is not valid, or a request is refused.
pub async fn answer<R: Requests>(
    call: &OpenCodeCall,
    defaults: &Defaults,
    requests: &R,
) -> Result<OpenCodeAnswer, R::Error> {
    let board = |place, agent: &Option<String>| Board::new(requests, place, agent, defaults);
    match call {
        OpenCodeCall::SpawnTeam(sent) => {
            let info = sent.leader_info.clone().unwrap_or_default();
            board(&sent.place, &info.agent_id)?.spawn(&info, defaults).await
        }
        OpenCodeCall::DiscoverTeams(place) => teams::discover(requests, place).await,
        OpenCodeCall::JoinTeam(sent) => {
            let info = sent.agent_info.clone().unwrap_or_default();
            board(&sent.place, &info.agent_id)?.join(&info, defaults).await
        }
        OpenCodeCall::GetTeamInfo(place) => board(place, &None)?.info().await,
        OpenCodeCall::SendMessage(sent) => {
            let to = board::require("targetAgentId", &sent.target_agent_id)?;
            let message = board::require("message", &sent.message)?;
            board(&sent.place, &sent.from_agent_id)?.send(to, message).await
        }
        OpenCodeCall::BroadcastMessage(sent) => {
            let message = board::require("message", &sent.message)?;
            board(&sent.place, &sent.from_agent_id)?.broadcast(message).await
        }
        OpenCodeCall::ReadMessages(sent) => board(&sent.place, &sent.agent_id)?.read(0, None).await,
        OpenCodeCall::PollInbox(sent) => {
            let since = sent.since.as_deref().map(|text| records::sent_time("since", text));
            let timeout_ms = sent.timeout_ms.unwrap_or(messages::USUAL_TIMEOUT_MS);
            board(&sent.place, &sent.agent_id)?
                .read(timeout_ms, since.transpose()?)
                .await
        }
        OpenCodeCall::CreateTask(sent) => {
            let data = board::require("taskData", &sent.task_data)?;
            board(&sent.place, &sent.agent_id)?.create(data).await
        }
        OpenCodeCall::GetTasks(sent) => {
            let filters = sent.filters.clone().unwrap_or_default();
            board(&sent.place, &None)?.list(&filters, sent.after).await
        }
        OpenCodeCall::ClaimTask(sent) => {
            let id = board::require("taskId", &sent.task_id)?;
            board(&sent.place, &sent.agent_id)?.claim(id).await
        }
        OpenCodeCall::UpdateTask(sent) => {
            let id = board::require("taskId", &sent.task_id)?;
            let updates = board::require("updates", &sent.updates)?;
            board(&sent.place, &sent.agent_id)?.update(id, updates).await
        }
        OpenCodeCall::RequestShutdown(sent) => board(&sent.place, &sent.agent_id)?.request_shutdown().await,
        OpenCodeCall::ApproveShutdown(sent) => board(&sent.place, &sent.agent_id)?.approve_shutdown().await,
    }
}
