//! Calls of `/api/teams`, `/api/tasks` and `/api/messages`. A refusal by the rules is [`ClientError::Refused`].

use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::ClientError;
use super::http::{Client, segment};
use crate::messages::{HistoryResponse, InboxResponse, ReadMessagesRequest, SendMessageRequest, SendMessageResponse};
use crate::tasks::{
    ClaimTaskRequest, CompleteTaskRequest, EditTaskRequest, NewTasksRequest, NewTasksResponse, NextTaskRequest,
    ReleaseTaskRequest, TaskResponse, TasksResponse,
};
use crate::team_tools::{TeamCall, TeamCallResponse, ToolCaller};
use crate::teams::{
    EditTeamRequest, JoinTeamRequest, LeaveTeamRequest, NewTeamRequest, ShutdownRequest, TeamCaller,
    TeamChangeResponse, TeamResponse, TeamsResponse,
};

/// Filters of `GET /api/tasks`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskFilter {
    /// Only tasks with this status.
    pub status: Option<String>,
    /// Only tasks of this owner.
    pub owner: Option<String>,
    /// Only tasks that may be claimed (`ready`), that wait for others (`blocked`), or that have no owner (`unclaimed`).
    pub readiness: Option<String>,
    /// Only tasks about this file.
    pub file: Option<String>,
    /// Only tasks with this text in the title.
    pub text: Option<String>,
    /// Only tasks after this number: the `next` of the previous page.
    pub after: Option<u64>,
    /// Maximum number of tasks of a page.
    pub limit: Option<u32>,
    /// Whether the tasks have their descriptions.
    pub has_descriptions: bool,
}

/// Filters of `GET /api/messages`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryFilter {
    /// Only messages from or to this member.
    pub member: Option<String>,
    /// Only messages about this task.
    pub task: Option<String>,
    /// Only messages before this one: the `earlier` of the previous page.
    pub before: Option<u64>,
    /// Maximum number of messages of a page.
    pub limit: Option<u32>,
}

