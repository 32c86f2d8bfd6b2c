//! Computes a file's content after an edit, before the edit, from the tool's arguments in the forms of all agents.

use serde_json::Value;

use super::agents::patch::{FilePatch, parse_patch};

/// Fields with the whole content of a file.
const CONTENT_FIELDS: [&str; 4] = ["content", "contents", "file_text", "fileText"];

/// Fields with the text to replace.
const OLD_FIELDS: [&str; 3] = ["old_string", "oldString", "old_str"];

/// Fields with its replacement.
const NEW_FIELDS: [&str; 3] = ["new_string", "newString", "new_str"];

/// Fields that request the replacement of every occurrence.
const ALL_FIELDS: [&str; 3] = ["replace_all", "replaceAll", "allow_multiple"];

/// Lists of replacements, in one file or in several.
const LIST_FIELDS: [&str; 2] = ["edits", "replacements"];

/// The content of a file after the call of an edit tool. `before` is the content on disk. `is_file` returns whether a
/// path of the arguments names the file. `None` if the arguments have an unknown form, or the text to replace is
/// missing.
pub(super) fn content_after(
    tool: &str,
    input: &Value,
    before: &[u8],
    is_file: impl Fn(&str) -> bool,
) -> Option<Vec<u8>> {
    if let Some(patch) = find_patch(input) {
        return content_after_patch(patch, before, is_file);
    }
    if tool == "Delete" {
        return Some(Vec::new());
    }
    if let Some(content) = text(input, &CONTENT_FIELDS) {
        return Some(content.as_bytes().to_vec());
    }
    let before = std::str::from_utf8(before).ok()?;
    if let Some(line) = input.get("insert_line") {
        let new = text(input, &NEW_FIELDS).or_else(|| text(input, &["insert_text"]))?;
        return insert_after_line(before, line.as_u64()?, new).map(String::into_bytes);
    }
    let mut content = before.to_owned();
    let mut is_changed = false;
    let lists = LIST_FIELDS.iter().filter_map(|list| input.get(list)?.as_array());
    let members: Vec<&Value> = lists.flatten().collect();
    let single = text(input, &OLD_FIELDS)
        .or_else(|| text(input, &NEW_FIELDS))
        .map(|_| input);
    for edit in single.into_iter().chain(members) {
        // A member without a path belongs to the file that the call names.
        if super::agents::path_in(edit).is_some_and(|path| !is_file(&path)) {
            continue;
        }
        content = replace(&content, edit)?;
        is_changed = true;
    }
    is_changed.then(|| content.into_bytes())
}

/// The text of the first of the fields `names`.
fn text<'a>(object: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| object.get(name)?.as_str())
}

/// `content` with one replacement.
fn replace(content: &str, edit: &Value) -> Option<String> {
    let (old, new) = (
        text(edit, &OLD_FIELDS).unwrap_or_default(),
        text(edit, &NEW_FIELDS).unwrap_or_default(),
    );
    if old.is_empty() {
        // A new file.
        return content.is_empty().then(|| new.to_owned());
    }
    let replaces_all = ALL_FIELDS.iter().any(|name| edit.get(name) == Some(&Value::Bool(true)))
        || edit
            .get("expected_replacements")
            .and_then(Value::as_u64)
            .is_some_and(|count| count > 1);
    let mut matches = content.match_indices(old);
    match (matches.next(), matches.next(), replaces_all) {
        (None, ..) | (_, Some(_), false) => None,
        _ => Some(content.replace(old, new)),
    }
}

/// Inserts `new` after line `line` of `content`. Lines are counted from 1.
fn insert_after_line(content: &str, line: u64, new: &str) -> Option<String> {
    let mut lines: Vec<&str> = content.split_inclusive('\n').collect();
    let line = usize::try_from(line).ok().filter(|line| *line <= lines.len())?;
    let new = if new.ends_with('\n') {
        new.to_owned()
    } else {
        format!("{new}\n")
    };
    lines.insert(line, &new);
    Some(lines.concat())
}

/// The patch in the form of `apply_patch`, if the arguments have one.
fn find_patch(input: &Value) -> Option<&str> {
    let body = match input {
        Value::String(body) => Some(body.as_str()),
        input => text(input, &["command", "patchText", "patch", "input"]),
    };
    body.filter(|body| body.contains("*** Begin Patch"))
}

