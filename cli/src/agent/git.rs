//! Runs git in a working copy: what Coord reads by itself is in `coord_git`; this is for what only git can tell, such as which
//! files are changed.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::process::Command;

use crate::git_environment;

/// Time limit of one call.
const LIMIT: Duration = Duration::from_secs(30);

/// What `git ARGS` prints in `folder`.
///
/// # Errors
/// When git cannot be run, takes too long or fails; the sentence has the first line of what it says.
pub async fn output(folder: &Path, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> anyhow::Result<Vec<u8>> {
    output_with_index(folder, args, None).await
}

/// As [`output`]; new objects are written to `objects`, and nothing to the repository.
///
/// # Errors
/// As [`output`].
pub async fn output_with_objects(
    folder: &Path,
    args: impl IntoIterator<Item = impl AsRef<OsStr>>,
    objects: &Path,
) -> anyhow::Result<Vec<u8>> {
    output_in(folder, args, Some(("GIT_OBJECT_DIRECTORY", objects))).await
}

/// As [`output`], with another index, such as the one that git hands to its hooks. It is only read.
///
/// # Errors
/// As [`output`].
pub async fn output_with_index(
    folder: &Path,
    args: impl IntoIterator<Item = impl AsRef<OsStr>>,
    index: Option<&Path>,
) -> anyhow::Result<Vec<u8>> {
    output_in(folder, args, index.map(|index| ("GIT_INDEX_FILE", index))).await
}

async fn output_in(
    folder: &Path,
    args: impl IntoIterator<Item = impl AsRef<OsStr>>,
    variable: Option<(&str, &Path)>,
) -> anyhow::Result<Vec<u8>> {
    let mut command = Command::from(command(folder));
    command.envs(variable);
    command.args(args).stdin(Stdio::null()).kill_on_drop(true);
    let running = command.output();
    let ended = tokio::time::timeout(LIMIT, running)
        .await
        .with_context(|| format!("git takes longer than {LIMIT:?}"))?;
    let ended = ended.context("git cannot be run")?;
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.stderr);
        bail!("git fails: {}", said.lines().next().unwrap_or_default());
    }
    Ok(ended.stdout)
}

/// `git` in `folder`, with the user's environment except for what would point it elsewhere. It takes no locks that others would
/// wait for, and never prompts.
pub fn command(folder: &Path) -> std::process::Command {
    let mut command = std::process::Command::new("git");
    git_environment::clear(&mut command);
    command
        .arg("-C")
        .arg(folder)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0");
    command
}

/// The paths in a list that git separates by NUL (`-z`). Names that are not UTF-8 are left out.
pub fn paths(output: &[u8]) -> Vec<String> {
    let names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names
        .filter_map(|name| std::str::from_utf8(name).ok().map(str::to_owned))
        .collect()
}
