//! The scripts of tasks. Running a `repeatable` one twice has the effect of running it once.

use coord_state::scripts;

scripts! {
    /// Adds tasks.
    CREATE_TASKS = "create_tasks", repeatable: false;
    /// Changes a task.
    UPDATE_TASK = "update_task", repeatable: false;
    /// Claims one task for the caller.
    CLAIM_TASK = "claim_task", repeatable: false;
    /// Claims the first ready task for the caller.
    NEXT_TASK = "next_task", repeatable: false;
    /// Completes a task, and unblocks its dependents.
    COMPLETE_TASK = "complete_task", repeatable: false;
    /// Releases a claimed task.
    RELEASE_TASK = "release_task", repeatable: false;
    /// Reserves a task for a member.
    ASSIGN_TASK = "assign_task", repeatable: false;
    /// Removes a task.
    DELETE_TASK = "delete_task", repeatable: false;
    /// Announces expired claims.
    SETTLE_LAPSES = "settle_lapses", repeatable: false;
    /// Shows one task.
    SHOW_TASK = "show_task", repeatable: true;
    /// Lists tasks.
    LIST_TASKS = "list_tasks", repeatable: true;
}
