//! Teams, their tasks and their messages.
//!
//! - `membership`: joining, leaving, and closing teams
//! - `tasks`, `claims`, `files`: tasks, claims of tasks, and the files that are claimed for them
//! - `task_input`: tasks in requests; `task_unavailable`: why no task is ready for an agent
//! - `messages`: messages between members
//! - `answer_call`: a call of a tool, by these operations
//! - `caller`: the caller; `team_selection`: its team; `calls`: the scripts under their admission
//! - `view`: records on the wire; `texts`: texts of people and agents

mod answer_call;
mod caller;
mod calls;
mod claims;
mod files;
mod membership;
mod messages;
mod task_input;
mod task_unavailable;
mod tasks;
mod team_selection;
mod texts;
mod view;

pub use answer_call::answer_call;
pub use caller::CallerContext;
pub use claims::{claim_task, complete_task, next_task, release_task};
pub use membership::{delete_team, edit_team, join_team, leave_team, list_teams, new_team, show_team, shut_down};
pub use messages::{HistoryRequest, message_history, read_messages, send_message};
pub use tasks::{TasksRequest, delete_task, edit_task, list_tasks, new_tasks, show_task};
