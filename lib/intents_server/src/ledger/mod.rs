//! The chain of the ledger's lines. Scripts append lines; Rust seals them later, because Lua in Redis has no SHA-256.
//!
//! - [`seal_lines`]: moves the seal to the newest line; [`Sealing`]: does so after a response
//! - [`read_lines`]: sealed lines with their chain

mod chain;
mod later;
mod sealing;

pub use chain::{SealedLine, read_lines};
pub use later::Sealing;
pub use sealing::seal_lines;
