//! `coord man`: the manual page of `coord`, or of one of its commands.

use anyhow::{Context, bail};
use clap::Args;
use clap_mangen::Man;

use crate::stdout::print;

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
        print(&text)
    }
}
