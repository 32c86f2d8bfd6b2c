//! Programs that manage git's hooks write them anew by their own file, so that lines in a hook alone do not last: the guard is written into
//! that file, where this can be done without a change of anything else there, and named for a person otherwise.

use std::path::{Path, PathBuf};

use coord_agent::git_hooks::{self, GUARD, LEFTHOOK_FILE, Manager};
use serde_json::Value;

use super::block::{Block, Language};
use super::json::{Entry, Json, Syntax};
use super::target::{Content, Target};
use super::whole_file::WholeFile;

/// The entries in the files of managers.
#[derive(Debug, Default)]
pub struct Entries {
    /// The files to write.
    pub targets: Vec<Target>,
    /// Clauses about entries that a person has to add.
    pub notes: Vec<String>,
}

/// A command of the guard that lets everything pass on a machine without coord.
fn guarded(command: &str) -> String {
    format!("command -v coord >/dev/null 2>&1 || exit 0; exec {command}")
}

/// The entries for the managers of the working copy at `root`.
pub fn entries(root: &Path) -> Entries {
    let mut entries = Entries::default();
    for (manager, path, text) in git_hooks::managers(root) {
        let own = without_ours(&text);
        let has_guard = own.contains(GUARD);
        let is_written = own.len() < text.len();
        match manager.name {
            "simple-git-hooks" => simple_git_hooks(manager, path, &text, &mut entries),
            _ if has_guard => {}
            "lefthook" => lefthook(manager, path, &own, is_written, &mut entries),
            _ => pre_commit(manager, path, &own, is_written, &mut entries),
        }
    }
    entries
}

impl Entries {
    fn name(&mut self, manager: &Manager, path: &Path, lines: &str) {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        self.notes.push(format!(
            "{} writes git's hooks anew and drops these lines: add to {file}: {lines}",
            manager.name
        ));
    }

    fn written(&mut self, manager: &Manager, is_written: bool) {
        if is_written {
            return;
        }
        let Manager { name, install, .. } = manager;
        self.notes
            .push(format!("{name} runs the guard from now on: run `{install}` once"));
    }
}

/// `text` without the lines between our markers.
fn without_ours(text: &str) -> String {
    let [begin, end] = Language::Yaml.markers();
    let mut is_ours = false;
    let mut rest = String::new();
    for line in text.lines() {
        is_ours |= line.trim() == begin;
        if !is_ours {
            rest.push_str(line);
            rest.push('\n');
        }
        is_ours &= line.trim() != end;
    }
    rest
}

fn block(path: PathBuf, text: String) -> Target {
    let language = Language::Yaml;
    Target::new(path, Content::Block(Block { text, language }))
}

/// The keys at the top of a YAML file in the usual layout, each with whether something follows on its line.
fn top_keys(text: &str) -> Vec<(&str, bool)> {
    let is_key = |line: &&str| line.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    let keys = text.lines().filter(is_key).filter_map(|line| line.split_once(':'));
    keys.map(|(key, rest)| {
        let rest = rest.trim();
        (key.trim(), !rest.is_empty() && !rest.starts_with('#'))
    })
    .collect()
}

/// A file beside that of lefthook, which merges it by `extends`.
fn lefthook(manager: &Manager, path: PathBuf, text: &str, is_written: bool, entries: &mut Entries) {
    let run = |command: &str| format!("'if command -v coord >/dev/null 2>&1; then {command}; fi'");
    let hooks = [
        ("pre-commit", run("coord guard pre-commit"), ""),
        ("commit-msg", run("coord guard commit-msg {1}"), ""),
        (
            "pre-push",
            run("coord guard pre-push {1} {2}"),
            "      use_stdin: true\n",
        ),
    ];
    let hooks = hooks.map(|(hook, run, more)| format!("{hook}:\n  commands:\n    coord:\n      run: {run}\n{more}"));
    let whole = WholeFile {
        text: format!(
            "# Written by coord init: git's hooks run the guard.\n{}",
            hooks.concat()
        ),
        other: None,
    };
    entries
        .targets
        .push(Target::new(path.with_file_name(LEFTHOOK_FILE), Content::Whole(whole)));
    let is_yaml = path
        .extension()
        .is_some_and(|ending| ending == "yml" || ending == "yaml");
    let has_extends = top_keys(text).iter().any(|(key, _)| *key == "extends");
    // A file in the flow style, `{...}`, takes no lines.
    let is_in_blocks = !text.trim_start().starts_with('{');
    if is_yaml && !has_extends && is_in_blocks {
        entries
            .targets
            .push(block(path, format!("extends:\n  - {LEFTHOOK_FILE}\n")));
        entries.written(manager, is_written);
    } else if !text.contains(LEFTHOOK_FILE) {
        entries.name(manager, &path, &format!("extends: [{LEFTHOOK_FILE}]"));
    }
}

