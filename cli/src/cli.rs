//! The command line.

use clap::Parser;

use crate::commands::Command;
use crate::commands::serve::ServeArgs;

/// Coordinates coding agents in one repository: locks on files, an import graph, and one command for each agent's next
/// step.
#[derive(Debug, Parser)]
#[command(name = "coord", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// The command; `serve` by default.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of `serve`.
    #[command(flatten)]
    pub serve: ServeArgs,
}
