//! When the hooks of agents last ran: each call of `coord hook AGENT EVENT` touches the file `hooks/AGENT/EVENT`.

use std::time::UNIX_EPOCH;

use coord_files::RootedPath;
use serde::Serialize;

/// The folder below that of Coord's files.
const FOLDER: &str = "hooks";

/// The most agents, and the most events of an agent, that are read.
const MAX_ENTRIES: usize = 64;

/// The last run of a hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(in crate::commands) struct HookRun {
    /// The agent, such as `claude-code`.
    pub(in crate::commands) agent: String,
    /// The event, by the agent's own name.
    pub(in crate::commands) event: String,
    /// Unix seconds.
    pub(in crate::commands) time: i64,
}

/// The last run of each hook, the latest first; `folder` is that of Coord's files.
pub(in crate::commands) fn hook_runs(folder: &RootedPath) -> Vec<HookRun> {
    let mut runs = Vec::new();
    for (agent, path) in entries(&folder.join(FOLDER)) {
        for (event, path) in entries(&path) {
            let modified = path.about().ok().flatten().and_then(|about| about.modified);
            let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let time = since.and_then(|since| i64::try_from(since.as_secs()).ok());
            runs.extend(time.map(|time| HookRun {
                agent: agent.clone(),
                event,
                time,
            }));
        }
    }
    runs.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.event.cmp(&b.event)));
    runs
}

fn entries(folder: &RootedPath) -> Vec<(String, RootedPath)> {
    let names = folder.list(MAX_ENTRIES).ok().flatten().unwrap_or_default();
    let names = names.into_iter().take(MAX_ENTRIES);
    let names = names.filter_map(|name| name.into_string().ok());
    let names = names.filter(|name| !name.chars().any(char::is_control));
    let mut entries: Vec<_> = names.map(|name| (name.clone(), folder.join(name))).collect();
    entries.sort();
    entries
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn hooks_are_listed_with_the_latest_first() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(hook_runs(&RootedPath::new(folder.path(), "")), []);
        let now = std::time::SystemTime::now();
        for (name, seconds) in [
            ("claude-code/PreToolUse", 60),
            ("claude-code/Stop", 5),
            ("codex/PreToolUse", 600),
        ] {
            let path = folder.path().join(FOLDER).join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let file = fs::File::create(&path).unwrap();
            file.set_modified(now - std::time::Duration::from_secs(seconds))
                .unwrap();
        }
        let listed: Vec<String> = hook_runs(&RootedPath::new(folder.path(), ""))
            .iter()
            .map(|run| format!("{} {}", run.agent, run.event))
            .collect();
        assert_eq!(
            listed,
            ["claude-code Stop", "claude-code PreToolUse", "codex PreToolUse"]
        );
    }
}
