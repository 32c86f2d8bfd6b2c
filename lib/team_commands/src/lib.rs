//! `coord team`, `coord task` and `coord message`: teams, their tasks, and their messages.
//!
//! - `common`: the selected team, and the handling of an answer
//! - `act`, `shutdown`: acts on a team
//! - `task`: tasks; `add`, `plan`: new ones; `list`, `graph`: listing
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
    act: Act,
}

#[derive(Clone, Debug, Subcommand)]
enum Act {
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
    /// Ask a member to stop or the team to close, and answer that
    Shutdown(shutdown::ShutdownArgs),
    /// Keep a team and the files of opencode-teams alike, both ways
    Sync(files::SyncArgs),
    /// Write a team into the files of opencode-teams
    Export(files::OneWayArgs),
    /// Take a team from the files of opencode-teams
    Import(files::OneWayArgs),
}

impl TeamArgs {
    /// Does it.
    ///
    /// # Errors
    /// When it fails, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        match self.act {
            Act::Create(args) => args.run().await,
            Act::List(args) => args.run().await,
            Act::Show(args) => args.run().await,
            Act::Join(args) => args.run().await,
            Act::Leave(args) => args.run().await,
            Act::HandOver(args) => args.run().await,
            Act::Delete(args) => args.run().await,
            Act::Shutdown(args) => args.run().await,
            Act::Sync(args) => args.run().await,
            Act::Export(args) => args.export().await,
            Act::Import(args) => args.import().await,
        }
    }
}
