//! `/api/tasks`: the tasks of a team, their dependencies and their claims.

mod requests;
mod responses;
mod status;

pub use requests::{
    ClaimTaskRequest, CompleteTaskRequest, EditTaskRequest, NewTask, NewTasksRequest, NextTaskRequest,
    ReleaseTaskRequest, TaskWork,
};
pub use responses::{
    DependencyResult, HeldTask, Lease, LeaseState, NewTasksResponse, Note, PassedReason, PassedTask, TaskResponse,
    TaskView, TasksResponse,
};
pub use status::{TaskPriority, TaskStatus};
