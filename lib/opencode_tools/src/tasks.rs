//! Tools of tasks.

use coord_protocol::opencode_tools::{TaskData, TaskFilters, TaskUpdates};
use coord_protocol::tasks::{
    ClaimTaskRequest, CompleteTaskRequest, EditTaskRequest, LeaseState, NewTask, NewTasksRequest, TaskStatus, TaskView,
    TaskWork,
};
use coord_protocol::team_tools::{ListTasksCall, TeamAnswer, TeamCall};
use coord_teams::answers;
use coord_teams::task::Task;

use super::board::{Board, Requests, answer_of};
use super::records::{self, shown_status};
use super::refusal::by_rules;
use super::tool_answer::OpenCodeAnswer;
use coord_server::error::ApiError;
use coord_teams_state::teams::TeamRefusal;

/// Most tasks of an answer.
const MOST_TASKS: u32 = 500;

impl<R: Requests> Board<'_, R> {
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
        Ok(OpenCodeAnswer::new(answers::one(&task)).with(waiting))
    }

    /// `get-tasks`: for the plugin, a task in progress without an owner is pending.
    pub async fn list(&self, filters: &TaskFilters, after: Option<u64>) -> Result<OpenCodeAnswer, R::Error> {
        let is_unclaimed = filters.status == Some(TaskStatus::Pending);
        let call = ListTasksCall {
            caller: self.tool_caller(),
            status: filters.status.filter(|_| !is_unclaimed),
            owner: filters.owner.clone(),
            after,
            limit: Some(MOST_TASKS),
            is_unclaimed,
            has_descriptions: true,
            ..ListTasksCall::default()
        };
        let answer = self.ask(TeamCall::Tasks(Box::new(call))).await?;
        let waiting = answer.warnings();
        let page = answer_of!(answer, Tasks);
        let wanted = |task: &TaskView| filters.status.is_none_or(|status| shown_status(task) == status);
        let tasks = page.tasks.into_iter().filter(wanted).map(records::task);
        let tasks: Vec<Task> = tasks.collect::<Result<_, ApiError>>()?;
        let more = page
            .next
            .map(|next| format!("More tasks follow: call again with after {next}."));
        Ok(OpenCodeAnswer::new(answers::list(&tasks)).with(more).with(waiting))
    }

    /// `claim-task`. Files of the task are left alone: the plugin knows nothing of them.
    pub async fn claim(&self, id: &str) -> Result<OpenCodeAnswer, R::Error> {
        self.task(self.claim_of(id)).await
    }

    fn claim_of(&self, id: &str) -> TeamCall {
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

    /// `update-task`: changes of fields first, then the step of the status, which is a claim or a completion by the caller.
    pub async fn update(&self, id: &str, updates: &TaskUpdates) -> Result<OpenCodeAnswer, R::Error> {
        let completed_at = updates.completed_at.as_deref();
        let completed_at = completed_at.map(|text| records::sent_time("completedAt", text));
        completed_at.transpose()?;
        let mut edit = EditTaskRequest {
            caller: self.member(),
            description: updates.description.clone(),
            dependencies: updates.dependencies.clone(),
            // The plugin's list is all that the task depends on.
            drop_completed: updates.dependencies.as_ref().map(|_| true),
            blocks: updates.blocks.clone(),
            ..EditTaskRequest::default()
        };
        let changes_fields = edit.description.is_some() || edit.dependencies.is_some() || edit.blocks.is_some();
        let Some(to) = updates.status else {
            return self.edit(id, edit).await;
        };
        let before = self.show(id).await?;
        let from = shown_status(&before);
        // Where the status has changed since, nothing is.
        edit.status = Some(before.status);
        if from == to {
            return self.edit(id, edit).await;
        }
        let step = match (from, to) {
            (TaskStatus::Pending, TaskStatus::InProgress) => self.claim_of(id),
            (TaskStatus::InProgress, TaskStatus::Completed) => self.completion(id),
            // A former owner whose claim has expired may still complete the task.
            (TaskStatus::Pending, TaskStatus::Completed) if before.lease.state == LeaseState::Lapsed => {
                self.completion(id)
            }
            _ => {
                let (from, to) = (from.as_str().to_owned(), to.as_str().to_owned());
                return Err(by_rules(TeamRefusal::InvalidTransition { from, to }).into());
            }
        };
        if !changes_fields {
            return self.task(step).await;
        }
        // The completion of a task that seems to have a different owner is likely refused: check before any change.
        let is_own = |owner: &String| {
            self.agent
                .as_ref()
                .is_none_or(|agent| agent.eq_ignore_ascii_case(owner))
        };
        if before.owner.as_ref().is_some_and(|owner| !is_own(owner)) {
            self.task(step).await?;
            edit.status = None;
            return self.edit(id, edit).await;
        }
        self.edit(id, edit).await?;
        self.task(step).await
    }

    fn completion(&self, id: &str) -> TeamCall {
        let request = CompleteTaskRequest {
            caller: self.member(),
            ..CompleteTaskRequest::default()
        };
        TeamCall::Complete(id.to_owned(), request)
    }

    async fn edit(&self, id: &str, edit: EditTaskRequest) -> Result<OpenCodeAnswer, R::Error> {
        self.task(TeamCall::Edit(id.to_owned(), Box::new(edit))).await
    }

    async fn show(&self, id: &str) -> Result<TaskView, R::Error> {
        let answer = self.ask(TeamCall::Task(id.to_owned(), self.tool_caller())).await?;
        Ok(answer_of!(answer, Task).task.ok_or(ApiError::Internal)?)
    }

    /// The task that `call` is answered with, and warnings.
    async fn task(&self, call: TeamCall) -> Result<OpenCodeAnswer, R::Error> {
        let answer = self.ask(call).await?;
        let waiting = answer.warnings();
        let response = answer_of!(answer, Task);
        let task = records::task(response.task.ok_or(ApiError::Internal)?)?;
        let kept = response.kept_files;
        let kept = (!kept.is_empty()).then(|| {
            format!(
                "You keep these locks, because the work is not pushed: {}.",
                kept.join(", ")
            )
        });
        let notes = response.warnings.into_iter().chain(kept).chain(waiting);
        Ok(OpenCodeAnswer::new(answers::one(&task)).with(notes))
    }
}
