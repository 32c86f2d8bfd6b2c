//! HTTP responses as the plugin's records, in the form of its files.

use coord_protocol::messages::MessageView;
use coord_protocol::tasks::{TaskStatus, TaskView};
use coord_protocol::teams::{MemberView, TeamView};
use coord_teams::message::Message;
use coord_teams::names::TaskId;
use coord_teams::task::Task;
use coord_teams::team::{TeamConfig, TeamMember};
use coord_teams::time::Time;

use crate::plugin_records::{self, UnrepresentableValue};
use coord_server::error::ApiError;

/// Coord allows no value that the plugin cannot represent, so such a record is a defect of Coord.
fn defect(problem: impl Into<UnrepresentableValue>) -> ApiError {
    tracing::error!(problem = %problem.into(), "the plugin cannot represent this record");
    ApiError::Internal
}

/// A time in the parameter `field`.
pub(super) fn parse_time(field: &'static str, text: &str) -> Result<Time, ApiError> {
    Time::parse(text).map_err(|invalid| ApiError::invalid_field(field, format!("is refused: {invalid}")))
}

/// The member as it appears in a configuration.
pub(super) fn member(view: &MemberView) -> Result<TeamMember, ApiError> {
    Ok(TeamMember {
        agent_id: view.agent_id.clone(),
        agent_name: view.agent_name.clone(),
        agent_type: view.agent_type.clone(),
        joined_at: Time::parse(&view.joined_at).map_err(defect)?,
    })
}

pub(super) fn members_by_join_time(team: &TeamView) -> Vec<MemberView> {
    let mut members = team.members.clone();
    let order = |member: &MemberView| {
        // Times of the store compare as texts. Of equal ones, the leader's is first, because it creates the team.
        (member.joined_at.clone(), member.agent_id != team.leader)
    };
    members.sort_by_key(order);
    members
}

/// The team as a configuration.
pub(super) fn team(view: &TeamView) -> Result<TeamConfig, ApiError> {
    let ended = view.members.iter().filter(|member| member.ended_at.is_some());
    let approvals: Vec<String> = match view.closed_at {
        Some(_) => ended.map(|member| member.agent_id.clone()).collect(),
        None => view.shutdown_approvals.clone(),
    };
    Ok(TeamConfig {
        name: view.name.clone(),
        created: Time::parse(&view.created).map_err(defect)?,
        leader: view.leader.clone(),
        members: members_by_join_time(view)
            .iter()
            .map(member)
            .collect::<Result<_, _>>()?,
        shutdown_approvals: Some(approvals).filter(|approvals| !approvals.is_empty()),
        description: view.description.clone(),
    })
}

/// The task in the form of its file: a task in progress without an owner is `pending`, with the plugin's warning. It
/// has no completion time, because the plugin never writes one.
pub(super) fn task(view: TaskView) -> Result<Task, ApiError> {
    let id = TaskId::parse(&view.id).map_err(defect)?;
    let (blocks, dependencies) = (view.blocks.clone(), view.dependencies.clone());
    let stored = plugin_records::task(view).map_err(defect)?;
    Ok(Task {
        completed_at: None,
        dependencies,
        ..stored.file(&id, blocks)
    })
}

/// The status of the task for the plugin.
pub(super) fn plugin_status(view: &TaskView) -> TaskStatus {
    match (view.status, &view.owner) {
        (TaskStatus::InProgress, None) => TaskStatus::Pending,
        (status, _) => status,
    }
}

/// The message as it appears in the inbox of `reader`. Only a broadcast needs the `members` of the team.
pub(super) fn message(view: MessageView, reader: Option<&str>, members: &[MemberView]) -> Result<Message, ApiError> {
    let stored = plugin_records::message(view, members).map_err(defect)?;
    let is_reader = |name: &str| reader.is_some_and(|reader| reader.eq_ignore_ascii_case(name));
    let inbox = stored.to.iter().find(|handle| is_reader(handle.as_str()));
    // A broadcast does not use the inbox.
    let inbox = inbox.or(stored.to.first()).unwrap_or(&stored.from);
    Ok(stored.file(inbox, false))
}
