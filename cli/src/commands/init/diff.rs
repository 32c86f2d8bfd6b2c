//! Changes of files as unified diffs, in color.

use similar::{ChangeTag, TextDiff};

use super::files::Change;

const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const CYAN: &str = "\x1b[36m";
const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

/// The changes as diffs in color. [`coord_agent::terminal::output::print`] omits the colors outside of a terminal.
pub fn colorize(changes: &[&Change]) -> String {
    let mut text = String::new();
    for change in changes {
        for line in unified_diff(change).lines() {
            // A user's file must not control the terminal.
            let line = line.replace(|character: char| character.is_control() && character != '\t', "?");
            let color = match line.as_bytes() {
                [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] => BOLD,
                [b'@', ..] => CYAN,
                [b'-', ..] => RED,
                [b'+', ..] => GREEN,
                _ => "",
            };
            let reset = if color.is_empty() { "" } else { RESET };
            text += &format!("{color}{line}{reset}\n");
        }
        text.push('\n');
    }
    text
}

/// A line for each change: the file, and how many lines are added and removed.
pub fn summary(changes: &[&Change]) -> String {
    let rows: Vec<(&str, &str, String)> = changes.iter().map(|change| row(change)).collect();
    let width = rows
        .iter()
        .map(|(name, ..)| name.chars().count())
        .max()
        .unwrap_or_default();
    let line = |(name, kind, lines): &(&str, &str, String)| {
        let name = name.replace(char::is_control, "?");
        format!("  {name:<width$}  {kind:<7}  {lines}\n")
    };
    rows.iter().map(line).collect()
}

fn row(change: &Change) -> (&str, &'static str, String) {
    let kind = match (&change.before, &change.after) {
        (None, _) => "new",
        (_, None) => "removed",
        _ => "changed",
    };
    let (mut added, mut removed) = (0, 0);
    let before = change.before.as_deref().unwrap_or_default();
    let after = change.after.as_deref().unwrap_or_default();
    for line in TextDiff::from_lines(before, after).iter_all_changes() {
        match line.tag() {
            ChangeTag::Insert => added += 1,
            ChangeTag::Delete => removed += 1,
            ChangeTag::Equal => {}
        }
    }
    let counts = [(added, GREEN, '+'), (removed, RED, '-')];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, color, sign)| format!("{color}{sign}{count}{RESET}"))
        .collect();
    (&change.name, kind, counts.join(" "))
}

fn unified_diff(change: &Change) -> String {
    let before = change.before.as_deref().unwrap_or_default();
    let after = change.after.as_deref().unwrap_or_default();
    let name = |text: &Option<String>| {
        if text.is_some() {
            change.name.as_str()
        } else {
            "/dev/null"
        }
    };
    let diff = TextDiff::from_lines(before, after)
        .unified_diff()
        .header(name(&change.before), name(&change.after))
        .to_string();
    match diff.is_empty() {
        // An empty file is created or deleted.
        true => format!("--- {}\n+++ {}\n", name(&change.before), name(&change.after)),
        false => diff,
    }
}
