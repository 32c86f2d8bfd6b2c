//! `coord status`: the locks of a repository, and their holders.
//!
//! - `report`: the report, and its JSON
//! - `text`: the report for people
//! - `watch`: the report, live
//! - [`hooks`]: when the hooks of agents last ran

pub(super) mod hooks;
mod report;
mod text;
mod watch;

use std::process::ExitCode;

use clap::Args;
use coord_agent::exit_status::ExitStatus;
use coord_agent::options::AgentArgs;
use coord_agent::terminal::output::{print_as, width};
use coord_agent::terminal::times::now;
use coord_agent::workplace::Workplace;

use self::report::Report;

const EXAMPLES: &str = "\
Examples:
  coord status           who holds what, on all branches
  coord status --watch   the same, live; q or Ctrl-C ends it
  coord status --json    for a program

Exit status: 0, 1 an error, 2 wrong usage, 4 no answer.";

/// Options of `coord status`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct StatusArgs {
    /// Show it live, in a terminal
    #[arg(short, long, conflicts_with = "json")]
    pub watch: bool,
    /// Print it as JSON
    #[arg(long)]
    pub json: bool,
    /// Server, token, branch and agent.
    #[command(flatten)]
    pub agent: AgentArgs,
}

impl StatusArgs {
    /// Prints who holds what.
    ///
    /// # Errors
    /// When the report cannot be fetched or printed, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        let workplace = Workplace::open(&self.agent)?;
        if self.watch {
            watch::watch(workplace).await?;
            return Ok(ExitStatus::Done.into());
        }
        let report = workplace.ask(Report::fetch(&workplace)).await?;
        print_as(self.json, &report, |report| text::render(report, now(), width()))?;
        Ok(ExitStatus::Done.into())
    }
}
