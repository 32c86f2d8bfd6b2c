//! Runs git in a working copy. `coord_git` reads repositories itself; git runs for results that only git has, such as
//! the list of changed files. Coord runs git only from here: the repository's author wrote its configuration and files,
//! and must not decide which programs run on this machine.
//!
//! - [`command()`]: runs git without a repository's programs, as `prepared` for the repository's `own_settings`;
//!   `group`: ends its processes, and reads their output
//! - [`network`]: runs git with a remote
//! - [`settings`]: reads the settings of a repository's own configuration
//! - [`environment`]: the variables that git receives

mod command;
pub mod environment;
mod group;
pub mod network;
mod own_settings;
mod prepared;
pub mod settings;

use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::process::Command;

pub use command::{ask, command};
pub use group::Group;
#[cfg(unix)]
pub use group::signal;

/// Time limit of one call.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// The output of `git ARGS` in `folder`.
///
/// # Errors
/// When git cannot be run, takes too long or fails. The error has the first line of git's message.
pub async fn output(folder: &Path, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> anyhow::Result<Vec<u8>> {
    output_with(folder, args, None).await
}

/// As [`output`], with a variable that names another file or folder to git, such as another index.
///
/// # Errors
/// As [`output`].
pub async fn output_with(
    folder: &Path,
    args: impl IntoIterator<Item = impl AsRef<OsStr>>,
    variable: Option<(&str, &Path)>,
) -> anyhow::Result<Vec<u8>> {
    let mut command = Command::from(command::command_async(folder, args).await?);
    command
        .envs(variable)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let running = command.spawn().context("git cannot be run")?;
    let mut group = running.id().map(Group::of);
    let output = tokio::time::timeout(LIMIT, running.wait_with_output())
        .await
        .with_context(|| format!("git takes longer than {LIMIT:?}"))?;
    if let Some(group) = &mut group {
        group.disarm();
    }
    let output = output.context("git cannot be run")?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!(failure(&message));
    }
    Ok(output.stdout)
}

/// A sentence about the failure of git with the message `message`.
pub(crate) fn failure(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    match message.contains(" filter '") {
        true => format!(
            "git fails: {line}: filters of a repository's own configuration do not run; \
             set them in your own, with `git config --global`"
        ),
        false => format!("git fails: {line}"),
    }
}

/// The paths in a list that git separates by NUL (`-z`). Names that are not UTF-8 are omitted.
pub fn paths(output: &[u8]) -> Vec<String> {
    let names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names
        .filter_map(|name| std::str::from_utf8(name).ok().map(str::to_owned))
        .collect()
}
