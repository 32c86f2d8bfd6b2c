//! Whether the rules reach the client's model by a file of the repository, so that they arrive once.

use std::path::Path;

use coord_files::RootedPath;
use coord_git::WorkingCopy;

use crate::commands::init::RULES_BEGIN;

/// Largest file of instructions that is looked at, in bytes.
const MOST_BYTES: u64 = 256 * 1024;

/// Files of instructions, by the names of the clients that read them. Copilot CLI passes the instructions of servers on to no model,
/// and other clients may not read such a file.
const FILES: [(&str, &str); 4] = [
    ("claude", "CLAUDE.md"),
    ("gemini", "GEMINI.md"),
    ("codex", "AGENTS.md"),
    ("opencode", "AGENTS.md"),
];

/// The file in the working copy of `folder` in which `client` reads the rules, as `coord init` has written them.
pub fn file_of(folder: &Path, client: &str) -> Option<&'static str> {
    let client = client.to_ascii_lowercase();
    let (_, file) = FILES.into_iter().find(|(name, _)| client.contains(name))?;
    let root = WorkingCopy::root_containing(folder)?;
    let text = RootedPath::new(&root, file).read(MOST_BYTES).ok().flatten()?;
    let has_rules = text
        .windows(RULES_BEGIN.len())
        .any(|part| part == RULES_BEGIN.as_bytes());
    has_rules.then_some(file)
}
