//! The one place from which Coord runs git. A repository's author wrote its configuration and files; none of them decides
//! which programs run here.
//!
//! - [`command`]: git with its programs off
//! - [`network`]: git that talks to a remote
//! - [`settings`]: settings of a repository's own configuration beyond that
//! - [`environment`]: the variables that git gets

pub mod environment;
pub mod network;
pub mod settings;

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::Context;

use settings::OwnSettings;

/// Settings of every call. On the command line, they win over those of any file.
const SETTINGS: [&str; 13] = [
    "core.askPass=",
    "core.editor=:",
    "core.fsmonitor=false",
    "core.pager=cat",
    "credential.interactive=false",
    "diff.external=",
    "fetch.recurseSubmodules=false",
    "gc.auto=0",
    "log.showSignature=false",
    "maintenance.auto=false",
    "protocol.ext.allow=never",
    // git looks for a `.git` alone, as Coord does.
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
];

/// Turns hooks off. `rev-parse` says where they are, and runs none.
const NO_HOOKS: &str = "core.hooksPath=/dev/null";

/// Whether a command reads files of the working copy through filters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WorkingCopyAccess {
    Objects,
    Files,
}

/// The commands of git that Coord runs, each with the options that turn its programs off. No other one is run.
const COMMANDS: [(&str, WorkingCopyAccess, &[&str]); 19] = [
    ("blame", WorkingCopyAccess::Files, &["--no-textconv"]),
    ("cat-file", WorkingCopyAccess::Objects, &[]),
    ("commit-tree", WorkingCopyAccess::Objects, &[]),
    ("config", WorkingCopyAccess::Objects, &[]),
    (
        "diff",
        WorkingCopyAccess::Files,
        &["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"],
    ),
    ("fetch", WorkingCopyAccess::Objects, &["--no-recurse-submodules"]),
    ("for-each-ref", WorkingCopyAccess::Objects, &[]),
    ("hash-object", WorkingCopyAccess::Files, &[]),
    ("init", WorkingCopyAccess::Objects, &[]),
    ("interpret-trailers", WorkingCopyAccess::Objects, &[]),
    (
        "log",
        WorkingCopyAccess::Objects,
        &["--no-ext-diff", "--no-textconv", "--no-show-signature"],
    ),
    ("ls-files", WorkingCopyAccess::Objects, &[]),
    ("ls-remote", WorkingCopyAccess::Objects, &[]),
    ("ls-tree", WorkingCopyAccess::Objects, &[]),
    ("rev-parse", WorkingCopyAccess::Objects, &[]),
    ("status", WorkingCopyAccess::Files, &["--ignore-submodules=dirty"]),
    ("symbolic-ref", WorkingCopyAccess::Objects, &[]),
    ("update-index", WorkingCopyAccess::Files, &[]),
    ("write-tree", WorkingCopyAccess::Objects, &[]),
];

/// `git ARGS` in `folder`: no hook, filter, pager, textconv or other program of the repository runs, nothing is fetched, no
/// question is asked, and no lock is taken that others would wait for. The user's own configuration counts.
///
/// A file that only a filter of the repository's own can convert makes a call fail that adds it.
///
/// # Errors
/// When Coord does not run this command, or the repository's own settings cannot be read.
pub fn command<A: AsRef<OsStr>>(folder: &Path, args: impl IntoIterator<Item = A>) -> anyhow::Result<Command> {
    let args: Vec<A> = args.into_iter().collect();
    let reads = known(&args).map(|(_, reads, _)| *reads);
    let own = match reads {
        Some(WorkingCopyAccess::Files) => settings::read(folder)?,
        _ => OwnSettings::default(),
    };
    prepared(folder, &args, &own)
}

/// As [`command`], for a task of a runtime.
///
/// # Errors
/// As [`command`].
pub async fn command_async<A: AsRef<OsStr>>(
    folder: &Path,
    args: impl IntoIterator<Item = A>,
) -> anyhow::Result<Command> {
    let args: Vec<_> = args.into_iter().map(|arg| arg.as_ref().to_owned()).collect();
    let folder = folder.to_owned();
    let made = tokio::task::spawn_blocking(move || command(&folder, args));
    made.await.context("git cannot be run")?
}

/// Time limit of [`ask`].
const ASK_TIME: Duration = Duration::from_secs(10);

/// Most bytes of git's output for [`ask`]: some million references.
const MOST_SAID: u64 = 256 << 20;

/// Most bytes of why git fails.
const MOST_COMPLAINED: u64 = 16 << 10;

