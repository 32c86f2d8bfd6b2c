//! `coord man`: the manual page of `coord`, or of one of its commands. A terminal gets it in the pager, a pipe as roff.

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
        let command = match &self.command {
            None => &coord,
            Some(name) => match coord.find_subcommand(name) {
                Some(command) => command,
                None => bail!("there is no command {name}; `coord --help` lists them"),
            },
        };
        let mut text = Vec::new();
        Man::new(command.clone()).render(&mut text).context("the manual page")?;
        if !std::io::stdout().is_terminal() {
            return print(&text);
        }
        match show_in_man(&text) {
            true => Ok(()),
            // `man` is not installed.
            false => output::print(&command.clone().render_long_help().ansi().to_string()),
        }
    }
}

/// Has `man` show the page in its pager, and returns whether that worked.
fn show_in_man(text: &[u8]) -> bool {
    let Ok(mut page) = tempfile::Builder::new().prefix("coord-").suffix(".1").tempfile() else {
        return false;
    };
    if page.write_all(text).is_err() {
        return false;
    }
    // `man` reads a path as a file, not as the name of a page.
    let status = Command::new("man").arg(page.path()).status();
    status.is_ok_and(|status| status.success())
}
