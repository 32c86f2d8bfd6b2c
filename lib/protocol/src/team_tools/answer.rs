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
pub enum TeamCallResponse {
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

impl TeamCallResponse {
    /// The command; `None` for a view.
    pub fn orchestration(&self) -> Option<&Orchestration> {
        match self {
            TeamCallResponse::Teams(_)
            | TeamCallResponse::Team(_)
            | TeamCallResponse::Tasks(_)
            | TeamCallResponse::History(_) => None,
            TeamCallResponse::Change(response) => Some(&response.orchestration),
            TeamCallResponse::NewTasks(response) => Some(&response.orchestration),
            TeamCallResponse::Task(response) => Some(&response.orchestration),
            TeamCallResponse::Sent(response) => Some(&response.orchestration),
            TeamCallResponse::Inbox(response) => Some(&response.orchestration),
        }
    }

    /// Warnings about pending items for the caller; empty for a response that delivers messages.
    pub fn warnings(&self) -> Vec<String> {
        let waiting = match self {
            TeamCallResponse::Teams(response) => {
                return response.your_teams.iter().flat_map(Membership::warnings).collect();
            }
            TeamCallResponse::Inbox(_) | TeamCallResponse::History(_) => return Vec::new(),
            TeamCallResponse::Team(response) => &response.waiting,
            TeamCallResponse::Change(response) => &response.waiting,
            TeamCallResponse::Tasks(response) => &response.waiting,
            TeamCallResponse::NewTasks(response) => &response.waiting,
            TeamCallResponse::Task(response) => &response.waiting,
            TeamCallResponse::Sent(response) => &response.waiting,
        };
        waiting.warnings(None)
    }
}

macro_rules! from {
    ($($variant:ident($response:ty)),*) => {$(
        impl From<$response> for TeamCallResponse {
            fn from(response: $response) -> Self {
                TeamCallResponse::$variant(response.into())
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
