//! The chain of the ledger's lines. Scripts append lines; they are sealed here, later, because Redis' Lua has no SHA-256.
//!
//! - [`seal_lines`]: moves the seal to the newest line; [`Sealing`]: does so after a response
//! - [`Seal::lines_after`](coord_intents_state::ledger::Seal), by [`read_lines`]: lines with their chain

mod chain;
mod later;
mod sealing;

pub use chain::{SealedLine, read_lines};
pub use later::Sealing;
pub use sealing::seal_lines;
