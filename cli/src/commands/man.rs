//! `coord man`: the manual page of `coord`, or of one of its commands: in a terminal in the pager, elsewhere as roff.

use std::io::{IsTerminal, Write};
use std::process::Command;

use anyhow::{Context, bail};
use clap::Args;
use clap_mangen::Man;
use coord_agent::stdout::print;
use coord_agent::terminal::output;

/// The options of `coord man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The command [default: coord itself]
    command: Option<String>,
}

impl ManArgs {
    /// # Errors
    /// When there is no such command, or the page cannot be written.
    pub async fn run(self, cli: fn() -> clap::Command) -> anyhow::Result<()> {
        let mut coord = cli();
        // Sets the full names of commands.
        coord.build();
        let described = match &self.command {
            None => &coord,
            Some(name) => match coord.find_subcommand(name) {
                Some(command) => command,
                None => bail!("there is no command {name}; `coord --help` lists them"),
            },
        };
        let mut text = Vec::new();
        Man::new(described.clone())
            .render(&mut text)
            .context("the manual page")?;
        if !std::io::stdout().is_terminal() {
            return print(&text);
        }
        match show(&text) {
            true => Ok(()),
            // There is no `man` here.
            false => output::print(&described.clone().render_long_help().ansi().to_string()),
        }
    }
}

/// Shows the page by `man`, in its pager, and returns whether that worked.
fn show(text: &[u8]) -> bool {
    let Ok(mut page) = tempfile::Builder::new().prefix("coord-").suffix(".1").tempfile() else {
        return false;
    };
    if page.write_all(text).is_err() {
        return false;
    }
    // A path is a file, and no name of a page.
    let shown = Command::new("man").arg(page.path()).status();
    shown.is_ok_and(|status| status.success())
}
