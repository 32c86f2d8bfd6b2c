//! The files that a shell command plainly writes. Quoting, operators and compound commands are those of a shell's parser; words
//! with variables, substitutions or patterns name no file here, and a command that cannot be read names none.

mod arguments;
mod git;
mod past_guard;
mod person;
mod programs;
mod readers;
mod shell_state;
mod walk;
mod words;

pub use past_guard::is_hook;

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

/// Longest command that is read, in bytes.
const MOST_BYTES: usize = 64 * 1024;

/// Most parentheses and braces within each other.
const MOST_DEPTH: usize = 64;

/// Stack of the thread that reads a command: nested compound commands take some of it each. Only the used part takes
/// memory.
const STACK_BYTES: usize = 256 << 20;

/// Time limit of reading a command: some take a parser that tries alternatives very long.
const LIMIT: Duration = Duration::from_millis(500);

/// The effects of a command on working copies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Whether any of its programs may change something: all but those known to only read, and the commands that Coord
    /// itself gives agents.
    pub changes: bool,
    /// Files and folders that it writes, moves or removes, absolute.
    pub writes: Vec<PathBuf>,
    /// Files that it shows, absolute.
    pub reads: Vec<PathBuf>,
    /// An act of a person that it is, such as `coord intent unblock`.
    pub person: Option<String>,
    /// The part of it that goes past the guard in git's hooks.
    pub past_guard: Option<String>,
    /// Commands of git that change a whole working copy.
    pub trees: Vec<TreeChange>,
    /// The folders that it pushes from.
    pub pushes: Vec<PathBuf>,
}

impl Effects {
    /// Those of a command that cannot be read: it may do anything.
    fn unknown() -> Effects {
        Effects {
            changes: true,
            ..Effects::default()
        }
    }
}

/// A command of git that changes a whole working copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeChange {
    /// A folder of the working copy.
    pub folder: PathBuf,
    /// The command, such as `git checkout`.
    pub command: String,
}

/// The effects of `command`, which runs in `folder`.
pub fn effects(command: &str, folder: &Path) -> Effects {
    let mut found = read(command, folder);
    found.person = found.person.or_else(|| person::in_text(command));
    found.past_guard = found.past_guard.or_else(|| past_guard::in_text(command));
    if found.past_guard.is_none() && found.writes.iter().any(|path| is_hook(path)) {
        found.past_guard = Some("a change of git's hooks".to_owned());
    }
    found
}

fn read(command: &str, folder: &Path) -> Effects {
    if command.len() > MOST_BYTES || is_deeper_than(command, MOST_DEPTH) {
        return Effects::unknown();
    }
    let (sender, receiver) = mpsc::channel();
    let (command, folder) = (command.to_owned(), folder.to_owned());
    let reader = move || {
        let _ = sender.send(walk::effects(&command, &folder));
    };
    let started = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(reader);
    match started {
        Ok(_) => receiver.recv_timeout(LIMIT).unwrap_or_else(|_| Effects::unknown()),
        Err(_) => Effects::unknown(),
    }
}

/// Whether more than `most` parentheses and braces are open at once, quoted or not.
fn is_deeper_than(command: &str, most: usize) -> bool {
    let mut depth = 0_usize;
    command.bytes().any(|byte| {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > most
    })
}

#[cfg(test)]
mod tests;
