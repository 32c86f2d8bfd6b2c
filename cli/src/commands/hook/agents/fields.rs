//! Fields of the JSON that agents send.

use serde_json::Value;

use super::super::event::Tool;

/// Fields of tools' arguments that name a file.
const PATHS: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "notebook_path",
    "target_file",
    "target_notebook",
];

/// Fields of tools' arguments that name the folder of a command.
const FOLDERS: &[&str] = &["workdir", "working_directory", "dir_path", "directory", "cwd"];

/// The first of the fields `names` that is a text and not empty.
pub(super) fn text(object: &Value, names: &[&str]) -> Option<String> {
    let mut found = names.iter().filter_map(|name| object.get(name)?.as_str());
    found.find(|text| !text.is_empty()).map(str::to_owned)
}

/// The first text of the list in the field `name`.
pub(super) fn first_text(object: &Value, name: &str) -> Option<String> {
    object.get(name)?.as_array()?.first()?.as_str().map(str::to_owned)
}

/// Whether the list in the field `name` has members.
pub(super) fn has_members(object: &Value, name: &str) -> bool {
    object
        .get(name)
        .and_then(Value::as_array)
        .is_some_and(|list| !list.is_empty())
}

/// The first of the fields `names`, as an object: some agents send arguments as JSON in a text.
pub(super) fn arguments(object: &Value, names: &[&str]) -> Value {
    let found = names.iter().find_map(|name| object.get(name));
    match found {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())),
        Some(value) => value.clone(),
        None => Value::Null,
    }
}

/// The tool `name`, which writes the file that its arguments name.
///
/// # Errors
/// A sentence, when they name none.
pub(super) fn edit(name: &str, arguments: &Value) -> Result<Tool, String> {
    let path = text(arguments, PATHS);
    let path = path.ok_or_else(|| format!("the call of the tool {name} names no file"))?;
    Ok(Tool::Edit(vec![path]))
}

/// A tool that reads the file that its arguments name.
pub(super) fn read(arguments: &Value) -> Tool {
    Tool::Read(text(arguments, PATHS))
}

/// A tool that runs the command in its arguments.
pub(super) fn shell(arguments: &Value) -> Tool {
    match text(arguments, &["command"]) {
        Some(command) => Tool::Shell {
            command,
            folder: text(arguments, FOLDERS),
        },
        None => Tool::Unknown,
    }
}

/// The tool `name`, which applies the patch in its arguments.
///
/// # Errors
/// A sentence, when it names no file.
pub(super) fn patch(name: &str, arguments: &Value) -> Result<Tool, String> {
    let body = match arguments {
        Value::String(body) => Some(body.clone()),
        arguments => text(arguments, &["command", "patchText", "patch", "input"]),
    };
    let files = super::patched_files(&body.unwrap_or_default());
    match files.is_empty() {
        true => Err(format!("the patch of the tool {name} names no file")),
        false => Ok(Tool::Edit(files)),
    }
}
