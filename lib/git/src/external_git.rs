//! Runs git itself for what gix cannot find out: whether the user trusts a repository of another user, and the
//! references of a repository that keeps them in the reftable format. The CLI passes in the function that runs git,
//! because only the CLI can run it without the programs that a repository names.

use std::path::Path;
use std::sync::OnceLock;

/// Runs `git ARGS` in a folder: its output, or git's own message why it fails.
pub type GitRunner = fn(&Path, &[&str]) -> Result<Vec<u8>, String>;

static RUNNER: OnceLock<GitRunner> = OnceLock::new();

/// Lets `runner` run git for this process. Without a runner, only gix reads repositories.
pub fn register_git(runner: GitRunner) {
    // The first runner stays.
    let _ = RUNNER.set(runner);
}

/// The output of `git ARGS` for the repository with git's own folder `git_dir`, if it succeeds.
pub(super) fn run_git(git_dir: &Path, args: &[&str]) -> Option<String> {
    let git_dir_arg = format!("--git-dir={}", git_dir.to_str()?);
    let args: Vec<&str> = std::iter::once(git_dir_arg.as_str())
        .chain(args.iter().copied())
        .collect();
    String::from_utf8(RUNNER.get()?(git_dir, &args).ok()?).ok()
}

/// Whether git trusts the repository in `folder`, by everything that the user has set: `safe.directory` in files that
/// include others, and in the environment.
///
/// # Errors
/// When git fails for another reason; with its message.
pub(super) fn trusts(folder: &Path) -> Result<bool, String> {
    let Some(run) = RUNNER.get() else { return Ok(false) };
    match run(folder, &["rev-parse", "--git-dir"]) {
        Ok(_) => Ok(true),
        // The message contains the name of the setting in every language.
        Err(why) if why.contains("safe.directory") => Ok(false),
        Err(why) => Err(why),
    }
}
