//! `active_intents.yaml`, text in and text out.
//!
//! - [`Registry`] reads, writes and edits the file
//! - [`import::import_changes`] finds people's changes by a three-way comparison
//! - `parse`, `tree`: parsed YAML with the position of each node; `scalar`, `render`: written YAML

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
