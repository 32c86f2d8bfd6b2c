//! The import graph: which file of a repository imports which. Pure and in memory: no store, no git, no runtime.
//!
//! Split by the question asked: [`tree`] (what a graph is built from), [`language`] (what is this file), `content` (is it text),
//! [`scan`] (text -> specifiers; never resolves), [`resolve`] (specifier -> file; never reads a disk, sees only the paths of
//! the tree and a few manifests), [`update`] (files -> graph, cold and for the price of a change), [`query`] (queries on the graph),
//! `adjacency` and [`spelling`] (what scripts read of it).

pub mod cores;
pub mod language;
pub mod query;
pub mod resolve;
pub mod scan;
pub mod spelling;
pub mod tree;
pub mod update;

mod adjacency;
mod content;
mod finish;
mod import_graph;
mod record;
mod snapshot;

pub use adjacency::{AdjacencyChanges, MAX_LINES};
pub use import_graph::{Facts, FileState, ImportGraph, KindSet, Node};
pub use record::{Record, SCAN_VERSION};

/// A file of one graph: its position in the order of paths. Another version of the graph may number it differently.
pub type FileId = u32;
