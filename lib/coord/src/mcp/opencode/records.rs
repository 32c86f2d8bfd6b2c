//! Answers of HTTP as the plugin's records: those of its files.

use coord_protocol::messages::MessageView;
use coord_protocol::tasks::{TaskPriority, TaskStatus, TaskView};
use coord_protocol::team_event::MessageType as Told;
use coord_protocol::teams::{MemberView, TeamView};
use coord_teams::compare::{StoreMessage, StoreTask};
use coord_teams::message::{Message, MessageType};
use coord_teams::names::{Handle, NoName, TaskId};
use coord_teams::status::{Priority, Status};
use coord_teams::task::Task;
use coord_teams::team::{TeamConfig, TeamMember};
use coord_teams::texts::BROADCAST;
use coord_teams::time::{NotATime, Time};

use crate::error::ApiError;

/// A record of ours that is none of the plugin's: a defect.
struct NoRecord;

impl From<NotATime> for NoRecord {
    fn from(_: NotATime) -> Self {
        NoRecord
    }
}

impl From<NoName> for NoRecord {
    fn from(_: NoName) -> Self {
        NoRecord
    }
}

impl From<NoRecord> for ApiError {
    fn from(_: NoRecord) -> Self {
        ApiError::Internal
    }
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
    Ok(record_of_member(view)?)
}

fn record_of_member(view: &MemberView) -> Result<TeamMember, NoRecord> {
    Ok(TeamMember {
        agent_id: view.agent_id.clone(),
        agent_name: view.agent_name.clone(),
        agent_type: view.agent_type.clone(),
        joined_at: Time::parse(&view.joined_at)?,
    })
}

/// The team as its configuration.
pub(super) fn team(view: &TeamView) -> Result<TeamConfig, ApiError> {
    let members = view.members.iter().map(record_of_member).collect::<Result<Vec<_>, _>>();
    let mut members = members?;
    // The leader of a new team is its first member.
    members.sort_by(|one, other| {
        let order = |member: &TeamMember| (member.joined_at.clone(), member.agent_id != view.leader);
        order(one).cmp(&order(other))
    });
    let ended = view.members.iter().filter(|member| member.ended_at.is_some());
    let approvals: Vec<String> = match view.closed_at {
        Some(_) => ended.map(|member| member.agent_id.clone()).collect(),
        None => view.shutdown_approvals.clone(),
    };
    Ok(TeamConfig {
        name: view.name.clone(),
        created: Time::parse(&view.created).map_err(NoRecord::from)?,
        leader: view.leader.clone(),
        members,
        shutdown_approvals: Some(approvals).filter(|approvals| !approvals.is_empty()),
        description: view.description.clone(),
    })
}

/// The task as its file: what is in progress without an owner is `pending`, with the plugin's warning. When it was completed is not
/// in it, as the plugin never says it.
pub(super) fn task(view: TaskView) -> Result<Task, ApiError> {
    Ok(record_of_task(view)?)
}

fn record_of_task(view: TaskView) -> Result<Task, NoRecord> {
    let time = |text: &Option<String>| text.as_deref().map(Time::parse).transpose();
    let handle = |name: &Option<String>| name.as_deref().map(Handle::parse).transpose();
    let ids = |ids: &[String]| ids.iter().map(|id| TaskId::parse(id)).collect::<Result<_, _>>();
    let stored = StoreTask {
        title: view.title,
        description: view.description,
        priority: match view.priority {
            TaskPriority::High => Priority::High,
            TaskPriority::Normal => Priority::Normal,
            TaskPriority::Low => Priority::Low,
        },
        status: status(view.status),
        created_at: Time::parse(&view.created_at)?,
        updated_at: time(&view.updated_at)?,
        claimed_at: time(&view.claimed_at)?,
        completed_at: None,
        owner: handle(&view.owner)?,
        previous_owner: handle(&view.previous_owner)?,
        dependencies: ids(&view.dependencies)?,
        met: ids(&view.met_dependencies)?,
    };
    let mut task = stored.file(&TaskId::parse(&view.id)?, view.blocks);
    task.dependencies = view.dependencies;
    Ok(task)
}

fn status(status: TaskStatus) -> Status {
    match status {
        TaskStatus::Pending => Status::Pending,
        TaskStatus::InProgress => Status::InProgress,
        TaskStatus::Completed => Status::Completed,
    }
}

/// The status that the plugin is shown.
pub(super) fn shown_status(view: &TaskView) -> TaskStatus {
    match (view.status, &view.owner) {
        (TaskStatus::InProgress, None) => TaskStatus::Pending,
        (status, _) => status,
    }
}

/// The message as the inbox of `reader` has it; `members` are those of the team, where it is a broadcast.
pub(super) fn message(view: MessageView, reader: Option<&str>, members: &[TeamMember]) -> Result<Message, ApiError> {
    Ok(record_of_message(view, reader, members)?)
}

fn record_of_message(view: MessageView, reader: Option<&str>, members: &[TeamMember]) -> Result<Message, NoRecord> {
    let timestamp = Time::parse(&view.timestamp)?;
    let handle = |name: &String| Handle::parse(name);
    let was_there = members.iter().filter(|member| member.joined_at <= timestamp);
    let recipients = was_there.map(|member| handle(&member.agent_id));
    let is_broadcast = view.to == BROADCAST;
    let to = match (&view.recipients, is_broadcast) {
        (_, true) => Vec::new(),
        (Some(names), false) => names.iter().map(handle).collect::<Result<_, _>>()?,
        (None, false) => vec![handle(&view.to)?],
    };
    let is_reader = |handle: &&Handle| reader.is_some_and(|reader| reader.eq_ignore_ascii_case(handle.as_str()));
    let inbox = to.iter().find(is_reader).or(to.first()).cloned();
    let stored = StoreMessage {
        from: Handle::parse(view.from.as_deref().unwrap_or_default())?,
        recipients: recipients.collect::<Result<_, _>>()?,
        kind: match view.kind {
            Told::Plain | Told::ShutdownRejected => MessageType::Plain,
            Told::Idle => MessageType::Idle,
            Told::TaskAssignment => MessageType::TaskAssignment,
            Told::ShutdownRequest => MessageType::ShutdownRequest,
            Told::ShutdownApproved => MessageType::ShutdownApproved,
        },
        message: view.message,
        summary: view.summary,
        timestamp,
        to,
    };
    let inbox = inbox.unwrap_or_else(|| stored.from.clone());
    Ok(stored.file(&inbox, false))
}
