//! `active_intents.yaml`, text in and text out.
//!
//! - it is read, written and edited in place by [`Registry`]
//! - people's changes of it are found by [`take_in`], three ways
//! - `parse`, `tree`: YAML with the place of each node; `scalar`, `render`: YAML written

mod edit;
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
