//! Tasks as they are stored, and as they are read.

use std::collections::HashMap;

use coord_protocol::tasks::DependencyResult;
pub use coord_protocol::tasks::{LeaseState, TaskPriority as Priority, TaskStatus};
use serde::{Deserialize, Serialize};

use coord_state::reply::{JsonText, json_texts};

/// How the last claim of a task without an owner ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ClaimEnd {
    Lapsed,
    Released,
}

/// A task without its texts, as `modules/task.lua` describes it. Times are Unix milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TaskRecord {
    pub number: u64,
    pub title: String,
    pub priority: Priority,
    pub status: TaskStatus,
    pub created: i64,
    pub updated: Option<i64>,
    pub claimed: Option<i64>,
    pub completed: Option<i64>,
    pub by: String,
    pub by_login: Option<String>,
    pub owner: Option<String>,
    pub login: Option<String>,
    pub token: Option<i64>,
    pub seconds: Option<u32>,
    pub expires: Option<i64>,
    pub had: Option<String>,
    pub ended: Option<ClaimEnd>,
    #[serde(default)]
    pub lapses: u32,
    pub assignee: Option<String>,
    pub reserved: Option<i64>,
    #[serde(default)]
    pub files: Vec<String>,
    pub branch: Option<String>,
    pub intent_id: Option<String>,
    pub locked: Option<String>,
    #[serde(default)]
    pub dependency_order: Vec<String>,
    #[serde(default)]
    pub block_order: Vec<String>,
}

/// A task as it is read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "RawTaskView")]
pub struct TaskView {
    pub id: String,
    /// The stored task; an expired claim may still have its owner there.
    pub record: TaskRecord,
    /// Its dependencies that are not completed.
    pub dependencies: Vec<String>,
    /// Its dependencies that are completed.
    pub met_dependencies: Vec<String>,
    /// Tasks that depend on it: the first 1,000.
    pub blocks: Vec<String>,
    /// Number of tasks that depend on it.
    pub block_count: u64,
    /// The store's clock when it was read, Unix milliseconds.
    pub read_at: i64,
}

/// A [`TaskView`] as `modules/view.lua` has it.
#[derive(Deserialize)]
struct RawTaskView {
    id: String,
    task: JsonText<TaskRecord>,
    #[serde(default)]
    dependencies: Vec<String>,
    #[serde(default)]
    met_dependencies: Vec<String>,
    #[serde(default)]
    blocks: Vec<String>,
    block_count: u64,
    read_at: i64,
}

impl From<RawTaskView> for TaskView {
    fn from(raw: RawTaskView) -> Self {
        let record = raw.task.0;
        TaskView {
            id: raw.id,
            dependencies: in_order(raw.dependencies, &record.dependency_order),
            met_dependencies: in_order(raw.met_dependencies, &record.dependency_order),
            blocks: in_order(raw.blocks, &record.block_order),
            record,
            block_count: raw.block_count,
            read_at: raw.read_at,
        }
    }
}

/// Number of expired claims after which a task is held back.
pub const MAX_EXPIRIES: u32 = 3;

impl TaskView {
    /// The bytes of its title, its files, and the tasks that it names.
    pub fn bytes(&self) -> usize {
        let names = self.record.files.iter().map(|file| file.len());
        let tasks = self
            .dependencies
            .iter()
            .chain(&self.met_dependencies)
            .chain(&self.blocks);
        self.record.title.len() + names.chain(tasks.map(String::len)).sum::<usize>()
    }

    /// The state of its claim at `now_ms`, the store's clock.
    pub fn lease(&self, now_ms: i64) -> LeaseState {
        let record = &self.record;
        match (record.status, record.expires, &record.owner, record.ended) {
            (TaskStatus::Pending | TaskStatus::Completed, ..) => LeaseState::None,
            (_, Some(expires), Some(_), _) if expires > now_ms => LeaseState::Held,
            (_, _, Some(_), _) | (_, _, None, Some(ClaimEnd::Lapsed)) => LeaseState::Lapsed,
            _ => LeaseState::Released,
        }
    }

    /// Its owner at `now_ms`: the holder of a current claim, or the member that completed it.
    pub fn owner(&self, now_ms: i64) -> Option<&str> {
        let is_owned = self.record.status == TaskStatus::Completed || self.lease(now_ms) == LeaseState::Held;
        self.record.owner.as_deref().filter(|_| is_owned)
    }

    /// How many claims have expired at `now_ms`.
    pub fn lapses(&self, now_ms: i64) -> u32 {
        let is_unnoticed = self.record.owner.is_some() && self.lease(now_ms) == LeaseState::Lapsed;
        self.record.lapses + u32::from(is_unnoticed)
    }

    /// Whether it is in the queue at `now_ms`.
    pub fn is_ready(&self, now_ms: i64) -> bool {
        self.record.status != TaskStatus::Completed
            && self.lease(now_ms) != LeaseState::Held
            && self.dependencies.is_empty()
            && self.lapses(now_ms) < MAX_EXPIRIES
    }

    /// The documented warning about a task that is in progress although its dependencies are not met.
    pub fn warning(&self) -> Option<String> {
        (self.record.status == TaskStatus::InProgress && !self.dependencies.is_empty()).then(|| {
            let id = &self.id;
            format!("Warning: Task {id} dependencies are not met. Proceed with caution.")
        })
    }
}

/// The ids: first those in `order`, in that order.
fn in_order(mut ids: Vec<String>, order: &[String]) -> Vec<String> {
    let positions: HashMap<&str, usize> = order.iter().map(String::as_str).zip(0_usize..).collect();
    ids.sort_by_key(|id| positions.get(id.as_str()).copied().unwrap_or(usize::MAX));
    ids
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Note {
    /// Handle of the author; none for a note from Coord.
    pub by: Option<String>,
    /// Verified login of the author.
    pub login: Option<String>,
    /// Unix milliseconds.
    pub time: i64,
    pub text: String,
}

/// A task with its texts, as `modules/view.lua` has it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct FullTask {
    pub task: TaskView,
    pub description: Option<String>,
    /// Its notes, the oldest first.
    #[serde(default, deserialize_with = "json_texts")]
    pub notes: Vec<Note>,
    pub result: Option<String>,
    /// The results of completed dependencies, 128 KiB in total.
    #[serde(default)]
    pub results: Vec<DependencyResult>,
    /// Ids of the completed dependencies for whose results there was no room.
    #[serde(default)]
    pub left_out: Vec<String>,
}

impl FullTask {
    /// The task without the results of its dependencies, for a caller that no longer needs them.
    #[must_use]
    pub fn without_dependencies(self) -> Self {
        FullTask {
            results: Vec::new(),
            left_out: Vec::new(),
            ..self
        }
    }
}
