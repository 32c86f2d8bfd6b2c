//! `coord check`: whether files are free.

use std::process::ExitCode;

use clap::Args;
use coord_agent::files::named_files;
use coord_agent::options::AgentArgs;
use coord_agent::outcome::show;
use coord_agent::workplace::Workplace;
use coord_protocol::LockMode;

const EXAMPLES: &str = "\
Examples:
  coord check src/db.ts            may I write this file?
  coord check 'src/auth/**'        may I write all that git tracks there?
  coord check --reading src/db.ts  may I read it, and rely on what it says?

Exit status: 0 PROCEED, 1 an error, 2 wrong usage, 3 another action, 4 no answer.";

/// Options of `coord check`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CheckArgs {
    /// Files, from the current folder; a pattern such as 'src/**' stands for the tracked files that it matches
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<String>,
    /// The files are only read
    #[arg(long)]
    pub reading: bool,
    /// Print the response as JSON
    #[arg(long)]
    pub json: bool,
    /// Server, token, branch and agent.
    #[command(flatten)]
    pub agent: AgentArgs,
}

impl CheckArgs {
    /// Checks the files, and prints the next step.
    ///
    /// # Errors
    /// When the request cannot be made, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        let workplace = Workplace::open(&self.agent)?;
        let files = named_files(&workplace.work, &self.paths).await?;
        let intent = self.reading.then_some(LockMode::Reading);
        let outcome = workplace.check(&workplace.work.check(files, intent)).await?;
        show(&outcome, self.json, "")
    }
}
