//! The arguments of the tools of MCP for teams, tasks and messages. Each stands for one of several requests of HTTP.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::messages::{InboxResponse, ReadMessagesRequest, SendMessageRequest, SendMessageResponse};
use crate::orchestration::Orchestration;
use crate::schema::{AgentId, RepoUrl};
use crate::tasks::{
    ClaimTaskRequest, CompleteTaskRequest, EditTaskRequest, NewTask, NewTasksRequest, NewTasksResponse,
    NextTaskRequest, ReleaseTaskRequest, TaskPriority, TaskResponse, TaskStatus, TasksResponse,
};
use crate::teams::{
    JoinTeamRequest, LeaveTeamRequest, MemberFields, NewTeamRequest, ShutdownRequest, ShutdownStep, TeamActor,
    TeamCaller, TeamChangeResponse, TeamResponse, TeamsResponse,
};

/// Who calls, in which team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ToolCaller {
    /// The repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RepoUrl, required = true)]
    pub repo_url: Option<String>,
    /// Yours, if you are in several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// Your agent_id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AgentId>)]
    pub agent_id: Option<String>,
}

/// What `team` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TeamAction {
    /// Lists the teams.
    List,
    /// Shows one.
    #[default]
    Show,
    /// Makes one.
    Create,
    /// Joins one.
    Join,
    /// Leaves it.
    Leave,
    /// Asks the team, or a member, to stop.
    Request,
    /// Stops, as a shutdown asks.
    Approve,
    /// Goes on, for a reason.
    Reject,
}

/// The arguments of `team`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct TeamToolCall {
    /// Who calls.
    #[serde(flatten)]
    pub caller: ToolCaller,
    /// request, approve, reject: of a shutdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = TeamAction, required = true)]
    pub action: Option<TeamAction>,
    /// Your name there; by default the agent_id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// With request: one member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Required with reject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// With approve and reject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shutdown_id: Option<String>,
}

/// A task of `task_create`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ToolTask {
    /// One line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What is to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[expect(missing_docs, reason = "its values say it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<TaskPriority>,
    /// A name for the others here.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Ids or refs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Vec<String>>,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
}

/// The arguments of `task_create`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct CreateTasksCall {
    /// Who calls.
    #[serde(flatten)]
    pub caller: ToolCaller,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = true, nullable = false)]
    pub tasks: Option<Vec<ToolTask>>,
}

/// The arguments of `task_list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ListTasksCall {
    /// Who calls.
    #[serde(flatten)]
    pub caller: ToolCaller,
    /// One task, with its texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[expect(missing_docs, reason = "its values say it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// A handle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// In the title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The last `next`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
}

/// The arguments of `task_claim`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ClaimTaskCall {
    /// Who calls.
    #[serde(flatten)]
    pub caller: ToolCaller,
    /// Without it: the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Seconds, for the next: 0 to 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<u32>,
}

/// What `task_update` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskUpdate {
    /// Changes what is sent.
    #[default]
    Edit,
    /// Ends it as done.
    Complete,
    /// Gives it back.
    Release,
}

/// The arguments of `task_update`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct UpdateTaskCall {
    /// Who calls.
    #[serde(flatten)]
    pub caller: ToolCaller,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = true, nullable = false)]
    pub id: Option<String>,
    #[expect(missing_docs, reason = "its values say it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = TaskUpdate, required = true)]
    pub action: Option<TaskUpdate>,
    /// With complete: for who goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// How far it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[expect(missing_docs, reason = "its values say it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<TaskPriority>,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Vec<String>>,
    /// Alone: a handle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
}

/// The arguments of `message_send`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct SendMessageCall {
    /// Who calls.
    #[serde(flatten)]
    pub caller: ToolCaller,
    /// Handles, or broadcast.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = true, nullable = false)]
    pub to: Option<Vec<String>>,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = true, nullable = false)]
    pub message: Option<String>,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
}

/// The arguments of `message_read`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ReadMessagesCall {
    /// Who calls.
    #[serde(flatten)]
    pub caller: ToolCaller,
    /// The last one that you got.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<u64>,
    /// Seconds: 0 to 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<u32>,
}

