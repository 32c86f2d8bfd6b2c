//! Builds of the import graph: from a source into the store, and kept up to date there.
//!
//! - [`build`]: reads and scans the files of a commit, and resolves their imports
//! - [`stored_graph`]: the form of a graph in the store and on the wire; [`stored_ignore`], `stored_policy`:
//!   `.intentignore` and `.coord.toml` beside it; `tree_files`: files of a tree
//! - [`job`]: the parameters of one build; [`error`]: why there is no new graph
//! - [`leased_build`], [`publish`], `previous_records`, `progress_report`: one build, from its lease to the published
//!   graph
//! - `settled_pending`: pending changes that the new head contains
//! - `builder`: one build at a time in a process; `recent_builds`: the last build of each branch, to start the next
//!   from
//! - `schedule`: branches that are due; `upkeep`: keeps their graphs up to date
//! - [`head_observer`]: heads that requests see; [`background`] acts on them in a server, [`deferred`] in functions
//! - [`graph_cache`]: graphs that were read from the store

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

mod builder;
mod previous_records;
mod progress_report;
mod recent_builds;
mod schedule;
mod settled_pending;
mod stored_policy;
mod tree_files;
mod upkeep;
