//! `active_intents.yaml`, text in and text out.
//!
//! - it is read, written and edited in place by [`Registry`]
//! - people's changes of it are found by [`import::import_changes`], three ways
//! - `parse`, `tree`: YAML with the place of each node; `scalar`, `render`: YAML written

mod edit;
pub mod import;
mod list_edit;
mod members;
mod parse;
mod refusal;
mod registry;
mod render;
mod scalar;
mod tree;
mod write;

pub use refusal::Refusal;
pub use registry::{MAX_BYTES, Registry};
