//! The operations of Coord, without HTTP: check, claim, release, locks, graph, intents, teams.
//!
//! - [`admission`]: the start of every request: identity, rate limits and the head of the branch
//! - [`operations`]: what a request does after it
//! - [`error`]: every error of a request
//! - [`heads`]: heads of branches that are kept in the store
//! - [`ledger`]: seals of ledgers
//! - [`scopes`]: which files an intent may change, judged for the functions of the store
//! - [`sweep`]: expired locks, dropped and announced
//! - [`app`], [`settings`]: the parts that every operation works with, and what they are built from

pub mod admission;
pub mod app;
pub mod error;
pub mod heads;
pub mod ledger;
pub mod operations;
pub mod scopes;
pub mod settings;
pub mod sweep;
