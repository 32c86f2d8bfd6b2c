//! Files that no intent covers, because they control intents or the agents that ask for them.

/// The part of Coord or git to which a reserved file belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReservedPart {
    /// The data of git.
    Git,
    /// Intents and ledger.
    Orchestration,
    /// The list of files that no intent may change.
    IntentIgnore,
    /// The settings that make agents call Coord's hooks.
    HookSettings,
}

impl std::fmt::Display for ReservedPart {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            ReservedPart::Git => "git's own data",
            ReservedPart::Orchestration => "a file of intents and ledger, which `coord sync` writes",
            ReservedPart::IntentIgnore => "the list of files that no intent may change",
            ReservedPart::HookSettings => "settings of an agent's hooks",
        })
    }
}

/// The files from which the agents that `coord init` configures read hooks, in the folder where an agent is started.
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

/// Why no intent covers `path`. The comparison ignores case, as some file systems do.
pub fn reserved_part(path: impl AsRef<[u8]>) -> Option<ReservedPart> {
    let segments: Vec<&[u8]> = path.as_ref().split(|byte| *byte == b'/').collect();
    let is = |segment: &[u8], name: &str| segment.eq_ignore_ascii_case(name.as_bytes());
    if segments.iter().any(|segment| is(segment, ".git")) {
        return Some(ReservedPart::Git);
    }
    match &*segments {
        [first, ..] if is(first, ".orchestration") => return Some(ReservedPart::Orchestration),
        [only] if is(only, ".intentignore") => return Some(ReservedPart::IntentIgnore),
        _ => {}
    }
    let has_hook_file_at = |start: usize| {
        HOOK_FILES.iter().any(|names| {
            let range = segments.get(start..start + names.len());
            range.is_some_and(|range| range.iter().zip(*names).all(|(segment, name)| is(segment, name)))
        })
    };
    (0..segments.len())
        .any(has_hook_file_at)
        .then_some(ReservedPart::HookSettings)
}
