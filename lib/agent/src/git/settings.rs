//! Reads the settings of a repository's own configuration.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use super::group::{Group, spawn_reader};
use super::own_settings::OwnSettings;
use super::prepared::prepare;

/// Time limit of reading the settings: a configuration may include a pipe.
const LIMIT: Duration = Duration::from_secs(10);

/// The number of bytes from which the settings are not read.
const MAX_BYTES: u64 = 1 << 20;

/// The own settings of the repository that contains `folder`, with the files that its configuration includes.
///
/// # Errors
/// When git cannot list the settings in time.
pub fn read(folder: &Path) -> anyhow::Result<OwnSettings> {
    let args = ["config", "--list", "--show-scope", "--includes", "-z"];
    let mut command = prepare(folder, &args, &OwnSettings::default())?;
    let mut running = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("git cannot be run")?;
    let mut group = Group::of(running.id());
    let output = running.stdout.take().context("git has no standard output")?;
    let list = spawn_reader(Some(output), MAX_BYTES).recv_timeout(LIMIT);
    let is_complete = matches!(&list, Ok(Ok(list)) if (list.len() as u64) < MAX_BYTES);
    if !is_complete {
        drop(group);
        let _ = running.wait();
        bail!(
            "the configuration of the repository in {} cannot be read",
            folder.display()
        );
    }
    let status = running.wait().context("git cannot be waited for")?;
    group.disarm();
    ensure!(
        status.success(),
        "git cannot list the configuration of the repository in {}",
        folder.display()
    );
    OwnSettings::parse(&list??)
}
