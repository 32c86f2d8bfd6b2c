//! Questions for git itself, where gix has no answer: whether the user trusts a repository of another user, and the references of a
//! repository that keeps them in the reftable format. The binary runs git, because it alone knows how to do that without the programs that a
//! repository names.

use std::path::Path;
use std::sync::OnceLock;

/// Runs `git ARGS` in a folder: its output, or why it fails, in its own words.
pub type GitRunner = fn(&Path, &[&str]) -> Result<Vec<u8>, String>;

static ASK: OnceLock<GitRunner> = OnceLock::new();

/// Has `ask` run git for this process. Without it, gix alone reads.
pub fn set_git(ask: GitRunner) {
    // The first one stays.
    let _ = ASK.set(ask);
}

/// The output of `git ARGS` for the repository with git's own folder `git_dir`, if it succeeds.
pub(super) fn ask_of(git_dir: &Path, args: &[&str]) -> Option<String> {
    let named = format!("--git-dir={}", git_dir.to_str()?);
    let args: Vec<&str> = std::iter::once(named.as_str()).chain(args.iter().copied()).collect();
    String::from_utf8(ASK.get()?(git_dir, &args).ok()?).ok()
}

/// Whether git reads the repository in `folder`, by all that the user has set: `safe.directory` in files that include others, and in the
/// environment.
///
/// # Errors Git's message when it fails.
pub(super) fn trusts(folder: &Path) -> Result<bool, String> {
    let Some(ask) = ASK.get() else { return Ok(false) };
    match ask(folder, &["rev-parse", "--git-dir"]) {
        Ok(_) => Ok(true),
        // The name of the setting stands in this message in every language.
        Err(why) if why.contains("safe.directory") => Ok(false),
        Err(why) => Err(why),
    }
}
