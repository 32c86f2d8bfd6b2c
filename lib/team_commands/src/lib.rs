//! `coord team`, `coord task` and `coord message`: teams, their tasks, and their messages.
//!
//! - `common`: the selected team, and the printing of a response
//! - `team`: teams; `shutdown`: their shutdowns; `files`: the files of opencode-teams
//! - `task`: tasks; `add`: new ones; `list`, `graph`: lists and graphs of tasks; `task_files`: the files of a task
//! - `message`: messages

mod add;
mod common;
mod files;
mod graph;
mod list;
pub mod message;
mod shutdown;
pub mod task;
mod task_files;
mod team;

pub use self::team::TeamArgs;
