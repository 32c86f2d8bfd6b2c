//! The operations of Coord, without HTTP: check, claim, release, locks, graph, events.
//!
//! - [`admission`]: the start of every request: identity, rate limits and the head of the branch
//! - [`operations`]: what a request does after admission
//! - [`extension`]: what extensions add to the operations
//! - [`error`]: every error of a request
//! - [`heads`]: heads of branches that are kept in the store
//! - [`sweep`]: drops and announces expired locks
//! - [`app`], [`settings`]: what every operation works with, and the settings that it is built from

pub mod admission;
pub mod app;
pub mod error;
pub mod extension;
pub mod heads;
pub mod operations;
pub mod settings;
pub mod sweep;
