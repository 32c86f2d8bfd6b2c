//! The options of `coord init`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::agents::AGENTS;

const EXAMPLES: &str = "\
Examples:
  coord init                          for the agents detected here; shows every change and asks
  coord init claude-code codex --yes  for these two, without asking
  coord init --url https://coord.example.com --token-file ~/.coord-token
                                      with a deployment in place of a server on this machine
  coord init --undo                   removes what it wrote, and nothing else";

/// Options of `coord init`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct InitArgs {
    /// The agents [default: those that are found here]
    #[arg(value_name = "AGENT", value_parser = PossibleValuesParser::new(AGENTS.map(|agent| agent.name)))]
    pub agents: Vec<String>,
    /// Configure agents in your home folder, for all repositories, instead of this repository
    #[arg(long)]
    pub user: bool,
    /// Write without asking
    #[arg(long, short)]
    pub yes: bool,
    /// Show the changes, and write nothing
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// Remove the written configuration
    #[arg(long, conflicts_with_all = ["agents", "no_guard", "no_check", "strict", "url", "token_file", "branch", "keep_going"])]
    pub undo: bool,
    /// Do not add git hooks (`coord guard`)
    #[arg(long)]
    pub no_guard: bool,
    /// Deny edits where `coord` is not installed, instead of allowing them without locks
    #[arg(long)]
    pub strict: bool,
    /// Do not run the hooks to check that they work
    #[arg(long)]
    pub no_check: bool,
    /// The server that agents ask in this repository (`git config coord.url`)
    #[arg(long, value_name = "URL", conflicts_with = "user")]
    pub url: Option<String>,
    /// The file that has the token for it (`git config coord.tokenFile`)
    #[arg(long, value_name = "FILE", conflicts_with = "user")]
    pub token_file: Option<PathBuf>,
    /// Ask agents to continue at the end of a turn while messages or a ready task of their teams wait (`git config coord.keepGoing`)
    #[arg(long, conflicts_with = "user")]
    pub keep_going: bool,
    /// The branch that all work is for (`git config coord.branch`)
    #[arg(long, value_name = "BRANCH", conflicts_with = "user")]
    pub branch: Option<String>,
}
