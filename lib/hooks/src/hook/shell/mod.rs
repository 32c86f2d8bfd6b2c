//! The files that a shell command plainly writes. Quoting, operators and compound commands are those of a shell's parser; words
//! with variables, substitutions or patterns name no file here, and a command that cannot be read names none.

mod arguments;
mod effects;
mod git;
mod guard_bypass;
mod person;
mod programs;
mod readers;
mod shell_state;
mod walk;
mod words;

pub use effects::{Effects, TreeChange};
pub use guard_bypass::is_hook;

use std::path::Path;
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

/// The effects of `command`, which runs in `folder`.
pub fn effects(command: &str, folder: &Path) -> Effects {
    let mut found = read(command, folder);
    found.person = found.person.or_else(|| person::in_text(command));
    found.guard_bypass = found.guard_bypass.or_else(|| guard_bypass::in_text(command));
    if found.guard_bypass.is_none() && found.writes.iter().any(|path| is_hook(path)) {
        found.guard_bypass = Some("a change of git's hooks".to_owned());
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
