//! Tasks that a request adds or changes.

use std::collections::BTreeMap;

use coord_protocol::bounds::DEPENDENCIES;
use coord_protocol::tasks::{EditTaskRequest, NewTask as SentTask};

use super::texts::{long_text, task_id, title};
use coord_domain::team::TaskId;
use coord_domain::{Branch, FilePaths};
use coord_server::error::ApiError;
use coord_server::operations::fields::{id_in, in_field};
use coord_teams_state::tasks::{NewTask, TaskChanges, TaskReference};

/// The tasks with their references: to another one of the request by its `ref`, or else to one of the team.
pub(super) fn parse_tasks(sent: &[SentTask]) -> Result<Vec<NewTask>, ApiError> {
    let mut places = BTreeMap::new();
    for (place, task) in sent.iter().enumerate() {
        let Some(reference) = &task.reference else {
            continue;
        };
        task_id("ref", reference)?;
        if places.insert(reference.as_str(), place).is_some() {
            return Err(ApiError::InvalidField {
                field: "ref",
                problem: format!("names two tasks: {reference}"),
            });
        }
    }
    let named = |field, names: &Option<Vec<String>>| {
        let names = check_count(field, names.as_deref().unwrap_or_default())?;
        let name = |name: &String| match places.get(name.as_str()) {
            Some(place) => Ok(TaskReference::New(*place)),
            None => task_id(field, name).map(TaskReference::Task),
        };
        names.iter().map(name).collect::<Result<Vec<_>, ApiError>>()
    };
    let task = |task: &SentTask| {
        Ok(NewTask {
            title: title(task.title.as_deref())?,
            description: long_text("description", task.description.as_deref())?.to_owned(),
            priority: task.priority.unwrap_or_default(),
            id: task
                .id
                .as_deref()
                .map(TaskId::parse_new)
                .transpose()
                .map_err(in_field("id"))?,
            reference: task.reference.clone(),
            dependencies: named("dependencies", &task.dependencies)?,
            blocks: named("blocks", &task.blocks)?,
            files: files(task.files.as_deref().unwrap_or_default())?,
            branch: task.branch.as_deref().map(branch).transpose()?,
            intent_id: task
                .intent_id
                .as_deref()
                .map(|id| id_in("intent_id", id))
                .transpose()?
                .map(str::to_owned),
        })
    };
    sent.iter().map(task).collect()
}

fn check_count<'a>(field: &'static str, names: &'a [String]) -> Result<&'a [String], ApiError> {
    if names.len() > DEPENDENCIES {
        return Err(ApiError::InvalidField {
            field,
            problem: format!("has {} tasks; send {DEPENDENCIES} at most", names.len()),
        });
    }
    Ok(names)
}

fn files(sent: &[String]) -> Result<Vec<String>, ApiError> {
    if sent.is_empty() {
        return Ok(Vec::new());
    }
    let paths = FilePaths::parse(sent.iter().map(String::as_str)).map_err(in_field("files"))?;
    Ok(paths.iter().map(|path| path.as_str().to_owned()).collect())
}

fn branch(name: &str) -> Result<String, ApiError> {
    let branch = Branch::parse(name).map_err(in_field("branch"))?;
    Ok(branch.to_string())
}

/// The changes that a request asks for.
pub(super) fn changes(sent: &EditTaskRequest) -> Result<TaskChanges, ApiError> {
    let ids = |field, names: &Option<Vec<String>>| {
        let Some(names) = names else { return Ok(None) };
        let ids = check_count(field, names)?.iter().map(|id| task_id(field, id));
        ids.collect::<Result<Vec<TaskId>, ApiError>>().map(Some)
    };
    let description = match &sent.description {
        Some(text) => Some(long_text("description", Some(text))?.to_owned()),
        None => None,
    };
    Ok(TaskChanges {
        title: sent.title.as_deref().map(|text| title(Some(text))).transpose()?,
        priority: sent.priority,
        files: sent.files.as_deref().map(files).transpose()?,
        branch: sent.branch.as_deref().map(branch).transpose()?,
        intent_id: match sent.intent_id.as_deref() {
            None => None,
            Some("") => Some(String::new()),
            Some(id) => Some(id_in("intent_id", id)?.to_owned()),
        },
        status: sent.status,
        clear_lapses: sent.clear_lapses == Some(true),
        drops_completed: sent.drop_completed == Some(true),
        description,
        note: long_text("note", sent.note.as_deref())?.to_owned(),
        dependencies: ids("dependencies", &sent.dependencies)?,
        blocks: ids("blocks", &sent.blocks)?,
    })
}
