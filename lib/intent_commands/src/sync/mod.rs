//! `coord sync`: the files of `.orchestration/`, which are a projection of the store, and people's changes in them.
//!
//! - `registry`: the changes in `active_intents.yaml`, and its new text; `changes`: changes of people, as requests
//! - `trace`: the end of the ledger in `agent_trace.jsonl`; `appending`: appends to it
//! - `folder`: the files on disk, one writer at a time
//! - `once`: one sync; `report`: its result

mod appending;
mod changes;
mod folder;
mod once;
mod registry;
mod report;
mod trace;

use std::process::ExitCode;

use clap::Args;
use coord_agent::exit_status::ExitStatus;
use coord_agent::options::AgentArgs;
use coord_agent::person::{PersonArgs, ensure_confirmed};
use coord_agent::terminal::output::print_as;
use coord_agent::workplace::Workplace;

pub use self::folder::{FILES, FOLDER, REGISTRY};
pub use self::once::{Callers, sync_once};
pub use self::report::Report;

const EXAMPLES: &str = "\
Examples:
  coord sync            writes the files, and applies your changes in active_intents.yaml
  coord sync --check    shows the changes without making them

A member that both you and the server changed is a conflict: it is listed, and
none of your changes are applied.

Exit status: 0 done, 1 an error, 2 wrong usage, 3 a conflict or a damaged
file; with --check, something would change; 4 no answer.";

/// Options of `coord sync`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct SyncArgs {
    /// Show the changes without making them
    #[arg(long)]
    pub check: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    person: PersonArgs,
    /// Server, token, branch and agent.
    #[command(flatten)]
    agent: AgentArgs,
}

impl SyncArgs {
    /// Makes the files and the store equal.
    ///
    /// # Errors
    /// When a file cannot be read or written, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        let workplace = Workplace::open(&self.agent)?;
        let as_person = || {
            let question = "active_intents.yaml has changes that only a person may make. Make them?";
            ensure_confirmed(&self.agent, self.person, question)?;
            Ok(Workplace::for_person(&self.agent)?.connection.client)
        };
        let callers = Callers {
            client: &workplace.connection.client,
            as_person: &as_person,
        };
        let working_copy = &workplace.work.working_copy;
        let request = sync_once(working_copy, &workplace.work.repo, &callers, self.check);
        let report = workplace.ask(request).await?;
        print_as(self.json, &report, |report| report.render(self.check))?;
        let is_refused = !report.problems.is_empty() || (self.check && report.has_changes());
        Ok(ExitStatus::refused_if(is_refused).into())
    }
}