/// An item at the end of `repos`, where that is the last key.
fn pre_commit(manager: &Manager, path: PathBuf, text: &str, is_written: bool, entries: &mut Entries) {
    let entry = guarded("coord guard pre-commit");
    let Some(indent) = end_of_repos(text) else {
        let lines = format!(
            "- {{repo: local, hooks: [{{id: coord, name: coord, entry: \"sh -c '{entry}'\", language: system, always_run: true, \
             pass_filenames: false}}]}}"
        );
        return entries.name(manager, &path, &lines);
    };
    let lines = [
        "- repo: local",
        "  hooks:",
        "    - id: coord",
        "      name: coord",
        &format!("      entry: sh -c '{entry}'"),
        "      language: system",
        "      always_run: true",
        "      pass_filenames: false",
        "      stages: [pre-commit]",
    ];
    let lines = lines.map(|line| format!("{indent}{line}\n"));
    entries.targets.push(block(path, lines.concat()));
    entries.written(manager, is_written);
}

/// The indentation of the items of `repos`, where the file ends with them.
fn end_of_repos(text: &str) -> Option<String> {
    let keys = top_keys(text);
    if keys.last() != Some(&("repos", false)) || text.contains('\t') {
        return None;
    }
    let lines = text.lines().skip_while(|line| !line.starts_with("repos:")).skip(1);
    let mut lines = lines.filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    let first = lines.next()?;
    let indent = first.len() - first.trim_start().len();
    let is_item = |line: &str| line.trim_start().starts_with("- ");
    let is_within = |line: &str| {
        let own = line.len() - line.trim_start().len();
        own > indent || (own == indent && is_item(line))
    };
    (is_item(first) && lines.all(is_within)).then(|| " ".repeat(indent))
}

/// Properties of its object, where each is missing.
fn simple_git_hooks(manager: &Manager, path: PathBuf, text: &str, entries: &mut Entries) {
    let hooks = [
        ("pre-commit", guarded("coord guard pre-commit")),
        ("commit-msg", guarded("coord guard commit-msg \"$1\"")),
        ("pre-push", guarded("coord guard pre-push \"$@\"")),
    ];
    let file: Option<Value> = serde_json::from_str(text).ok();
    let is_package = path.ends_with("package.json");
    let object = match is_package {
        true => file.as_ref().and_then(|file| file.get(manager.name)),
        false => file.as_ref(),
    };
    let Some(object) = object.and_then(Value::as_object) else {
        let lines = hooks.map(|(hook, command)| format!("{hook}: {command}"));
        return entries.name(manager, &path, &lines.join(", "));
    };
    let path_of = |hook: &'static str| match is_package {
        true => vec!["simple-git-hooks", hook],
        false => vec![hook],
    };
    let mut values = Vec::new();
    let is_written = hooks.iter().all(|(hook, _)| object.contains_key(*hook));
    for (hook, command) in &hooks {
        match object.get(*hook).and_then(Value::as_str) {
            Some(own) if own != command.as_str() && own.contains(GUARD) => {}
            Some(own) if own != command.as_str() => {
                let guard = command.rsplit("exec ").next().unwrap_or_default();
                entries.name(manager, &path, &format!("{guard} && {own}, as {hook}"));
            }
            _ => values.push(Entry::Property(path_of(hook), command.as_str().into())),
        }
    }
    if values.is_empty() {
        return;
    }
    let json = Json {
        syntax: Syntax::Strict,
        entries: values,
    };
    entries.targets.push(Target::new(path, Content::Json(json)));
    entries.written(manager, is_written);
}
