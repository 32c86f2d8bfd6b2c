//! Builds of the import graph: from a source into the store, and kept up to date there.
//!
//! - [`build`]: reads what has to be read, scans and resolves it
//! - [`stored_graph`]: the form in which the store and the wire have it
//! - [`publish`], `previous_records`, `progress_report`: one build from start to published graph, beginning with what an earlier one stored
//! - `builder`: one process's builder; [`keeper`] drives it in a server, [`deferred`] in functions

pub mod build;
pub mod deferred;
pub mod keeper;
pub mod publish;
pub mod stored_graph;

mod builder;
mod previous_records;
mod progress_report;
