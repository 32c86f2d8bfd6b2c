//! Coord, the coordination layer for teams of coding agents.
//!
//! - [`domain`]: types of the rules, parsed at the edge, and the orchestration decision
//! - [`store`]: connections to the store
//! - [`state`]: the stored state, by aggregate: keys, scripts and their typed calls
//! - [`source`]: sources of repositories
//! - [`policy`]: `.coord.toml`, a repository's own rules of locking
//! - [`builds`]: builds of the import graph (`coord_graph`), stored and kept up to date
//! - [`auth`]: credentials and the callers behind them
//! - [`admission`]: the start of every request: identity, rate limits and the head of the branch
//! - [`operations`]: check, claim, release, list locks, read the graph; without HTTP
//! - [`mcp`]: the operations of agents as tools of the Model Context Protocol
//! - [`error`]: every error of a request
//! - [`events`]: live events, one subscription to the store for each repository
//! - [`heads`], [`rate_limits`]: maximum ages of heads; rate limits
//! - [`http`]: the endpoints, one file each, and the one place that turns errors into responses
//! - [`scopes`]: which files an intent may change, judged for the scripts
//! - [`sweep`]: expired locks, dropped and announced
//! - [`timing`], [`logging`]: calls of a request and their time; logs
//! - [`settings`]: settings from the environment
//! - `single_flight`: one request for all callers that ask the same at the same time
//! - [`app`]: the parts that every operation works with
//! - [`after_answer`]: work that a function does after its response
//! - [`function`]: a deployed function, assembled from all of these

pub mod admission;
pub mod after_answer;
pub mod app;
pub mod auth;
pub mod builds;
pub mod domain;
pub mod error;
pub mod events;
pub mod function;
pub mod heads;
pub mod http;
pub mod ledger;
pub mod logging;
pub mod mcp;
pub mod operations;
pub mod plugin_records;
pub mod policy;
pub mod rate_limits;
pub mod scopes;
pub mod settings;
mod single_flight;
pub mod source;
pub mod state;
pub mod store;
pub mod sweep;
pub mod timing;
