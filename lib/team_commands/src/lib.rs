//! `coord team`, `coord task` and `coord message`: teams, their tasks, and their messages.
//!
//! - `common`: the selected team, and the printing of a response
//! - `act`, `shutdown`: acts on a team
//! - `task`: tasks; `add`, `plan`: new ones; `list`, `graph`: lists and graphs of tasks
//! - `message`: messages
//! - `files`: the files of opencode-teams

mod act;
mod add;
mod common;
mod files;
mod graph;
mod list;
pub mod message;
mod plan;
mod priority;
mod shutdown;
pub mod task;
mod task_files;

use std::process::ExitCode;

use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Examples:
  coord team create alpha --handle lead
  coord team join alpha --agent worker-1
  coord team show
  coord team shutdown request --reason 'The day is over'
  coord team sync --watch

Exit status: 0 done, 1 an error, 2 wrong usage, 3 refused by the rules, 4 no answer.";

/// Options of `coord team`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TeamArgs {
    /// Subcommand
    #[command(subcommand)]
    command: TeamCommand,
}

#[derive(Clone, Debug, Subcommand)]
enum TeamCommand {
    /// Make a team, which you lead
    Create(act::CreateArgs),
    /// List the teams of the repository
    List(act::ListArgs),
    /// Show a team with its members
    Show(act::ShowArgs),
    /// Join a team, or resume under your handle
    Join(act::JoinArgs),
    /// Leave a team; your tasks are released
    Leave(act::LeaveArgs),
    /// Make another member the leader
    HandOver(act::HandOverArgs),
    /// Remove a team that is closed, or that has no other live member
    Delete(act::DeleteArgs),
    /// Ask a member to stop or the team to close, or answer such a request
    Shutdown(shutdown::ShutdownArgs),
    /// Sync a team with the files of opencode-teams, both ways
    Sync(files::SyncArgs),
    /// Write a team into the files of opencode-teams
    Export(files::OneWayArgs),
    /// Read a team from the files of opencode-teams
    Import(files::OneWayArgs),
}

impl TeamArgs {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// When the subcommand fails, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        match self.command {
            TeamCommand::Create(args) => args.run().await,
            TeamCommand::List(args) => args.run().await,
            TeamCommand::Show(args) => args.run().await,
            TeamCommand::Join(args) => args.run().await,
            TeamCommand::Leave(args) => args.run().await,
            TeamCommand::HandOver(args) => args.run().await,
            TeamCommand::Delete(args) => args.run().await,
            TeamCommand::Shutdown(args) => args.run().await,
            TeamCommand::Sync(args) => args.run().await,
            TeamCommand::Export(args) => args.export().await,
            TeamCommand::Import(args) => args.import().await,
        }
    }
}
