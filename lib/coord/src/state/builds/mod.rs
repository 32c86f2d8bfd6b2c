//! Stored graphs: the lease of a builder, the publication, and how long they are kept.

pub mod keys;
pub mod scripts;

mod lease;
mod publish;
mod stored;

pub use lease::{BuildLease, fail_build, lease_build, report_build, return_lease};
pub use publish::{GraphPatch, Published, StagedPart, patch_graph, publish_graph, stage_graph};
pub use stored::{GraphHash, discard_graph, graph_hash, graph_json, stored_records, touch_graph};
