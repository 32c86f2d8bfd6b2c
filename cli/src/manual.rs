//! What a shell and `man` know about `coord`: `coord completions` and `coord man`.

use std::io::{ErrorKind, Write};

use anyhow::{Context, bail};
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::cli::Cli;

/// Prints the completions for a shell.
///
/// # Errors
/// When they cannot be written.
pub fn print_completions(shell: Shell) -> anyhow::Result<()> {
    // Not to standard output at once: that panics where nobody reads it to the end.
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "coord", &mut text);
    print(&text)
}

/// Prints the manual page of `coord`, or of one of its commands.
///
/// # Errors
/// When there is no such command, or the page cannot be written.
pub fn print_manual(command: Option<&str>) -> anyhow::Result<()> {
    let mut coord = Cli::command();
    // Gives commands their full names.
    coord.build();
    let described = match command {
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

fn print(text: &[u8]) -> anyhow::Result<()> {
    match std::io::stdout().lock().write_all(text) {
        // `head` has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("standard output"),
    }
}
