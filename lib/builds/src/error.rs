//! Why there is no new graph.

use coord_sources::SourceError;
use coord_store::StoreError;

/// Why there is no new graph.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The repository could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The store does not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The graph could not be encoded. This does not happen in practice.
    #[error("the graph could not be encoded: {0}")]
    Encoding(String),
    /// The store lost a part of the staged graph at every attempt.
    #[error("the store has lost parts of the staged graph")]
    Torn,
    /// The time limit was exceeded.
    #[error("the build exceeded its time limit")]
    TimeUp,
}
