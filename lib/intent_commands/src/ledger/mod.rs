//! `coord ledger`: the recorded actions of agents and their intents, and whether the records are intact.
//!
//! - `log`, `line`: lines as sentences; `record`: lines for actions
//! - `verify`, `seal`, `anchors`: whether a ledger is intact; `checkpoint`: a point to keep elsewhere

mod anchors;
mod checkpoint;
mod line;
mod log;
mod record;
mod seal;
mod verify;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// Options of `coord ledger`.
#[derive(Clone, Debug, Args)]
pub struct LedgerArgs {
    /// Subcommand
    #[command(subcommand)]
    command: LedgerCommand,
}

#[derive(Clone, Debug, Subcommand)]
enum LedgerCommand {
    /// Show the records
    Log(log::LogArgs),
    /// Record an action
    Record(record::RecordArgs),
    /// Check whether a ledger is intact
    Verify(verify::VerifyArgs),
    /// Get a checkpoint: a point of the ledger, to be kept elsewhere
    Checkpoint(checkpoint::CheckpointArgs),
}

impl LedgerArgs {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// When the subcommand fails, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        match self.command {
            LedgerCommand::Log(args) => args.run().await,
            LedgerCommand::Record(args) => args.run().await,
            LedgerCommand::Verify(args) => args.run().await,
            LedgerCommand::Checkpoint(args) => args.run().await,
        }
    }
}
