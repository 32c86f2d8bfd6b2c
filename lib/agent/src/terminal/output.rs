//! Standard output. Colors are omitted if it is not a terminal, or `NO_COLOR` is set.

use std::borrow::Cow;
use std::io::{ErrorKind, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use anyhow::Context;
use coord_protocol::plain_text::{escape, is_invisible, visible_text};
use serde::Serialize;

/// Progress is possible.
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
/// Something must be done first.
pub const CAUTION: Style = AnsiColor::Yellow.on_default().bold();
/// No progress is possible.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// Emphasis.
pub const STRONG: Style = Style::new().bold();
/// Side notes.
pub const FAINT: Style = Style::new().dimmed();

/// The width if the terminal does not report one.
const DEFAULT_WIDTH: u16 = 80;

/// The first seven digits of a commit.
pub fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

pub fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Prints `text`. A reader that closes the pipe early is not an error.
///
/// # Errors
/// When `text` cannot be written.
pub fn print(text: &str) -> anyhow::Result<()> {
    print_while_read(text).map(drop)
}

/// Prints `text`, and returns whether there is still a reader: a reader such as `head` closes the pipe early.
///
/// # Errors
/// When `text` cannot be written.
pub fn print_while_read(text: &str) -> anyhow::Result<bool> {
    let mut out = anstream::stdout().lock();
    match out.write_all(strip_hidden(text).as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error).context("standard output"),
    }
}

/// `text` without invisible characters. Escape sequences for colors stay.
fn strip_hidden(text: &str) -> Cow<'_, str> {
    let is_hidden = |character: char| {
        !matches!(character, '\u{1b}' | '\u{200c}' | '\u{200d}' | '\n' | '\t' | '\r') && is_invisible(character)
    };
    match text.contains(is_hidden) {
        true => Cow::Owned(text.replace(is_hidden, "")),
        false => Cow::Borrowed(text),
    }
}

/// Prints a sentence to standard error. A closed pipe is ignored.
pub fn note(sentence: &str) {
    let _ = writeln!(std::io::stderr(), "coord: {}", visible_text(sentence));
}

/// Prints `value` as JSON, with line breaks.
///
/// # Errors
/// When `value` cannot be written.
pub fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let json = serde_json::to_string_pretty(value).context("the answer cannot be written as JSON")?;
    print(&format!("{}\n", escape(&json)))
}

/// Prints `value`, as JSON or as the text that `render` makes of it.
///
/// # Errors
/// When it cannot be written.
pub fn print_as<T: Serialize>(is_json: bool, value: &T, render: impl FnOnce(&T) -> String) -> anyhow::Result<()> {
    match is_json {
        true => print_json(value),
        false => print(&render(value)),
    }
}

/// The width of the terminal. `None` if standard output is not a terminal, so that programs read whole lines.
pub fn width() -> Option<usize> {
    std::io::stdout().is_terminal().then(|| {
        let columns = crossterm::terminal::size().map_or(0, |(columns, _)| columns);
        usize::from(if columns == 0 { DEFAULT_WIDTH } else { columns })
    })
}
