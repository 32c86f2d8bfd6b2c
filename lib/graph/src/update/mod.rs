//! Builds the next version of the graph from the previous one, at the cost of the changes.
//!
//! A build begins with a tree and the previous version ([`Update::begin`]), requests files ([`Update::wanted`]), takes
//! their content ([`Update::supply`]), and ends with the new version ([`Update::finish`]).
//!
//! - `begin`, `wanted_files`, `supply`, `finish`: the steps
//! - `manifests`: parses the manifests in records
//! - `scan_budget`: bounds the text that is scanned at once
//! - `valid_resolutions`, `resolve_files`, `assemble`: the parts of the last step
//! - `snapshot`, `renumbering`: a version, and the map from its ids to those of the next version
//! - `limits`, `file_kind`: the bounds of a build, and the use of a file

mod assemble;
mod begin;
mod file_kind;
mod finish;
mod limits;
mod manifests;
mod renumbering;
mod resolve_files;
mod scan_budget;
mod snapshot;
mod supply;
mod valid_resolutions;
mod wanted_files;

pub use begin::{Previous, Update};
pub use limits::Limits;
pub use snapshot::Snapshot;
pub use wanted_files::WantedFile;
