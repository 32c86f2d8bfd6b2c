//! Tools of tasks.

use coord_protocol::opencode_tools::{TaskData, TaskFilters, TaskUpdates};
use coord_protocol::tasks::{
    ClaimTaskRequest, CompleteTaskRequest, EditTaskRequest, LeaseState, NewTask, NewTasksRequest, TaskStatus, TaskView,
    TaskWork,
};
use coord_protocol::team_tools::{ListTasksCall, TeamCall, TeamCallResponse};
use coord_teams::answers;
use coord_teams::task::Task;

use super::records::{self, plugin_status};
use super::refusal::refused_by_rules;
use super::team_client::{Requests, TeamClient, answer_of};
use super::tool_answer::OpenCodeAnswer;
use coord_server::error::ApiError;
use coord_teams_state::teams::TeamRefusal;

/// Most tasks of an answer.
const MAX_TASKS: u32 = 500;

impl<R: Requests> TeamClient<'_, R> {
    /// `create-task`
    pub async fn create(&self, data: &TaskData) -> Result<OpenCodeAnswer, R::Error> {
        let data = data.clone();
        let task = NewTask {
            title: data.title,
            description: data.description.clone(),
            priority: data.priority,
            dependencies: data.dependencies,
            blocks: data.blocks,
            ..NewTask::default()
        };
        let request = NewTasksRequest {
            caller: self.member(),
            request_key: None,
            tasks: Some(vec![task]),
        };
        let answer = self.ask(TeamCall::NewTasks(request)).await?;
        let waiting = answer.warnings();
        let created = answer_of!(answer, NewTasks)
            .tasks
            .into_iter()
            .next()
            .ok_or(ApiError::Internal)?;
        let mut task = records::task(created)?;
        task.description = data.description;
        Ok(OpenCodeAnswer::new(answers::record(&task)).with(waiting))
    }

    /// `get-tasks`: for the plugin, a task in progress without an owner is pending.
    pub async fn list(&self, filters: &TaskFilters, after: Option<u64>) -> Result<OpenCodeAnswer, R::Error> {
        let is_unclaimed = filters.status == Some(TaskStatus::Pending);
        let call = ListTasksCall {
            caller: self.tool_caller(),
            status: filters.status.filter(|_| !is_unclaimed),
            owner: filters.owner.clone(),
            after,
            limit: Some(MAX_TASKS),
            is_unclaimed,
            has_descriptions: true,
            ..ListTasksCall::default()
        };
        let answer = self.ask(TeamCall::Tasks(Box::new(call))).await?;
        let waiting = answer.warnings();
        let page = answer_of!(answer, Tasks);
        let has_status = |task: &TaskView| filters.status.is_none_or(|status| plugin_status(task) == status);
        let tasks = page.tasks.into_iter().filter(has_status).map(records::task);
        let tasks: Vec<Task> = tasks.collect::<Result<_, ApiError>>()?;
        let more = page
            .next
            .map(|next| format!("More tasks follow: call again with after {next}."));
        Ok(OpenCodeAnswer::new(answers::records(&tasks)).with(more).with(waiting))
    }

    /// `claim-task`. Leaves the files of the task alone, because the plugin does not know about them.
    pub async fn claim(&self, id: &str) -> Result<OpenCodeAnswer, R::Error> {
        self.answer_task(self.claim_call(id)).await
    }

    fn claim_call(&self, id: &str) -> TeamCall {
        let request = ClaimTaskRequest {
            caller: self.member(),
            work: TaskWork {
                claim_files: Some(false),
                ..TaskWork::default()
            },
            ..ClaimTaskRequest::default()
        };
        TeamCall::Claim(id.to_owned(), request)
    }

    /// `update-task`: changes fields first, then the status. To change the status, claims or completes the task.
    pub async fn update(&self, id: &str, updates: &TaskUpdates) -> Result<OpenCodeAnswer, R::Error> {
        if let Some(text) = &updates.completed_at {
            records::parse_time("completedAt", text)?;
        }
        let mut edit = EditTaskRequest {
            caller: self.member(),
            description: updates.description.clone(),
            dependencies: updates.dependencies.clone(),
            // The plugin sends all dependencies of the task, and so replaces the completed ones, too.
            drop_completed: updates.dependencies.as_ref().map(|_| true),
            blocks: updates.blocks.clone(),
            ..EditTaskRequest::default()
        };
        let changes_fields = edit.description.is_some() || edit.dependencies.is_some() || edit.blocks.is_some();
        let Some(to) = updates.status else {
            return self.edit(id, edit).await;
        };
        let before = self.show(id).await?;
        let from = plugin_status(&before);
        // The server changes nothing if the task has a different status by then.
        edit.status = Some(before.status);
        if from == to {
            return self.edit(id, edit).await;
        }
        let step = match (from, to) {
            (TaskStatus::Pending, TaskStatus::InProgress) => self.claim_call(id),
            (TaskStatus::InProgress, TaskStatus::Completed) => self.completion_call(id),
            // A former owner whose claim has expired may still complete the task.
            (TaskStatus::Pending, TaskStatus::Completed) if before.lease.state == LeaseState::Lapsed => {
                self.completion_call(id)
            }
            _ => {
                let (from, to) = (from.as_str().to_owned(), to.as_str().to_owned());
                return Err(refused_by_rules(TeamRefusal::InvalidTransition { from, to }).into());
            }
        };
        if !changes_fields {
            return self.answer_task(step).await;
        }
        // The server likely refuses to complete a task that seems to have a different owner: try that first.
        let is_own = |owner: &String| {
            self.agent
                .as_ref()
                .is_none_or(|agent| agent.eq_ignore_ascii_case(owner))
        };
        if before.owner.as_ref().is_some_and(|owner| !is_own(owner)) {
            self.answer_task(step).await?;
            edit.status = None;
            return self.edit(id, edit).await;
        }
        self.edit(id, edit).await?;
        self.answer_task(step).await
    }

    fn completion_call(&self, id: &str) -> TeamCall {
        let request = CompleteTaskRequest {
            caller: self.member(),
            ..CompleteTaskRequest::default()
        };
        TeamCall::Complete(id.to_owned(), request)
    }

    async fn edit(&self, id: &str, edit: EditTaskRequest) -> Result<OpenCodeAnswer, R::Error> {
        self.answer_task(TeamCall::Edit(id.to_owned(), Box::new(edit))).await
    }

    async fn show(&self, id: &str) -> Result<TaskView, R::Error> {
        let answer = self.ask(TeamCall::Task(id.to_owned(), self.tool_caller())).await?;
        Ok(answer_of!(answer, Task).task.ok_or(ApiError::Internal)?)
    }

    /// Makes `call`, and answers with its task and warnings.
    async fn answer_task(&self, call: TeamCall) -> Result<OpenCodeAnswer, R::Error> {
        let answer = self.ask(call).await?;
        let waiting = answer.warnings();
        let response = answer_of!(answer, Task);
        let task = records::task(response.task.ok_or(ApiError::Internal)?)?;
        let kept_files = response.kept_files;
        let kept_locks = (!kept_files.is_empty()).then(|| {
            format!(
                "You keep these locks, because the work is not pushed: {}.",
                kept_files.join(", ")
            )
        });
        let notes = response.warnings.into_iter().chain(kept_locks).chain(waiting);
        Ok(OpenCodeAnswer::new(answers::record(&task)).with(notes))
    }
}
