//! Fields of the JSON that agents send.

use serde_json::Value;

use super::super::event::Tool;

/// Fields of tools' arguments that name a file.
pub(super) const PATH_FIELDS: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "notebook_path",
    "target_file",
    "target_notebook",
];

/// Fields of tools' arguments that name the folder of a command.
const FOLDER_FIELDS: &[&str] = &["workdir", "working_directory", "dir_path", "directory", "cwd"];

/// The first of the fields `names` that is a text and not empty.
pub(super) fn text(object: &Value, names: &[&str]) -> Option<String> {
    let mut texts = names.iter().filter_map(|name| object.get(name)?.as_str());
    texts.find(|text| !text.is_empty()).map(str::to_owned)
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
    match names.iter().find_map(|name| object.get(name)) {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())),
        Some(value) => value.clone(),
        None => Value::Null,
    }
}

/// Lists in tools' arguments whose members each name a file.
const LIST_FIELDS: &[&str] = &["replacements", "edits", "files"];

/// The tool `name`, which writes the files that its arguments name.
///
/// # Errors
/// A sentence, when the arguments name no file.
pub(super) fn edit_tool(name: &str, arguments: &Value) -> Result<Tool, String> {
    let mut paths: Vec<String> = text(arguments, PATH_FIELDS).into_iter().collect();
    let members = LIST_FIELDS
        .iter()
        .filter_map(|list| arguments.get(list)?.as_array())
        .flatten();
    let path_of = |member: &Value| text(member, PATH_FIELDS).or_else(|| member.as_str().map(str::to_owned));
    for path in members.filter_map(path_of) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    match paths.is_empty() {
        true => Err(format!("the call of the tool {name} names no file")),
        false => Ok(Tool::Edit(paths)),
    }
}

/// A tool that reads the file that its arguments name.
pub(super) fn read_tool(arguments: &Value) -> Tool {
    Tool::Read(text(arguments, PATH_FIELDS))
}

/// A tool that runs the command in its arguments.
pub(super) fn shell_tool(arguments: &Value) -> Tool {
    match text(arguments, &["command"]) {
        Some(command) => Tool::Shell {
            command,
            folder: text(arguments, FOLDER_FIELDS),
        },
        None => Tool::Unknown,
    }
}

/// A tool that runs a command of PowerShell. Only the commands that PowerShell shares with other shells are parsed; its
/// paths have another separator.
pub(super) fn power_shell_tool(arguments: &Value) -> Tool {
    match shell_tool(arguments) {
        Tool::Shell { command, folder } => Tool::Shell {
            command: command.replace('\\', "/"),
            folder,
        },
        other => other,
    }
}

/// The user's prompt without the text that agents add: elements at the beginning, such as the context of hooks (Gemini
/// CLI) and notices of ended background tasks (Claude Code), and quotation marks around it (OpenCode's command line).
pub(super) fn prompt(object: &Value) -> Option<String> {
    let prompt = text(object, &["prompt", "initialPrompt", "initial_prompt"])?;
    let mut text = prompt.trim();
    while let Some(rest) = after_element(text) {
        text = rest.trim_start();
    }
    let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let text = quoted.filter(|inner| !inner.contains('"')).unwrap_or(text).trim();
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// The text after the element that `text` begins with.
fn after_element(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('<')?;
    let is_of_name = |letter: char| letter.is_ascii_lowercase() || matches!(letter, '-' | '_');
    let end = inner.find(|letter: char| !is_of_name(letter))?;
    let name = inner.get(..end).filter(|name| !name.is_empty())?;
    let (_, rest) = inner.split_once(&format!("</{name}>"))?;
    Some(rest)
}

/// The tool `name`, which applies the patch in its arguments.
///
/// # Errors
/// A sentence, when the patch names no file.
pub(super) fn patch_tool(name: &str, arguments: &Value) -> Result<Tool, String> {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_prompt_is_the_user_text_without_injected_context() {
        for (sent, expected) in [
            ("Fix a.ts", Some("Fix a.ts")),
            ("<hook_context>Coord: x</hook_context>\n\nFix a.ts", Some("Fix a.ts")),
            (
                "<hook_context>a</hook_context><hook_context>b</hook_context> Fix",
                Some("Fix"),
            ),
            ("\"Fix a.ts\"", Some("Fix a.ts")),
            ("\"a\" and \"b\"", Some("\"a\" and \"b\"")),
            (
                "<task-notification>\n<summary>Stop hook feedback</summary>\n</task-notification>\n<system-reminder>\nx\n</system-reminder>",
                None,
            ),
            (
                "<teammate-message from=\"lead\">x</teammate-message> Fix it",
                Some("Fix it"),
            ),
            ("<b>a</b", Some("<b>a</b")),
            ("<hook_context>without an end", Some("<hook_context>without an end")),
            ("<hook_context>all of it</hook_context>", None),
            ("", None),
        ] {
            assert_eq!(prompt(&json!({ "prompt": sent })).as_deref(), expected, "{sent}");
        }
    }

    #[test]
    fn an_edit_names_each_of_its_files_once() {
        let files = |arguments: Value| match edit_tool("x", &arguments) {
            Ok(Tool::Edit(files)) => files,
            other => panic!("{other:?}"),
        };
        let of_both = json!({ "file_path": "a", "edits": [{ "old_string": "x", "new_string": "y" }] });
        assert_eq!(files(of_both), ["a"]);
        assert_eq!(
            files(json!({ "replacements": [{ "filePath": "a" }, { "filePath": "b" }, { "filePath": "a" }] })),
            ["a", "b"]
        );
        assert_eq!(files(json!({ "files": ["a", "b"] })), ["a", "b"]);
        assert!(edit_tool("x", &json!({ "files": [] })).is_err() && edit_tool("x", &json!("a")).is_err());
    }
}
