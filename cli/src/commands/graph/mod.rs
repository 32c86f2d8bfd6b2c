//! `coord graph`: the import graph of a commit, cold and without a server.
//!
//! - `args`, `run`: the options, and what is done with them
//! - `print`: the graph as tab-separated lines, JSON, Graphviz or Mermaid
//! - `statistics`: figures about it
//! - `cycles`: files that import each other in circles
//! - `incomplete`: what it lacks
//! - `explanation`: where each import of one file leads
//! - `progress`: the bar on a terminal

mod args;
mod cycles;
mod explanation;
mod incomplete;
mod print;
mod progress;
mod run;
mod statistics;

pub use args::GraphArgs;
