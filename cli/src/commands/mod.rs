//! The commands of `coord`: a file or folder each, with its options and its `run`, whose value gives the exit status.

pub mod check;
pub mod claim;
pub mod completions;
pub mod doctor;
pub mod graph;
pub mod guard;
pub mod hook;
pub mod init;
pub mod intent;
pub mod ledger;
pub mod log;
pub mod man;
pub mod map;
pub mod mcp;
mod outcome;
pub mod policy;
pub mod release;
pub mod serve;
pub mod status;
pub mod store;
pub mod sync;
pub mod team;
pub mod trust;
pub mod verify;
pub mod wait;
pub mod why;

use std::process::{ExitCode, Termination};

use clap::Subcommand;

macro_rules! commands {
    ($($(#[$doc:meta])* $name:ident($args:ty);)*) => {
        /// The commands.
        #[derive(Debug, Subcommand)]
        pub enum Command {
            $($(#[$doc])* $name($args),)*
        }

        impl Command {
            /// Runs the command; `cli` is the whole command line, for commands that describe it.
            ///
            /// # Errors
            /// When it fails, with a sentence for the terminal.
            pub async fn run(self, cli: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
                match self {
                    $(Command::$name(args) => args.run(cli).await.map(Termination::report),)*
                }
            }
        }
    };
}

commands! {
    /// Serve repositories on this machine; `coord` without a command does the same.
    Serve(serve::ServeArgs);
    /// Print the import graph of a commit, without a server.
    Graph(graph::GraphArgs);
    /// Configure your agents for Coord, after asking; `--undo` takes the configuration away.
    Init(init::InitArgs);
    /// Show whether files are free, and what to do next.
    Check(check::CheckArgs);
    /// Claim files: all of them, or none.
    Claim(claim::ClaimArgs);
    /// Wait until files are free, and claim them.
    Wait(wait::WaitArgs);
    /// Release files.
    Release(release::ReleaseArgs);
    /// Show who holds what in the repository.
    Status(status::StatusArgs);
    /// Show what has happened in the repository.
    Log(log::LogArgs);
    /// List, write and end intents: why files are changed, and how far the work may reach.
    Intent(intent::IntentArgs);
    /// Make, join and end teams.
    Team(team::TeamArgs);
    /// Add, take and complete the tasks of a team.
    Task(team::task::TaskArgs);
    /// Send and read the messages of a team.
    Message(team::message::MessageArgs);
    /// Show which intent owns which file.
    Map(map::MapArgs);
    /// Show the intents under which a file or a line was changed.
    Why(why::WhyArgs);
    /// Update the files in .orchestration/, and take over what people changed in them.
    Sync(sync::SyncArgs);
    /// Show, record and verify what agents did, under which intent.
    Ledger(ledger::LedgerArgs);
    /// Check whether files still have the content that was recorded in the ledger.
    Verify(verify::VerifyArgs);
    /// Check `.coord.toml`, the rules of a repository.
    Policy(policy::PolicyArgs);
    /// Confirm the server that this repository's own git configuration names.
    Trust(trust::TrustArgs);
    /// Export or wipe the state that a server keeps.
    Store(store::StoreArgs);
    /// Find what is wrong in this clone, and how to mend it.
    Doctor(doctor::DoctorArgs);
    /// Serve an agent by MCP, on standard input and output.
    Mcp(mcp::McpArgs);
    /// Run as a hook of an agent: claims files before edits, releases them after pushes.
    Hook(hook::HookArgs);
    /// Run as a hook of git: refuses commits and pushes of files that others hold.
    Guard(guard::GuardArgs);
    /// Print the completions for a shell.
    Completions(completions::CompletionsArgs);
    /// Print the manual page of coord or of one of its commands.
    Man(man::ManArgs);
}

/// The threads that a command needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// One, without network: it starts fastest.
    Alone,
    /// One, with network.
    One,
    /// One for each core.
    Several,
}

impl Command {
    /// The threads that it needs.
    pub fn threads(&self) -> Threads {
        match self {
            Command::Serve(_) => Threads::Several,
            Command::Graph(_) | Command::Policy(_) | Command::Completions(_) | Command::Man(_) => Threads::Alone,
            _ => Threads::One,
        }
    }
}
