//! Output of git in a working copy. `coord_git` reads repositories itself; this is for questions that only git answers, such as
//! which files are changed. And the one place from which Coord runs git: a repository's author wrote its configuration and files; none of
//! them decides which programs run here.
//!
//! - [`command()`]: git with its programs off, as `prepared` for the repository's `own_settings`; `group`: the end of its processes
//! - [`network`]: git that talks to a remote
//! - [`settings`]: reads the settings of a repository's own configuration beyond that
//! - [`environment`]: the variables that git gets

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

pub use command::{ask, command, command_async};
pub use group::Group;
#[cfg(unix)]
pub use group::signal;

/// Time limit of one call.
pub const LIMIT: Duration = Duration::from_secs(30);

/// Output of `git ARGS` in `folder`.
///
/// # Errors When git cannot be run, takes too long or fails; the sentence has the first line of its message.
pub async fn output(folder: &Path, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> anyhow::Result<Vec<u8>> {
    output_with(folder, args, None).await
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
    output_with(folder, args, Some(("GIT_OBJECT_DIRECTORY", objects))).await
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
    output_with(folder, args, index.map(|index| ("GIT_INDEX_FILE", index))).await
}

/// As [`output`], in no repository: only the user's configuration counts.
///
/// # Errors
/// As [`output`].
pub async fn output_outside(
    folder: &Path,
    args: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> anyhow::Result<Vec<u8>> {
    output_with(folder, args, Some(("GIT_DIR", Path::new("/dev/null")))).await
}

async fn output_with(
    folder: &Path,
    args: impl IntoIterator<Item = impl AsRef<OsStr>>,
    variable: Option<(&str, &Path)>,
) -> anyhow::Result<Vec<u8>> {
    let mut command = Command::from(command_async(folder, args).await?);
    command
        .envs(variable)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let running = command.spawn().context("git cannot be run")?;
    let mut group = running.id().map(Group::of);
    let ended = tokio::time::timeout(LIMIT, running.wait_with_output())
        .await
        .with_context(|| format!("git takes longer than {LIMIT:?}"))?;
    if let Some(group) = &mut group {
        group.ended();
    }
    let ended = ended.context("git cannot be run")?;
    if !ended.status.success() {
        let message = String::from_utf8_lossy(&ended.stderr);
        bail!(failure(&message));
    }
    Ok(ended.stdout)
}

/// The failure of git that `message` is about.
pub fn failure(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    match message.contains(" filter '") {
        true => format!(
            "git fails: {line}: filters of a repository's own configuration do not run; \
             set them in your own, with `git config --global`"
        ),
        false => format!("git fails: {line}"),
    }
}

/// The paths in a list that git separates by NUL (`-z`). Names that are not UTF-8 are left out.
pub fn paths(output: &[u8]) -> Vec<String> {
    let names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names
        .filter_map(|name| std::str::from_utf8(name).ok().map(str::to_owned))
        .collect()
}
