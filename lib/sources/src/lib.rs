//! Sources of repositories. [`github`] implements the trait [`Source`] for GitHub, and the crate `coord_git` for local
//! repositories. [`Sources`] contains all sources of a deployment. [`name_suggestions`] finds branch names that are
//! similar to a wrong one.

pub mod github;
mod health;
pub mod name_suggestions;
mod registry;
mod source;

pub use coord_graph::{Blob, EntryKind, TreeEntry};
pub use health::SourceHealth;
pub use registry::Sources;
pub use source::{
    BlobSink, Comparison, Hold, KnownHead, MAX_TREE_ENTRIES, MAX_TREE_PATH_BYTES, Reachable, RefreshedHead, Source,
    SourceError, Tip,
};
