//! `coord graph`: the import graph of a commit, built from nothing and without a server.
//!
//! - `args`, `run`: the options, and their execution
//! - `print`: the graph as tab-separated lines, JSON, Graphviz or Mermaid
//! - `statistics`: figures about it
//! - `cycles`: groups of files that import each other in cycles
//! - `incomplete`: the parts that it lacks
//! - `explanation`: the target of each import of one file
//! - `interface`: the interface of a file
//! - `progress`: the bar on a terminal

mod args;
mod cycles;
mod explanation;
mod incomplete;
mod interface;
mod print;
mod progress;
mod run;
mod statistics;

pub use args::GraphArgs;
