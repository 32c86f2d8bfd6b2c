//! `coord completions`: what a shell needs to complete the command line.

use clap::Args;
use clap_complete::Shell;

use crate::stdout::print;

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
        // Not to standard output at once: that panics where nobody reads it to the end.
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut cli(), "coord", &mut text);
        print(&text)
    }
}
