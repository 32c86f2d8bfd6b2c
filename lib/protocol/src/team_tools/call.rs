//! The HTTP request of each call.

use super::arguments::{
    ClaimTaskCall, CreateTasksCall, ListTasksCall, ReadMessagesCall, SendMessageCall, TaskUpdate, TeamAction,
    TeamToolCall, ToolCaller, ToolTask, UpdateTaskCall,
};
use crate::messages::{ReadMessagesRequest, SendMessageRequest};
use crate::tasks::{
    ClaimTaskRequest, CompleteTaskRequest, EditTaskRequest, NewTask, NewTasksRequest, NextTaskRequest,
    ReleaseTaskRequest, TaskWork,
};
use crate::teams::{
    JoinTeamRequest, LeaveTeamRequest, MemberFields, NewTeamRequest, ShutdownRequest, ShutdownStep, TeamActor,
    TeamCaller,
};

/// The HTTP request of a call: the parameters of its path, and its query or body.
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
    /// `GET /api/messages`
    History(HistoryCall),
}

/// A page of the messages of a team, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryCall {
    /// The caller.
    pub caller: ToolCaller,
    /// Only messages before this one.
    pub before: Option<u64>,
    /// Maximum number of messages.
    pub limit: Option<u32>,
}

impl TeamCall {
    /// Repository and agent of the caller.
    pub fn caller_mut(&mut self) -> (&mut Option<String>, &mut Option<String>) {
        macro_rules! fields {
            ($caller:expr) => {
                (&mut $caller.repo_url, &mut $caller.agent_id)
            };
        }
        match self {
            TeamCall::Teams(caller) | TeamCall::Team(caller) | TeamCall::Task(_, caller) => fields!(caller),
            TeamCall::Tasks(list) => fields!(list.caller),
            TeamCall::NewTeam(request) => fields!(request.caller),
            TeamCall::Join(_, request) => fields!(request.caller),
            TeamCall::Leave(_, request) => fields!(request.caller),
            TeamCall::Shutdown(_, request) => fields!(request.caller),
            TeamCall::NewTasks(request) => fields!(request.caller),
            TeamCall::Next(request) => fields!(request.caller),
            TeamCall::Claim(_, request) => fields!(request.caller),
            TeamCall::Edit(_, request) => fields!(request.caller),
            TeamCall::Complete(_, request) => fields!(request.caller),
            TeamCall::Release(_, request) => fields!(request.caller),
            TeamCall::Send(request) => fields!(request.caller),
            TeamCall::Read(request) => fields!(request.caller),
            TeamCall::History(history) => fields!(history.caller),
        }
    }

    /// The caller's working copy, for a task with files. A call that ends a claim also has the pushed commit.
    pub fn work_mut(&mut self) -> Option<(&mut TaskWork, Option<&mut Option<String>>)> {
        match self {
            TeamCall::Next(request) => Some((&mut request.work, None)),
            TeamCall::Claim(_, request) => Some((&mut request.work, None)),
            TeamCall::Complete(_, request) => Some((&mut request.work, Some(&mut request.new_repo_head))),
            TeamCall::Release(_, request) => Some((&mut request.work, Some(&mut request.new_repo_head))),
            _ => None,
        }
    }

    /// Whether the path needs a team and the call names none: then it is the caller's team.
    pub fn lacks_team(&self) -> bool {
        match self {
            TeamCall::Team(caller) => caller.team.as_deref().is_none_or(str::is_empty),
            TeamCall::Leave(team, _) | TeamCall::Shutdown(team, _) => team.is_empty(),
            _ => false,
        }
    }

    /// Sets the team of a call that [`Self::lacks_team`].
    #[must_use]
    pub fn in_team(mut self, name: String) -> Self {
        match &mut self {
            TeamCall::Team(caller) => caller.team = Some(name),
            TeamCall::Leave(team, _) | TeamCall::Shutdown(team, _) => *team = name,
            _ => {}
        }
        self
    }

    /// Limits the time that the call waits.
    pub fn limit_wait(&mut self, max_seconds: u32) {
        let wait = match self {
            TeamCall::Next(request) => &mut request.wait,
            TeamCall::Read(request) => &mut request.wait,
            _ => return,
        };
        *wait = wait.map(|seconds| seconds.min(max_seconds));
    }

    /// Adds a key to a call that is not idempotent, so that the client may repeat it.
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

fn require<T>(field: &'static str, value: Option<T>) -> Result<T, MissingField> {
    value.ok_or(MissingField(field))
}

impl ToolCaller {
    /// The caller, for a request about its team.
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
    /// The HTTP request of this call.
    ///
    /// # Errors
    /// When a field is missing.
    pub fn into_call(self) -> Result<TeamCall, MissingField> {
        let action = require("action", self.action)?;
        if action == TeamAction::List {
            return Ok(TeamCall::Teams(self.caller));
        }
        let team = match action {
            TeamAction::Create | TeamAction::Join => require("team", self.caller.team.clone())?,
            // The caller's team: see `TeamCall::lacks_team`.
            _ => self.caller.team.clone().unwrap_or_default(),
        };
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
    /// The HTTP request of this call.
    pub fn into_call(self) -> TeamCall {
        let to_new_task = |task: ToolTask| NewTask {
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
            tasks: self.tasks.map(|tasks| tasks.into_iter().map(to_new_task).collect()),
        })
    }
}

impl ListTasksCall {
    /// The HTTP request of this call.
    pub fn into_call(mut self) -> TeamCall {
        match self.id.take() {
            Some(id) => TeamCall::Task(id, self.caller),
            None => TeamCall::Tasks(Box::new(self)),
        }
    }
}

impl ClaimTaskCall {
    /// The HTTP request of this call.
    pub fn into_call(self) -> TeamCall {
        let caller = self.caller.member();
        match self.id {
            Some(id) => TeamCall::Claim(
                id,
                ClaimTaskRequest {
                    caller,
                    work: self.work,
                    ..ClaimTaskRequest::default()
                },
            ),
            None => TeamCall::Next(NextTaskRequest {
                caller,
                wait: self.wait,
                work: self.work,
                ..NextTaskRequest::default()
            }),
        }
    }
}

impl UpdateTaskCall {
    /// The HTTP request of this call.
    ///
    /// # Errors
    /// When a field is missing.
    pub fn into_call(self) -> Result<TeamCall, MissingField> {
        let (id, action) = (require("id", self.id)?, require("action", self.action)?);
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
                    new_repo_head: self.new_repo_head,
                    work: self.work,
                },
            ),
            TaskUpdate::Release => TeamCall::Release(
                id,
                ReleaseTaskRequest {
                    caller,
                    note: self.note,
                    token: None,
                    new_repo_head: self.new_repo_head,
                    abandon: self.abandon,
                    work: self.work,
                },
            ),
        })
    }
}

impl SendMessageCall {
    /// The HTTP request of this call.
    pub fn into_call(self) -> TeamCall {
        TeamCall::Send(SendMessageRequest {
            caller: self.caller.member(),
            to: self.to,
            kind: self.kind,
            message: self.message,
            task_id: self.task_id,
            reply_to: self.reply_to,
            ..SendMessageRequest::default()
        })
    }
}

impl ReadMessagesCall {
    /// The HTTP request of this call.
    pub fn into_call(self) -> TeamCall {
        TeamCall::Read(ReadMessagesRequest {
            caller: self.caller.member(),
            cursor: self.cursor,
            wait: self.wait,
            ..ReadMessagesRequest::default()
        })
    }
}
