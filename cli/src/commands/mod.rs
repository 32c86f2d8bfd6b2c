//! The commands of `coord`: a file or folder each, with its options and its `run`.

pub mod completions;
pub mod graph;
pub mod man;
pub mod serve;

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
            pub async fn run(self, cli: fn() -> clap::Command) -> anyhow::Result<()> {
                match self {
                    $(Command::$name(args) => args.run(cli).await,)*
                }
            }
        }
    };
}

commands! {
    /// Serve repositories on this machine (the default).
    Serve(serve::ServeArgs);
    /// Print the import graph of a commit, without a server.
    Graph(graph::GraphArgs);
    /// Print the completions for a shell.
    Completions(completions::CompletionsArgs);
    /// Print the manual page of coord or of one of its commands.
    Man(man::ManArgs);
}

impl Command {
    /// Whether the command ends by itself, without network or timers: one thread is enough for it.
    pub fn is_short(&self) -> bool {
        !matches!(self, Command::Serve(_))
    }
}
