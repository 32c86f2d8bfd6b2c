//! What calls are answered with.

use serde::Serialize;

use crate::messages::{InboxResponse, SendMessageResponse};
use crate::orchestration::Orchestration;
use crate::tasks::{NewTasksResponse, TaskResponse, TasksResponse};
use crate::teams::{TeamChangeResponse, TeamResponse, TeamsResponse};

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TeamAnswer {
    /// The teams.
    Teams(TeamsResponse),
    /// One team.
    Team(TeamResponse),
    /// A change of a team.
    Change(TeamChangeResponse),
    /// Tasks.
    Tasks(TasksResponse),
    /// New tasks.
    NewTasks(NewTasksResponse),
    /// One task.
    Task(Box<TaskResponse>),
    /// A message that was sent.
    Sent(SendMessageResponse),
    /// Messages.
    Inbox(InboxResponse),
}

impl TeamAnswer {
    /// The command; none in what only shows.
    pub fn orchestration(&self) -> Option<&Orchestration> {
        match self {
            TeamAnswer::Teams(_) | TeamAnswer::Team(_) | TeamAnswer::Tasks(_) => None,
            TeamAnswer::Change(response) => Some(&response.orchestration),
            TeamAnswer::NewTasks(response) => Some(&response.orchestration),
            TeamAnswer::Task(response) => Some(&response.orchestration),
            TeamAnswer::Sent(response) => Some(&response.orchestration),
            TeamAnswer::Inbox(response) => Some(&response.orchestration),
        }
    }
}

macro_rules! from {
    ($($variant:ident($response:ty)),*) => {$(
        impl From<$response> for TeamAnswer {
            fn from(response: $response) -> Self {
                TeamAnswer::$variant(response.into())
            }
        }
    )*};
}

from! {
    Teams(TeamsResponse),
    Team(TeamResponse),
    Change(TeamChangeResponse),
    Tasks(TasksResponse),
    NewTasks(NewTasksResponse),
    Task(TaskResponse),
    Sent(SendMessageResponse),
    Inbox(InboxResponse)
}
