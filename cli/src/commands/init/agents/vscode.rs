//! VS Code: the MCP server alone, in `.vscode/mcp.json` or `mcp.json` of the user's profile.

use std::path::{Path, PathBuf};

use jsonc_parser::json;

use super::agent::{Agent, TargetFolders, folder_from_env, json_file};
use super::handler::Form;
use crate::commands::init::json::{Entry, Syntax};
use crate::commands::init::target::Target;

pub static AGENT: Agent = Agent {
    name: "vscode",
    programs: &["code"],
    marks: &[".vscode"],
    user_folder,
    files,
    instruction_files: None,
    hooks: None,
    next_step: Some("start the server coord when VS Code asks"),
};

fn user_folder(home: &Path) -> PathBuf {
    let settings = match std::env::consts::OS {
        "macos" => home.join("Library/Application Support"),
        "windows" => folder_from_env("APPDATA", home.join("AppData/Roaming")),
        _ => folder_from_env("XDG_CONFIG_HOME", home.join(".config")),
    };
    settings.join("Code/User")
}

fn files(agent: &Agent, target_folders: &TargetFolders, _: Form) -> Vec<Target> {
    let server = Entry::Property(
        vec!["servers", "coord"],
        json!({ "type": "stdio", "command": "coord", "args": ["mcp"] }),
    );
    let path = agent.path(target_folders, ".vscode/mcp.json", "mcp.json");
    vec![json_file(path, Syntax::Comments, vec![server])]
}
