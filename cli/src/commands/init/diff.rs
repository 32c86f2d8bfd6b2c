//! Changes of files as unified diffs, in color.

use similar::{ChangeTag, TextDiff};

use super::change::Change;

const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const CYAN: &str = "\x1b[36m";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

/// The changes, as text for [`coord_agent::terminal::output::print`], which omits colors where they would not be visible.
pub fn colorize(changes: &[&Change]) -> String {
    let mut text = String::new();
    for change in changes {
        for line in of(change).lines() {
            // A user's file must not control the terminal.
            let line = line.replace(|letter: char| letter.is_control() && letter != '\t', "?");
            let color = match line.as_bytes() {
                [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] => BOLD,
                [b'@', ..] => CYAN,
                [b'-', ..] => RED,
                [b'+', ..] => GREEN,
                _ => "",
            };
            let plain = if color.is_empty() { "" } else { PLAIN };
            text += &format!("{color}{line}{plain}\n");
        }
        text.push('\n');
    }
    text
}

/// A line for each change: its file, and how many lines come and go.
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
    let (mut more, mut less) = (0, 0);
    let before = change.before.as_deref().unwrap_or_default();
    let after = change.after.as_deref().unwrap_or_default();
    for line in TextDiff::from_lines(before, after).iter_all_changes() {
        match line.tag() {
            ChangeTag::Insert => more += 1,
            ChangeTag::Delete => less += 1,
            ChangeTag::Equal => {}
        }
    }
    let counts = [(more, GREEN, '+'), (less, RED, '-')];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, color, sign)| format!("{color}{sign}{count}{PLAIN}"))
        .collect();
    (&change.name, kind, counts.join(" "))
}

fn of(change: &Change) -> String {
    let before = change.before.as_deref().unwrap_or_default();
    let after = change.after.as_deref().unwrap_or_default();
    let name = |text: &Option<String>| {
        if text.is_some() {
            change.name.as_str()
        } else {
            "/dev/null"
        }
    };
    let text = TextDiff::from_lines(before, after)
        .unified_diff()
        .header(name(&change.before), name(&change.after))
        .to_string();
    match text.is_empty() {
        // An empty file comes or goes.
        true => format!("--- {}\n+++ {}\n", name(&change.before), name(&change.after)),
        false => text,
    }
}
