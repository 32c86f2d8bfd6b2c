//! The description of an agent: its configuration files, its hooks and their events.

use std::path::{Path, PathBuf};

use jsonc_parser::cst::CstInputValue;
use jsonc_parser::json;
use serde_json::Value;

use super::handler::{Form, Handler};
use crate::commands::init::json::{Entry, Json, Syntax};
use crate::commands::init::target::{Content, Target};

/// Time limit of a hook, in seconds.
pub(super) const HOOK_SECONDS: usize = 15;

/// Time limit of a hook that waits in the background, in seconds.
pub(super) const WAKING_SECONDS: usize = 3600;

#[derive(Debug)]
pub struct Agent {
    /// The name, as in `coord hook NAME`.
    pub name: &'static str,
    pub programs: &'static [&'static str],
    /// Files and folders that show that a repository is used with the agent.
    pub marks: &'static [&'static str],
    /// The folder of the user's files for the agent, by the home folder.
    pub user_folder: fn(&Path) -> PathBuf,
    /// The agent's files, besides instructions and skill.
    pub files: fn(&Agent, &TargetFolders, Form) -> Vec<Target>,
    /// The files from which the agent reads the rules; `None` if it gets them by MCP alone.
    pub instruction_files: Option<InstructionFiles>,
    pub hooks: Option<Hooks>,
    /// The user's next step.
    pub next_step: Option<&'static str>,
}

/// The files from which an agent reads instructions.
#[derive(Debug)]
pub struct InstructionFiles {
    /// The file of instructions of a project.
    pub instructions: &'static str,
    /// The folder of skills in a project.
    pub skills: &'static str,
    /// The folder of skills of a user, from the home folder.
    pub user_skills: fn(&Path) -> PathBuf,
}

impl InstructionFiles {
    /// The convention of most agents.
    pub(super) const SHARED: InstructionFiles = InstructionFiles {
        instructions: "AGENTS.md",
        skills: ".agents/skills",
        user_skills: |home| home.join(".agents/skills"),
    };
}

#[derive(Debug)]
pub struct Hooks {
    /// The events, by the agent's own names.
    pub events: &'static [Event],
    /// Whether a reply denies an edit.
    pub denies: fn(&Value) -> bool,
    /// The agent's payload for an event.
    pub payload: fn(&Event, &Attempt) -> Value,
    /// The values that configure the hooks. Empty if a plugin runs them.
    pub entries: fn(&Agent, Form) -> Vec<Entry>,
    /// The command that the agent runs on this system.
    pub command: fn(&Handler) -> String,
}

#[derive(Debug)]
pub struct Event {
    pub name: &'static str,
    /// The tools for which the hook runs; `None` for all.
    pub matcher: Option<&'static str>,
    /// Whether the event precedes an edit, which a hook can deny.
    pub is_before_edit: bool,
    /// The tool that only reads. It may run without `coord` even if the hook is strict.
    pub reading_tool: Option<&'static str>,
}

impl Event {
    pub(super) const fn new(name: &'static str) -> Event {
        Event {
            name,
            matcher: None,
            is_before_edit: false,
            reading_tool: None,
        }
    }

    pub(super) const fn after(name: &'static str, matcher: &'static str) -> Event {
        Event {
            matcher: Some(matcher),
            ..Event::new(name)
        }
    }

    pub(super) const fn before_edit(name: &'static str, matcher: Option<&'static str>) -> Event {
        Event {
            matcher,
            is_before_edit: true,
            ..Event::new(name)
        }
    }

    pub(super) const fn with_reading_tool(mut self, tool: &'static str) -> Event {
        self.reading_tool = Some(tool);
        self
    }
}

/// A hook of an event, for some of its tools.
#[derive(Debug)]
pub struct Hook {
    /// The tools for which the hook runs; `None` for all.
    pub matcher: Option<String>,
    pub handler: Handler,
    pub event: &'static Event,
}

/// An edit to test whether a hook denies it.
#[derive(Debug)]
pub struct Attempt<'a> {
    /// The root of the working copy.
    pub root: &'a Path,
    pub file: &'a Path,
    /// The name of the conversation.
    pub conversation: &'a str,
}

/// The folders for the written files.
#[derive(Clone, Debug)]
pub struct TargetFolders {
    /// The home folder of the user.
    pub home: PathBuf,
    /// The root of the repository that gets the files; `None` if they are the user's own.
    pub project: Option<PathBuf>,
    /// Git's folder of the repository, with its hooks.
    pub git_folder: Option<PathBuf>,
    /// The root of the main checkout, if `project` is a worktree beside it.
    pub main_checkout: Option<PathBuf>,
}

impl TargetFolders {
    /// Whether `path` is in the main checkout and not in the worktree, so that it serves all worktrees.
    pub fn is_of_main(&self, path: &Path) -> bool {
        let is_below = |root: &Option<PathBuf>| root.as_ref().is_some_and(|root| path.starts_with(root));
        is_below(&self.main_checkout) && !is_below(&self.project)
    }
}

