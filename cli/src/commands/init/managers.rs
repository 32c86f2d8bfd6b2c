//! Programs that manage git's hooks generate them from a file, so a line in a hook does not last. The guard goes into
//! that file if nothing else there has to change. Otherwise a note tells the person what to add.

use std::path::{Path, PathBuf};

use coord_agent::git_hooks::{self, GUARD, LEFTHOOK_FILE, Manager};
use serde_json::Value;

use super::block::{Block, Language};
use super::json::{Entry, Json, Syntax};
use super::target::{Content, Target};
use super::whole_file::WholeFile;

/// The entries in the files of managers, and in git's hooks.
#[derive(Debug, Default)]
pub struct Entries {
    /// The files to write.
    pub targets: Vec<Target>,
    /// Clauses about entries that a person has to add.
    pub notes: Vec<String>,
    /// Whether the folder of git's hooks is refused, because it is a link.
    pub is_refused: bool,
}

/// A command of the guard that succeeds on a machine without coord.
fn optional_command(command: &str) -> String {
    format!("command -v coord >/dev/null 2>&1 || exit 0; exec {command}")
}

/// The entries for the managers of the working copy at `root`.
pub fn entries(root: &Path) -> Entries {
    let mut entries = Entries::default();
    for (manager, path, text) in git_hooks::managers(root) {
        let user_text = without_block(&text);
        let has_guard = user_text.contains(GUARD);
        let has_block = user_text.len() < text.len();
        match manager.name {
            "simple-git-hooks" => entries.add_simple_git_hooks(manager, path, &text),
            _ if has_guard => {}
            "lefthook" => entries.add_lefthook(manager, path, &user_text, has_block),
            _ => entries.add_pre_commit(manager, path, &user_text, has_block),
        }
    }
    entries
}

impl Entries {
    /// Adds a file beside that of lefthook, which merges it by `extends`.
    fn add_lefthook(&mut self, manager: &Manager, path: PathBuf, text: &str, has_block: bool) {
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
        let hooks =
            hooks.map(|(hook, run, more)| format!("{hook}:\n  commands:\n    coord:\n      run: {run}\n{more}"));
        let whole = WholeFile {
            text: format!(
                "# Written by coord init: git's hooks run the guard.\n{}",
                hooks.concat()
            ),
            other_form: None,
        };
        let own_path = path.with_file_name(LEFTHOOK_FILE);
        self.targets.push(Target::new(own_path, Content::Whole(whole)));
        let is_yaml = path
            .extension()
            .is_some_and(|extension| extension == "yml" || extension == "yaml");
        let has_extends = top_keys(text).iter().any(|(key, _)| *key == "extends");
        // A block cannot be added to a file in the flow style, `{...}`.
        let is_flow_style = text.trim_start().starts_with('{');
        if is_yaml && !has_extends && !is_flow_style {
            self.targets
                .push(block(path, format!("extends:\n  - {LEFTHOOK_FILE}\n")));
            self.note_install(manager, has_block);
        } else if !text.contains(LEFTHOOK_FILE) {
            self.note_missing(manager, &path, &format!("extends: [{LEFTHOOK_FILE}]"));
        }
    }

    /// Adds an item at the end of `repos`, if that is the last key.
    fn add_pre_commit(&mut self, manager: &Manager, path: PathBuf, text: &str, has_block: bool) {
        let entry = optional_command("coord guard pre-commit");
        let Some(indent) = indent_of_last_repos(text) else {
            let lines = format!(
                "- {{repo: local, hooks: [{{id: coord, name: coord, entry: \"sh -c '{entry}'\", language: system, always_run: true, \
                 pass_filenames: false}}]}}"
            );
            return self.note_missing(manager, &path, &lines);
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
        self.targets.push(block(path, lines.concat()));
        self.note_install(manager, has_block);
    }

    /// Adds the properties that the manager's object lacks.
    fn add_simple_git_hooks(&mut self, manager: &Manager, path: PathBuf, text: &str) {
        let hooks = [
            ("pre-commit", optional_command("coord guard pre-commit")),
            ("commit-msg", optional_command("coord guard commit-msg \"$1\"")),
            ("pre-push", optional_command("coord guard pre-push \"$@\"")),
        ];
        let file: Option<Value> = serde_json::from_str(text).ok();
        let is_package = path.ends_with("package.json");
        let object = match is_package {
            true => file.as_ref().and_then(|file| file.get(manager.name)),
            false => file.as_ref(),
        };
        let Some(object) = object.and_then(Value::as_object) else {
            let lines = hooks.map(|(hook, command)| format!("{hook}: {command}"));
            return self.note_missing(manager, &path, &lines.join(", "));
        };
        let path_of = |hook: &'static str| match is_package {
            true => vec!["simple-git-hooks", hook],
            false => vec![hook],
        };
        let mut entries = Vec::new();
        let has_hooks = hooks.iter().all(|(hook, _)| object.contains_key(*hook));
        for (hook, command) in &hooks {
            match object.get(*hook).and_then(Value::as_str) {
                Some(own) if own != command.as_str() && own.contains(GUARD) => {}
                Some(own) if own != command.as_str() => {
                    let guard = command.rsplit("exec ").next().unwrap_or_default();
                    self.note_missing(manager, &path, &format!("{guard} && {own}, as {hook}"));
                }
                _ => entries.push(Entry::Property(path_of(hook), command.as_str().into())),
            }
        }
        if entries.is_empty() {
            return;
        }
        let json = Json {
            syntax: Syntax::Strict,
            entries,
        };
        self.targets.push(Target::new(path, Content::Json(json)));
        self.note_install(manager, has_hooks);
    }

    /// Notes lines that a person has to add to the file of `manager`.
    fn note_missing(&mut self, manager: &Manager, path: &Path, lines: &str) {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        self.notes.push(format!(
            "{} writes git's hooks anew and drops these lines: add to {file}: {lines}",
            manager.name
        ));
    }

    /// Notes the command that makes `manager` generate the hooks, unless its file `has_guard` already.
    fn note_install(&mut self, manager: &Manager, has_guard: bool) {
        if has_guard {
            return;
        }
        let Manager { name, install, .. } = manager;
        self.notes
            .push(format!("{name} runs the guard from now on: run `{install}` once"));
    }
}

/// `text` without the lines between our markers.
fn without_block(text: &str) -> String {
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

/// The top-level keys of a YAML file in the usual layout, each with whether a value follows on the same line.
fn top_keys(text: &str) -> Vec<(&str, bool)> {
    let is_key = |line: &&str| line.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    let keys = text.lines().filter(is_key).filter_map(|line| line.split_once(':'));
    keys.map(|(key, rest)| {
        let rest = rest.trim();
        (key.trim(), !rest.is_empty() && !rest.starts_with('#'))
    })
    .collect()
}

/// The indentation of the items of `repos`, if the file ends with them.
fn indent_of_last_repos(text: &str) -> Option<String> {
    let keys = top_keys(text);
    if keys.last() != Some(&("repos", false)) || text.contains('\t') {
        return None;
    }
    let lines = text.lines().skip_while(|line| !line.starts_with("repos:")).skip(1);
    let mut lines = lines.filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    let indent_of = |line: &str| line.len() - line.trim_start().len();
    let first = lines.next()?;
    let indent = indent_of(first);
    let is_item = |line: &str| line.trim_start().starts_with("- ");
    let is_within = |line: &str| indent_of(line) > indent || (indent_of(line) == indent && is_item(line));
    (is_item(first) && lines.all(is_within)).then(|| " ".repeat(indent))
}
