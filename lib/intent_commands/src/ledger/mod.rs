//! `coord ledger`: the recorded actions of agents and their intents, and whether the records are intact.
//!
//! - `log`, `line`: lines as sentences; `record`: lines for actions
//! - `verify`, `seal`, `anchors`: whether a ledger is whole; `checkpoint`: a point to keep elsewhere

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
    act: Act,
}

#[derive(Clone, Debug, Subcommand)]
enum Act {
    /// Show the records
    Log(log::LogArgs),
    /// Record an action
    Record(record::RecordArgs),
    /// Find out whether a ledger is whole
    Verify(verify::VerifyArgs),
    /// Get a checkpoint: a point of the ledger, to be kept elsewhere
    Checkpoint(checkpoint::CheckpointArgs),
}

impl LedgerArgs {
    /// Does it.
    ///
    /// # Errors
    /// When it fails, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        match self.act {
            Act::Log(args) => args.run().await,
            Act::Record(args) => args.run().await,
            Act::Verify(args) => args.run().await,
            Act::Checkpoint(args) => args.run().await,
        }
    }
}
