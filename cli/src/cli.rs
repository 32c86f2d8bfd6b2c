//! The command line.

use clap::Parser;

use crate::commands::Command;
use crate::commands::serve::ServeArgs;

/// Keeps coding agents out of each other's way: they ask what is locked, claim files, and are told what to do next.
#[derive(Debug, Parser)]
#[command(name = "coord", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do; without a command, `serve`.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of `serve`.
    #[command(flatten)]
    pub serve: ServeArgs,
}
