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
    /// The graph could not be encoded, which does not happen.
    #[error("the graph could not be encoded: {0}")]
    Encoding(String),
    /// Again and again the store has lost a part of the staged graph.
    #[error("the store has lost parts of the staged graph")]
    Torn,
    /// The time limit was exceeded.
    #[error("the graph took longer to build than it may")]
    TimeUp,
}
