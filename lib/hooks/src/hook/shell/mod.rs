//! Finds the files that a shell command plainly writes. A shell's parser handles quoting, operators and compound
//! commands. Words with variables, substitutions or patterns name no file here, and neither does a command that cannot
//! be parsed.

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

/// Maximum length of a parsed command, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// Maximum depth of nested parentheses and braces.
const MAX_DEPTH: usize = 64;

/// Stack of the thread that parses a command: each nested compound command takes some of it. Only the used part takes
/// memory.
const STACK_BYTES: usize = 256 << 20;

/// Time limit for parsing a command: the parser tries alternatives, which takes very long for some commands.
const LIMIT: Duration = Duration::from_millis(500);

/// The effects of `command`, which runs in `folder`.
pub fn effects(command: &str, folder: &Path) -> Effects {
    let mut effects = parse(command, folder);
    effects.person_act = effects.person_act.or_else(|| person::find_in_text(command));
    effects.guard_bypass = effects.guard_bypass.or_else(|| guard_bypass::find_in_text(command));
    if effects.guard_bypass.is_none() && effects.writes.iter().any(|path| is_hook(path)) {
        effects.guard_bypass = Some("a change of git's hooks".to_owned());
    }
    effects
}

fn parse(command: &str, folder: &Path) -> Effects {
    if command.len() > MAX_BYTES || is_deeper_than(command, MAX_DEPTH) {
        return Effects::unknown();
    }
    let (sender, receiver) = mpsc::channel();
    let (command, folder) = (command.to_owned(), folder.to_owned());
    let parser = move || {
        let _ = sender.send(walk::effects(&command, &folder));
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(parser);
    match thread {
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
