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

/// Agents, by their names for `coord hook`, each with the files below the working copy or the home folder that configure
/// its hooks, and with the file of its plugin below the home folder; `*` is the folder of a version.
const AGENTS: [(&str, &[&str], &str); 6] = [
    (
        "claude-code",
        &[".claude/settings.json", ".claude/settings.local.json"],
        ".claude/plugins/cache/coord/coord/*/hooks/hooks.json",
    ),
    (
        "codex",
        &[".codex/hooks.json", ".codex/config.toml"],
        ".codex/plugins/cache/coord/coord/*/hooks/hooks.json",
    ),
    (
        "cursor",
        &[".cursor/hooks.json"],
        ".cursor/plugins/local/coord/hooks/hooks.json",
    ),
    (
        "gemini",
        &[".gemini/settings.json"],
        ".gemini/extensions/coord/hooks/hooks.json",
    ),
    (
        "copilot",
        &[
            ".github/hooks/coord.json",
            ".copilot/hooks/coord.json",
            ".copilot/config.json",
        ],
        ".copilot/installed-plugins/*/coord/hooks.json",
    ),
    (
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
    AGENTS.map(|(agent, files, plugin)| (agent, find_of_agent(agent, files, plugin, working_copy)))
}

fn find_of_agent(agent: &str, files: &[&str], plugin: &str, working_copy: &WorkingCopy) -> Option<ConfiguredHook> {
    let home = std::env::home_dir();
    // Codex reads the hooks of a worktree from the main checkout.
    let main = working_copy.shared_folder().parent().filter(|_| agent == "codex");
    let folders = [
        Some(working_copy.root().to_owned()),
        main.map(PathBuf::from),
        home.clone(),
    ];
    let folders = folders.into_iter().flatten();
    let files = folders.flat_map(|folder| files.iter().map(move |file| folder.join(file)));
    let plugins = home.filter(|_| !plugin.is_empty());
    let plugins = plugins.into_iter().flat_map(|home| versions(&home, plugin));
    files.chain(plugins).find_map(|path| {
        let text = read(&path).filter(|text| text.contains(HOOK))?;
        let form = Form::of(&text, agent);
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
