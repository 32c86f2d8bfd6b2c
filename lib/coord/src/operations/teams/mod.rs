//! Teams, their tasks and their messages.
//!
//! - `membership`: joining, leaving, and closing teams
//! - `tasks`, `claims`, `files`: tasks; their owners; the files that are claimed for them
//! - `sent_tasks`: tasks in requests; `no_task`: why there is none for an agent
//! - `messages`: messages between members
//! - `caller`: the caller; `chosen`: its team; `calls`: the scripts under their admission
//! - `view`: records on the wire; `texts`: texts that people write

mod caller;
mod calls;
mod chosen;
mod claims;
mod files;
mod membership;
mod messages;
mod no_task;
mod sent_tasks;
mod tasks;
mod texts;
mod view;

use coord_protocol::Event;

use crate::domain::team::TeamName;

pub use caller::Asked;
pub use claims::{claim_task, complete_task, next_task, release_task};
pub use membership::{delete_team, edit_team, join_team, leave_team, list_teams, new_team, show_team, shut_down};
pub use messages::{HistoryRequest, message_history, read_messages, send_message};
pub(in crate::operations) use view::memberships;

pub use tasks::{TasksRequest, delete_task, edit_task, list_tasks, new_tasks, show_task};

/// Whether an event is of the team.
fn is_of(event: &Event, team: &TeamName) -> bool {
    event.team().is_some_and(|name| name.eq_ignore_ascii_case(team.key()))
}
