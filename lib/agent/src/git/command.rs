//! Runs git without the programs that a repository names.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::group::{Group, spawn_reader};
use super::own_settings::OwnSettings;
use super::prepared::{WorkingCopyAccess, find_command, prepare};
use super::settings;

/// `git ARGS` in `folder`. No hook, filter, pager, textconv or other program of the repository runs. Git fetches
/// nothing, does not prompt, and takes no optional locks. The user's own configuration counts.
///
/// A call fails if it adds a file that only a filter of the repository's own configuration can convert.
///
/// # Errors
/// When Coord does not run this command, or the repository's own settings cannot be read.
pub fn command<A: AsRef<OsStr>>(folder: &Path, args: impl IntoIterator<Item = A>) -> anyhow::Result<Command> {
    let args: Vec<A> = args.into_iter().collect();
    let access = find_command(&args).map(|(_, access, _)| *access);
    let own_settings = match access {
        Some(WorkingCopyAccess::Files) => settings::read(folder)?,
        _ => OwnSettings::default(),
    };
    prepare(folder, &args, &own_settings)
}

/// As [`command`], without blocking the runtime.
///
/// # Errors
/// As [`command`].
pub(super) async fn command_async<A: AsRef<OsStr>>(
    folder: &Path,
    args: impl IntoIterator<Item = A>,
) -> anyhow::Result<Command> {
    let args: Vec<_> = args.into_iter().map(|arg| arg.as_ref().to_owned()).collect();
    let folder = folder.to_owned();
    let prepared = tokio::task::spawn_blocking(move || command(&folder, args));
    prepared.await.context("git cannot be run")?
}

/// Time limit of [`ask`].
const ASK_TIME: Duration = Duration::from_secs(10);

/// Maximum number of bytes of git's output for [`ask`]: a few million references.
const MAX_STDOUT_BYTES: u64 = 256 << 20;

/// Maximum number of bytes of git's error message.
const MAX_STDERR_BYTES: u64 = 16 << 10;

/// Runs `git ARGS` in `folder`, as [`command`] prepares it, and returns its output.
///
/// # Errors
/// Git's message if it fails, or the reason why it cannot be run or takes too long.
pub fn ask(folder: &Path, args: &[&str]) -> Result<Vec<u8>, String> {
    let mut command = command(folder, args).map_err(|error| format!("{error:#}"))?;
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let not_run = |error: std::io::Error| format!("git cannot be run: {error}");
    let mut running = command.spawn().map_err(not_run)?;
    let mut group = Group::of(running.id());
    let output = spawn_reader(running.stdout.take(), MAX_STDOUT_BYTES);
    let message = spawn_reader(running.stderr.take(), MAX_STDERR_BYTES);
    let deadline = Instant::now() + ASK_TIME;
    let remaining = || deadline.saturating_duration_since(Instant::now());
    let output = output.recv_timeout(remaining());
    let message = message.recv_timeout(remaining());
    let (Ok(output), Ok(message)) = (output, message) else {
        drop(group);
        running.wait().map_err(not_run)?;
        return Err(format!("git did not answer within {} s", ASK_TIME.as_secs()));
    };
    group.disarm();
    match running.wait().map_err(not_run)? {
        status if status.success() => output.map_err(not_run),
        status => {
            let message = message.map_err(not_run)?;
            let text = String::from_utf8_lossy(&message);
            let words: Vec<_> = text.split_whitespace().collect();
            Err(match words.is_empty() {
                true => format!("git ended with {status}"),
                false => words.join(" "),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::prepared::{COMMANDS, NO_HOOKS, SETTINGS};
    use super::*;

    #[test]
    fn a_command_is_found_behind_options_and_no_other_one_is_run() {
        for (args, name) in [
            (&["--literal-pathspecs", "diff", "-z"][..], Some("diff")),
            (&["-c", "core.commentChar=;", "log"], Some("log")),
            (&["--version"], None),
            (&["-c", "diff"], None),
            (&["stash"], None),
        ] {
            assert_eq!(find_command(args).map(|(name, ..)| *name), name, "{args:?}");
        }
        let folder = Path::new(".");
        assert!(command(folder, ["--version"]).is_ok());
        assert!(command(folder, ["submodule", "update"]).is_err());
    }

    #[test]
    fn every_command_has_its_programs_off() {
        let folder = tempfile::tempdir().unwrap();
        coord_test_support::git::Repo::init(folder.path(), &[]);
        for (name, _, options) in COMMANDS {
            let command = command(folder.path(), [name]).unwrap();
            let args: Vec<&str> = command.get_args().filter_map(OsStr::to_str).collect();
            for setting in SETTINGS {
                assert!(args.contains(&setting), "{name} {setting}");
            }
            assert_eq!(args.contains(&NO_HOOKS), name != "rev-parse");
            assert!(options.iter().all(|option| args.contains(option)), "{name}");
        }
    }
}
