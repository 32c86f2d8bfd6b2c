//! Converts tasks and messages from the wire to `coord-teams`, for the files and tools of the plugin opencode-teams.

use coord_protocol::messages::MessageView;
use coord_protocol::tasks::{LeaseState, TaskPriority, TaskStatus, TaskView};
use coord_protocol::team_event::MessageType as WireType;
use coord_protocol::teams::MemberView;
use coord_teams::compare::{StoreMessage, StoreTask};
use coord_teams::message::MessageType;
use coord_teams::names::{Handle, InvalidName, TaskId};
use coord_teams::status::{Priority, Status};
use coord_teams::texts::BROADCAST;
use coord_teams::time::{InvalidTime, Time};

/// The sender of Coord's own messages.
const COORD: &str = "coord";

/// A value that the plugin's records cannot represent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnrepresentableValue {
    #[error(transparent)]
    Name(#[from] InvalidName),
    #[error(transparent)]
    Time(#[from] InvalidTime),
}

/// Converts a task.
///
/// # Errors
/// When the plugin cannot represent a name or a time of the task.
pub fn task(view: TaskView) -> Result<StoreTask, UnrepresentableValue> {
    let time = |text: Option<String>| text.as_deref().map(Time::parse).transpose();
    let handle = |name: Option<String>| name.as_deref().map(Handle::parse).transpose();
    let ids = |ids: &[String]| ids.iter().map(|id| TaskId::parse(id)).collect::<Result<_, _>>();
    Ok(StoreTask {
        title: view.title,
        description: view.description,
        priority: match view.priority {
            TaskPriority::High => Priority::High,
            TaskPriority::Normal => Priority::Normal,
            TaskPriority::Low => Priority::Low,
        },
        status: match view.status {
            TaskStatus::Pending => Status::Pending,
            TaskStatus::InProgress => Status::InProgress,
            TaskStatus::Completed => Status::Completed,
        },
        created_at: Time::parse(&view.created_at)?,
        updated_at: time(view.updated_at)?,
        claimed_at: time(view.claimed_at)?,
        completed_at: time(view.completed_at)?,
        owner: handle(view.owner)?,
        previous_owner: handle(view.previous_owner)?,
        lapsed: view.lease.state == LeaseState::Lapsed,
        dependencies: ids(&view.dependencies)?,
        met: ids(&view.met_dependencies)?,
        blocks: ids(&view.blocks)?,
    })
}

/// Converts a message. The recipients of a broadcast are the `members` of the team that had joined before it.
///
/// # Errors
/// Those of [`task`].
pub fn message(view: MessageView, members: &[MemberView]) -> Result<StoreMessage, UnrepresentableValue> {
    let handles = |names: &mut dyn Iterator<Item = &String>| {
        let handles = names.map(|name| Handle::parse(name));
        handles.collect::<Result<Vec<_>, _>>()
    };
    let is_broadcast = view.to == BROADCAST;
    let present = members
        .iter()
        .filter(|member| is_broadcast && member.joined_after < view.id);
    let recipients = handles(&mut present.map(|member| &member.agent_id))?;
    let to = match &view.recipients {
        _ if is_broadcast => Vec::new(),
        Some(names) => handles(&mut names.iter())?,
        None => vec![Handle::parse(&view.to)?],
    };
    Ok(StoreMessage {
        from: Handle::parse(view.from.as_deref().unwrap_or(COORD))?,
        to,
        recipients,
        kind: match view.kind {
            WireType::Plain | WireType::ShutdownRejected => MessageType::Plain,
            WireType::Idle => MessageType::Idle,
            WireType::TaskAssignment => MessageType::TaskAssignment,
            WireType::ShutdownRequest => MessageType::ShutdownRequest,
            WireType::ShutdownApproved => MessageType::ShutdownApproved,
        },
        timestamp: Time::parse(&view.timestamp)?,
        message: view.message,
        summary: view.summary,
    })
}
