//! The files of a repository: `active_intents.yaml` and `intent_map.md`, text in and text out.
//!
//! - `active_intents.yaml` is read, written and edited in place by [`Registry`]
//! - people's changes of it are found by [`take_in`], three ways
//! - `intent_map.md` is read and written by [`intent_map`]
//! - `parse`, `tree`: YAML with the place of each node; `scalar`, `render`: YAML written

mod edit;
pub mod intent_map;
mod list_edit;
mod members;
mod parse;
mod refusal;
mod registry;
mod render;
mod scalar;
pub mod take_in;
mod tree;
mod write;

pub use refusal::Refusal;
pub use registry::{MAX_BYTES, Registry};