fn content_after_patch(patch: &str, before: &[u8], is_file: impl Fn(&str) -> bool) -> Option<Vec<u8>> {
    let mut content = std::str::from_utf8(before).ok()?.to_owned();
    let mut is_named = false;
    for change in parse_patch(patch) {
        match change {
            FilePatch::Added { path, lines } if is_file(path) => {
                content = lines.iter().map(|line| format!("{line}\n")).collect();
            }
            FilePatch::Removed { path } if is_file(path) => content = String::new(),
            // The file at the target of a move is new to the branch, so its content does not matter.
            FilePatch::Updated { moved_to: Some(to), .. } if is_file(to) => {}
            FilePatch::Updated {
                path,
                moved_to: Some(_),
                ..
            } if is_file(path) => content = String::new(),
            FilePatch::Updated { path, hunks, .. } if is_file(path) => {
                for hunk in hunks {
                    content = hunk.apply_to(&content)?;
                }
            }
            _ => continue,
        }
        is_named = true;
    }
    is_named.then(|| content.into_bytes())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(input: Value, before: &str) -> Option<String> {
        let after = content_after("Edit", &input, before.as_bytes(), |path| path == "a.ts");
        after.map(|after| String::from_utf8(after).unwrap())
    }

    #[test]
    fn the_forms_of_all_agents_give_the_content_after_the_edit() {
        let before = "one\ntwo\ntwo\n";
        for (input, after) in [
            (json!({ "file_path": "a.ts", "content": "new" }), Some("new")),
            (json!({ "path": "a.ts", "file_text": "new" }), Some("new")),
            (
                json!({ "file_path": "a.ts", "old_string": "one", "new_string": "1" }),
                Some("1\ntwo\ntwo\n"),
            ),
            (
                json!({ "filePath": "a.ts", "oldString": "one", "newString": "" }),
                Some("\ntwo\ntwo\n"),
            ),
            (json!({ "path": "a.ts", "old_str": "one\n" }), Some("two\ntwo\n")),
            (
                json!({ "file_path": "a.ts", "old_string": "two", "new_string": "2" }),
                None,
            ),
            (
                json!({ "file_path": "a.ts", "old_string": "two", "new_string": "2", "replace_all": true }),
                Some("one\n2\n2\n"),
            ),
            (
                json!({ "file_path": "a.ts", "old_string": "two", "new_string": "2", "expected_replacements": 2 }),
                Some("one\n2\n2\n"),
            ),
            (
                json!({ "file_path": "a.ts", "old_string": "three", "new_string": "3" }),
                None,
            ),
            (
                json!({ "file_path": "a.ts", "edits": [
                    { "old_string": "one", "new_string": "two" }, { "old_string": "two\ntwo\ntwo", "new_string": "2" },
                ] }),
                Some("2\n"),
            ),
            (
                json!({ "edits": [{ "old_string": "one", "new_string": "1" }, { "old_string": "gone", "new_string": "" }] }),
                None,
            ),
            (
                json!({ "replacements": [
                    { "filePath": "b.ts", "oldString": "one", "newString": "b" }, { "filePath": "a.ts", "oldString": "one", "newString": "a" },
                ] }),
                Some("a\ntwo\ntwo\n"),
            ),
            (
                json!({ "command": "insert", "path": "a.ts", "insert_line": 1, "new_str": "1.5" }),
                Some("one\n1.5\ntwo\ntwo\n"),
            ),
            (json!({ "path": "a.ts", "insert_line": 9, "new_str": "x" }), None),
            (json!({ "filePath": "a.ts", "code": "// ...existing code..." }), None),
            (
                json!({ "file_path": "a.ts", "old_string": "", "new_string": "new" }),
                None,
            ),
        ] {
            assert_eq!(of(input.clone(), before).as_deref(), after, "{input}");
        }
        assert_eq!(
            of(json!({ "old_string": "", "new_string": "new" }), "").as_deref(),
            Some("new")
        );
        assert_eq!(
            content_after("Delete", &json!({ "path": "a.ts" }), b"x", |_| true),
            Some(Vec::new())
        );
        assert_eq!(
            content_after(
                "Edit",
                &json!({ "old_string": "a", "new_string": "b" }),
                b"\xff a",
                |_| true
            ),
            None
        );
    }

    #[test]
    fn a_patch_gives_the_content_of_each_of_its_files() {
        let patch = "*** Begin Patch\n*** Update File: a.ts\n@@ fn\n one\n-two\n+2\n*** Add File: b.ts\n+x\n+y\n*** Delete File: c.ts\n\
                     *** Update File: d.ts\n*** Move to: e.ts\n@@\n-one\n+1\n*** End Patch";
        let of = |path: &str| {
            let input = json!({ "input": patch });
            let after = content_after("apply_patch", &input, b"one\ntwo\ntwo\n", |name| name == path);
            after.map(|after| String::from_utf8(after).unwrap())
        };
        assert_eq!(of("a.ts").as_deref(), Some("one\n2\ntwo\n"));
        assert_eq!(of("b.ts").as_deref(), Some("x\ny\n"));
        assert_eq!(of("c.ts").as_deref(), Some(""));
        assert_eq!(of("d.ts").as_deref(), Some(""));
        assert_eq!(of("other.ts"), None);
        assert_eq!(
            content_after("apply_patch", &json!(patch), b"three\n", |name| name == "a.ts"),
            None,
            "it does not apply"
        );
    }
}
