//! OpenCode: `opencode.json` and the plugin that runs the hooks, in the repository or in `~/.config/opencode`.

use std::path::{Path, PathBuf};

use coord_hooks::hook::agents::{PLUGIN, STRICT_PLUGIN};
use jsonc_parser::json;
use serde_json::{Value, json as value};

use super::agent::{Agent, Attempt, Event, Hooks, InstructionFiles, TargetFolders, extend, folder_from_env, json_file};
use super::handler::Form;
use crate::commands::init::json::{Entry, Syntax};
use crate::commands::init::target::{Content, Target};
use crate::commands::init::whole_file::WholeFile;

pub static AGENT: Agent = Agent {
    name: "opencode",
    programs: &["opencode"],
    marks: &[".opencode", "opencode.json", "opencode.jsonc"],
    user_folder,
    files,
    instruction_files: Some(InstructionFiles::SHARED),
    // The plugin calls them.
    hooks: Some(Hooks {
        events: &[
            Event::new("session.created"),
            Event::new("chat.message"),
            Event::before_edit("tool.execute.before", None),
            Event::new("tool.execute.after"),
            Event::new("session.idle"),
            Event::new("session.deleted"),
        ],
        denies: |reply| reply.get("deny").is_some_and(Value::is_string),
        payload,
        entries: |_, _| Vec::new(),
        command: |handler| handler.command.clone(),
    }),
    next_step: None,
};

fn user_folder(home: &Path) -> PathBuf {
    folder_from_env("XDG_CONFIG_HOME", home.join(".config")).join("opencode")
}

fn files(agent: &Agent, target_folders: &TargetFolders, form: Form) -> Vec<Target> {
    let config = |name: &str| agent.path(target_folders, name, name);
    // OpenCode reads both names, so an existing file is used.
    let path = Some(config("opencode.jsonc")).filter(|path| path.exists());
    // The form of version 1, which version 2 reads, too.
    let server = Entry::Property(
        vec!["mcp", "coord"],
        json!({ "type": "local", "command": ["coord", "mcp"], "enabled": true }),
    );
    let plugin = agent.path(target_folders, ".opencode/plugins/coord.js", "plugins/coord.js");
    let (text, other_form) = match form {
        Form::Strict => (STRICT_PLUGIN.clone(), PLUGIN.to_owned()),
        Form::Guarded | Form::Plain => (PLUGIN.to_owned(), STRICT_PLUGIN.clone()),
    };
    let whole = WholeFile {
        text,
        other_form: Some(other_form),
    };
    vec![
        json_file(
            path.unwrap_or_else(|| config("opencode.json")),
            Syntax::Comments,
            vec![server],
        ),
        Target::new(plugin, Content::Whole(whole)),
    ]
}

fn payload(event: &Event, attempt: &Attempt) -> Value {
    let mut payload = value!({ "sessionID": attempt.conversation, "cwd": attempt.root });
    let more = match event.name {
        "chat.message" => value!({ "prompt": "" }),
        "tool.execute.before" => value!({ "tool": "write", "args": { "filePath": attempt.file, "content": "" } }),
        "tool.execute.after" => value!({ "tool": "bash", "args": { "command": "true" } }),
        _ => value!({}),
    };
    extend(&mut payload, more);
    payload
}
