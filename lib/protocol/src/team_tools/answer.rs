//! Responses to calls.

use serde::Serialize;

use crate::messages::{HistoryResponse, InboxResponse, SendMessageResponse};
use crate::orchestration::Orchestration;
use crate::tasks::{NewTasksResponse, TaskResponse, TasksResponse};
use crate::teams::{TeamChangeResponse, TeamResponse, TeamsResponse};
use crate::waiting::Membership;

/// The response to a [`TeamCall`](super::TeamCall).
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
    /// Messages of the team.
    History(HistoryResponse),
}

impl TeamAnswer {
    /// The command; `None` for a view.
    pub fn orchestration(&self) -> Option<&Orchestration> {
        match self {
            TeamAnswer::Teams(_) | TeamAnswer::Team(_) | TeamAnswer::Tasks(_) | TeamAnswer::History(_) => None,
            TeamAnswer::Change(response) => Some(&response.orchestration),
            TeamAnswer::NewTasks(response) => Some(&response.orchestration),
            TeamAnswer::Task(response) => Some(&response.orchestration),
            TeamAnswer::Sent(response) => Some(&response.orchestration),
            TeamAnswer::Inbox(response) => Some(&response.orchestration),
        }
    }

    /// Warnings about pending items for the caller; empty for a response that delivers messages.
    pub fn warnings(&self) -> Vec<String> {
        let waiting = match self {
            TeamAnswer::Teams(response) => return response.your_teams.iter().flat_map(Membership::warnings).collect(),
            TeamAnswer::Inbox(_) | TeamAnswer::History(_) => return Vec::new(),
            TeamAnswer::Team(response) => &response.waiting,
            TeamAnswer::Change(response) => &response.waiting,
            TeamAnswer::Tasks(response) => &response.waiting,
            TeamAnswer::NewTasks(response) => &response.waiting,
            TeamAnswer::Task(response) => &response.waiting,
            TeamAnswer::Sent(response) => &response.waiting,
        };
        waiting.warnings(None)
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
    Inbox(InboxResponse),
    History(HistoryResponse)
}
