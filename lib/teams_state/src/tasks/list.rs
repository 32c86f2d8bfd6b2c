//! Tasks are read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::record::{FullTask, TaskStatus, TaskView};
use super::scripts::{LIST_TASKS, SHOW_TASK};
use crate::teams::{TeamOutcome, TeamTerms, answer_of, run};
use coord_domain::team::{Handle, TaskId};
use coord_state::admission::{RequestKind, is_false};
use coord_store::Store;

/// Arguments of `show_task.lua`.
#[derive(Serialize)]
struct ShowTaskArgs<'a> {
    task_id: &'a str,
}

/// Reads one task with its texts.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn show_task(store: &dyn Store, terms: &TeamTerms<'_>, id: &TaskId) -> TeamOutcome<FullTask> {
    let show = ShowTaskArgs { task_id: id.as_str() };
    run(store, &SHOW_TASK, terms, RequestKind::Read, &show, answer_of("SHOWN")).await
}

/// Whether tasks may be claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Readiness {
    /// They are in the queue.
    Ready,
    /// They depend on tasks that are not completed.
    Blocked,
    /// They have no owner, and are not completed.
    Unclaimed,
}

/// Which tasks are listed.
#[derive(Clone, Copy, Debug, Default)]
pub struct TaskFilter<'a> {
    /// Only tasks of this status.
    pub status: Option<TaskStatus>,
    /// Only tasks of this owner.
    pub owner: Option<&'a Handle>,
    /// Only tasks of this readiness.
    pub readiness: Option<Readiness>,
    /// Only tasks with this text in the title, whatever the case of its ASCII letters.
    pub text: &'a str,
    /// Only tasks about this file; empty for any.
    pub file: &'a str,
    /// Whether the descriptions are read too.
    pub has_descriptions: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TaskPage {
    /// The store's clock, Unix seconds.
    #[serde(skip)]
    pub now: i64,
    /// The number after which the next page begins.
    pub next: Option<u64>,
    /// The tasks, in the order of their creation. A page may have fewer than requested, and even none, although others follow.
    #[serde(default)]
    pub tasks: Vec<TaskView>,
    /// Descriptions by id, if requested.
    #[serde(default)]
    pub descriptions: BTreeMap<String, String>,
}

/// Arguments of `list_tasks.lua`.
#[derive(Serialize)]
struct ListTasksArgs<'a> {
    after: u64,
    most: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<TaskStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    readiness: Option<Readiness>,
    #[serde(skip_serializing_if = "String::is_empty")]
    text: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    file: &'a str,
    #[serde(skip_serializing_if = "is_false")]
    has_descriptions: bool,
}

/// Lists up to `most` tasks whose number comes after `after`.
///
/// # Errors
/// As those of [`show_task`].
pub async fn list_tasks(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    after: u64,
    most: usize,
    filter: &TaskFilter<'_>,
) -> TeamOutcome<TaskPage> {
    let list = ListTasksArgs {
        after,
        most,
        status: filter.status,
        owner: filter.owner.map(|owner| owner.as_str().to_ascii_lowercase()),
        readiness: filter.readiness,
        text: filter.text.to_ascii_lowercase(),
        file: filter.file,
        has_descriptions: filter.has_descriptions,
    };
    run(store, &LIST_TASKS, terms, RequestKind::Read, &list, |reply| {
        let page: TaskPage = reply.object_of("LISTED")?;
        Ok(TaskPage { now: reply.now, ..page })
    })
    .await
}
