//! The agents that `coord init` knows, a file each: where it keeps its configuration, what is written there, and which hooks it has.

mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod opencode;
mod vscode;

use std::path::{Path, PathBuf};

use jsonc_parser::cst::CstInputValue;
use jsonc_parser::json;
use serde_json::Value;

use super::json::{Entry, Json, Syntax};
use super::target::{Content, Target};

/// Every agent, in the order in which it is shown.
pub static AGENTS: [&Agent; 7] = [
    &claude_code::AGENT,
    &codex::AGENT,
    &cursor::AGENT,
    &gemini::AGENT,
    &copilot::AGENT,
    &opencode::AGENT,
    &vscode::AGENT,
];

/// Seconds that an agent gives a hook.
const HOOK_SECONDS: usize = 15;

/// Seconds that a hook has which waits in the background.
const WAKING_SECONDS: usize = 3600;

/// An agent.
#[derive(Debug)]
pub struct Agent {
    /// Its name, as in `coord hook NAME`.
    pub name: &'static str,
    /// Its programs.
    pub programs: &'static [&'static str],
    /// Files and folders in a repository whose people use it.
    pub marks: &'static [&'static str],
    /// The folder of its files for a user, from the home folder.
    pub user_folder: fn(&Path) -> PathBuf,
    /// The files of its own, besides instructions and skill.
    pub files: fn(&Agent, &Places) -> Vec<Target>,
    /// What it reads the rules from. `None` where MCP alone gives them.
    pub reads: Option<Reads>,
    /// Its hooks. `None` where it has none.
    pub hooks: Option<Hooks>,
    /// What the user has to do yet.
    pub next: Option<&'static str>,
}

/// Where an agent reads what it is told.
#[derive(Debug)]
pub struct Reads {
    /// The file of instructions of a project.
    pub instructions: &'static str,
    /// The folder of skills in a project.
    pub skills: &'static str,
    /// The folder of skills of a user, from the home folder.
    pub user_skills: fn(&Path) -> PathBuf,
}

impl Reads {
    /// What most agents have agreed on.
    const SHARED: Reads = Reads {
        instructions: "AGENTS.md",
        skills: ".agents/skills",
        user_skills: |home| home.join(".agents/skills"),
    };
}

/// The hooks of an agent.
#[derive(Debug)]
pub struct Hooks {
    /// The events, by the agent's own names.
    pub events: &'static [Event],
    /// Whether a reply denies an edit.
    pub denies: fn(&Value) -> bool,
    /// What the agent sends with an event.
    pub payload: fn(&Event, &Attempt) -> Value,
}

/// An event of an agent.
#[derive(Debug)]
pub struct Event {
    /// Its name.
    pub name: &'static str,
    /// The tools that it is wanted for.
    pub matcher: Option<&'static str>,
    /// Whether it comes before an edit, which a hook can deny.
    pub is_before_edit: bool,
}

impl Event {
    const fn new(name: &'static str) -> Event {
        Event {
            name,
            matcher: None,
            is_before_edit: false,
        }
    }

    const fn after(name: &'static str, matcher: &'static str) -> Event {
        Event {
            name,
            matcher: Some(matcher),
            is_before_edit: false,
        }
    }

    const fn before_edit(name: &'static str, matcher: Option<&'static str>) -> Event {
        Event {
            name,
            matcher,
            is_before_edit: true,
        }
    }
}

/// An edit that is tried to see whether a hook denies it.
#[derive(Debug)]
pub struct Attempt<'a> {
    /// The root of the working copy.
    pub root: &'a Path,
    /// The file, absolute.
    pub file: &'a Path,
    /// The name of the conversation.
    pub conversation: &'a str,
}

/// Whose files are written.
#[derive(Clone, Debug)]
pub struct Places {
    /// The home folder of the user.
    pub home: PathBuf,
    /// The root of the repository, whose files are written. `None` for the user's own.
    pub project: Option<PathBuf>,
    /// Git's folder of the repository, with its hooks.
    pub git_folder: Option<PathBuf>,
}

impl Agent {
    /// The command that a hook runs.
    pub fn command(&self, event: &Event) -> String {
        format!("coord hook {} {}", self.name, event.name)
    }

    /// `project` in the repository, or `user` in the user's folder of the agent.
    fn path(&self, places: &Places, project: &str, user: &str) -> PathBuf {
        match &places.project {
            Some(root) => root.join(project),
            None => (self.user_folder)(&places.home).join(user),
        }
    }

    /// Hooks in the form of Claude Code, which others have taken over: groups by the tools that they are wanted for.
    fn hook_groups(&self, handler: impl Fn(String) -> Vec<(String, CstInputValue)>) -> Vec<Entry> {
        self.hook_elements(|event, command| {
            let mut group = Vec::new();
            if let Some(matcher) = event.matcher {
                group.push(("matcher".to_owned(), matcher.into()));
            }
            let handler = CstInputValue::Object(handler(command));
            group.push(("hooks".to_owned(), CstInputValue::Array(vec![handler])));
            group
        })
    }

    /// An element of `hooks.EVENT` for each event.
    fn hook_elements(&self, element: impl Fn(&Event, String) -> Vec<(String, CstInputValue)>) -> Vec<Entry> {
        let events = self.hooks.iter().flat_map(|hooks| hooks.events);
        let entry = |event: &'static Event| Entry::Element {
            path: vec!["hooks", event.name],
            value: CstInputValue::Object(element(event, self.command(event))),
            command: self.command(event),
        };
        events.map(entry).collect()
    }
}

/// The handler of Claude Code and Codex.
fn command_handler(command: String) -> Vec<(String, CstInputValue)> {
    object(json!({ "type": "command", "command": command, "timeout": HOOK_SECONDS }))
}

/// The entry of most agents: `{"mcpServers": {"coord": ...}}`.
fn mcp_server() -> Entry {
    Entry::Property(
        vec!["mcpServers", "coord"],
        json!({ "command": "coord", "args": ["mcp"] }),
    )
}

fn json_file(path: PathBuf, syntax: Syntax, entries: Vec<Entry>) -> Target {
    Target::new(path, Content::Json(Json { syntax, entries }))
}

fn object(value: CstInputValue) -> Vec<(String, CstInputValue)> {
    match value {
        CstInputValue::Object(properties) => properties,
        _ => Vec::new(),
    }
}

/// The folder in an environment variable, or else `default`.
fn folder_in(variable: &str, default: PathBuf) -> PathBuf {
    let set = std::env::var_os(variable).map(PathBuf::from);
    set.filter(|path| path.is_absolute()).unwrap_or(default)
}

/// Whether the decision at `pointer` is `deny`.
fn says_deny(reply: &Value, pointer: &str) -> bool {
    reply.pointer(pointer).and_then(Value::as_str) == Some("deny")
}

/// Adds the properties of `more` to `payload`.
fn extend(payload: &mut Value, more: Value) {
    if let (Value::Object(payload), Value::Object(more)) = (payload, more) {
        payload.extend(more);
    }
}
