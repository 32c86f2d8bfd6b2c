//! Whether the client's model gets the rules from a file of the repository, so that the server need not repeat them.

use std::path::Path;

use coord_files::RootedPath;
use coord_git::WorkingCopy;

use crate::commands::init::RULES_BEGIN;

/// The largest file of instructions that is read, in bytes.
const MAX_BYTES: u64 = 256 * 1024;

/// Files of instructions, by the names of the clients that read them. Copilot CLI does not pass a server's instructions
/// to a model, and other clients may not read such a file.
const FILES: [(&str, &str); 4] = [
    ("claude", "CLAUDE.md"),
    ("gemini", "GEMINI.md"),
    ("codex", "AGENTS.md"),
    ("opencode", "AGENTS.md"),
];

/// The file in the working copy of `folder` in which `client` reads the rules that `coord init` has written.
pub fn file_of(folder: &Path, client: &str) -> Option<&'static str> {
    let client = client.to_ascii_lowercase();
    let (_, file) = FILES.into_iter().find(|(name, _)| client.contains(name))?;
    let root = WorkingCopy::root_containing(folder)?;
    let text = RootedPath::new(&root, file).read(MAX_BYTES).ok().flatten()?;
    let has_rules = memchr::memmem::find(&text, RULES_BEGIN.as_bytes()).is_some();
    has_rules.then_some(file)
}
