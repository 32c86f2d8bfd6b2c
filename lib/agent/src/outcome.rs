//! Prints an outcome: the action and the reason first, as agents receive them.

use std::process::ExitCode;

use anstyle::Style;
use coord_mcp::Outcome;
use coord_protocol::locks::LockType;
use coord_protocol::plain_text::quote_line;
use coord_protocol::{Action, OtherLock};

use crate::exit_status::ExitStatus;
use crate::terminal::locks::{holder, mode};
use crate::terminal::output::{BAD, CAUTION, GOOD, STRONG, print_as, styled, width};
use crate::terminal::table::{Column, Cut, render};
use crate::terminal::times::{countdown, now};

/// Maximum number of locks in the table of other holders' locks.
const MAX_LOCKS: usize = 12;

/// Prints `outcome`, as JSON or as text with `advice` after it, and returns the exit status.
///
/// # Errors
/// When the text cannot be written.
pub fn show(outcome: &Outcome, is_json: bool, advice: &str) -> anyhow::Result<ExitCode> {
    print_as(is_json, outcome, |outcome| {
        let text = colorize(&replace_fields(&outcome.text()));
        format!("{text}\n{}{advice}", lock_table(outcome, now(), width()))
    })?;
    Ok(ExitStatus::of(outcome).into())
}

/// Replaces request fields by the flags of the command, because only HTTP callers send fields.
fn replace_fields(text: &str) -> String {
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

/// The locks of other holders, if there are several: the reason names only the first.
fn lock_table(outcome: &Outcome, now: i64, width: Option<usize>) -> String {
    let locks = match outcome {
        Outcome::Check(response) => &response.locks,
        Outcome::Post(response) => &response.conflicting_locks,
        _ => return String::new(),
    };
    if locks.len() < 2 {
        return String::new();
    }
    let row = |(file, lock): (&String, &OtherLock)| {
        let cells = [
            file.clone(),
            holder(&lock.user, lock.agent_id.as_deref()),
            match lock.lock_type {
                Some(LockType::Reserved) => "reserved".to_owned(),
                Some(LockType::Waiting) => "waits".to_owned(),
                _ => mode(lock.status, lock.interface, lock.shared),
            },
            countdown(lock.expiry - now),
            quote_line(&lock.message),
        ];
        (Style::new(), cells.to_vec())
    };
    let rows: Vec<_> = locks.iter().take(MAX_LOCKS).map(row).collect();
    let mut text = render(&COLUMNS, &rows, width);
    if locks.len() > MAX_LOCKS {
        text.push_str(&format!(
            "and {} more; coord status shows all\n",
            locks.len() - MAX_LOCKS
        ));
    }
    text
}

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

/// `text` with the action and the command to run in color.
fn colorize(text: &str) -> String {
    let colorize_line = |line: &str| match (line.split_once(": "), line.strip_prefix("Run: ")) {
        (_, Some(command)) => format!("Run: {}", styled(STRONG, command)),
        (Some((action, reason)), None) => match action_style(action) {
            Some(style) => format!("{}: {reason}", styled(style, action)),
            None => line.to_owned(),
        },
        (None, None) => line.to_owned(),
    };
    text.lines().map(colorize_line).collect::<Vec<String>>().join("\n")
}

fn action_style(action: &str) -> Option<Style> {
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
        let shown = replace_fields("LOCK_TAKEN: ... confirm with OPEN and \"abandon\": true");
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
