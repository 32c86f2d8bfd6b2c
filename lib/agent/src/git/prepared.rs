//! Prepares a command that runs git without the programs that a repository names.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use super::environment;
use super::own_settings::OwnSettings;

/// Settings of every call. On the command line, they override settings in files.
pub(super) const SETTINGS: [&str; 13] = [
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
    // Git looks only for `.git`, as Coord does.
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
];

/// Turns hooks off, except for `rev-parse`, which prints their folder and runs none.
pub(super) const NO_HOOKS: &str = "core.hooksPath=/dev/null";

/// Whether a command reads files of the working copy through filters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkingCopyAccess {
    Objects,
    Files,
}

/// The commands of git that Coord runs, each with the options that turn its programs off. Coord runs no other command.
pub(super) const COMMANDS: [(&str, WorkingCopyAccess, &[&str]); 19] = [
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

/// The command in `args`.
pub(super) fn find_command<A: AsRef<OsStr>>(
    args: &[A],
) -> Option<&'static (&'static str, WorkingCopyAccess, &'static [&'static str])> {
    let name = args.get(command_index(args))?.as_ref();
    COMMANDS.iter().find(|(command, ..)| name == *command)
}

/// The index of the command's name, after the options of git itself. Of these, only `-c` takes a value.
fn command_index<A: AsRef<OsStr>>(args: &[A]) -> usize {
    let mut index = 0;
    while let Some(arg) = args.get(index).map(AsRef::as_ref) {
        match arg.to_string_lossy() {
            option if option == "-c" => index += 2,
            option if option.starts_with('-') => index += 1,
            _ => break,
        }
    }
    index.min(args.len())
}

/// `git ARGS` in `folder`, whose repository has the settings `own_settings`.
///
/// # Errors
/// When Coord does not run this command, or a setting cannot be overridden.
pub(super) fn prepare<A: AsRef<OsStr>>(
    folder: &Path,
    args: &[A],
    own_settings: &OwnSettings,
) -> anyhow::Result<Command> {
    let (global_options, command_args) = args.split_at(command_index(args));
    let mut command = Command::new("git");
    environment::clear(&mut command);
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    for setting in own_settings.overrides()? {
        command.args(["-c", &setting]);
    }
    let (name, options) = match find_command(args) {
        Some((name, _, options)) => (*name, *options),
        // `git --version` has no command.
        None if command_args.is_empty() => ("", &[][..]),
        None => anyhow::bail!("Coord does not run git {}", command_args[0].as_ref().to_string_lossy()),
    };
    if name != "rev-parse" {
        command.args(["-c", NO_HOOKS]);
    }
    command.arg("-C").arg(folder).args(global_options);
    if let Some((name, rest)) = command_args.split_first() {
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
