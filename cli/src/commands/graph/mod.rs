//! `coord graph`: the import graph of a commit, built from nothing and without a server.
//!
//! - `args`, `run`: the options, and their execution
//! - `print`: the graph as tab-separated lines, JSON, Graphviz or Mermaid; its cycles
//! - `statistics`: figures about it
//! - `incomplete`: the parts that it lacks
//! - `explanation`: the target of each import of one file
//! - `interface`: the interface of a file
//! - `progress`: the bar on a terminal

mod args;
mod explanation;
mod incomplete;
mod interface;
mod print;
mod progress;
mod run;
mod statistics;

pub use args::GraphArgs;
