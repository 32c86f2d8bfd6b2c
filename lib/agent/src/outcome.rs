//! An outcome of a check, a claim or a release in a terminal: the action and the reason first, as agents get them.

use std::process::ExitCode;

use anstyle::Style;
use coord_mcp::Outcome;
use coord_protocol::locks::LockType;
use coord_protocol::plain_text::quoted_line;
use coord_protocol::{Action, OtherLock};

use crate::exit_status::ExitStatus;
use crate::terminal::locks::{holder, mode};
use crate::terminal::output::{BAD, CAUTION, GOOD, STRONG, print, print_json, styled, width};
use crate::terminal::table::{Column, Cut, render};
use crate::terminal::times::{countdown, now};

/// Most locks of others in a list.
const MOST_LOCKS: usize = 12;

/// Prints `outcome`, as JSON or as text with `advice` after it, and returns the exit status.
///
/// # Errors
/// When it cannot be written.
pub fn show(outcome: &Outcome, is_json: bool, advice: &str) -> anyhow::Result<ExitCode> {
    match is_json {
        true => print_json(outcome)?,
        false => print(&format!(
            "{}\n{}{advice}",
            colorize(&for_terminal(&outcome.text())),
            others(outcome, now(), width())
        ))?,
    }
    Ok(ExitStatus::of(outcome).into())
}

/// The flag in place of the field, which is what callers over HTTP send.
fn for_terminal(text: &str) -> String {
    text.replace("OPEN and \"abandon\": true", "coord release --abandon")
        .replace("\"abandon\": true", "--abandon")
}

const COLUMNS: [Column; 5] = [
    Column::new("FILE", Cut::Start, 16),
    Column::new("HOLDER", Cut::End, 8),
    Column::new("MODE", Cut::Never, 0),
    Column::new("EXPIRES", Cut::Never, 0),
    Column::new("MESSAGE", Cut::End, 12),
];

/// Others' locks, where there are several: the reason names the first alone.
fn others(outcome: &Outcome, now: i64, width: Option<usize>) -> String {
    let locks = match outcome {
        Outcome::Check(response) => &response.locks,
        Outcome::Post(response) => &response.conflicting_locks,
        _ => return String::new(),
    };
    if locks.len() < 2 {
        return String::new();
    }
    let row = |(file, lock): (&String, &OtherLock)| {
        let holder = holder(&lock.user, lock.agent_id.as_deref());
        let expires = countdown(lock.expiry - now);
        let cells = [
            file.clone(),
            holder,
            match lock.lock_type {
                Some(LockType::Reserved) => "reserved".to_owned(),
                Some(LockType::Waiting) => "waits".to_owned(),
                _ => mode(lock.status, lock.interface, lock.shared),
            },
            expires,
            quoted_line(&lock.message),
        ];
        (Style::new(), cells.to_vec())
    };
    let rows: Vec<_> = locks.iter().take(MOST_LOCKS).map(row).collect();
    let mut text = render(&COLUMNS, &rows, width);
    if locks.len() > MOST_LOCKS {
        text.push_str(&format!(
            "and {} more; coord status shows all\n",
            locks.len() - MOST_LOCKS
        ));
    }
    text
}

/// The action of an outcome, and its command.
pub fn action(outcome: &Outcome) -> Option<Action> {
    match outcome {
        Outcome::Check(response) => Some(response.orchestration.action),
        Outcome::Post(response) => Some(response.orchestration.action),
        Outcome::Refused(error) => Some(error.orchestration.action),
        Outcome::Intent(response) => Some(response.orchestration.action),
        Outcome::Team(answer) => answer.orchestration().map(|orchestration| orchestration.action),
        Outcome::Malformed(_) => None,
    }
}

/// The text with its first word and the command to run in color.
fn colorize(text: &str) -> String {
    let line = |line: &str| match (line.split_once(": "), line.strip_prefix("Run: ")) {
        (_, Some(command)) => format!("Run: {}", styled(STRONG, command)),
        (Some((action, reason)), None) => match style_of(action) {
            Some(style) => format!("{}: {reason}", styled(style, action)),
            None => line.to_owned(),
        },
        (None, None) => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<String>>().join("\n")
}

fn style_of(action: &str) -> Option<Style> {
    match action {
        "PROCEED" => Some(GOOD),
        "FIX" | "WAIT" | "PULL" | "PUSH" | "SWITCH_TASK" => Some(CAUTION),
        "STOP" => Some(BAD),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_sentence_names_the_flag_instead_of_the_field() {
        let shown = for_terminal("LOCK_TAKEN: ... confirm with OPEN and \"abandon\": true");
        assert_eq!(shown, "LOCK_TAKEN: ... confirm with coord release --abandon");
    }

    #[test]
    fn the_action_and_the_command_stand_out_and_no_word_is_lost() {
        let text = "WAIT: File 'a: b' is locked\nRun: sleep 5\nLOCK_CONFLICT\nNEIGHBOR: 'c' is being written";
        let shown = colorize(text);
        assert_eq!(anstream::adapter::strip_str(&shown).to_string(), text);
        assert!(shown.starts_with(&styled(CAUTION, "WAIT")), "{shown}");
        assert!(shown.contains(&styled(STRONG, "sleep 5")), "{shown}");
    }
}
