//! Graphs as they are stored: who builds one, how it is published, and how long it is kept.

pub mod keys;
pub mod scripts;

mod build;
mod stored;

pub use build::{
    BuildLease, GraphPatch, Published, StagedPart, discard_graph, fail_build, lease_build, patch_graph, publish_graph,
    report_build, return_lease, stage_graph, touch_graph,
};
pub use stored::{GraphHash, graph_hash, graph_json, stored_records};
