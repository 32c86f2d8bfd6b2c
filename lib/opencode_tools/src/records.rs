//! Answers of HTTP as the plugin's records: those of its files.

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

/// A record of ours that the plugin cannot have: a defect.
fn defect(problem: impl Into<UnrepresentableValue>) -> ApiError {
    tracing::error!(problem = %problem.into(), "this is no record of the plugin");
    ApiError::Internal
}

fn time(text: &str) -> Result<Time, ApiError> {
    Time::parse(text).map_err(defect)
}

/// A time in the parameter `field`.
pub(super) fn sent_time(field: &'static str, text: &str) -> Result<Time, ApiError> {
    Time::parse(text).map_err(|wrong| ApiError::InvalidField {
        field,
        problem: format!("is refused: {wrong}"),
    })
}

/// The member as configurations have it.
pub(super) fn member(view: &MemberView) -> Result<TeamMember, ApiError> {
    Ok(TeamMember {
        agent_id: view.agent_id.clone(),
        agent_name: view.agent_name.clone(),
        agent_type: view.agent_type.clone(),
        joined_at: time(&view.joined_at)?,
    })
}

/// The members in the order in which they joined.
pub(super) fn by_joining(team: &TeamView) -> Vec<MemberView> {
    let mut members = team.members.clone();
    let order = |member: &MemberView| {
        // The leader of a new team is its first member. Times of the store compare as texts.
        (member.joined_at.clone(), member.agent_id != team.leader)
    };
    members.sort_by_key(order);
    members
}

/// The team as its configuration.
pub(super) fn team(view: &TeamView) -> Result<TeamConfig, ApiError> {
    let ended = view.members.iter().filter(|member| member.ended_at.is_some());
    let approvals: Vec<String> = match view.closed_at {
        Some(_) => ended.map(|member| member.agent_id.clone()).collect(),
        None => view.shutdown_approvals.clone(),
    };
    Ok(TeamConfig {
        name: view.name.clone(),
        created: time(&view.created)?,
        leader: view.leader.clone(),
        members: by_joining(view).iter().map(member).collect::<Result<_, _>>()?,
        shutdown_approvals: Some(approvals).filter(|approvals| !approvals.is_empty()),
        description: view.description.clone(),
    })
}

/// The task as its file: a task in progress without an owner is `pending`, with the plugin's warning. The time of completion is
/// left out, as the plugin never writes it.
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

/// The status that the plugin is shown.
pub(super) fn shown_status(view: &TaskView) -> TaskStatus {
    match (view.status, &view.owner) {
        (TaskStatus::InProgress, None) => TaskStatus::Pending,
        (status, _) => status,
    }
}

/// The message as the inbox of `reader` has it; `members` are those of the team, where it is a broadcast.
pub(super) fn message(view: MessageView, reader: Option<&str>, members: &[MemberView]) -> Result<Message, ApiError> {
    let stored = plugin_records::message(view, members).map_err(defect)?;
    let is_reader = |name: &str| reader.is_some_and(|reader| reader.eq_ignore_ascii_case(name));
    let inbox = stored.to.iter().find(|handle| is_reader(handle.as_str()));
    // A broadcast names no inbox.
    let inbox = inbox.or(stored.to.first()).unwrap_or(&stored.from).clone();
    Ok(stored.file(&inbox, false))
}
