//! The import graph: which file of a repository imports which. Pure and in memory: no store, no git, no async runtime.
//!
//! From the ground up:
//!
//! - the vocabulary: `tree` (the input of a graph), `resolution` (the target of an import), `file`, `bound` (a limit
//!   that a build has met)
//! - `record`: the scan of one file, which is kept between builds
//! - `resolve`: specifier -> file; never reads a disk, sees only the paths of the tree and a few manifests
//! - `import_graph`: files and edges; `query`: queries on them; `adjacency` and [`spelling`]: the fields that scripts
//!   read
//! - `update`: builds a version of the graph from nothing, or from the previous version at the cost of the changes

pub mod spelling;

mod adjacency;
mod bound;
mod cores;
mod file;
mod import_graph;
mod query;
mod record;
mod resolution;
mod resolve;
mod tree;
mod update;

pub use adjacency::AdjacencyChanges;
pub use bound::{Bound, MetBound};
pub use cores::cores;
pub use file::{FileFacts, FileId, Node};
pub use import_graph::ImportGraph;
pub use query::{Direction, Neighborhood};
pub use record::Record;
pub use resolution::{Reason, Resolution};
pub use resolve::manifests::{is_manifest, manifest_examples};
pub use tree::{Blob, EntryKind, TreeEntry};
pub use update::{Limits, Previous, Snapshot, Update, WantedFile};
