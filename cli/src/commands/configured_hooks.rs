//! The hooks of agents, as they are configured in this repository or for this user.

use std::path::{Path, PathBuf};

use coord_git::WorkingCopy;

use super::init::handler::Form;

/// A configuration with this text has the hook.
const HOOK: &str = "coord hook";

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The most versions of a plugin that are checked.
const MAX_VERSIONS: usize = 16;

/// The files in which the hooks of an agent are configured.
struct Configuration {
    /// The agent's name for `coord hook`.
    agent: &'static str,
    /// Files below the working copy or the home folder.
    files: &'static [&'static str],
    /// The file of the agent's plugin below the home folder; `*` is the folder of a version.
    plugin: &'static str,
}

const fn configuration(agent: &'static str, files: &'static [&'static str], plugin: &'static str) -> Configuration {
    Configuration { agent, files, plugin }
}

const AGENTS: [Configuration; 6] = [
    configuration(
        "claude-code",
        &[".claude/settings.json", ".claude/settings.local.json"],
        ".claude/plugins/cache/coord/coord/*/hooks/hooks.json",
    ),
    configuration(
        "codex",
        &[".codex/hooks.json", ".codex/config.toml"],
        ".codex/plugins/cache/coord/coord/*/hooks/hooks.json",
    ),
    configuration(
        "cursor",
        &[".cursor/hooks.json"],
        ".cursor/plugins/local/coord/hooks/hooks.json",
    ),
    configuration(
        "gemini",
        &[".gemini/settings.json"],
        ".gemini/extensions/coord/hooks/hooks.json",
    ),
    configuration(
        "copilot",
        &[
            ".github/hooks/coord.json",
            ".copilot/hooks/coord.json",
            ".copilot/config.json",
        ],
        ".copilot/installed-plugins/*/coord/hooks.json",
    ),
    configuration(
        "opencode",
        &[".opencode/plugins/coord.js", ".config/opencode/plugins/coord.js"],
        "",
    ),
];

/// A file that configures the hooks of an agent.
#[derive(Clone, Debug)]
pub struct ConfiguredHook {
    pub path: PathBuf,
    /// The form decides what the hooks do where `coord` is not installed.
    pub form: Form,
}

/// Each agent that can have hooks, by its name for `coord hook`, with its configured hooks.
pub fn find(working_copy: &WorkingCopy) -> [(&'static str, Option<ConfiguredHook>); 6] {
    AGENTS.map(|agent| (agent.agent, find_of_agent(&agent, working_copy)))
}

fn find_of_agent(agent: &Configuration, working_copy: &WorkingCopy) -> Option<ConfiguredHook> {
    let home = std::env::home_dir();
    // Codex reads the hooks of a worktree from the main checkout.
    let main = working_copy.shared_folder().parent().filter(|_| agent.agent == "codex");
    let folders = [
        Some(working_copy.root().to_owned()),
        main.map(PathBuf::from),
        home.clone(),
    ];
    let folders = folders.into_iter().flatten();
    let files = folders.flat_map(|folder| agent.files.iter().map(move |file| folder.join(file)));
    let plugins = home.filter(|_| !agent.plugin.is_empty());
    let plugins = plugins.into_iter().flat_map(|home| versions(&home, agent.plugin));
    files.chain(plugins).find_map(|path| {
        let text = read(&path).filter(|text| text.contains(HOOK))?;
        let form = Form::of(&text, agent.agent);
        Some(ConfiguredHook { path, form })
    })
}

/// The files below `home` that match `pattern`.
fn versions(home: &Path, pattern: &str) -> Vec<PathBuf> {
    match pattern.split_once("/*/") {
        Some((folder, file)) => {
            let entries = std::fs::read_dir(home.join(folder)).into_iter().flatten().flatten();
            entries
                .take(MAX_VERSIONS)
                .map(|entry| entry.path().join(file))
                .collect()
        }
        None => vec![home.join(pattern)],
    }
}

fn read(path: &Path) -> Option<String> {
    let content = coord_files::regular(path, MAX_BYTES).ok()??;
    Some(String::from_utf8_lossy(&content).into_owned())
}
