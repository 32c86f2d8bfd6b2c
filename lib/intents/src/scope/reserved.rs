//! Files that no intent covers, because they rule over intents or over who asks for them.

/// Coord's or git's own part of a file that no intent covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserved {
    /// The data of git.
    Git,
    /// Intents and ledger.
    Orchestration,
    /// The list of what no intent may change.
    IntentIgnore,
    /// The settings that make agents call Coord's hooks.
    HookSettings,
}

impl std::fmt::Display for Reserved {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Reserved::Git => "git's own data",
            Reserved::Orchestration => "a file of intents and ledger, which `coord sync` writes",
            Reserved::IntentIgnore => "the list of what no intent may change",
            Reserved::HookSettings => "settings of an agent's hooks",
        })
    }
}

/// The files with hooks of the agents that `coord init` configures, in the folder where an agent is started, and those that
/// such an agent reads beside them.
const HOOK_FILES: [&[&str]; 11] = [
    &[".claude", "settings.json"],
    &[".claude", "settings.local.json"],
    &[".codex", "config.toml"],
    &[".codex", "hooks.json"],
    &[".cursor", "hooks.json"],
    &[".gemini", "settings.json"],
    &[".github", "hooks"],
    &[".opencode", "plugin"],
    &[".opencode", "plugins"],
    &["opencode.json"],
    &["opencode.jsonc"],
];

/// Why no intent covers `path`. Names are compared without regard to case, as some file systems do.
pub fn reserved(path: impl AsRef<[u8]>) -> Option<Reserved> {
    let segments: Vec<&[u8]> = path.as_ref().split(|byte| *byte == b'/').collect();
    let is = |segment: &[u8], name: &str| segment.eq_ignore_ascii_case(name.as_bytes());
    if segments.iter().any(|segment| is(segment, ".git")) {
        return Some(Reserved::Git);
    }
    match &*segments {
        [first, ..] if is(first, ".orchestration") => return Some(Reserved::Orchestration),
        [only] if is(only, ".intentignore") => return Some(Reserved::IntentIgnore),
        _ => {}
    }
    let is_at = |at: usize| {
        HOOK_FILES.iter().any(|names| {
            let found = segments.get(at..at + names.len());
            found.is_some_and(|found| found.iter().zip(*names).all(|(segment, name)| is(segment, name)))
        })
    };
    (0..segments.len()).any(is_at).then_some(Reserved::HookSettings)
}
