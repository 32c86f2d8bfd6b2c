//! `coord completions`: completions of the command line for a shell.

use clap::Args;
use clap_complete::Shell;
use coord_agent::stdout::print;

/// The options of `coord completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    /// # Errors
    /// When they cannot be written.
    pub async fn run(self, cli: fn() -> clap::Command) -> anyhow::Result<()> {
        // `generate` panics if it writes to standard output directly and the reader has closed the pipe.
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut cli(), "coord", &mut text);
        print(&text)
    }
}
