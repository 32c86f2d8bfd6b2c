//! Builds of the import graph: from a source into the store, and kept up to date there.
//!
//! - [`build`]: reads, scans and resolves the files of a commit
//! - [`stored_graph`]: the form of a graph in the store and on the wire; [`stored_ignore`], [`stored_policy`]: `.intentignore` and
//!   `.coord.toml` beside it
//! - [`job`]: the parameters of one build; [`error`]: why there is none; [`leased_build`], [`publish`], `previous_records`, `progress_report`: from its
//!   lease to the published graph, starting with the records of an earlier build
//! - `settled_pending`: pending changes that the new head has
//! - `builder`: one build at a time in a process, `recent_builds`: from the last one of its branch; `schedule`: branches that are due; `upkeep`: both together
//! - [`head_observer`]: heads that requests meet; [`background`] acts on them in a server, [`deferred`] in functions

pub mod background;
pub mod build;
pub mod deferred;
pub mod error;
pub mod graph_cache;
pub mod head_observer;
pub mod job;
pub mod leased_build;
pub mod publish;
pub mod stored_graph;
pub mod stored_ignore;
pub mod stored_policy;

mod builder;
mod previous_records;
mod progress_report;
mod recent_builds;
mod schedule;
mod settled_pending;
mod upkeep;
