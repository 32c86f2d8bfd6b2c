//! OpenCode: `opencode.json` and the plugin that runs the hooks, in the repository or in `~/.config/opencode`.

use std::path::{Path, PathBuf};

use jsonc_parser::json;

use super::{Agent, Places, Reads, folder_in, json_file};
use crate::commands::init::json::{Entry, Syntax};
use crate::commands::init::target::Target;

pub static AGENT: Agent = Agent {
    name: "opencode",
    programs: &["opencode"],
    marks: &[".opencode", "opencode.json", "opencode.jsonc"],
    user_folder,
    files,
    reads: Some(Reads::SHARED),
    hooks: None,
    next: None,
};

fn user_folder(home: &Path) -> PathBuf {
    folder_in("XDG_CONFIG_HOME", home.join(".config")).join("opencode")
}

fn files(agent: &Agent, places: &Places) -> Vec<Target> {
    let config = |name: &str| agent.path(places, name, name);
    // It reads both names; the one that is there is kept.
    let path = Some(config("opencode.jsonc")).filter(|path| path.exists());
    // The form of version 1, which version 2 reads too.
    let server = Entry::Property(
        vec!["mcp", "coord"],
        json!({ "type": "local", "command": ["coord", "mcp"], "enabled": true }),
    );
    vec![json_file(
        path.unwrap_or_else(|| config("opencode.json")),
        Syntax::Comments,
        vec![server],
    )]
}