/// The request of HTTP for which a call stands: what the path names, and the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TeamCall {
    /// `GET /api/teams`
    Teams(ToolCaller),
    /// `GET /api/teams/{team}`
    Team(ToolCaller),
    /// `POST /api/teams`
    NewTeam(NewTeamRequest),
    /// `POST /api/teams/{team}/join`
    Join(String, JoinTeamRequest),
    /// `POST /api/teams/{team}/leave`
    Leave(String, LeaveTeamRequest),
    /// `POST /api/teams/{team}/shutdown`
    Shutdown(String, ShutdownRequest),
    /// `GET /api/tasks`
    Tasks(Box<ListTasksCall>),
    /// `GET /api/tasks/{id}`
    Task(String, ToolCaller),
    /// `POST /api/tasks`
    NewTasks(NewTasksRequest),
    /// `POST /api/tasks/next`
    Next(NextTaskRequest),
    /// `POST /api/tasks/{id}/claim`
    Claim(String, ClaimTaskRequest),
    /// `PATCH /api/tasks/{id}`
    Edit(String, Box<EditTaskRequest>),
    /// `POST /api/tasks/{id}/complete`
    Complete(String, CompleteTaskRequest),
    /// `POST /api/tasks/{id}/release`
    Release(String, ReleaseTaskRequest),
    /// `POST /api/messages`
    Send(SendMessageRequest),
    /// `POST /api/messages/read`
    Read(ReadMessagesRequest),
}

impl TeamCall {
    /// Repository and agent of the caller.
    pub fn caller_mut(&mut self) -> (&mut Option<String>, &mut Option<String>) {
        macro_rules! of {
            ($caller:expr) => {
                (&mut $caller.repo_url, &mut $caller.agent_id)
            };
        }
        match self {
            TeamCall::Teams(caller) | TeamCall::Team(caller) | TeamCall::Task(_, caller) => of!(caller),
            TeamCall::Tasks(list) => of!(list.caller),
            TeamCall::NewTeam(request) => of!(request.caller),
            TeamCall::Join(_, request) => of!(request.caller),
            TeamCall::Leave(_, request) => of!(request.caller),
            TeamCall::Shutdown(_, request) => of!(request.caller),
            TeamCall::NewTasks(request) => of!(request.caller),
            TeamCall::Next(request) => of!(request.caller),
            TeamCall::Claim(_, request) => of!(request.caller),
            TeamCall::Edit(_, request) => of!(request.caller),
            TeamCall::Complete(_, request) => of!(request.caller),
            TeamCall::Release(_, request) => of!(request.caller),
            TeamCall::Send(request) => of!(request.caller),
            TeamCall::Read(request) => of!(request.caller),
        }
    }

    /// Makes it wait no longer than `most` seconds.
    pub fn limit_wait(&mut self, most: u32) {
        let wait = match self {
            TeamCall::Next(request) => &mut request.wait,
            TeamCall::Read(request) => &mut request.wait,
            _ => return,
        };
        *wait = wait.map(|seconds| seconds.min(most));
    }

    /// The same under a key, so that it may be repeated, where it is one that would do more the second time.
    #[must_use]
    pub fn with_request_key(mut self, key: String) -> Self {
        match &mut self {
            TeamCall::NewTasks(request) => request.request_key = Some(key),
            TeamCall::Next(request) => request.request_key = Some(key),
            TeamCall::Send(request) => request.request_key = Some(key),
            _ => {}
        }
        self
    }
}

/// A call that lacks this field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingField(pub &'static str);

fn needed<T>(field: &'static str, value: Option<T>) -> Result<T, MissingField> {
    value.ok_or(MissingField(field))
}

impl ToolCaller {
    /// The caller as requests name it.
    pub fn member(&self) -> TeamCaller {
        TeamCaller {
            repo_url: self.repo_url.clone(),
            team: self.team.clone(),
            agent_id: self.agent_id.clone(),
        }
    }

    fn actor(self) -> TeamActor {
        TeamActor {
            repo_url: self.repo_url,
            agent_id: self.agent_id,
        }
    }
}