impl Agent {
    /// The command that a hook runs.
    pub fn command(&self, event: &Event) -> String {
        format!("coord hook {} {}", self.name, event.name)
    }

    /// The values that configure its hooks.
    pub fn hook_entries(&self, form: Form) -> Vec<Entry> {
        let hooks = self.hooks.iter();
        hooks.flat_map(|hooks| (hooks.entries)(self, form)).collect()
    }

    /// The path `project` in the repository, or `user` in the user's folder of the agent.
    pub(super) fn path(&self, target_folders: &TargetFolders, project: &str, user: &str) -> PathBuf {
        match &target_folders.project {
            Some(root) => root.join(project),
            None => (self.user_folder)(&target_folders.home).join(user),
        }
    }

    /// The hooks in groups by their tools: the form of Claude Code, which other agents have adopted.
    pub(super) fn hook_groups(
        &self,
        form: Form,
        handler: impl Fn(&Hook) -> Vec<(String, CstInputValue)>,
    ) -> Vec<Entry> {
        self.hook_elements(form, |hook| {
            let mut group = Vec::new();
            if let Some(matcher) = &hook.matcher {
                group.push(("matcher".to_owned(), matcher.as_str().into()));
            }
            let handler = CstInputValue::Object(handler(hook));
            group.push(("hooks".to_owned(), CstInputValue::Array(vec![handler])));
            group
        })
    }

    /// The elements of `hooks.EVENT` for each event, and their other forms.
    pub(super) fn hook_elements(
        &self,
        form: Form,
        element: impl Fn(&Hook) -> Vec<(String, CstInputValue)>,
    ) -> Vec<Entry> {
        let events = self.hooks.iter().flat_map(|hooks| hooks.events);
        let entry = |event: &'static Event| {
            let values = |form: Form| -> Vec<CstInputValue> {
                let hooks = self.hooks_of(event, form);
                hooks.iter().map(|hook| CstInputValue::Object(element(hook))).collect()
            };
            Entry::Elements {
                path: vec!["hooks", event.name],
                values: values(form),
                command: self.command(event),
                other_forms: form.others().flat_map(values).collect(),
            }
        };
        events.map(entry).collect()
    }

    /// The hooks of an event. A strict hook must not deny reading, so the reading tool gets a separate, guarded hook.
    fn hooks_of(&self, event: &'static Event, form: Form) -> Vec<Hook> {
        let hook = |matcher: Option<String>, form: Form| Hook {
            matcher,
            handler: self.handler(event, form),
            event,
        };
        match (form, event.matcher, event.reading_tool) {
            (Form::Strict, Some(tools), Some(reading_tool)) if event.is_before_edit => {
                let other_tools: Vec<&str> = tools.split('|').filter(|tool| *tool != reading_tool).collect();
                vec![
                    hook(Some(other_tools.join("|")), form),
                    hook(Some(reading_tool.to_owned()), Form::Guarded),
                ]
            }
            _ => vec![hook(event.matcher.map(str::to_owned), form)],
        }
    }

    /// The command of an event's hook. Only a hook before an edit has something to deny.
    pub fn handler(&self, event: &Event, form: Form) -> Handler {
        Handler {
            command: self.command(event),
            form: match form {
                Form::Strict if !event.is_before_edit => Form::Guarded,
                form => form,
            },
        }
    }
}

/// The MCP server, in the form of most agents: `{"mcpServers": {"coord": ...}}`.
pub fn mcp_server() -> Entry {
    Entry::Property(
        vec!["mcpServers", "coord"],
        json!({ "command": "coord", "args": ["mcp"] }),
    )
}

pub(super) fn json_file(path: PathBuf, syntax: Syntax, entries: Vec<Entry>) -> Target {
    Target::new(path, Content::Json(Json { syntax, entries }))
}

pub(super) fn properties(object: CstInputValue) -> Vec<(String, CstInputValue)> {
    match object {
        CstInputValue::Object(properties) => properties,
        _ => Vec::new(),
    }
}

/// The folder in an environment variable, or else `default`.
pub(super) fn folder_from_env(variable: &str, default: PathBuf) -> PathBuf {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    folder.filter(|path| path.is_absolute()).unwrap_or(default)
}

/// Whether the decision at `pointer` is `deny`.
pub(super) fn is_denied(reply: &Value, pointer: &str) -> bool {
    reply.pointer(pointer).and_then(Value::as_str) == Some("deny")
}

/// Adds the properties of `more` to `payload`.
pub(super) fn extend(payload: &mut Value, more: Value) {
    if let (Value::Object(payload), Value::Object(more)) = (payload, more) {
        payload.extend(more);
    }
}
