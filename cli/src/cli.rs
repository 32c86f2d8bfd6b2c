//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use coord::settings::variables::{self, Reader};

use crate::listen_address;

/// Keeps coding agents out of each other's way: they ask what is locked, claim files, and are told what to do next.
#[derive(Debug, Parser)]
#[command(name = "coord", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do; without a command, `serve`.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of `serve`.
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve repositories on this machine (the default).
    Serve(ServeArgs),
    /// Print the import graph of a commit, without a server.
    Graph(GraphArgs),
    /// Print the completions for a shell.
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page of coord or of one of its commands.
    Man {
        /// The command [default: coord itself]
        command: Option<String>,
    },
}

const GRAPH_EXAMPLES: &str = "\
Examples:
  coord graph                              every import of the commit that is checked out
  coord graph --explain src/app.ts         where each import of one file leads, and why
  coord graph --stats                      what was found, in figures
  coord graph --focus src/app.ts --depth 2 --format mermaid
                                           the files within two steps of one, as a picture
  coord graph --cycles                     files that import each other in circles
  coord graph --rev v1.2 --format json     the graph of a tag, for a program";

/// Options of `coord graph`.
#[derive(Clone, Debug, Args)]
#[command(after_help = format!("{}\n{GRAPH_EXAMPLES}", variables::help(Reader::Graph)))]
pub struct GraphArgs {
    /// The repository, one of its worktrees, or a folder inside
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub repo: PathBuf,
    /// Whose files: a branch, a tag, or a commit [default: the commit that is checked out]
    #[arg(long, value_name = "REV")]
    pub rev: Option<String>,
    /// How to print it [default: tsv, and figures as text]
    #[arg(long, value_enum)]
    pub format: Option<GraphFormat>,
    /// Which imports count
    #[arg(long, value_enum, default_value_t = Kinds::Core)]
    pub kinds: Kinds,
    /// Print only the files within --depth steps of this one, and the imports among them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["stats", "explain", "cycles"])]
    pub focus: Option<String>,
    /// How many steps from the file of --focus
    #[arg(long, value_name = "N", default_value_t = 1, requires = "focus")]
    pub depth: u32,
    /// Which way to go from the file of --focus
    #[arg(long, value_enum, default_value_t = Direction::Both, requires = "focus")]
    pub direction: Direction,
    /// Print the groups of files that import each other in circles, one a line
    #[arg(long, conflicts_with_all = ["stats", "explain"])]
    pub cycles: bool,
    /// Most edges of a picture (dot, mermaid): with more it cannot be read
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub max_edges: usize,
    /// Print figures about the graph instead of it
    #[arg(long, conflicts_with = "explain")]
    pub stats: bool,
    /// Print each import of this file, where it leads, and why it leads nowhere, instead of the graph
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "kinds"])]
    pub explain: Option<String>,
}

/// Forms of a printed graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// `source<TAB>target`, a line for each edge, sorted
    Tsv,
    /// Nodes and edges as `GET /api/graph` has them, and the kinds of each edge
    Json,
    /// For Graphviz
    Dot,
    /// For Mermaid, as Markdown pages show it
    Mermaid,
}

/// Ways to go from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Direction {
    /// To what it imports and to what imports it
    Both,
    /// To what it imports
    Imports,
    /// To what imports it
    Importers,
}

/// Kinds of imports that are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kinds {
    /// What the language itself imports: statements, types, import() and require(); Rust's modules and paths
    Core,
    /// Also mocks, URLs, require.resolve(), AMD's lists, JSDoc types, reference comments, importlib, and Rust's include!()
    All,
}

/// Options of `coord serve`.
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = variables::help(Reader::Serve))]
pub struct ServeArgs {
    /// A repository, one of its worktrees, or a folder inside; may be given several times [default: the current folder, unless --github is given]
    #[arg(long, value_name = "PATH")]
    pub repo: Vec<PathBuf>,
    /// A repository on GitHub, read through its API; may be given several times, beside --repo as well
    #[arg(long, value_name = "OWNER/NAME")]
    pub github: Vec<String>,
    /// Address of GitHub's API; an Enterprise Server has it at /api/v3 [default: that of github.com]
    #[arg(long, value_name = "URL", requires = "github")]
    pub github_api: Option<String>,
    /// Where to listen: 127.0.0.1:3000, localhost:3000, or a port of this machine alone [default: 127.0.0.1:3000, or the next free port]
    #[arg(long, value_name = "ADDR", value_parser = listen_address::parse)]
    pub listen: Option<SocketAddr>,
    /// The same as --listen 127.0.0.1:PORT
    #[arg(long, value_name = "PORT", conflicts_with = "listen")]
    pub port: Option<u16>,
    /// Where the embedded store lives [default: coord/ in the first repository's git folder; without --repo, a folder of the user's]
    #[arg(long, value_name = "PATH")]
    pub data_dir: Option<PathBuf>,
    /// Keep the state in Redis or Valkey instead: redis:// or rediss://
    #[arg(long, value_name = "URL", conflicts_with_all = ["upstash", "data_dir"])]
    pub redis: Option<String>,
    /// Keep the state in Upstash Redis instead: its REST address
    #[arg(long, value_name = "URL", conflicts_with = "data_dir")]
    pub upstash: Option<String>,
    /// Seconds that a lock is held unless it is renewed [default: 300]
    #[arg(long, value_name = "SECONDS")]
    pub lock_ttl: Option<u32>,
    /// Run `git fetch` in every clone that is served, this often; without it, run it yourself. Uses your git and its credentials, and never asks for any
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(5..=86_400))]
    pub fetch: Option<u32>,
    /// Offer the store here by Upstash's REST protocol, for functions and other clients
    #[arg(long, value_name = "ADDR", value_parser = listen_address::parse)]
    pub upstash_listen: Option<SocketAddr>,
}