impl Client {
    /// `GET /api/teams`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn teams(&self, repo_url: &str) -> Result<TeamsResponse, ClientError> {
        self.get("api/teams", &[("repo_url", Some(repo_url))]).await
    }

    /// `GET /api/teams/{team}`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn team(&self, repo_url: &str, team: &str) -> Result<TeamResponse, ClientError> {
        self.get(&path("teams", team, "")?, &[("repo_url", Some(repo_url))])
            .await
    }

    /// `POST /api/teams`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn new_team(&self, request: &NewTeamRequest) -> Result<TeamChangeResponse, ClientError> {
        self.change(Method::POST, "api/teams", request).await
    }

    /// `POST /api/teams/{team}/join`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn join_team(&self, team: &str, request: &JoinTeamRequest) -> Result<TeamChangeResponse, ClientError> {
        self.change(Method::POST, &path("teams", team, "/join")?, request).await
    }

    /// `POST /api/teams/{team}/leave`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn leave_team(&self, team: &str, request: &LeaveTeamRequest) -> Result<TeamChangeResponse, ClientError> {
        self.change(Method::POST, &path("teams", team, "/leave")?, request)
            .await
    }

    /// `POST /api/teams/{team}/shutdown`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn shut_down(&self, team: &str, request: &ShutdownRequest) -> Result<TeamChangeResponse, ClientError> {
        self.change(Method::POST, &path("teams", team, "/shutdown")?, request)
            .await
    }

    /// `PATCH /api/teams/{team}`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn edit_team(&self, team: &str, request: &EditTeamRequest) -> Result<TeamChangeResponse, ClientError> {
        self.change(Method::PATCH, &path("teams", team, "")?, request).await
    }

    /// `DELETE /api/teams/{team}`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn delete_team(
        &self,
        repo_url: &str,
        team: &str,
        agent_id: Option<&str>,
    ) -> Result<TeamChangeResponse, ClientError> {
        let query = [("repo_url", Some(repo_url)), ("agent_id", agent_id)];
        let url = self.url_with(&path("teams", team, "")?, &query)?;
        self.send(self.http.delete(url), &[]).await
    }

    /// `GET /api/tasks`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn tasks(&self, caller: &TeamCaller, filter: &TaskFilter) -> Result<TasksResponse, ClientError> {
        let after = filter.after.map(|after| after.to_string());
        let limit = filter.limit.map(|limit| limit.to_string());
        let [repo_url, team, agent_id] = caller_parameters(caller);
        let query = [
            repo_url,
            team,
            agent_id,
            ("status", filter.status.as_deref()),
            ("owner", filter.owner.as_deref()),
            ("readiness", filter.readiness.as_deref()),
            ("file", filter.file.as_deref()),
            ("text", filter.text.as_deref()),
            ("after", after.as_deref()),
            ("limit", limit.as_deref()),
            ("descriptions", filter.has_descriptions.then_some("true")),
        ];
        self.get("api/tasks", &query).await
    }

    /// `GET /api/tasks/{id}`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn task(&self, caller: &TeamCaller, id: &str) -> Result<TaskResponse, ClientError> {
        self.get(&path("tasks", id, "")?, &caller_parameters(caller)).await
    }

    /// `POST /api/tasks`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn new_tasks(&self, request: &NewTasksRequest) -> Result<NewTasksResponse, ClientError> {
        self.change(Method::POST, "api/tasks", request).await
    }

    /// `POST /api/tasks/next`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn next_task(&self, request: &NextTaskRequest) -> Result<TaskResponse, ClientError> {
        self.change(Method::POST, "api/tasks/next", request).await
    }

    /// `PATCH /api/tasks/{id}`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn edit_task(&self, id: &str, request: &EditTaskRequest) -> Result<TaskResponse, ClientError> {
        self.change(Method::PATCH, &path("tasks", id, "")?, request).await
    }

    /// `POST /api/tasks/{id}/claim`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn claim_task(&self, id: &str, request: &ClaimTaskRequest) -> Result<TaskResponse, ClientError> {
        self.change(Method::POST, &path("tasks", id, "/claim")?, request).await
    }

    /// `POST /api/tasks/{id}/complete`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn complete_task(&self, id: &str, request: &CompleteTaskRequest) -> Result<TaskResponse, ClientError> {
        self.change(Method::POST, &path("tasks", id, "/complete")?, request)
            .await
    }

    /// `POST /api/tasks/{id}/release`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn release_task(&self, id: &str, request: &ReleaseTaskRequest) -> Result<TaskResponse, ClientError> {
        self.change(Method::POST, &path("tasks", id, "/release")?, request)
            .await
    }

    /// `DELETE /api/tasks/{id}`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn delete_task(
        &self,
        id: &str,
        caller: &TeamCaller,
        is_unlinked: bool,
    ) -> Result<TaskResponse, ClientError> {
        let [repo_url, team, agent_id] = caller_parameters(caller);
        let query = [repo_url, team, agent_id, ("unlink", is_unlinked.then_some("true"))];
        let url = self.url_with(&path("tasks", id, "")?, &query)?;
        self.send(self.http.delete(url), &[]).await
    }

    /// `POST /api/messages`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn send_message(&self, request: &SendMessageRequest) -> Result<SendMessageResponse, ClientError> {
        self.change(Method::POST, "api/messages", request).await
    }

    /// `POST /api/messages/read`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn read_messages(&self, request: &ReadMessagesRequest) -> Result<InboxResponse, ClientError> {
        self.change(Method::POST, "api/messages/read", request).await
    }

    /// `GET /api/messages`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn messages(&self, caller: &TeamCaller, filter: &HistoryFilter) -> Result<HistoryResponse, ClientError> {
        let before = filter.before.map(|before| before.to_string());
        let limit = filter.limit.map(|limit| limit.to_string());
        let [repo_url, team, agent_id] = caller_parameters(caller);
        let query = [
            repo_url,
            team,
            agent_id,
            ("member", filter.member.as_deref()),
            ("task", filter.task.as_deref()),
            ("before", before.as_deref()),
            ("limit", limit.as_deref()),
        ];
        self.get("api/messages", &query).await
    }

    /// Sends the HTTP request of `call`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn team_call(&self, call: &TeamCall) -> Result<TeamCallResponse, ClientError> {
        Ok(match call {
            TeamCall::Teams(caller) => {
                let teams: TeamsResponse = self.get_as(caller, "api/teams").await?;
                teams.into()
            }
            TeamCall::Team(caller) => {
                let team = caller.team.as_deref().unwrap_or_default();
                let team: TeamResponse = self.get_as(caller, &path("teams", team, "")?).await?;
                team.into()
            }
            TeamCall::NewTeam(request) => self.new_team(request).await?.into(),
            TeamCall::Join(team, request) => self.join_team(team, request).await?.into(),
            TeamCall::Leave(team, request) => self.leave_team(team, request).await?.into(),
            TeamCall::Shutdown(team, request) => self.shut_down(team, request).await?.into(),
            TeamCall::Tasks(list) => {
                let filter = TaskFilter {
                    status: list.status.map(|status| status.as_str().to_owned()),
                    owner: list.owner.clone(),
                    text: list.text.clone(),
                    after: list.after,
                    limit: list.limit,
                    has_descriptions: list.has_descriptions,
                    readiness: list.is_unclaimed.then(|| "unclaimed".to_owned()),
                    ..TaskFilter::default()
                };
                self.tasks(&list.caller.member(), &filter).await?.into()
            }
            TeamCall::Task(id, caller) => self.task(&caller.member(), id).await?.into(),
            TeamCall::NewTasks(request) => self.new_tasks(request).await?.into(),
            TeamCall::Next(request) => self.next_task(request).await?.into(),
            TeamCall::Claim(id, request) => self.claim_task(id, request).await?.into(),
            TeamCall::Edit(id, request) => self.edit_task(id, request).await?.into(),
            TeamCall::Complete(id, request) => self.complete_task(id, request).await?.into(),
            TeamCall::Release(id, request) => self.release_task(id, request).await?.into(),
            TeamCall::Send(request) => self.send_message(request).await?.into(),
            TeamCall::Read(request) => self.read_messages(request).await?.into(),
            TeamCall::History(history) => {
                let filter = HistoryFilter {
                    before: history.before,
                    limit: history.limit,
                    ..HistoryFilter::default()
                };
                self.messages(&history.caller.member(), &filter).await?.into()
            }
        })
    }

    /// `GET path` with the agent in a header, for a path whose query cannot name the agent.
    async fn get_as<T: DeserializeOwned>(&self, caller: &ToolCaller, path: &str) -> Result<T, ClientError> {
        let url = self.url_with(path, &[("repo_url", caller.repo_url.as_deref())])?;
        let mut request = self.http.get(url);
        if let Some(agent) = &caller.agent_id {
            request = request.header("x-coord-agent", agent);
        }
        self.send(request, &[]).await
    }

    async fn change<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        request: &impl Serialize,
    ) -> Result<T, ClientError> {
        let http_request = self.request(method, path)?.json(request);
        self.send(http_request, &[]).await
    }
}

/// The query parameters that name the caller and its team.
fn caller_parameters(caller: &TeamCaller) -> [(&'static str, Option<&str>); 3] {
    [
        ("repo_url", caller.repo_url.as_deref()),
        ("team", caller.team.as_deref()),
        ("agent_id", caller.agent_id.as_deref()),
    ]
}

/// The path of a team or a task, or of an act on it. The name cannot lead to another path: it is one segment.
fn path(kind: &str, name: &str, act: &str) -> Result<String, ClientError> {
    Ok(format!("api/{kind}/{}{act}", segment(name)?))
}
