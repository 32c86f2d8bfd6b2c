//! The options of `coord graph`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use coord_scan::{KindSet, Language};
use coord_settings::variables::{self, Reader};

const GRAPH_EXAMPLES: &str = "\
Examples:
  coord graph                              every import of the commit that is checked out
  coord graph --explain src/app.ts         where each import of one file leads, and why
  coord graph --stats                      statistics
  coord graph --focus src/app.ts --depth 2 --format mermaid
                                           the files within two steps of a file, as a picture
  coord graph --interface src/db.ts        the names that others can import of a file, each with a digest
  coord graph --cycles                     groups of files that import each other in cycles
  coord graph --rev v1.2 --format json     the graph of a tag, for a program";

/// Options of `coord graph`.
#[derive(Clone, Debug, Args)]
#[command(after_help = format!("{}\n{GRAPH_EXAMPLES}", variables::help(Reader::Graph)))]
pub struct GraphArgs {
    /// The repository, one of its worktrees, or a folder inside
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub repo: PathBuf,
    /// Revision to read: a branch, a tag, or a commit [default: the commit that is checked out]
    #[arg(long, value_name = "REV")]
    pub rev: Option<String>,
    /// Output format [default: tsv; text with --stats]
    #[arg(long, value_enum)]
    pub format: Option<GraphFormat>,
    /// Kinds of imports to include
    #[arg(long, value_enum, default_value_t = Kinds::Core)]
    pub kinds: Kinds,
    /// Print only the files within --depth steps of this one, and the imports among them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["stats", "explain", "cycles"])]
    pub focus: Option<String>,
    /// Maximum steps from the file of --focus
    #[arg(long, value_name = "N", default_value_t = 1, requires = "focus")]
    pub depth: u32,
    /// Direction from the file of --focus
    #[arg(long, value_enum, default_value_t = Direction::Both, requires = "focus")]
    pub direction: Direction,
    /// Print the groups of files that import each other in cycles, one on each line
    #[arg(long, conflicts_with_all = ["stats", "explain"])]
    pub cycles: bool,
    /// Maximum edges of a picture (dot, mermaid): a larger picture is not readable
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub max_edges: usize,
    /// Print statistics instead of the graph
    #[arg(long, conflicts_with = "explain")]
    pub stats: bool,
    /// Print the interface of these files: a digest of all of it, and each name with a digest of its declaration
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["kinds", "focus", "cycles", "stats", "explain"])]
    pub interface: Vec<String>,
    /// Print each import of this file with its target, or why it has none, instead of the graph
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
    /// To its imports and to its importers
    Both,
    /// To the files that it imports
    Imports,
    /// To the files that import it
    Importers,
}

/// Kinds of imports that are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kinds {
    /// Imports of the language itself: statements, types, import() and require(); Rust's modules and paths
    Core,
    /// Also mocks, URLs, require.resolve(), AMD's lists, JSDoc types, reference comments, importlib, and Rust's include!()
    All,
}

impl Kinds {
    /// Whether an edge of a file in `language` is among the selected kinds.
    pub fn has(self, language: Option<Language>, edge: KindSet) -> bool {
        match self {
            Kinds::All => true,
            Kinds::Core => language.is_some_and(|language| edge.is_core(language)),
        }
    }
}
