//! The import graph: which file of a repository imports which.
//!
//! Split by the question asked: [`language`] (what is this file), `content` (is it text), [`scan`] (text -> specifiers; never resolves),
//! [`resolve`] (specifier -> file; never reads a disk, sees only the paths of the tree and a few manifests),
//! [`build`] and [`update`] (files -> graph, cold and for the price of a change), [`query`] (questions to the graph),
//! [`encode`] and [`stored`] (its forms for the store and the wire), [`publish`] and [`builder`] (into the store), [`keeper`] and
//! [`deferred`] (kept up to date there, by a server and by functions).

pub mod build;
pub mod deferred;
pub mod encode;
pub mod keeper;
pub mod language;
pub mod publish;
pub mod query;
pub mod resolve;
pub mod scan;
pub mod stored;
pub mod update;

mod builder;
mod content;
mod earlier;
mod finish;
mod import_graph;
mod record;
mod report;
mod snapshot;

pub use import_graph::{FileState, ImportGraph, KindSet, Node};
pub use record::{Record, SCAN_VERSION};

/// A file of one graph: its position in the order of paths. Another version of the graph may number it differently.
pub type FileId = u32;
