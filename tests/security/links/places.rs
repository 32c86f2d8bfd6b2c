//! The places. A file that Coord makes in a working copy or in its folder below git's, and that is no place here, fails a test.

/// The program that reads or writes a place.
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// A command. Its exit status is not 0 where the place is refused.
    Command(&'static [&'static str]),
    /// A command that goes on without the place.
    Quiet(&'static [&'static str]),
    /// A hook of an agent, which goes on or denies: the event.
    Hook(&'static str),
}

#[derive(Clone, Copy, Debug)]
pub struct PathUse {
    /// Its path in the working copy. `*` is a part of a name that differs.
    pub path: &'static str,
    /// The program that reads or writes it.
    pub by: By,
    /// Largest size in bytes.
    pub most: u64,
}

const SYNC: By = By::Command(&["sync", "--yes"]);
const INIT: By = By::Command(&["init", "claude-code", "codex", "--yes", "--no-check"]);
const EDIT: By = By::Hook("PreToolUse");

const fn place(path: &'static str, by: By, most: u64) -> PathUse {
    PathUse { path, by, most }
}

/// All places whose names are known.
pub const PLACES: &[PathUse] = &[
    place(".orchestration/active_intents.yaml", SYNC, 8 << 20),
    place(".orchestration/agent_trace.jsonl", SYNC, 1 << 30),
    place(".orchestration/intent_map.md", SYNC, 8 << 20),
    place(".orchestration/coord.toml", EDIT, 64 << 10),
    place(".intentignore", EDIT, 64 << 10),
    place(".coord.toml", By::Command(&["policy", "check"]), 64 << 10),
    place("AGENTS.md", INIT, 1 << 20),
    place("CLAUDE.md", INIT, 1 << 20),
    place(".mcp.json", INIT, 1 << 20),
    place(".claude/settings.json", INIT, 1 << 20),
    place(".claude/skills/coord/SKILL.md", INIT, 1 << 20),
    place(".agents/skills/coord/SKILL.md", INIT, 1 << 20),
    place(".codex/config.toml", INIT, 1 << 20),
    place(".codex/hooks.json", INIT, 1 << 20),
    place(".git/hooks/pre-commit", INIT, 1 << 20),
    place(".git/hooks/commit-msg", INIT, 1 << 20),
    place(".git/hooks/pre-push", INIT, 1 << 20),
    place(".git/coord/init.json", INIT, 1 << 20),
    place(".git/coord/sync/active_intents.yaml", SYNC, 8 << 20),
    place(".git/coord/sync/lock", SYNC, u64::MAX),
    place(".git/coord/store", By::Quiet(&["status"]), 64 << 10),
    place(".git/coord/ledger-spool.jsonl", EDIT, u64::MAX),
    place(".git/coord/hooks/claude-code/PreToolUse", EDIT, u64::MAX),
    place(
        "ledger.jsonl",
        By::Command(&["ledger", "verify", "ledger.jsonl", "--offline"]),
        u64::MAX,
    ),
    place(
        "one.yaml",
        By::Command(&["intent", "check", "--from", "one.yaml", "a.txt"]),
        u64::MAX,
    ),
    place(
        "tasks.json",
        By::Command(&["team", "add", "--team", "alpha", "--from", "tasks.json"]),
        1 << 20,
    ),
    place("draft.toml", By::Command(&["policy", "check", "draft.toml"]), 64 << 10),
    place(
        ".opencode/opencode-teams/teams",
        By::Quiet(&["team", "export", "--team", "alpha"]),
        u64::MAX,
    ),
    place(
        ".opencode/opencode-teams/tasks",
        By::Quiet(&["team", "export", "--team", "alpha"]),
        u64::MAX,
    ),
    place("a.txt", EDIT, u64::MAX),
];

/// Files that commands make, with names that differ by process or conversation, or that only a running server has. Unit tests of
/// `coord_files` hold what is opened there.
pub const OTHERS: &[&str] = &[
    ".git/coord/listening",
    ".git/coord/store.redb",
    ".git/coord/serve.log",
    ".git/coord/bypass.log",
    ".git/coord/repository",
    ".git/coord/hooks/*",
    ".git/coord/teams/*",
    ".git/coord/sync/*",
    ".opencode/opencode-teams/*",
];

/// Whether `path` is one of the places.
pub fn is_known(path: &str) -> bool {
    let known = PLACES.iter().map(|place| place.path).chain(OTHERS.iter().copied());
    known.into_iter().any(|known| match known.strip_suffix('*') {
        Some(folder) => path.starts_with(folder),
        None => path == known,
    })
}
