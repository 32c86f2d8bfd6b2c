//! `coord intent`: why files are changed, which files the work may change, its limits, and when it is done.
//!
//! - `list`: the commands `list` and `show`
//! - `new`, `edit`, `fields`, `from_file`: writes intents, by options or from a file in the form of the registry
//! - `check`: the files of a scope here, and its overlaps
//! - `act`: select, complete, abandon, block, and acts of a person; `usage`: costs of the work

mod act;
mod check;
mod edit;
mod fields;
mod from_file;
mod list;
mod new;
mod usage;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use coord_protocol::IntentAct;

const EXAMPLES: &str = "\
Examples:
  coord intent new INT-001 --name 'Connection pooling' --scope 'src/db/**' --criterion 'Tests in tests/db pass'
  coord intent check INT-001
  coord intent select INT-001
  coord intent edit INT-001 --met 'Tests in tests/db pass' --evidence 'npm test: 12 passed'
  coord intent complete INT-001

Exit status: 0 done, 1 an error, 2 wrong usage, 3 refused by the rules, 4 no answer.";

/// Options of `coord intent`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct IntentArgs {
    /// Subcommand
    #[command(subcommand)]
    command: IntentCommand,
}

#[derive(Clone, Debug, Subcommand)]
enum IntentCommand {
    /// List the intents
    List(list::ListArgs),
    /// Show an intent
    Show(list::ShowArgs),
    /// Write a new intent
    New(new::NewArgs),
    /// Change an intent, or mark its criteria as met
    Edit(edit::EditArgs),
    /// Show which files a scope covers here, whether it is too broad, and which active intents it overlaps
    Check(check::CheckArgs),
    /// Work on an intent from now on
    Select(act::Common),
    /// End an intent as done: each criterion is met
    Complete(act::CompleteArgs),
    /// End an intent that will not be completed
    Abandon(act::ReasonArgs),
    /// Stop an intent until a person unblocks it
    Block(act::ReasonArgs),
    /// Allow work on a blocked intent again; takes a person
    Unblock(act::UnblockArgs),
    /// Allow two intents to overlap; takes a person
    Allow(act::AllowArgs),
    /// Take over files that another intent owns; takes a person
    TakeOver(act::TakeOverArgs),
    /// Report the costs of the work
    Usage(usage::UsageArgs),
}

impl IntentArgs {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// When the subcommand fails, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        match self.command {
            IntentCommand::List(args) => args.run().await,
            IntentCommand::Show(args) => args.run().await,
            IntentCommand::New(args) => args.run().await,
            IntentCommand::Edit(args) => args.run().await,
            IntentCommand::Check(args) => args.run().await,
            IntentCommand::Select(args) => args.select().await,
            IntentCommand::Complete(args) => args.run().await,
            IntentCommand::Abandon(args) => args.run("Abandon", IntentAct::Abandon).await,
            IntentCommand::Block(args) => args.run("Block", IntentAct::Block).await,
            IntentCommand::Unblock(args) => args.run().await,
            IntentCommand::Allow(args) => args.run().await,
            IntentCommand::TakeOver(args) => args.run().await,
            IntentCommand::Usage(args) => args.run().await,
        }
    }
}
