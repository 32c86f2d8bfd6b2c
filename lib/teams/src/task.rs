//! A task, and its file.

use crate::bounds::TASK_BYTES;
use crate::json::{self, Json, Object};
use crate::layout::Entry;
use crate::names::{TaskId, TeamName};
use crate::refusal::{Refusal, quote};
use crate::shape::{MemberError, Record, Shape, text, texts, time};
use crate::status::{Priority, Status};
use crate::texts::UNTITLED;
use crate::time::Time;

/// `TaskSchema`, to the letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Not empty; as part of a path it is a [`TaskId`].
    pub id: String,
    /// [`UNTITLED`] if the file has none.
    pub title: String,
    pub description: Option<String>,
    /// Normal if the file has none.
    pub priority: Priority,
    pub status: Status,
    pub created_at: Time,
    pub updated_at: Option<Time>,
    /// The handle of its owner.
    pub owner: Option<String>,
    pub claimed_at: Option<Time>,
    /// The plugin never sets it.
    pub completed_at: Option<Time>,
    /// Tasks that must be completed first.
    pub dependencies: Vec<String>,
    /// The same edges from the other end: tasks that wait for this one.
    pub blocks: Vec<String>,
    /// A sentence for people and agents.
    pub warning: Option<String>,
}

impl Record for Task {
    fn members(&self) -> Vec<(&'static str, Option<Json>)> {
        vec![
            ("id", text(&self.id)),
            ("title", text(&self.title)),
            ("description", self.description.as_deref().and_then(text)),
            ("priority", text(self.priority.as_str())),
            ("status", text(self.status.as_str())),
            ("createdAt", time(&self.created_at)),
            ("updatedAt", self.updated_at.as_ref().and_then(time)),
            ("owner", self.owner.as_deref().and_then(text)),
            ("claimedAt", self.claimed_at.as_ref().and_then(time)),
            ("completedAt", self.completed_at.as_ref().and_then(time)),
            ("dependencies", texts(&self.dependencies)),
            ("blocks", texts(&self.blocks)),
            ("warning", self.warning.as_deref().and_then(text)),
        ]
    }
}

impl Task {
    fn of(value: &Json) -> Result<Self, MemberError> {
        let shape = Shape::of(value, "")?;
        Ok(Self {
            id: shape.text_not_empty("id")?,
            title: shape.optional_text("title")?.unwrap_or_else(|| UNTITLED.to_owned()),
            description: shape.optional_text("description")?,
            priority: shape
                .optional_word("priority", &Priority::ALL, Priority::as_str)?
                .unwrap_or_default(),
            status: shape.word("status", &Status::ALL, Status::as_str)?,
            created_at: shape.time("createdAt")?,
            updated_at: shape.optional_time("updatedAt")?,
            owner: shape.optional_text("owner")?,
            claimed_at: shape.optional_time("claimedAt")?,
            completed_at: shape.optional_time("completedAt")?,
            dependencies: shape.optional_texts("dependencies")?.unwrap_or_default(),
            blocks: shape.optional_texts("blocks")?.unwrap_or_default(),
            warning: shape.optional_text("warning")?,
        })
    }
}

/// `tasks/TEAM/ID.json`.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskFile {
    task: Task,
    object: Object,
}

impl TaskFile {
    /// Parses the file of the task `id`. The file must contain this id.
    pub fn parse(team: &TeamName, id: &TaskId, bytes: &[u8]) -> Result<Self, Refusal> {
        let path = Entry::Task(team.clone(), id.clone()).path();
        let value = json::parse(bytes, TASK_BYTES).map_err(|message| Refusal::of_file(&path, message))?;
        let task = Task::of(&value).map_err(|error| error.in_file(&path))?;
        if task.id != id.as_str() {
            let message = format!("{} is not the id that the file is named for", quote(&task.id));
            return Err(MemberError::new("id", message).in_file(&path));
        }
        let Json::Object(object) = value else {
            unreachable!("a task is an object");
        };
        Ok(Self { task, object })
    }

    pub fn new(task: Task) -> Self {
        let object = task.object();
        Self { task, object }
    }

    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The file with `task` in it. Unknown members stay.
    pub fn with(&self, task: Task) -> Self {
        let object = task.edit(&self.task, &self.object);
        Self { task, object }
    }

    pub fn render(&self) -> String {
        json::render(&Json::Object(self.object.clone()))
    }
}
