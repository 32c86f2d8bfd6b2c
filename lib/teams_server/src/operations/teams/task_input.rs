//! Tasks that a request adds or changes.

use std::collections::BTreeMap;

use coord_protocol::bounds::DEPENDENCIES;
use coord_protocol::tasks::{EditTaskRequest, NewTask as WireTask};

use super::texts::{long_text, task_id, title};
use coord_domain::team::TaskId;
use coord_domain::{Branch, FilePaths};
use coord_server::error::ApiError;
use coord_server::operations::fields::{id_in, in_field, parse_optional};
use coord_teams_state::tasks::{NewTask, TaskChanges, TaskReference};

/// Parses tasks. A name refers to the task of the request with this `ref`, or else to a task of the team.
pub(super) fn parse_tasks(tasks: &[WireTask]) -> Result<Vec<NewTask>, ApiError> {
    let mut index_by_reference = BTreeMap::new();
    for (index, task) in tasks.iter().enumerate() {
        let Some(reference) = &task.reference else {
            continue;
        };
        task_id("ref", reference)?;
        if index_by_reference.insert(reference.as_str(), index).is_some() {
            return Err(ApiError::invalid_field("ref", format!("names two tasks: {reference}")));
        }
    }
    let references = |field, names: &Option<Vec<String>>| {
        let names = check_count(field, names.as_deref().unwrap_or_default())?;
        let reference = |name: &String| match index_by_reference.get(name.as_str()) {
            Some(index) => Ok(TaskReference::New(*index)),
            None => task_id(field, name).map(TaskReference::Task),
        };
        names.iter().map(reference).collect::<Result<Vec<_>, ApiError>>()
    };
    let parse_task = |task: &WireTask| {
        Ok(NewTask {
            title: title(task.title.as_deref())?,
            description: long_text("description", task.description.as_deref())?.to_owned(),
            priority: task.priority.unwrap_or_default(),
            id: parse_optional("id", task.id.as_deref(), TaskId::parse_new)?,
            reference: task.reference.clone(),
            dependencies: references("dependencies", &task.dependencies)?,
            blocks: references("blocks", &task.blocks)?,
            files: files(task.files.as_deref().unwrap_or_default())?,
            branch: branch(task.branch.as_deref())?,
            intent_id: task
                .intent_id
                .as_deref()
                .map(|id| id_in("intent_id", id))
                .transpose()?
                .map(str::to_owned),
        })
    };
    tasks.iter().map(parse_task).collect()
}

fn check_count<'a>(field: &'static str, names: &'a [String]) -> Result<&'a [String], ApiError> {
    if names.len() > DEPENDENCIES {
        let problem = format!("has {} tasks; send {DEPENDENCIES} at most", names.len());
        return Err(ApiError::invalid_field(field, problem));
    }
    Ok(names)
}

fn files(paths: &[String]) -> Result<Vec<String>, ApiError> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let paths = FilePaths::parse(paths.iter().map(String::as_str)).map_err(in_field("files"))?;
    Ok(paths.iter().map(|path| path.as_str().to_owned()).collect())
}

fn branch(name: Option<&str>) -> Result<Option<String>, ApiError> {
    let branch = parse_optional("branch", name, Branch::parse)?;
    Ok(branch.map(|branch| branch.to_string()))
}

pub(super) fn changes(request: &EditTaskRequest) -> Result<TaskChanges, ApiError> {
    let ids = |field, names: &Option<Vec<String>>| {
        let Some(names) = names else { return Ok(None) };
        let ids = check_count(field, names)?.iter().map(|id| task_id(field, id));
        ids.collect::<Result<Vec<TaskId>, ApiError>>().map(Some)
    };
    let description = match &request.description {
        Some(text) => Some(long_text("description", Some(text))?.to_owned()),
        None => None,
    };
    Ok(TaskChanges {
        title: request.title.as_deref().map(|text| title(Some(text))).transpose()?,
        priority: request.priority,
        files: request.files.as_deref().map(files).transpose()?,
        branch: branch(request.branch.as_deref())?,
        intent_id: match request.intent_id.as_deref() {
            None => None,
            Some("") => Some(String::new()),
            Some(id) => Some(id_in("intent_id", id)?.to_owned()),
        },
        status: request.status,
        clear_lapses: request.clear_lapses == Some(true),
        drops_completed: request.drop_completed == Some(true),
        description,
        note: long_text("note", request.note.as_deref())?.to_owned(),
        dependencies: ids("dependencies", &request.dependencies)?,
        blocks: ids("blocks", &request.blocks)?,
    })
}