impl TeamToolCall {
    /// The request that it stands for.
    ///
    /// # Errors
    /// When a field is missing.
    pub fn into_call(self) -> Result<TeamCall, MissingField> {
        let action = needed("action", self.action)?;
        if action == TeamAction::List {
            return Ok(TeamCall::Teams(self.caller));
        }
        let team = needed("team", self.caller.team.clone())?;
        let member = MemberFields {
            handle: self.handle,
            ..MemberFields::default()
        };
        let shutdown = |step, caller: ToolCaller| ShutdownRequest {
            caller: caller.actor(),
            step: Some(step),
            target: self.target,
            reason: self.reason,
            shutdown_id: self.shutdown_id,
            ..ShutdownRequest::default()
        };
        let caller = self.caller;
        Ok(match action {
            TeamAction::List | TeamAction::Show => TeamCall::Team(caller),
            TeamAction::Create => TeamCall::NewTeam(NewTeamRequest {
                caller: caller.actor(),
                name: Some(team),
                member,
                ..NewTeamRequest::default()
            }),
            TeamAction::Join => TeamCall::Join(
                team,
                JoinTeamRequest {
                    caller: caller.actor(),
                    member,
                },
            ),
            TeamAction::Leave => TeamCall::Leave(team, LeaveTeamRequest { caller: caller.actor() }),
            TeamAction::Request => TeamCall::Shutdown(team, shutdown(ShutdownStep::Request, caller)),
            TeamAction::Approve => TeamCall::Shutdown(team, shutdown(ShutdownStep::Approve, caller)),
            TeamAction::Reject => TeamCall::Shutdown(team, shutdown(ShutdownStep::Reject, caller)),
        })
    }
}

impl CreateTasksCall {
    /// The request that it stands for.
    pub fn into_call(self) -> TeamCall {
        let task = |task: ToolTask| NewTask {
            title: task.title,
            description: task.description,
            priority: task.priority,
            reference: task.reference,
            dependencies: task.dependencies,
            files: task.files,
            ..NewTask::default()
        };
        TeamCall::NewTasks(NewTasksRequest {
            caller: self.caller.member(),
            request_key: None,
            tasks: self.tasks.map(|tasks| tasks.into_iter().map(task).collect()),
        })
    }
}

impl ListTasksCall {
    /// The request that it stands for.
    pub fn into_call(mut self) -> TeamCall {
        match self.id.take() {
            Some(id) => TeamCall::Task(id, self.caller),
            None => TeamCall::Tasks(Box::new(self)),
        }
    }
}

impl ClaimTaskCall {
    /// The request that it stands for.
    pub fn into_call(self) -> TeamCall {
        let caller = self.caller.member();
        match self.id {
            Some(id) => TeamCall::Claim(
                id,
                ClaimTaskRequest {
                    caller,
                    ..ClaimTaskRequest::default()
                },
            ),
            None => TeamCall::Next(NextTaskRequest {
                caller,
                wait: self.wait,
                ..NextTaskRequest::default()
            }),
        }
    }
}

impl UpdateTaskCall {
    /// The request that it stands for.
    ///
    /// # Errors
    /// When a field is missing.
    pub fn into_call(self) -> Result<TeamCall, MissingField> {
        let (id, action) = (needed("id", self.id)?, needed("action", self.action)?);
        let caller = self.caller.member();
        Ok(match action {
            TaskUpdate::Edit => TeamCall::Edit(
                id,
                Box::new(EditTaskRequest {
                    caller,
                    title: self.title,
                    description: self.description,
                    priority: self.priority,
                    dependencies: self.dependencies,
                    note: self.note,
                    assignee: self.assignee,
                    ..EditTaskRequest::default()
                }),
            ),
            TaskUpdate::Complete => TeamCall::Complete(
                id,
                CompleteTaskRequest {
                    caller,
                    result: self.result,
                    token: None,
                },
            ),
            TaskUpdate::Release => TeamCall::Release(
                id,
                ReleaseTaskRequest {
                    caller,
                    note: self.note,
                    token: None,
                },
            ),
        })
    }
}

impl SendMessageCall {
    /// The request that it stands for.
    pub fn into_call(self) -> TeamCall {
        TeamCall::Send(SendMessageRequest {
            caller: self.caller.member(),
            to: self.to,
            message: self.message,
            task_id: self.task_id,
            ..SendMessageRequest::default()
        })
    }
}

impl ReadMessagesCall {
    /// The request that it stands for.
    pub fn into_call(self) -> TeamCall {
        TeamCall::Read(ReadMessagesRequest {
            caller: self.caller.member(),
            cursor: self.cursor,
            wait: self.wait,
            limit: None,
        })
    }
}

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
