//! The report, live: drawn every two seconds, and when the terminal is resized, until `q` or Ctrl-C.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use anyhow::{Context, bail};
use coord_agent::terminal::output::{BAD, FAINT, styled};
use coord_agent::terminal::table::{Cut, cut};
use coord_agent::terminal::times::now;
use coord_agent::workplace::Workplace;
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal::{
    Clear, ClearType, DisableLineWrap, EnableLineWrap, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode, size,
};
use crossterm::{execute, queue};
use futures::StreamExt;

use super::report::Report;
use super::text;

/// Time between two requests.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Shows the report of `workplace` until a key ends it.
///
/// # Errors
/// When standard output is no terminal, or cannot be drawn on.
pub(super) async fn watch(mut workplace: Workplace) -> anyhow::Result<()> {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        bail!("--watch needs a terminal; coord status --json is for programs, coord log --follow for what happens");
    }
    let screen = Screen::open()?;
    let mut keys = EventStream::new();
    let mut ticks = tokio::time::interval(POLL_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut newest: Option<Report> = None;
    let mut problem = None;
    loop {
        tokio::select! {
            _ = ticks.tick() => {
                match fetch_report(&mut workplace).await {
                    Ok(report) => (newest, problem) = (Some(report), None),
                    Err(sentence) => problem = Some(sentence),
                }
                screen.draw(newest.as_ref(), problem.as_deref())?;
            }
            key = keys.next() => match key {
                Some(Ok(Event::Resize(..))) => screen.draw(newest.as_ref(), problem.as_deref())?,
                Some(Ok(Event::Key(key))) if is_quit(key) => return Ok(()),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error).context("the terminal"),
                None => return Ok(()),
            },
        }
    }
}

/// The current report, or a sentence that says why there is none.
async fn fetch_report(workplace: &mut Workplace) -> Result<Report, String> {
    workplace.follow_server()?;
    let response = Report::fetch(workplace).await;
    response.map_err(|error| workplace.describe_error(&error))
}

fn is_quit(key: KeyEvent) -> bool {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    key.kind == KeyEventKind::Press
        && match key.code {
            KeyCode::Char('q' | 'Q') | KeyCode::Esc => true,
            KeyCode::Char('c' | 'd') => is_control,
            _ => false,
        }
}

/// The alternate screen; dropping it restores the terminal.
struct Screen;

impl Screen {
    fn open() -> anyhow::Result<Screen> {
        enable_raw_mode().context("the terminal cannot be read key by key")?;
        let screen = Screen;
        execute!(std::io::stdout(), EnterAlternateScreen, DisableLineWrap, Hide).context("the terminal")?;
        Ok(screen)
    }

    /// Draws the lines that fit.
    fn draw(&self, report: Option<&Report>, problem: Option<&str>) -> anyhow::Result<()> {
        let (columns, rows) = size().context("the terminal")?;
        let (width, height) = (usize::from(columns), usize::from(rows));
        let body = report.map(|report| text::render(report, now(), Some(width)));
        let footer = match problem {
            Some(problem) => styled(BAD, &cut(problem, width, Cut::End)),
            None => styled(FAINT, &cut("every 2 seconds; q ends", width, Cut::End)),
        };
        let lines = first_lines(body.as_deref().unwrap_or_default(), height.saturating_sub(1));
        let mut out = anstream::stdout().lock();
        queue!(out, MoveTo(0, 0))?;
        for line in lines {
            write!(out, "{line}")?;
            queue!(out, Clear(ClearType::UntilNewLine))?;
            write!(out, "\r\n")?;
        }
        write!(out, "{footer}")?;
        queue!(out, Clear(ClearType::FromCursorDown))?;
        out.flush().context("the terminal")
    }
}

/// The first lines of `text`, `max` at most. If some are left out, the last line says how many.
fn first_lines(text: &str, max: usize) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.len() > max && max > 0 {
        let more = lines.len() - (max - 1);
        lines.truncate(max - 1);
        lines.push(format!("and {more} more lines"));
    }
    lines.truncate(max);
    lines
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The terminal may be gone.
        let _ = execute!(std::io::stdout(), Show, EnableLineWrap, LeaveAlternateScreen);
        let _ = disable_raw_mode();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_do_not_fit_are_counted() {
        assert_eq!(first_lines("a\nb\nc", 3), ["a", "b", "c"]);
        assert_eq!(first_lines("a\nb\nc\nd", 3), ["a", "b", "and 2 more lines"]);
        assert_eq!(first_lines("a\nb", 1), ["and 2 more lines"]);
        assert_eq!(first_lines("a\nb", 0), [""; 0]);
    }

    #[test]
    fn q_escape_and_control_c_end_it_and_other_keys_do_not() {
        let key = |code, modifiers| is_quit(KeyEvent::new(code, modifiers));
        assert!(key(KeyCode::Char('q'), KeyModifiers::NONE) && key(KeyCode::Esc, KeyModifiers::NONE));
        assert!(key(KeyCode::Char('c'), KeyModifiers::CONTROL));
        assert!(!key(KeyCode::Char('c'), KeyModifiers::NONE) && !key(KeyCode::Enter, KeyModifiers::NONE));
    }
}
