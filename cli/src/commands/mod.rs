//! The commands of `coord`: a file or folder each, with its options and its `run`, which returns the exit status.

pub mod check;
pub mod claim;
pub mod completions;
mod configured_hooks;
#[cfg(feature = "teams")]
pub mod demo;
pub mod doctor;
pub mod graph;
pub mod init;
pub mod log;
pub mod man;
pub mod mcp;
pub mod policy;
pub mod release;
mod scratch;
pub mod simulate;
pub mod status;
pub mod store;
pub mod trust;
pub mod wait;

use std::process::{ExitCode, Termination};

use clap::Subcommand;

macro_rules! commands {
    ($(#[doc = $doc:literal] $(#[cfg(feature = $feature:literal)])? $name:ident($args:ty);)*) => {
        /// The commands.
        #[derive(Debug, Subcommand)]
        pub enum Command {
            $(#[doc = $doc] $(#[cfg(feature = $feature)])? $name($args),)*
        }

        impl Command {
            /// Runs the command; `cli` is the whole command line, for commands that describe it.
            ///
            /// # Errors
            /// When it fails, with a sentence for the terminal.
            pub async fn run(self, cli: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
                match self {
                    $($(#[cfg(feature = $feature)])? Command::$name(args) => args.run(cli).await.map(Termination::report),)*
                }
            }
        }
    };
}

commands! {
    /// Serve repositories on this machine.
    Serve(coord_serve::ServeArgs);
    /// Show the page with four agents at work; Ctrl-C leaves nothing.
    #[cfg(feature = "teams")]
    Demo(demo::DemoArgs);
    /// Let two agents edit one file, and see your hooks deny it.
    Simulate(simulate::SimulateArgs);
    /// Print the import graph of a commit, without a server.
    Graph(graph::GraphArgs);
    /// Configure your agents, after asking; `--undo` removes it.
    Init(init::InitArgs);
    /// Show whether files are free, and the next step.
    Check(check::CheckArgs);
    /// Claim files: all of them, or none.
    Claim(claim::ClaimArgs);
    /// Wait until files are free, and claim them.
    Wait(wait::WaitArgs);
    /// Release files.
    Release(release::ReleaseArgs);
    /// Show who holds what, and who waits for whom.
    Status(status::StatusArgs);
    /// Show what has happened.
    Log(log::LogArgs);
    /// Write, select and end intents: purpose, scope and budget.
    #[cfg(feature = "intents")]
    Intent(coord_intent_commands::intent::IntentArgs);
    /// Create, join and end teams.
    #[cfg(feature = "teams")]
    Team(coord_team_commands::TeamArgs);
    /// Add, take and complete the tasks of a team.
    #[cfg(feature = "teams")]
    Task(coord_team_commands::task::TaskArgs);
    /// Send and read the messages of a team.
    #[cfg(feature = "teams")]
    Message(coord_team_commands::message::MessageArgs);
    /// Show which intent owns which file.
    #[cfg(feature = "intents")]
    Map(coord_intent_commands::map::MapArgs);
    /// Show the intents under which a file or a line was changed.
    #[cfg(feature = "intents")]
    Why(coord_intent_commands::why::WhyArgs);
    /// Update .orchestration/, and apply what people changed there.
    #[cfg(feature = "intents")]
    Sync(coord_intent_commands::sync::SyncArgs);
    /// Show, record and verify the actions of agents, and their intents.
    #[cfg(feature = "intents")]
    Ledger(coord_intent_commands::ledger::LedgerArgs);
    /// Check whether files have the content that was recorded.
    #[cfg(feature = "intents")]
    Verify(coord_intent_commands::verify::VerifyArgs);
    /// Check `.coord.toml`, or suggest its list of shared files.
    Policy(policy::PolicyArgs);
    /// Confirm the server that this repository's settings name.
    Trust(trust::TrustArgs);
    /// Export or wipe the state that a server keeps.
    Store(store::StoreArgs);
    /// Find problems, each with the command that fixes it.
    Doctor(doctor::DoctorArgs);
    /// Serve an agent by MCP, on standard input and output.
    Mcp(mcp::McpArgs);
    /// Run as a hook of an agent: claim before edits.
    Hook(coord_hooks::hook::HookArgs);
    /// Run as a hook of git: block commits of others' files.
    Guard(coord_hooks::guard::GuardArgs);
    /// Print the completions for a shell.
    Completions(completions::CompletionsArgs);
    /// Show the manual page of coord or of one of its commands.
    Man(man::ManArgs);
}

/// The threads that a command needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// One, without network: it starts fastest.
    OneOffline,
    /// One, with network.
    One,
    OnePerCore,
}

impl Command {
    /// The threads that this command needs.
    pub fn threads(&self) -> Threads {
        match self {
            Command::Serve(_) => Threads::OnePerCore,
            Command::Graph(_) | Command::Policy(_) | Command::Completions(_) | Command::Man(_) => Threads::OneOffline,
            _ => Threads::One,
        }
    }
}