/// The output of `git ARGS` in `folder`, as a [`command`], if it succeeds in time.
///
/// # Errors Git's message if it fails, or why it cannot be run.
pub fn ask(folder: &Path, args: &[&str]) -> Result<Vec<u8>, String> {
    let mut command = command(folder, args).map_err(|error| format!("{error:#}"))?;
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let not_run = |error: std::io::Error| format!("git cannot be run: {error}");
    let mut running = command.spawn().map_err(not_run)?;
    let mut group = Group::of(running.id());
    let output = spawn_reader(running.stdout.take(), MOST_SAID);
    let errors = spawn_reader(running.stderr.take(), MOST_COMPLAINED);
    let deadline = Instant::now() + ASK_TIME;
    let left = || deadline.saturating_duration_since(Instant::now());
    let said = output.recv_timeout(left());
    let complained = errors.recv_timeout(left());
    let (Ok(said), Ok(complained)) = (said, complained) else {
        drop(group);
        running.wait().map_err(not_run)?;
        return Err(format!("git did not answer within {} s", ASK_TIME.as_secs()));
    };
    group.ended();
    match running.wait().map_err(not_run)? {
        status if status.success() => said.map_err(not_run),
        status => {
            let complained = complained.map_err(not_run)?;
            let text = String::from_utf8_lossy(&complained);
            let words: Vec<_> = text.split_whitespace().collect();
            Err(match words.is_empty() {
                true => format!("git ended with {status}"),
                false => words.join(" "),
            })
        }
    }
}

/// The output of `pipe`, up to `most` bytes, read on a separate thread.
fn spawn_reader(pipe: Option<impl Read + Send + 'static>, most: u64) -> Receiver<std::io::Result<Vec<u8>>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let read = match pipe {
            Some(mut pipe) => (&mut pipe).take(most).read_to_end(&mut text),
            None => Ok(0),
        };
        // Nobody may wait any more.
        let _ = sender.send(read.map(|_| text));
    });
    receiver
}

fn known<A: AsRef<OsStr>>(args: &[A]) -> Option<&'static (&'static str, WorkingCopyAccess, &'static [&'static str])> {
    let name = args.get(place(args))?.as_ref();
    COMMANDS.iter().find(|(known, ..)| name == *known)
}

/// Where the name of the command is: behind options of git itself, of which `-c` has a value.
fn place<A: AsRef<OsStr>>(args: &[A]) -> usize {
    let mut place = 0;
    while let Some(arg) = args.get(place).map(AsRef::as_ref) {
        match arg.to_string_lossy() {
            option if option == "-c" => place += 2,
            option if option.starts_with('-') => place += 1,
            _ => break,
        }
    }
    place.min(args.len())
}

fn prepared<A: AsRef<OsStr>>(folder: &Path, args: &[A], own: &OwnSettings) -> anyhow::Result<Command> {
    let (before, after) = args.split_at(place(args));
    let mut command = Command::new("git");
    environment::clear(&mut command);
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    for setting in own.overriding()? {
        command.args(["-c", &setting]);
    }
    let (name, options) = match known(args) {
        Some((name, _, options)) => (*name, *options),
        // `git --version` alone.
        None if after.is_empty() => ("", &[][..]),
        None => anyhow::bail!("Coord does not run git {}", after[0].as_ref().to_string_lossy()),
    };
    if name != "rev-parse" {
        command.args(["-c", NO_HOOKS]);
    }
    command.arg("-C").arg(folder).args(before);
    if let Some((name, rest)) = after.split_first() {
        command.arg(name).args(options).args(rest);
    }
    command
        .envs([
            ("GIT_ALLOW_PROTOCOL", "none"),
            ("GIT_ASKPASS", ""),
            ("GIT_EDITOR", ":"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_PAGER", "cat"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("SSH_ASKPASS", ""),
            ("SSH_ASKPASS_REQUIRE", "never"),
            ("GCM_INTERACTIVE", "never"),
        ])
        .env_remove("GIT_EXTERNAL_DIFF");
    // A new process group, so that the children of git end with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    Ok(command)
}

/// Ends the process that was made by a [`command`], and all that it has started, when it is dropped before [`Group::ended`].
#[derive(Debug)]
pub struct Group(Option<u32>);

impl Group {
    /// That of the process with this number.
    pub fn of(process: u32) -> Group {
        Group(Some(process))
    }

    /// Its first process has ended by itself.
    pub fn ended(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(process) = self.0 {
            signal(process, rustix::process::Signal::KILL);
        }
    }
}

/// Sends a signal to the processes of the group of `process`.
#[cfg(unix)]
pub fn signal(process: u32, signal: rustix::process::Signal) {
    let group = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        // It may have ended.
        let _ = rustix::process::kill_process_group(group, signal);
    }
}

#[cfg(test)]
mod tests {
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
            assert_eq!(known(args).map(|(name, ..)| *name), name, "{args:?}");
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
