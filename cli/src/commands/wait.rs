//! `coord wait`: waits until files are free, and claims them.

use std::process::ExitCode;

use clap::Args;
use coord_agent::options::AgentArgs;

use super::claim::ClaimArgs;

const EXAMPLES: &str = "\
Examples:
  coord wait src/db.ts                        up to an hour, then the file is yours
  coord wait src/db.ts -m 'Adding a pool' &   in the background, while you do other work

The files are claimed once they are free, in the order of those that wait for
them. Begin at once, or release them.

Exit status: 0 claimed, 1 an error, 2 wrong usage, 3 not free in time, or refused,
4 no answer.";

/// Options of `coord wait`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct WaitArgs {
    /// Files, from the current folder; a pattern such as 'src/**' stands for the tracked files that it matches
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<String>,
    /// One sentence: your change, as it matters to others
    #[arg(short, long, default_value = "Waiting for these files, to work on them next")]
    pub message: String,
    /// Claim for reading only: others may read too, but not write
    #[arg(long)]
    pub reading: bool,
    /// Give up after this time
    #[arg(long = "for", value_name = "SECONDS", default_value_t = 3600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: u64,
    /// Print the response as JSON
    #[arg(long)]
    pub json: bool,
    /// Server, token, branch and agent.
    #[command(flatten)]
    pub agent: AgentArgs,
}

impl WaitArgs {
    /// Waits for the files, and prints the next step.
    ///
    /// # Errors
    /// When the request cannot be made, with a sentence for the terminal.
    pub async fn run(self, cli: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        let claim = ClaimArgs {
            paths: self.paths,
            message: self.message,
            reading: self.reading,
            keeps_interface: false,
            wait: Some(self.seconds),
            json: self.json,
            agent: self.agent,
        };
        claim.run(cli).await
    }
}
