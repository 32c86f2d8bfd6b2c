//! What git itself says, where gix cannot: whether the user trusts a repository of another one, and the references of a repository that keeps
//! them in the reftable format. The binary runs git, because it alone knows how to do that without the programs that a repository names.

use std::path::Path;
use std::sync::OnceLock;

/// Runs `git ARGS` in a folder: what it prints, where it succeeds.
pub type AskGit = fn(&Path, &[&str]) -> Option<Vec<u8>>;

static ASK: OnceLock<AskGit> = OnceLock::new();

/// Has `ask` run git for this process. Without it, only what gix can read is read.
pub fn set_git(ask: AskGit) {
    // The first one stays.
    let _ = ASK.set(ask);
}

/// What `git ARGS` prints in `folder`, where it succeeds.
pub(super) fn ask(folder: &Path, args: &[&str]) -> Option<Vec<u8>> {
    ASK.get().and_then(|ask| ask(folder, args))
}

/// The same, for the repository with git's own folder `git_dir`.
pub(super) fn ask_of(git_dir: &Path, args: &[&str]) -> Option<String> {
    let named = format!("--git-dir={}", git_dir.to_str()?);
    let args: Vec<&str> = std::iter::once(named.as_str()).chain(args.iter().copied()).collect();
    String::from_utf8(ask(git_dir, &args)?).ok()
}

/// Whether git reads the repository in `folder`, by all that the user has set: `safe.directory` in files that include others, and in the
/// environment.
pub(super) fn trusts(folder: &Path) -> bool {
    ask(folder, &["rev-parse", "--git-dir"]).is_some()
}
