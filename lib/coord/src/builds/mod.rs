//! Builds of the import graph: from a source into the store, and kept up to date there.
//!
//! - [`build`]: reads what has to be read, scans and resolves it
//! - [`stored_graph`]: the form in which the store and the wire have it
//! - [`job`]: one build, as it is asked for; [`leased_build`], [`publish`], `previous_records`, `progress_report`: from its lease
//!   to the published graph, beginning with the records that an earlier build stored
//! - `builder`: one build at a time in a process; `schedule`: which branches are due; `upkeep`: both together
//! - [`head_observer`]: what requests tell; [`background`] answers it in a server, [`deferred`] in functions

pub mod background;
pub mod build;
pub mod deferred;
pub mod graph_cache;
pub mod head_observer;
pub mod job;
pub mod leased_build;
pub mod publish;
pub mod stored_graph;

mod builder;
mod previous_records;
mod progress_report;
mod schedule;
mod upkeep;
